// SPDX-License-Identifier: MIT
#include "live/machine_view.h"

#include <fmt/format.h>

#include <map>
#include <optional>

#include "events/event_code.h"
#include "events/formats.h"
#include "events/names.h"
#include "events/sampling_pmus.h"
#include "live/cpuinfo.h"
#include "session/core_types.h"
#include "session/pmu_caps.h"

namespace pmusim::live {
namespace {

/// The encoding of a generic event, or of one that the driver has a name for.
std::optional<events::NamedEvent> encoding(const CpuModel& model, std::string_view name) {
  if (const auto own = events::find_driver_event(model, name)) return own;
  const auto generic = events::find_hardware_event(name);
  if (!generic) return std::nullopt;
  const auto encoded = encode_generic_event(model.microarchitecture(), generic->config, model.arch_events);
  if (!encoded.ok()) return std::nullopt;
  return events::NamedEvent{perf::EventType::raw, encoded->config, encoded->extra};
}

std::string terms(const events::NamedEvent& event, SelectLayout layout) {
  const bool has_modifiers = layout == SelectLayout::modifiers;
  std::string text = fmt::format("event={:#04x}", events::event_code(layout, event.config).event);
  if (const u64 umask = event.config >> 8 & 0xFF; umask != 0) text += fmt::format(",umask={:#04x}", umask);
  if (const u64 cmask = event.config >> 24 & 0xFF; cmask != 0) text += fmt::format(",cmask={:#04x}", cmask);
  if ((event.config >> 23 & 1) != 0) text += ",inv=1";
  if (has_modifiers && (event.config >> 32 & 1) != 0) text += ",in_tx=1";
  if (has_modifiers && (event.config >> 33 & 1) != 0) text += ",in_tx_cp=1";
  if (event.config1 != 0) text += fmt::format(",ldlat={}", event.config1);
  return text + "\n";
}

/// What every PMU has.
PmuView pmu_view(const CpuModel& model, std::string_view name, u32 type) {
  PmuView view{.name = std::string(name), .files = {{"type", fmt::format("{}\n", type)}}};
  for (const events::Format& format : events::formats(model, type))
    view.files.emplace_back(fmt::format("format/{}", format.name), format.text() + "\n");
  return view;
}

/// `cpus`: those of this kind of core, where there are two.
PmuView core_pmu_view(const CorePmu& core, u32 type, const std::optional<std::vector<u32>>& cpus) {
  const auto& [model, pmu] = core;
  PmuView view = pmu_view(model, pmu.name, static_cast<u32>(perf::EventType::raw));
  view.files.front().second = fmt::format("{}\n", type);
  const auto add = [&](std::string path, std::string text) {
    view.files.emplace_back(std::move(path), std::move(text));
  };
  for (const std::string_view name : events::perf_event_names(model)) {
    const auto event = encoding(model, name);
    if (!event) continue;
    add(fmt::format("events/{}", name), terms(*event, model.select));
    if (event->scale != 1) add(fmt::format("events/{}.scale", name), fmt::format("{}\n", event->scale));
  }
  for (const auto& [name, text] : pmu_caps(pmu, model)) add("caps/" + name, text + "\n");
  if (cpus) add("cpus", cpu_list(*cpus) + "\n");
  return view;
}

PmuView sampling_pmu_view(const CpuModel& model, const events::SamplingPmu& pmu) {
  PmuView view = pmu_view(model, pmu.name, pmu.type);
  for (const auto& [name, text] : events::sampling_pmu_caps(model, pmu.type))
    view.files.emplace_back("caps/" + name, text + "\n");
  return view;
}

/// A bitmap as sysfs prints them: words of 32 bits, the highest first.
std::string mask_of(const std::vector<u32>& cpus, std::size_t all) {
  std::vector<u32> words((all + 31) / 32);
  for (const u32 cpu : cpus) words[cpu / 32] |= 1U << cpu % 32;
  std::string text = fmt::format("{:0{}x}", words.back(), (all - 1) % 32 / 4 + 1);
  for (std::size_t n = words.size() - 1; n-- > 0;) text += fmt::format(",{:08x}", words[n]);
  return text;
}

/// CPUs that are online and share with `cpu` what `same` compares.
template <class Same>
std::vector<u32> neighbours(const Topology& machine, Same same) {
  std::vector<u32> cpus;
  for (const u32 other : machine.online())
    if (same(machine.cpus[other])) cpus.push_back(other);
  return cpus;
}

void add_topology(SystemFolder& folder, const Topology& machine, u32 number) {
  const LogicalCpu& cpu = machine.cpus[number];
  const auto add = [&](std::string_view name, const std::string& text) {
    folder.files.emplace_back(fmt::format("cpu{}/topology/{}", number, name), text + "\n");
  };
  const auto add_cpus = [&](std::string_view mask, std::string_view list, const std::vector<u32>& cpus) {
    add(mask, mask_of(cpus, machine.cpus.size()));
    add(list, cpu_list(cpus));
  };
  const auto in_package = [&](const LogicalCpu& other) { return other.package == cpu.package; };
  const auto in_die = [&](const LogicalCpu& other) { return in_package(other) && other.die == cpu.die; };
  const auto in_core = [&](const LogicalCpu& other) { return in_die(other) && other.core == cpu.core; };
  add("physical_package_id", fmt::format("{}", cpu.package));
  add("die_id", fmt::format("{}", cpu.die));
  add("core_id", fmt::format("{}", cpu.core));
  for (const std::string_view name : {"core_cpus", "thread_siblings"})
    add_cpus(name, fmt::format("{}_list", name), neighbours(machine, in_core));
  add_cpus("die_cpus", "die_cpus_list", neighbours(machine, in_die));
  for (const std::string_view name : {"package_cpus", "core_siblings"})
    add_cpus(name, fmt::format("{}_list", name), neighbours(machine, in_package));
}

SystemFolder cpu_folder(const Topology& machine) {
  std::vector<u32> all, offline;
  for (u32 cpu = 0; cpu < machine.cpus.size(); ++cpu) {
    all.push_back(cpu);
    if (!machine.cpus[cpu].online) offline.push_back(cpu);
  }
  SystemFolder folder{.name = "cpu", .files = {}, .links = {}, .numbered = "cpu"};
  const auto add = [&](const std::string& name, const std::string& text) {
    folder.files.emplace_back(name, text + "\n");
  };
  add("online", cpu_list(machine.online()));
  add("offline", cpu_list(offline));
  for (const char* name : {"possible", "present"}) add(name, cpu_list(all));
  for (const u32 cpu : all) {
    if (cpu != 0) add(fmt::format("cpu{}/online", cpu), machine.cpus[cpu].online ? "1" : "0");
    if (machine.cpus[cpu].online) add_topology(folder, machine, cpu);
  }
  return folder;
}

/// A node for each package.
SystemFolder node_folder(const Topology& machine) {
  std::map<u32, std::vector<u32>> nodes;
  for (u32 cpu = 0; cpu < machine.cpus.size(); ++cpu) nodes[machine.cpus[cpu].package].push_back(cpu);
  std::vector<u32> numbers;
  SystemFolder folder{.name = "node", .files = {}, .links = {}, .numbered = "node"};
  for (const auto& [node, cpus] : nodes) {
    numbers.push_back(node);
    const auto at = [node = node](const std::string& name) { return fmt::format("node{}/{}", node, name); };
    folder.files.emplace_back(at("cpulist"), cpu_list(cpus) + "\n");
    folder.files.emplace_back(at("cpumap"), mask_of(cpus, machine.cpus.size()) + "\n");
    for (const u32 cpu : cpus) {
      const std::string name = fmt::format("cpu{}", cpu);
      folder.links.emplace_back(at(name), "../../cpu/" + name);
    }
  }
  for (const char* name : {"online", "possible", "has_cpu", "has_memory", "has_normal_memory"})
    folder.files.emplace_back(name, cpu_list(numbers) + "\n");
  return folder;
}

std::optional<std::vector<u32>> cpus_of(const Topology* machine, const CpuModel& model, u32 type) {
  if (machine != nullptr && machine->hybrid()) return machine->cpus_of(type);
  return model.hybrid ? std::optional(std::vector<u32>{0}) : std::nullopt;
}

std::string cpuinfo_of(const std::vector<CorePmu>& types, const Topology* machine) {
  Topology shown;
  shown.cpus = machine != nullptr ? machine->cpus : std::vector<LogicalCpu>{{}};
  for (const CorePmu& type : types) shown.types.push_back(type.model);
  return cpuinfo(shown);
}

}  // namespace

MachineView view_of(const std::vector<CorePmu>& types, const Topology* machine, const perf::Limits& limits) {
  const CpuModel& model = types.front().model;
  MachineView view{.pmus = {},
                   .system = {},
                   .cpus = {0},
                   .environment = {},
                   .proc = {{"cpuinfo", cpuinfo_of(types, machine)}}};
  for (const auto& [name, value] : {std::pair<const char*, i64>{"perf_event_paranoid", limits.paranoid},
                                    {"perf_event_mlock_kb", limits.mlock_kib},
                                    {"perf_event_max_sample_rate", limits.max_sample_rate}})
    view.proc.emplace_back(fmt::format("sys/kernel/{}", name), fmt::format("{}\n", value));
  for (u32 type = 0; type < types.size(); ++type)
    view.pmus.push_back(core_pmu_view(types[type], type == 0 ? cpu_core_type : cpu_atom_type,
                                      cpus_of(machine, types[type].model, type)));
  if (machine == nullptr) {
    view.system = {{.name = "cpu", .files = {{"online", "0\n"}}, .links = {}, .numbered = ""}};
  } else {
    view.system = {cpu_folder(*machine), node_folder(*machine)};
    view.cpus = machine->online();
    view.affinity = Affinity::emulated;
  }
  for (const events::SamplingPmu& sampling : events::sampling_pmus(model))
    view.pmus.push_back(sampling_pmu_view(model, sampling));
  view.environment = {{"PERF_CPUID", fmt::format("{}-{}-{:X}-{:X}", cpuid_name(model.vendor), model.family,
                                                 model.model, model.stepping)},
                      {"LIBPFM_FORCE_PMU", model.pfm_name}};
  return view;
}

}  // namespace pmusim::live
