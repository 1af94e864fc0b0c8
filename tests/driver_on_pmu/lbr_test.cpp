// SPDX-License-Identifier: MIT
// The driver's LBR part on the emulated hardware of every model.
#include "driver/intel/lbr/lbr.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "driver/x86/register_access.h"
#include "machine.h"

namespace pmusim::driver::lbr_test {
namespace {

using namespace perf::branch;
using Direction = perf::PmuDriver::SwitchDirection;
using testing::ElementsAre;

std::vector<std::string> models_with_lbr() {
  std::vector<std::string> names;
  for (const CpuModel& model : cpu_models())
    if (model.lbr.depth != 0) names.push_back(model.name);
  return names;
}
std::string identifier(const testing::TestParamInfo<std::string>& info) {
  std::string name = info.param;
  std::ranges::replace(name, '-', '_');
  return name;
}

perf::Attr branches(u64 branch_sample_type, u64 period = 50) {
  perf::Attr attr = hardware(perf::HardwareId::branch_instructions, period);
  attr.sample_type = perf::sample::IP | perf::sample::BRANCH_STACK;
  attr.branch_sample_type = branch_sample_type;
  attr.exclude_kernel = attr.exclude_hv = 1;
  return attr;
}

class LbrOnPmu : public testing::TestWithParam<std::string> {
 protected:
  struct Jump {
    u64 from, to;
    bool operator==(const Jump&) const = default;
  };
  const CpuModel model = model_with_skid(GetParam(), 0);
  /// Linux 7.3 does not know Cannon Lake.
  const DriverOptions knows_all{.kernel = perf::Kernel::v7_1};
};

TEST_P(LbrOnPmu, SamplesHoldTheNewestBranchesInOrder) {
  Machine machine(model, knows_all);
  machine.sink.code = [](u64) {
    return std::vector{std::byte{0xE9}, std::byte{1}, std::byte{}, std::byte{}, std::byte{}};
  };
  std::vector<Jump> taken;
  unsigned samples = 0;
  machine.sink.tell = [&](perf::Event&, const perf::SampleData& data, const InterruptFrame&) {
    ++samples;
    ASSERT_NE(data.branches, nullptr);
    std::vector<Jump> newest(taken.rbegin(), taken.rbegin() + static_cast<i64>(std::min<std::size_t>(
                                                                  taken.size(), model.lbr.depth)));
    std::vector<Jump> sampled;
    for (const perf::BranchEntry& e : data.branches->entries) sampled.push_back({e.from, e.to});
    EXPECT_EQ(sampled, newest);
  };
  perf::Event& event = machine.opened(branches(ANY | USER));
  ASSERT_TRUE(machine.schedule(event)) << machine.refusal;
  for (u64 i = 0; i < 1000; ++i) {
    const Jump jump{0x401000 + 0x20 * (i % 77), 0x402000 + 0x20 * (i % 55)};
    machine.branch(jump.from, jump.to, BranchKind::direct_jump);
    taken.push_back(jump);
    machine.idle();
  }
  machine.unschedule(event);
  EXPECT_EQ(samples, 20u);
  EXPECT_EQ(describe(machine.driver.statistics().faults), "");
}

TEST_P(LbrOnPmu, AProbeUnderAHypervisorChangesNothing) {
  Pmu pmu(model);
  Enumeration cpu = enumerate(pmu, knows_all.kernel);
  cpu.hypervisor = true;
  RegisterAccess access(pmu);
  LbrDriver lbr(access, cpu);
  lbr.set_up();
  EXPECT_EQ(lbr.entries(), model.lbr.depth);
  EXPECT_EQ(lbr.traits().filter != BranchFilterMap::none, model.lbr.has_select || model.has_arch_lbr());
  EXPECT_EQ(pmu.rdmsr(msr::LBR_TOS).value_or(0), 0u);
  EXPECT_EQ(pmu.rdmsr(msr::LBR_SELECT).value_or(0), 0u);
}

TEST_P(LbrOnPmu, FiltersOfTheHardwareAndTheDriverAgree) {
  Machine machine(model, knows_all);
  constexpr u64 jump = 0x401000, call = 0x401100;
  machine.sink.code = [](u64 address) {
    const std::byte opcode{address == call ? u8{0xE8} : u8{0xE9}};
    return std::vector{opcode, std::byte{1}, std::byte{}, std::byte{}, std::byte{}};
  };
  unsigned samples = 0;
  machine.sink.tell = [&](perf::Event&, const perf::SampleData& data, const InterruptFrame&) {
    ++samples;
    for (const perf::BranchEntry& e : data.branches->entries) EXPECT_EQ(e.from, call);
  };
  perf::Event& event = machine.opened(branches(ANY_CALL | USER));
  ASSERT_TRUE(machine.schedule(event)) << machine.refusal;
  for (int i = 0; i < 500; ++i) {
    machine.branch(jump, call, BranchKind::direct_jump);
    machine.branch(call, jump, BranchKind::direct_call);
  }
  machine.idle();
  EXPECT_EQ(samples, 20u);
}

TEST_P(LbrOnPmu, CallStacksGoWithTheirTasks) {
  if (!model.lbr.call_stack && !model.has_arch_lbr()) return;  // refusal is tested with the fake CPUs
  Machine machine(model, knows_all);
  machine.sink.code = [](u64) {
    return std::vector{std::byte{0xE8}, std::byte{1}, std::byte{}, std::byte{}, std::byte{}};
  };
  constexpr u64 period = 32;  // the shortest that every model takes
  std::vector<u64> frames;
  machine.sink.tell = [&](perf::Event&, const perf::SampleData& data, const InterruptFrame&) {
    frames.clear();
    for (const perf::BranchEntry& e : data.branches->entries) frames.push_back(e.from);
  };
  perf::Event& event = machine.opened(branches(CALL_STACK | USER, period));
  ASSERT_TRUE(machine.schedule(event)) << machine.refusal;
  const auto change_task = [&](u32 from, u32 to) {
    machine.driver.disable();
    machine.driver.context_switch(Direction::out, {from, from});
    machine.driver.context_switch(Direction::in, {to, to});
    machine.driver.enable();
  };
  const auto call = [&](u64 from) {
    machine.branch(from, from + 0x1000, BranchKind::direct_call);
    for (u64 i = 1; i < period; ++i) machine.branch(from + 0x1010, from + 0x1020, BranchKind::direct_jump);
    machine.idle();
  };
  call(0x1000), call(0x2000);
  EXPECT_THAT(frames, ElementsAre(0x2000, 0x1000));
  change_task(1, 2);
  call(0x7000);
  EXPECT_THAT(frames, ElementsAre(0x7000));
  change_task(2, 1);
  call(0x3000);
  EXPECT_THAT(frames, ElementsAre(0x3000, 0x2000, 0x1000));
  EXPECT_EQ(describe(machine.driver.statistics().faults), "");
}

INSTANTIATE_TEST_SUITE_P(Presets, LbrOnPmu, testing::ValuesIn(models_with_lbr()), identifier);

}  // namespace
}  // namespace pmusim::driver::lbr_test
