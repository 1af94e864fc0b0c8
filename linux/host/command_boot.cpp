// SPDX-License-Identifier: MIT
// What the kernel's initialisation finds on each model.
#include <fmt/format.h>

#include <cstdio>
#include <cstring>
#include <memory>

#include "host/access_text.h"
#include "host/child.h"
#include "host/commands.h"
#include "host/machine.h"

namespace pmusim::linux_driver {

namespace {

struct BootOptions {
  std::vector<std::string> models;
  bool msr_log = false;
};

std::string features(const kernel_pmu& pmu) {
  std::string text;
  if (pmu.lbr_entries != 0)
    text += fmt::format(", {}LBR {}", pmu.has_arch_lbr ? "arch " : "", pmu.lbr_entries);
  if (pmu.has_pebs) text += fmt::format(", PEBS format {}", pmu.pebs_format);
  if (pmu.has_bts) text += ", BTS";
  return text;
}

std::string found(KernelMachine& machine, int error) {
  const std::string& name = machine.model().name;
  if (error != 0) return fmt::format("{:<16} refused: {}\n", name, std::strerror(-error));
  const kernel_pmu pmu = machine.description();
  return fmt::format("{:<16} {}: version {}, {}+{} counters of {} bits, attr type {}{}\n", name, pmu.name,
                     pmu.version, pmu.counters, pmu.fixed, pmu.counter_bits, linux_pmu_type(), features(pmu));
}

std::string boot(const CpuModel& model, const BootOptions& options) {
  KernelMachine machine(model);
  const AccessText accesses;
  std::string log, said;
  machine.on_access = [&](const Access& access) {
    if (options.msr_log || access.faulted) log += "    " + accesses(access) + "\n";
  };
  machine.on_print = [&](const std::string& line) { said += "    " + line; };
  const int error = machine.boot();
  for (const Trap& trap : machine.traps()) log += "    " + text_of(trap) + "\n";
  return found(machine, error) + (options.msr_log ? said : "") + log;
}

void run_boot(const BootOptions& options) {
  bool failed = false;
  for (const CpuModel& model : models_named(options.models)) {
    const ChildResult child = in_child([&] { return boot(model, options); });
    std::fputs(child.text.c_str(), stdout);
    if (child.exit_status == 0) continue;
    failed = true;
    std::printf("%-16s the kernel's initialisation ended with exit status %d\n", model.name.c_str(),
                child.exit_status);
  }
  if (failed) throw Findings();
}

}  // namespace

void add_boot(CLI::App& app) {
  auto options = std::make_shared<BootOptions>();
  CLI::App* const command =
      app.add_subcommand("boot", "Show what the kernel finds on each model, and the accesses that fault");
  command->add_option("MODEL", options->models, "Models; all if none is named");
  command->add_flag("--msr-log", options->msr_log,
                    "Show every access, with the kernel's function, and its messages");
  command->callback([options] { run_boot(*options); });
}

}  // namespace pmusim::linux_driver
