// SPDX-License-Identifier: MIT
#include "pmu/hardware_files.h"

#include <fmt/format.h>

#include <array>
#include <bit>
#include <cstdio>
#include <cstdlib>
#include <optional>

#include "interface.h"
#include "pmusim/arch/msr.h"

namespace pmusim::machine {

namespace {

void say(const Error& error) { std::fprintf(stderr, "pmusim-machine: %s\n", error.message.c_str()); }

/// Null if nobody wants it.
template <class Create>
std::unique_ptr<observe::ObserverFile> made(const char* variable, unsigned cpu, const Create& create) {
  const char* const path = std::getenv(variable);
  if (path == nullptr) return nullptr;
  auto file = create(cpu == 0 ? path : path + ("." + std::to_string(cpu)));
  if (!file.ok()) {
    say(file.error());
    std::exit(2);
  }
  return std::move(file).value();
}

template <class Value>
std::optional<Value> value_at(unsigned cpu, u64 linear) {
  std::array<u8, sizeof(Value)> bytes{};
  for (u8& byte : bytes) {
    const u8* const page = cpu_linear_page(cpu, linear);
    if (page == nullptr) return {};
    byte = page[linear++ & 0xFFF];
  }
  return std::bit_cast<Value>(bytes);
}

/// Linux has a function that does no more than a WRMSR, and calls it: what calls it tells more. The stack
/// then begins with an address behind a call of what lies just before the WRMSR.
u64 telling_address(unsigned cpu, const HardwareFiles::Place& place) {
  constexpr u8 call = 0xE8;
  constexpr u64 call_bytes = 5, longest_prologue = 64;
  const auto back = value_at<u64>(cpu, place.stack);
  if (!back || value_at<u8>(cpu, *back - call_bytes) != call) return place.ip;
  const auto distance = value_at<std::int32_t>(cpu, *back - sizeof(std::int32_t));
  if (!distance) return place.ip;
  const u64 callee = *back + static_cast<u64>(std::int64_t{*distance});
  return place.ip - callee <= longest_prologue ? *back - call_bytes : place.ip;
}

}  // namespace

std::string HardwareFiles::note() const {
  return place_.ip == 0 ? "" : fmt::format("at={:#x}", telling_address(cpu_, place_));
}

std::unique_ptr<HardwareFiles> HardwareFiles::from_environment(unsigned cpu, const Pmu& pmu) {
  auto files = std::make_unique<HardwareFiles>(cpu, pmu);
  const auto add = [&](std::unique_ptr<observe::ObserverFile> file) {
    if (file == nullptr) return;
    files->all_.add(*file);
    files->files_.push_back(std::move(file));
  };
  add(made("PMUSIM_MACHINE_HW_LOG", cpu, [written = files.get()](const std::string& path) {
    return observe::create_hardware_log(path, [written] { return written->note(); });
  }));
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
