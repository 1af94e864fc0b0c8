// SPDX-License-Identifier: MIT
#ifndef PMUSIM_SRC_EVENTS_SAMPLING_PMUS_H
#define PMUSIM_SRC_EVENTS_SAMPLING_PMUS_H

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "pmusim/cpu/model.h"
#include "pmusim/perf/abi.h"

namespace pmusim::events {

/// attr.type of AMD's instruction-based sampling. Linux gives such a PMU the next free number, and readers of
/// a profile take it from the profile. These are beyond what a kernel comes to, so that under `pmusim run`
/// its own PMUs keep theirs.
inline constexpr u32 ibs_fetch_type = 1000, ibs_op_type = 1001;

/// A PMU beside the core's that samples and does not count: its directory in
/// /sys/bus/event_source/devices and attr.type.
struct SamplingPmu {
  std::string_view name;
  u32 type = 0;
};

/// Those of a model: ibs_fetch and ibs_op where CPUID has the unit.
std::vector<SamplingPmu> sampling_pmus(const CpuModel& model);
/// By the name of its directory.
std::optional<SamplingPmu> find_sampling_pmu(const CpuModel& model, std::string_view name);
/// Whether events of this type belong to one.
bool is_sampling_pmu(u32 type);
/// Whether one of some model has this name.
bool is_sampling_pmu(std::string_view name);
/// Whether a sampling unit of the model takes the event: one of its own, or a precise one of AMD's core PMU.
bool is_sampled_by_unit(const CpuModel& model, const perf::Attr& attr);

/// The files of `caps` in its directory: name and text.
std::vector<std::pair<std::string, std::string>> sampling_pmu_caps(const CpuModel& model, u32 type);

/// A sampling unit counts in steps of 16, and takes no shorter period than 0x90: the longest that it takes up
/// to the one that is wanted, or that one.
inline constexpr u64 sampling_period_step = 16;
constexpr u64 sampling_period(u64 wanted) {
  constexpr u64 shortest = 0x90;
  return wanted < shortest ? shortest : wanted - wanted % sampling_period_step;
}

/// The event of the core PMU that occurs as often as what a sampling event counts: cycles, dispatched ops, or
/// for fetches, which nothing else counts, instructions. A raw attribute.
perf::Attr counted_like(const perf::Attr& attr);

}  // namespace pmusim::events

#endif
