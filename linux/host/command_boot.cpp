// SPDX-License-Identifier: MIT
// What the kernel's initialisation finds on each model.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <functional>
#include <memory>
#include <utility>

#include "host/access_text.h"
#include "host/child.h"
#include "host/commands.h"
#include "host/machine.h"
#include "pmusim/cpu/setup.h"

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

/// The CPU that runs the kernel's code, and those whose PMU is the same.
std::string found_here(const std::string& name) {
  const kernel_pmu pmu = KernelMachine::present().description();
  return fmt::format("{:<16} {}: version {}, {}+{} counters of {} bits, attr type {}{}\n", name, pmu.name,
                     pmu.version, pmu.counters, pmu.fixed, pmu.counter_bits, linux_pmu_type(), features(pmu));
}

/// CPUs by the type of their PMU, those of the first CPU first. One that is offline has none.
std::vector<std::vector<u32>> cpus_by_pmu(const KernelMachine& machine) {
  std::vector<std::pair<u32, std::vector<u32>>> found;
  for (const u32 cpu : machine.topology().online()) {
    const OnCpu here(cpu);
    const u32 type = linux_pmu_type();
    auto same = std::ranges::find(found, type, [](const auto& pmu) { return pmu.first; });
    if (same == found.end()) same = found.insert(found.end(), {type, {}});
    same->second.push_back(cpu);
  }
  std::vector<std::vector<u32>> cpus;
  for (auto& [type, of_pmu] : found) cpus.push_back(std::move(of_pmu));
  return cpus;
}

std::string found(const KernelMachine& machine, int error) {
  const Topology& topology = machine.topology();
  if (error != 0) return fmt::format("{:<16} refused: {}\n", topology.name, std::strerror(-error));
  if (topology.cpus.size() == 1) return found_here(topology.name);
  std::string text;
  for (const std::vector<u32>& cpus : cpus_by_pmu(machine)) {
    const OnCpu here(cpus.front());
    text += found_here(fmt::format("{} CPUs {} {}", topology.name, cpu_list(cpus), linux_pmu_name()));
  }
  return text;
}

std::string boot(KernelMachine& machine, const BootOptions& options) {
  const AccessText accesses;
  std::string log, said;
  machine.on_access = [&](const Access& access) {
    const std::string where = machine.cpus() > 1 ? fmt::format("CPU {} ", machine.running().number()) : "";
    if (options.msr_log || access.faulted) log += "    " + where + accesses(access) + "\n";
  };
  machine.on_print = [&](const std::string& line) { said += "    " + line; };
  const int error = machine.boot();
  for (const Trap& trap : machine.traps()) log += "    " + text_of(trap) + "\n";
  return found(machine, error) + (options.msr_log ? said : "") + log;
}

/// Whether the kernel has come to an end of its initialisation.
bool boots(const std::string& name, const std::function<std::unique_ptr<KernelMachine>()>& make,
           const BootOptions& options) {
  const ChildResult child = in_child([&] { return boot(*make(), options); });
  std::fputs(child.text.c_str(), stdout);
  if (child.exit_status != 0)
    std::printf("%-16s the kernel's initialisation ended with exit status %d\n", name.c_str(),
                child.exit_status);
  return child.exit_status == 0;
}

void run_boot(const BootOptions& options) {
  std::vector<std::string> models, machines;
  for (const std::string& name : options.models)
    (name.find(':') == std::string::npos ? models : machines).push_back(name);
  bool all = true;
  if (!models.empty() || machines.empty())
    for (const CpuModel& model : models_named(models))
      all &= boots(
          model.name, [&] { return std::make_unique<KernelMachine>(model); }, options);
  for (const std::string& name : machines) {
    const Topology machine = value_or_fail(parse_machine(name));
    all &= boots(
        name, [&] { return std::make_unique<KernelMachine>(machine); }, options);
  }
  if (!all) throw Findings();
}

}  // namespace

void add_boot(CLI::App& app) {
  auto options = std::make_shared<BootOptions>();
  CLI::App* const command =
      app.add_subcommand("boot", "Show what the kernel finds on each model, and the accesses that fault");
  command->add_option("MODEL", options->models,
                      "Models, and machines (alderlake:8p8e); all models if none is named");
  command->add_flag("--msr-log", options->msr_log,
                    "Show every access, with the kernel's function, and its messages");
  command->callback([options] { run_boot(*options); });
}

}  // namespace pmusim::linux_driver
