// SPDX-License-Identifier: MIT
// Branch stacks of Zen 4 and later: what the driver writes into the filter, and what it makes of the records.
#include <gmock/gmock.h>

#include <cerrno>

#include "amd_machine.h"

namespace pmusim::driver::amd_test::amd_lbr_test {
namespace {

using namespace perf::branch;
using testing::ElementsAre;

constexpr u32 select_register = 0xC000010E, debug_extn = 0xC000010F, debugctl = 0x1D9,
              global_ctl = 0xC0000301, first_from = 0xC0010300, first_to = 0xC0010301;

perf::Attr branches(u64 branch_sample_type, u64 period = 20) {
  perf::Attr attr = raw(0xC0, period);
  attr.sample_type = perf::sample::BRANCH_STACK;
  attr.branch_sample_type = branch_sample_type;
  return attr;
}

struct Jump {
  u64 from, to;
  bool operator==(const Jump&) const = default;
};

/// The stack of the newest sample.
class Stacks {
 public:
  explicit Stacks(AmdMachine& machine) {
    machine.sink.tell = [this](perf::Event&, const perf::SampleData& data, const InterruptFrame&) {
      ASSERT_NE(data.branches, nullptr);
      ++samples;
      newest.assign(data.branches->entries.begin(), data.branches->entries.end());
      hw_index = data.branches->hw_index;
    };
  }
  std::vector<Jump> jumps() const {
    std::vector<Jump> all;
    for (const perf::BranchEntry& e : newest) all.push_back({e.from, e.to});
    return all;
  }
  std::vector<perf::BranchEntry> newest;
  u64 hw_index = ~u64{0};
  unsigned samples = 0;
};

TEST(AmdLbr, FiltersSayWhatNotToRecord) {
  struct Case {
    u64 request, select;
  };
  constexpr Case cases[] = {
      {ANY | USER, 0x001},          {ANY | USER | KERNEL, 0x000}, {ANY_CALL | USER, 0x0E5},
      {ANY_RETURN | KERNEL, 0x0DE}, {IND_CALL | USER, 0x1ED},     {COND | USER, 0x1F9},
      {CALL | USER, 0x1F5},         {IND_JUMP | USER, 0x1BD},
  };
  for (const Case& c : cases) {
    AmdMachine machine("genoa");
    ASSERT_TRUE(machine.schedule(machine.opened(branches(c.request)))) << c.request;
    EXPECT_EQ(machine.msr(select_register), c.select) << std::hex << c.request;
  }
}

TEST(AmdLbr, TakesWhatTheRecordsHaveAndRefusesTheRest) {
  AmdMachine genoa("genoa"), rome("rome");
  for (const u64 request : {CALL_STACK, IN_TX, NO_TX, ABORT_TX})
    EXPECT_EQ(genoa.error_of(branches(ANY | USER | request)), EOPNOTSUPP) << request;
  for (const u64 request : {TYPE_SAVE, HW_INDEX, PRIV_SAVE, HV})
    EXPECT_EQ(genoa.error_of(branches(ANY | USER | request)), 0) << request;
  EXPECT_EQ(rome.error_of(branches(ANY | USER)), EOPNOTSUPP);
  EXPECT_EQ(genoa.driver.capabilities().branch_entries, 16u);
  EXPECT_EQ(rome.driver.capabilities().branch_entries, 0u);
}

std::vector<RegisterUse> writes(const WatchedPmu& pmu) {
  std::vector<RegisterUse> all;
  for (const RegisterUse& use : pmu.uses)
    if (use.access == 'W') all.push_back(use);
  return all;
}

TEST(AmdLbr, FilterFreezeAndEnableComeInThisOrder) {
  AmdMachine machine("genoa");
  ASSERT_TRUE(machine.schedule(machine.opened(branches(ANY | USER))));
  machine.hardware.uses.clear();
  machine.driver.disable();
  EXPECT_THAT(writes(machine.hardware),
              ElementsAre(RegisterUse{'W', global_ctl, 0}, RegisterUse{'W', debug_extn, 0},
                          RegisterUse{'W', debugctl, 0}));
  machine.hardware.uses.clear();
  machine.driver.enable();
  EXPECT_THAT(writes(machine.hardware),
              ElementsAre(RegisterUse{'W', select_register, 1}, RegisterUse{'W', debugctl, 0x800},
                          RegisterUse{'W', debug_extn, 0x40}, RegisterUse{'W', global_ctl, 0x3F}));
}

TEST(AmdLbr, NothingFreezesWhereTheFirmwareHasNoFreeze) {
  AmdMachine machine("raphael-early");
  ASSERT_TRUE(machine.schedule(machine.opened(branches(ANY | USER))));
  for (int i = 0; i < 50; ++i) machine.branch(0x1000, 0x1000);
  for (const RegisterUse& use : machine.hardware.uses) EXPECT_NE(use.address, debugctl);
}

TEST(AmdLbr, TheNewestSixteenComeFirst) {
  AmdMachine machine("genoa");
  Stacks stacks(machine);
  ASSERT_TRUE(machine.schedule(machine.opened(branches(ANY | USER))));
  for (u64 n = 0; n < 20; ++n) machine.branch(0x1000 + 0x10 * n, 0x1010 + 0x10 * n);
  machine.idle();
  ASSERT_EQ(stacks.newest.size(), 16u);
  for (u64 n = 0; n < 16; ++n) EXPECT_EQ(stacks.newest[n].from, 0x1000 + 0x10 * (19 - n));
  EXPECT_EQ(stacks.hw_index, 0u);
}

TEST(AmdLbr, TheTargetDecidesWhoseABranchIs) {
  constexpr u64 kernel = 0xFFFF'FFFF'8100'0000;
  AmdMachine machine("genoa", 0, {.kernel = perf::Kernel::v7_0});
  machine.sink.code = [](u64 ip) {
    return ip == 0x2000   ? std::vector{std::byte{0x0F}, std::byte{0x05}}                   // syscall
           : ip == kernel ? std::vector{std::byte{0x48}, std::byte{0x0F}, std::byte{0x07}}  // sysret
                          : std::vector{std::byte{0x75}, std::byte{0}};
  };
  Stacks stacks(machine);
  ASSERT_TRUE(machine.schedule(machine.opened(branches(ANY | USER, 4))));
  machine.branch(0x1000, 0x2000);
  machine.branch(0x2000, kernel, BranchKind::syscall);
  machine.branch(kernel, 0x2002, BranchKind::sysret);
  machine.branch(0x2002, 0x1000);
  machine.idle();
  EXPECT_THAT(stacks.jumps(), ElementsAre(Jump{0x2002, 0x1000}, Jump{kernel, 0x2002}, Jump{0x1000, 0x2000}));
}

TEST(AmdLbr, KernelAddressesComeOutCanonical) {
  for (const char* const model : {"genoa", "raphael"}) {  // linear addresses of 57 and of 48 bits
    AmdMachine machine(model);
    Stacks stacks(machine);
    ASSERT_TRUE(machine.schedule(machine.opened(branches(ANY | USER | KERNEL, 2))));
    machine.branch(0xFFFF'8123'4567'89AB, 0xFFFF'FFFF'8100'0000);
    machine.instruction();
    machine.idle();
    EXPECT_THAT(stacks.jumps(), ElementsAre(Jump{0xFFFF'8123'4567'89AB, 0xFFFF'FFFF'8100'0000})) << model;
  }
}

TEST(AmdLbr, PredictionComesWithEachBranch) {
  AmdMachine machine("turin");
  Stacks stacks(machine);
  ASSERT_TRUE(machine.schedule(machine.opened(branches(ANY | USER, 2))));
  machine.branch(0x1000, 0x2000);
  machine.branch(0x2000, 0x3000, BranchKind::conditional, /*mispredicted=*/true);
  machine.idle();
  ASSERT_EQ(stacks.newest.size(), 2u);
  EXPECT_EQ(stacks.newest[0].mispred, 1u);
  EXPECT_EQ(stacks.newest[0].predicted, 0u);
  EXPECT_EQ(stacks.newest[1].mispred, 0u);
  EXPECT_EQ(stacks.newest[1].predicted, 1u);
  EXPECT_EQ(stacks.newest[1].spec, 2u);  // not speculative, correct path
}

TEST(AmdLbr, SpeculationIsToldAndEmptyRecordsAreSkipped) {
  AmdMachine machine("genoa");
  Stacks stacks(machine);
  ASSERT_TRUE(machine.schedule(machine.opened(branches(ANY | USER, 2))));
  constexpr u64 valid = bit(63), speculative = bit(62), erratum = bit(61);
  const u64 targets[] = {valid | speculative, speculative, 0, valid | erratum, valid};
  for (u32 i = 0; i < std::size(targets); ++i) {
    machine.hardware.reads[first_from + 2 * i] = 0x1000 + i;
    machine.hardware.reads[first_to + 2 * i] = 0x2000 | targets[i];
  }
  machine.branch(0x1000, 0x2000);
  machine.instruction();
  machine.idle();
  ASSERT_EQ(stacks.newest.size(), 3u);
  EXPECT_EQ(stacks.newest[0].from, 0x1000u);
  EXPECT_EQ(stacks.newest[0].spec, 3u);
  EXPECT_EQ(stacks.newest[1].from, 0x1001u);
  EXPECT_EQ(stacks.newest[1].spec, 1u);
  EXPECT_EQ(stacks.newest[2].from, 0x1004u);
  EXPECT_EQ(stacks.newest[2].spec, 2u);
}

/// cmp rbx, rax at 401000 and jne behind it; a call elsewhere.
std::vector<std::byte> fused_code(u64 ip) {
  constexpr unsigned char pair[] = {0x48, 0x39, 0xD8, 0x75, 0x0B}, call[] = {0xE8, 1, 0, 0, 0};
  const std::span<const unsigned char> code = ip == 0x401000 ? std::span(pair) : std::span(call);
  const auto bytes = std::as_bytes(code);
  return {bytes.begin(), bytes.end()};
}

TEST(AmdLbr, AFusedBranchIsMovedToWhereItStands) {
  for (const u64 request : {ANY | USER, COND | USER, ANY | USER | TYPE_SAVE}) {
    AmdMachine machine("genoa");
    machine.sink.code = fused_code;
    Stacks stacks(machine);
    ASSERT_TRUE(machine.schedule(machine.opened(branches(request, 2))));
    machine.branch(0x401000, 0x401010);
    machine.instruction();
    machine.idle();
    EXPECT_THAT(stacks.jumps(), ElementsAre(Jump{0x401003, 0x401010})) << request;
  }
}

TEST(AmdLbr, TheSoftwareFilterDropsOtherKinds) {
  AmdMachine machine("genoa");
  machine.sink.code = fused_code;
  Stacks stacks(machine);
  const auto sampled_call = [&](u64 request) {
    perf::Event& event = machine.opened(branches(request, 2));
    EXPECT_TRUE(machine.schedule(event));
    // As if hardware had recorded it all the same.
    machine.hardware.reads[first_from] = 0x500000;
    machine.hardware.reads[first_to] = 0x500100 | bit(63);
    machine.instruction();
    machine.instruction();
    machine.idle();
    machine.unschedule(event);
    return stacks.newest.size();
  };
  EXPECT_EQ(sampled_call(ANY | USER), 1u);
  EXPECT_EQ(sampled_call(CALL | USER), 1u);
  EXPECT_EQ(sampled_call(COND | USER), 0u);
  EXPECT_EQ(sampled_call(ANY | KERNEL | TYPE_SAVE), 0u);
}

TEST(AmdLbr, TheLastUserHasItsFilterInForce) {
  AmdMachine machine("genoa");
  ASSERT_TRUE(machine.schedule(machine.opened(branches(ANY | USER))));
  EXPECT_EQ(machine.msr(select_register), 0x001u);
  ASSERT_TRUE(machine.schedule(machine.opened(branches(COND | USER))));
  EXPECT_EQ(machine.msr(select_register), 0x1F9u);
}

TEST(AmdLbr, WhatIsNoCodeIsNoBranch) {
  AmdMachine machine("genoa");
  machine.sink.code = [](u64) { return std::vector<std::byte>{}; };
  Stacks stacks(machine);
  ASSERT_TRUE(machine.schedule(machine.opened(branches(ANY | USER | KERNEL, 2))));
  machine.branch(0x1000, 0x2000);
  EXPECT_NE(machine.msr(first_to), 0u);
  machine.instruction();
  machine.idle();
  EXPECT_EQ(stacks.newest.size(), 0u);
  EXPECT_EQ(stacks.samples, 1u);
}

TEST(AmdLbr, TypesAreSavedWhereAskedFor) {
  AmdMachine machine("genoa");
  machine.sink.code = fused_code;
  Stacks stacks(machine);
  ASSERT_TRUE(machine.schedule(machine.opened(branches(ANY | USER | TYPE_SAVE, 2))));
  machine.branch(0x401000, 0x401010);
  machine.branch(0x500000, 0x500100, BranchKind::direct_call);
  machine.idle();
  ASSERT_EQ(stacks.newest.size(), 2u);
  EXPECT_EQ(stacks.newest[0].type, perf::branch_type::CALL);
  EXPECT_EQ(stacks.newest[1].type, perf::branch_type::COND);
}

TEST(AmdLbr, ATaskFindsNothingOfTheOneBefore) {
  AmdMachine machine("genoa");
  ASSERT_TRUE(machine.schedule(machine.opened(branches(ANY | USER, 1000))));
  for (int i = 0; i < 20; ++i) machine.branch(0x1000, 0x1000);
  machine.hardware.uses.clear();
  machine.driver.context_switch(perf::PmuDriver::SwitchDirection::out, {1, 1});
  EXPECT_NE(machine.msr(first_to), 0u);
  machine.driver.context_switch(perf::PmuDriver::SwitchDirection::in, {2, 2});
  for (u32 i = 0; i < 32; ++i) EXPECT_EQ(machine.msr(first_from + i), 0u) << i;
  EXPECT_EQ(machine.msr(debug_extn), 0x40u);
  EXPECT_EQ(machine.msr(select_register), 1u);  // reset to 0, and written again
}

TEST(AmdLbr, CountingEventsMayHaveAStackToo) {
  AmdMachine machine("genoa");
  EXPECT_EQ(machine.error_of(branches(ANY | USER, 0)), 0);
}

TEST(AmdLbr, AFrozenStackEndsWithTheBranchThatOverflowed) {
  AmdMachine machine("genoa", /*skid_cycles=*/10);
  std::vector<u64> newest_of_sample;
  machine.sink.tell = [&](perf::Event&, const perf::SampleData& data, const InterruptFrame&) {
    newest_of_sample.push_back(data.branches->entries.front().from);
  };
  ASSERT_TRUE(machine.schedule(machine.opened(branches(ANY | USER, 3))));
  for (u64 n = 1; n <= 3; ++n) machine.branch(0x1000 * n, 0x1000 * (n + 1));
  for (int i = 0; i < 12; ++i) machine.branch(0x9000, 0x9000);
  ASSERT_FALSE(newest_of_sample.empty());
  EXPECT_EQ(newest_of_sample.front(), 0x3000u);
}

}  // namespace
}  // namespace pmusim::driver::amd_test::amd_lbr_test
