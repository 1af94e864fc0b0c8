// SPDX-License-Identifier: MIT
// Bugs between AMD's driver and its registers, as if the driver had them: a PMI at some place shows each.
#include <gtest/gtest.h>

#include <optional>

#include "driver/amd/driver.h"
#include "pmusim/arch/msr.h"
#include "rig.h"

namespace pmusim::driver::amd_planted_test {
namespace {

namespace m = msr::amd;

/// An access of the driver's on its way to the CPU.
struct Access {
  u32 address;
  u64 value;        // read, or to be written
  bool in_handler;  // it is that of an interrupt
};

/// Where a function is empty, accesses pass as they are.
struct Bug {
  const char* name;
  const char* model;
  /// What is written in place of the value; nothing: the write is left out.
  std::optional<u64> (*on_write)(const Access&) = nullptr;
  u64 (*on_read)(const Access&) = nullptr;
  u32 (*on_rdpmc)(u32 counter) = nullptr;
};

class BuggyCpu final : public Bus {
 public:
  BuggyCpu(explore::Cpu& cpu, const Bug& bug) : cpu_(cpu), bug_(bug) {}

  FaultOr<u64> rdmsr(u32 address) override {
    const FaultOr<u64> value = cpu_.rdmsr(address);
    if (!value.ok() || bug_.on_read == nullptr) return value;
    return bug_.on_read({address, *value, in_handler()});
  }
  Fault wrmsr(u32 address, u64 value) override {
    if (bug_.on_write == nullptr) return cpu_.wrmsr(address, value);
    const std::optional<u64> written = bug_.on_write({address, value, in_handler()});
    return written ? cpu_.wrmsr(address, *written) : Fault::none;
  }
  FaultOr<u64> rdpmc(u32 counter) override {
    return cpu_.rdpmc(bug_.on_rdpmc != nullptr ? bug_.on_rdpmc(counter) : counter);
  }
  CpuidResult cpuid(u32 leaf, u32 subleaf) override { return cpu_.cpuid(leaf, subleaf); }
  u64 rdtsc() override { return cpu_.rdtsc(); }
  Fault read_memory(u64 address, std::span<std::byte> out) override { return cpu_.read_memory(address, out); }
  Fault write_memory(u64 address, std::span<const std::byte> in) override {
    return cpu_.write_memory(address, in);
  }
  bool map_memory(u64 address, u64 bytes) override { return cpu_.map_memory(address, bytes); }
  std::span<std::byte> memory(u64 address, u64 bytes) override { return cpu_.memory(address, bytes); }
  bool map_memory_at(u64 address, u64 physical, u64 bytes) override {
    return cpu_.map_memory_at(address, physical, bytes);
  }
  Fault xsaves(u64 address, u64 features) override { return cpu_.xsaves(address, features); }
  Fault xrstors(u64 address, u64 features) override { return cpu_.xrstors(address, features); }
  FaultOr<u64> xgetbv(u32 ecx) override { return cpu_.xgetbv(ecx); }
  Fault xsetbv(u32 ecx, u64 value) override { return cpu_.xsetbv(ecx, value); }

 private:
  bool in_handler() const { return cpu_.pmu().in_pmi_handler(); }

  explore::Cpu& cpu_;
  const Bug& bug_;
};

bool is_select(u32 address) { return address >= m::CTL0 && address < m::CTL0 + 12 && address % 2 == 0; }
bool is_count(u32 address) { return address >= m::CTR0 && address < m::CTR0 + 12 && address % 2 == 1; }

std::optional<u64> not_reloaded(const Access& a) {
  return a.in_handler && is_count(a.address) ? std::nullopt : std::optional(a.value);
}
std::optional<u64> reloaded_too_late(const Access& a) {
  return a.in_handler && is_count(a.address) ? a.value + 1 : a.value;
}
std::optional<u64> left_enabled(const Access& a) {
  return is_select(a.address) && a.value != 0 ? a.value | msr::evtsel::EN : a.value;
}
u32 neighbour(u32 counter) { return counter ^ 1; }

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

/// Interrupts of counters alone: an NMI that is nobody's is then the driver's fault.
const explore::Options late_overflows{
    .most_pmis = 1, .causes = {explore::Cause::overflow}, .greatest_delay = 16};

auto report_of(const Bug& bug) {
  return explore::explore(
      Pmu(*find_cpu_model(bug.model)),
      [&](explore::Cpu& cpu) {
        ExploredRig<amd::Driver, BuggyCpu> rig(cpu, BuggyCpu(cpu, bug));
        come_and_go(cpu, rig);
        rig.check(rig.driver.statistics().unhandled_interrupts == 0, "an NMI is nobody's");
      },
      late_overflows);
}

class PlantedInAmdDriver : public testing::TestWithParam<Bug> {};
INSTANTIATE_TEST_SUITE_P(Bugs, PlantedInAmdDriver, testing::ValuesIn(bugs),
                         [](const auto& of) { return std::string(of.param.name); });

TEST_P(PlantedInAmdDriver, IsFound) {
  const auto report = report_of(GetParam());
  ASSERT_TRUE(report.ok()) << report.error().message;
  EXPECT_TRUE(report->finding);
}

TEST(NothingPlantedInAmdDriver, IsFound) {
  for (const char* model : {"naples", "rome", "milan", "genoa", "turin"}) {
    const auto report = report_of({.name = "none", .model = model});
    ASSERT_TRUE(report.ok()) << report.error().message;
    EXPECT_FALSE(report->finding) << model << ": " << explore::text_of(*report->finding);
    EXPECT_TRUE(report->complete);
  }
}

}  // namespace
}  // namespace pmusim::driver::amd_planted_test
