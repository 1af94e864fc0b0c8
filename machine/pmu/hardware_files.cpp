// SPDX-License-Identifier: MIT
#include "pmu/hardware_files.h"

#include <cstdio>
#include <cstdlib>
#include <string>

#include "pmusim/arch/msr.h"

namespace pmusim::machine {

namespace {

void say(const Error& error) { std::fprintf(stderr, "pmusim-machine: %s\n", error.message.c_str()); }

using Create = Result<std::unique_ptr<observe::ObserverFile>, Error>(const std::string& path);

/// Null if nobody wants it.
std::unique_ptr<observe::ObserverFile> made(const char* variable, unsigned cpu, Create create) {
  const char* const path = std::getenv(variable);
  if (path == nullptr) return nullptr;
  auto file = create(cpu == 0 ? path : path + ("." + std::to_string(cpu)));
  if (!file.ok()) {
    say(file.error());
    std::exit(2);
  }
  return std::move(file).value();
}

}  // namespace

std::unique_ptr<HardwareFiles> HardwareFiles::from_environment(unsigned cpu, const Pmu& pmu) {
  auto files = std::make_unique<HardwareFiles>(pmu);
  const auto add = [&](std::unique_ptr<observe::ObserverFile> file) {
    if (file == nullptr) return;
    files->all_.add(*file);
    files->files_.push_back(std::move(file));
  };
  add(made("PMUSIM_MACHINE_HW_LOG", cpu, observe::create_hardware_log));
  add(made("PMUSIM_MACHINE_HW_TIMELINE", cpu, observe::create_hardware_timeline));
  if (files->files_.empty()) return nullptr;
  return files;
}

HardwareFiles::~HardwareFiles() {
  for (const auto& file : files_)
    if (const auto finished = file->finish(); !finished.ok()) say(finished.error());
}

/// The Pmu's time-stamp counter is written by the machine alone, to tell it the time.
void HardwareFiles::on_register_write(const observed::RegisterWrite& e) {
  if (e.address != msr::TSC) tell(&Observer::on_register_write, e);
}

void HardwareFiles::on_pmi_request(const observed::PmiRequest& e) {
  observed::PmiRequest moved = e;
  moved.due_cycle = time_of(e.due_cycle);
  tell(&Observer::on_pmi_request, moved);
}

}  // namespace pmusim::machine
