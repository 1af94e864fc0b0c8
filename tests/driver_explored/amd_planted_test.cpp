// SPDX-License-Identifier: MIT
// Bugs between AMD's driver and its registers, as if the driver had them: a PMI at some place shows each.
#include <gtest/gtest.h>

#include "buggy_cpu.h"
#include "driver/amd/driver.h"
#include "pmusim/arch/msr.h"
#include "rig.h"

namespace pmusim::driver::amd_planted_test {
namespace {

namespace m = msr::amd;

bool is_count(u64 address) { return address >= m::CTR0 && address < m::CTR0 + 12 && address % 2 == 1; }

std::optional<u64> not_reloaded(const Access& a) {
  return a.in_handler && is_count(a.address) ? std::nullopt : std::optional(a.value);
}
std::optional<u64> reloaded_too_late(const Access& a) {
  return a.in_handler && is_count(a.address) ? a.value + 1 : a.value;
}

constexpr Bug bugs[] = {
    {.name = "v2_an_overflow_is_not_waited_for",
     .model = "genoa",
     .on_read = [](const Access& a) { return a.address == m::GLOBAL_STATUS && !a.in_handler ? 0 : a.value; }},
    {.name = "v2_the_counter_is_not_reloaded", .model = "genoa", .on_write = not_reloaded},
    {.name = "v2_the_period_is_one_short", .model = "turin", .on_write = reloaded_too_late},
    {.name = "v2_a_counter_stays_enabled", .model = "genoa", .on_write = left_enabled},
    {.name = "v2_another_counter_is_read", .model = "turin", .on_rdpmc = neighbour},
    {.name = "v2_status_hides_the_second_counter",
     .model = "genoa",
     .on_read = [](const Access& a) { return a.address == m::GLOBAL_STATUS ? a.value & ~u64{2} : a.value; }},
    {.name = "v1_an_overflow_is_not_waited_for",
     .model = "rome",
     .on_read = [](const Access& a) { return is_count(a.address) ? a.value | bit(47) : a.value; }},
    {.name = "v1_the_counter_is_not_reloaded", .model = "naples", .on_write = not_reloaded},
    {.name = "v1_the_period_is_one_short", .model = "milan", .on_write = reloaded_too_late},
    {.name = "v1_a_counter_stays_enabled", .model = "rome", .on_write = left_enabled},
    {.name = "v1_another_counter_is_read", .model = "rome", .on_rdpmc = neighbour},
};

class PlantedInAmdDriver : public testing::TestWithParam<Bug> {};
INSTANTIATE_TEST_SUITE_P(Bugs, PlantedInAmdDriver, testing::ValuesIn(bugs),
                         [](const auto& of) { return std::string(of.param.name); });

TEST_P(PlantedInAmdDriver, IsFound) {
  const auto report = report_of<amd::Driver>(GetParam());
  ASSERT_TRUE(report.ok()) << report.error().message;
  EXPECT_TRUE(report->finding);
}

TEST(NothingPlantedInAmdDriver, IsFound) {
  for (const char* model : {"naples", "rome", "milan", "genoa", "turin"}) {
    const auto report = report_of<amd::Driver>({.model = model});
    ASSERT_TRUE(report.ok()) << report.error().message;
    EXPECT_FALSE(report->finding) << model << ": " << explore::text_of(*report->finding);
    EXPECT_TRUE(report->complete);
  }
}

}  // namespace
}  // namespace pmusim::driver::amd_planted_test
