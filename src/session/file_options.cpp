// SPDX-License-Identifier: MIT
#include "session/file_options.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "events/sampling_pmus.h"
#include "pmusim/cpu/core_parameters.h"
#include "pmusim/trace/trace.h"
#include "pmusim/version.h"
#include "session/cpu_description.h"
#include "session/monitor.h"
#include "session/pmu_caps.h"

namespace pmusim {

namespace {

/// Nothing depends on it; tools want to show something.
constexpr u64 memory_kib = 16 << 20;

std::string size_text(u32 bytes) {
  constexpr u32 kib = 1024, mib = 1024 * kib;
  return bytes % mib == 0 ? fmt::format("{}M", bytes / mib) : fmt::format("{}K", bytes / kib);
}

/// CPUs that have caches in common: of each of its levels.
struct Sharing {
  std::string l1, l2, l3;
  const std::string& of(u32 level) const { return level == 1 ? l1 : level == 2 ? l2 : l3; }
};

/// Those that a core sees.
std::vector<perfdata::Cache> caches(const CoreParameters& core, const Sharing& sharing) {
  struct Level {
    u32 number;
    const char* type;
    const CacheGeometry& geometry;
  };
  std::vector<perfdata::Cache> all;
  for (const auto& [number, type, cache] : {Level{1, "Data", core.l1d}, Level{1, "Instruction", core.l1i},
                                            Level{2, "Unified", core.l2}, Level{3, "Unified", core.l3}})
    if (cache.bytes != 0)
      all.push_back({.level = number,
                     .line_bytes = cache.line_bytes,
                     .sets = cache.bytes / (cache.line_bytes * cache.ways),
                     .ways = cache.ways,
                     .type = type,
                     .size = size_text(cache.bytes),
                     .cpus = sharing.of(number)});
  return all;
}

/// Of many CPUs: where they are, and what they share.
void describe(perfdata::Metadata& m, const Topology& machine) {
  std::map<u32, std::vector<u32>> packages, modules, cores;
  m.cpus = static_cast<u32>(machine.cpus.size());
  m.cpu_places.clear();
  for (u32 n = 0; n < m.cpus; ++n) {
    const LogicalCpu& cpu = machine.cpus[n];
    m.cpu_places.push_back({cpu.package, cpu.die, cpu.core});
    packages[cpu.package].push_back(n);
    modules[machine.first_of_module(n)].push_back(n);
    cores[machine.first_of_core(n)].push_back(n);
  }
  m.numa_nodes.clear();
  const u64 kib = memory_kib / packages.size();
  for (const auto& [package, cpus] : packages)
    m.numa_nodes.push_back({.number = static_cast<u32>(m.numa_nodes.size()),
                            .total_kib = kib,
                            .free_kib = kib,
                            .cpus = cpu_list(cpus)});
  m.caches.clear();
  std::map<u32, u32> has_l3;  // by package: the core whose L3 it is
  for (const auto& [first, cpus] : cores) {
    const u32 package = machine.cpus[first].package;
    const bool is_first = has_l3.emplace(package, first).second;
    const u32 module = machine.first_of_module(first);
    const Sharing sharing{cpu_list(cpus), cpu_list(modules[module]), cpu_list(packages[package])};
    for (perfdata::Cache& cache : caches(machine.model(first).core, sharing))
      if (cache.level == 1 || (cache.level == 2 ? module == first : is_first))
        m.caches.push_back(std::move(cache));
  }
}

perfdata::Metadata metadata(const Session& session, const RecordOptions& options) {
  const CpuModel& model = session.model();
  const perf::PmuCapabilities pmu = session.monitor().driver().capabilities();
  perfdata::Metadata m{.host_name = "pmusim",
                       .os_release = std::string(perf::name_of(session.kernel())),
                       .version = std::string(version),
                       .cpu_description = cpu_description(model, session.start()),
                       .cpuid = fmt::format("{},{},{},{}", cpuid_name(model.vendor), model.family,
                                            model.model, model.stepping),
                       .total_memory_kib = memory_kib,
                       .command_line = options.command_line,
                       .pmu_mappings = {{static_cast<u32>(perf::EventType::software), "software"},
                                        {static_cast<u32>(perf::EventType::raw), pmu.name}},
                       .cpu_places = {{}},
                       .numa_nodes = {{.total_kib = memory_kib, .free_kib = memory_kib, .cpus = "0"}},
                       .caches = caches(model.core, {"0", "0", "0"})};
  if (options.clock) m.sample_clock = perfdata::SampleClock{.id = *options.clock};
  const Topology* const machine = session.machine();
  if (machine != nullptr) describe(m, *machine);
  if (machine != nullptr && machine->hybrid()) {
    for (u32 type = 0; type < machine->types.size(); ++type) {
      const perf::PmuCapabilities own = session.monitor().driver_of_type(type).capabilities();
      if (type > 0) m.pmu_mappings.emplace_back(cpu_atom_type, own.name);
      m.pmus.push_back({own.name, cpu_list(machine->cpus_of(type)), pmu_caps(own, machine->types[type])});
    }
  } else if (model.hybrid) {
    m.pmus = {{pmu.name, machine != nullptr ? cpu_list(machine->cpus_of(0)) : "0", pmu_caps(pmu, model)}};
  } else {
    m.cpu_pmu_caps = pmu_caps(pmu, model);
  }
  for (const events::SamplingPmu& sampling : events::sampling_pmus(model)) {
    m.pmu_mappings.emplace_back(sampling.type, sampling.name);
    if (auto caps = events::sampling_pmu_caps(model, sampling.type); !caps.empty())
      m.pmus.push_back({std::string(sampling.name), {}, std::move(caps)});
  }
  return m;
}

/// Smaller attributes cannot ask for SIMD registers.
u32 attr_bytes(const RecordOptions& options) {
  const bool simd = options.interrupt_simd.any() || options.user_simd.any();
  return simd ? std::max<u32>(options.attr_bytes, sizeof(perf::Attr)) : options.attr_bytes;
}

}  // namespace

namespace {

bool shows_registers(const RecordOptions& options) {
  return registers_needed(options) != trace::RecordedRegisters::none;
}

}  // namespace

perfdata::Options writer_options(const Session& session, const RecordOptions& options) {
  const perf::TscToNs clock = session.clock();
  perfdata::Options file{.form = options.output == "-" ? perfdata::Form::pipe : perfdata::Form::file,
                         .attr_bytes = attr_bytes(options),
                         .simd = perf::simd_abi(session.kernel()),
                         .readers = shows_registers(options) ? Readers::owner : Readers::as_umask_says,
                         .time_conversion = perfdata::TimeConversion{clock.shift, clock.mult, clock.zero},
                         .metadata = metadata(session, options)};
  if (options.compression_level) {
    file.compression = perfdata::Compression::zstd;
    file.compression_level = *options.compression_level;
  }
  return file;
}

}  // namespace pmusim
