// SPDX-License-Identifier: MIT
// Bugs between Intel's driver and its registers, as if the driver had them: a PMI at some place shows each.
#include <gtest/gtest.h>

#include "buggy_cpu.h"
#include "pmusim/arch/msr.h"

namespace pmusim::driver::intel_planted_test {
namespace {

bool is_acknowledgement(u64 address) { return address == msr::PERF_GLOBAL_STATUS_RESET; }

std::optional<u64> not_reloaded(const Access& a) {
  return a.in_handler && is_intel_counter(a.address) ? std::nullopt : std::optional(a.value);
}
std::optional<u64> reloaded_too_late(const Access& a) {
  return a.in_handler && is_intel_counter(a.address) ? a.value + 1 : a.value;
}
std::optional<u64> not_acknowledged(const Access& a) {
  return a.in_handler && is_acknowledgement(a.address) ? std::nullopt : std::optional(a.value);
}
std::optional<u64> left_masked(const Access& a) {
  return a.in_handler && a.address == msr::X2APIC_LVTPC ? std::nullopt : std::optional(a.value);
}
std::optional<u64> fixed_left_enabled(const Access& a) {
  return a.address == msr::FIXED_CTR_CTRL ? a.value | 0xB0 : a.value;
}
std::optional<u64> runs_on_in_handler(const Access& a) {
  return a.in_handler && a.address == msr::PERF_GLOBAL_CTRL && a.value == 0 ? std::nullopt
                                                                            : std::optional(a.value);
}
std::optional<u64> never_stopped(const Access& a) {
  return a.address == msr::PERF_GLOBAL_CTRL && a.value == 0 ? std::nullopt : std::optional(a.value);
}
u64 hides_the_first(const Access& a) {
  return a.address == msr::PERF_GLOBAL_STATUS ? a.value & ~u64{1} : a.value;
}
u64 hides_fixed(const Access& a) {
  return a.address == msr::PERF_GLOBAL_STATUS ? a.value & ~(u64{7} << 32) : a.value;
}
u64 read_as_narrow(const Access& a) { return is_intel_counter(a.address) ? a.value & 0xFFFFFFFF : a.value; }

constexpr Bug bugs[] = {
    {.name = "the_counter_is_not_reloaded", .model = "skylake", .on_write = not_reloaded},
    {.name = "the_period_is_one_short", .model = "icelake", .on_write = reloaded_too_late},
    {.name = "the_status_is_not_acknowledged", .model = "skylake", .on_write = not_acknowledged},
    {.name = "the_entry_stays_masked", .model = "sapphirerapids", .on_write = left_masked},
    {.name = "a_counter_stays_enabled", .model = "skylake", .on_write = left_enabled},
    {.name = "a_fixed_counter_stays_enabled", .model = "icelake", .on_write = fixed_left_enabled},
    {.name = "counters_run_while_the_handler_does", .model = "nehalem", .on_write = runs_on_in_handler},
    {.name = "counters_are_never_stopped", .model = "lioncove", .on_write = never_stopped},
    {.name = "status_hides_the_first_counter", .model = "skymont", .on_read = hides_the_first},
    {.name = "status_hides_fixed_counters", .model = "skylake", .on_read = hides_fixed},
    {.name = "a_counter_is_read_as_32_bits", .model = "skylake", .on_read = read_as_narrow},
};

/// Some show only if a counter wraps while the handler runs.
const explore::Options pairs{.most_pmis = 2, .causes = {explore::Cause::overflow}, .greatest_delay = 4};

class PlantedInIntelDriver : public testing::TestWithParam<Bug> {};
INSTANTIATE_TEST_SUITE_P(Bugs, PlantedInIntelDriver, testing::ValuesIn(bugs),
                         [](const auto& of) { return std::string(of.param.name); });

TEST_P(PlantedInIntelDriver, IsFound) {
  const auto report = report_of<IntelDriver>(GetParam(), pairs);
  ASSERT_TRUE(report.ok()) << report.error().message;
  EXPECT_TRUE(report->finding);
}

TEST(NothingPlantedInIntelDriver, IsFound) {
  for (const char* model : {"nehalem", "skylake", "icelake", "sapphirerapids", "skymont", "lioncove"}) {
    const auto report = report_of<IntelDriver>({.model = model}, pairs);
    ASSERT_TRUE(report.ok()) << report.error().message;
    EXPECT_FALSE(report->finding) << model << ": " << explore::text_of(*report->finding);
    EXPECT_TRUE(report->complete);
  }
}

}  // namespace
}  // namespace pmusim::driver::intel_planted_test
