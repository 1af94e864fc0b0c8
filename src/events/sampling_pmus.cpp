// SPDX-License-Identifier: MIT
#include "events/sampling_pmus.h"

#include <algorithm>

#include "pmusim/arch/msr.h"

namespace pmusim::events {
namespace {

struct SamplingRow {
  SamplingPmu pmu;
  u32 capability;  // of CPUID.8000001BH:EAX
};

constexpr SamplingRow sampling_rows[] = {
    {{"ibs_fetch", ibs_fetch_type}, ibs::caps::FETCH_SAMPLING},
    {{"ibs_op", ibs_op_type}, ibs::caps::OP_SAMPLING},
};

}  // namespace

std::vector<SamplingPmu> sampling_pmus(const CpuModel& model) {
  std::vector<SamplingPmu> present;
  for (const SamplingRow& row : sampling_rows)
    if ((model.amd.cpuid_8000001b_eax & row.capability) != 0) present.push_back(row.pmu);
  return present;
}

std::optional<SamplingPmu> find_sampling_pmu(const CpuModel& model, std::string_view name) {
  const std::vector<SamplingPmu> pmus = sampling_pmus(model);
  const auto found = std::ranges::find(pmus, name, &SamplingPmu::name);
  return found == pmus.end() ? std::nullopt : std::optional(*found);
}

bool is_sampling_pmu(u32 type) {
  return std::ranges::any_of(sampling_rows, [&](const SamplingRow& row) { return row.pmu.type == type; });
}

bool is_sampling_pmu(std::string_view name) {
  return std::ranges::any_of(sampling_rows, [&](const SamplingRow& row) { return row.pmu.name == name; });
}

bool is_sampled_by_unit(const CpuModel& model, const perf::Attr& attr) {
  const bool is_precise = attr.precise_ip != 0 && attr.type != static_cast<u32>(perf::EventType::software);
  return is_sampling_pmu(attr.type) || (is_precise && find_sampling_pmu(model, "ibs_op").has_value());
}

std::vector<std::pair<std::string, std::string>> sampling_pmu_caps(const CpuModel& model, u32 type) {
  std::vector<std::pair<std::string, std::string>> all;
  const u32 capabilities = model.amd.cpuid_8000001b_eax;
  if (type == ibs_op_type && (capabilities & ibs::caps::LATENCY_FILTER) != 0) all.emplace_back("ldlat", "1");
  if ((capabilities & ibs::caps::L3_MISS_FILTER) != 0) all.emplace_back("zen4_ibs_extensions", "1");
  return all;
}

perf::Attr counted_like(const perf::Attr& attr) {
  constexpr u64 cycles = 0x76, instructions = 0xC0, ops = 0xC1;
  perf::Attr counting = attr;
  counting.type = static_cast<u32>(perf::EventType::raw);
  counting.config = attr.type != ibs_op_type                ? instructions
                    : (attr.config & ibs::op::CNT_CTL) != 0 ? ops
                                                            : cycles;
  counting.config1 = counting.config2 = 0;
  return counting;
}

}  // namespace pmusim::events
