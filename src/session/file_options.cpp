// SPDX-License-Identifier: MIT
#include "session/file_options.h"

#include <fmt/format.h>

#include <algorithm>

#include "events/sampling_pmus.h"
#include "pmusim/trace/recorder.h"
#include "pmusim/version.h"
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

std::vector<perfdata::Cache> caches(const CoreParameters& core) {
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
                     .cpus = "0"});
  return all;
}

perfdata::Metadata metadata(const Session& session, const RecordOptions& options) {
  const CpuModel& model = session.model();
  const perf::PmuCapabilities pmu = session.monitor().driver().capabilities();
  perfdata::Metadata m{.host_name = "pmusim",
                       .os_release = std::string(perf::name_of(session.kernel())),
                       .version = std::string(version),
                       .cpu_description = fmt::format("pmusim {}", model.title),
                       .cpuid = fmt::format("{},{},{},{}", cpuid_name(model.vendor), model.family,
                                            model.model, model.stepping),
                       .total_memory_kib = memory_kib,
                       .command_line = options.command_line,
                       .pmu_mappings = {{static_cast<u32>(perf::EventType::software), "software"},
                                        {static_cast<u32>(perf::EventType::raw), pmu.name}},
                       .cpu_places = {{}},
                       .numa_nodes = {{.total_kib = memory_kib, .free_kib = memory_kib, .cpus = "0"}},
                       .caches = caches(model.core)};
  if (options.clock) m.sample_clock = perfdata::SampleClock{.id = *options.clock};
  if (model.hybrid)
    m.pmus = {{pmu.name, "0", pmu_caps(pmu, model)}};
  else
    m.cpu_pmu_caps = pmu_caps(pmu, model);
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
