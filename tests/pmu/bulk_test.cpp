// SPDX-License-Identifier: MIT
// How far a block of instructions can be executed in bulk, and what stops it.
#include "pmusim/arch/branch.h"
#include "tests/pmu/guest.h"

namespace pmusim::bulk_test {
namespace {

using test::Guest;

constexpr u64 user = msr::evtsel::USR | msr::evtsel::EN;
constexpr u64 branches = user | 0xC4, misses = user | 0xC5;

/// Four instructions in four cycles: a mispredicted branch, two others and a jump back.
const std::vector<Retirement>& loop() {
  static const std::vector<Retirement> execution = [] {
    std::vector<Retirement> result;
    for (u64 i = 0; i < 4; ++i)
      result.push_back({.ip = 0x1000 + 4 * i,
                        .next_ip = i == 3 ? 0x1000 : 0x1004 + 4 * i,
                        .cycle = i + 1,
                        .signals = {Signal::instruction},
                        .length = 4});
    result[0].signals = {Signal::instruction, Signal::branch, Signal::mispredicted};
    result[3].signals = {Signal::instruction, Signal::branch};
    result[3].branch = BranchKind::direct_jump;
    result[3].taken = true;
    return result;
  }();
  return execution;
}

void execute(Guest& guest) {
  const u64 start = guest.pmu.now();
  for (Retirement r : loop()) {
    r.cycle += start;
    guest.pmu.retire(r);
  }
}

/// GP `counter` counts `select`, and overflows when it has counted `period`.
void count(Guest& guest, unsigned counter, u64 select, u64 period) {
  guest.write(msr::PMC0 + counter, -period & low_bits(32));
  guest.write(msr::PERFEVTSEL0 + counter, select);
}

u64 headroom(const Guest& guest) { return guest.pmu.headroom(guest.pmu.totals(loop(), 0)); }

TEST(Headroom, EndsWhereTheNextExecutionWouldOverflow) {
  Guest guest("skymont");
  count(guest, 2, branches, 101);
  EXPECT_EQ(headroom(guest), 50u) << "two branches each; the 51st execution makes 102";
  count(guest, 3, misses, 30);
  EXPECT_EQ(headroom(guest), 29u) << "the 30th miss overflows";
}

TEST(Headroom, ClocksCountTheCyclesOfTheBlock) {
  Guest guest("skymont");
  guest.write(msr::FIXED_CTR0 + 1, -41 & low_bits(48));
  guest.write(msr::FIXED_CTR_CTRL, msr::fixed_ctrl::USR << 4);
  guest.write(msr::PERF_GLOBAL_CTRL, bit(33));
  EXPECT_EQ(headroom(guest), 10u) << "four cycles each, the 41st overflows";
}

TEST(Headroom, TscClocksTickAtTheirRatio) {
  CpuModel model = Guest::with_short_skid("skymont");
  model.core.tsc_per_core_cycle_numerator = 3;
  model.core.tsc_per_core_cycle_denominator = 2;
  Guest guest(model);
  guest.write(msr::FIXED_CTR0 + 2, -13 & low_bits(48));
  guest.write(msr::FIXED_CTR_CTRL, msr::fixed_ctrl::USR << 8);
  guest.write(msr::PERF_GLOBAL_CTRL, bit(34));
  EXPECT_EQ(headroom(guest), 2u) << "six ticks each, the 13th overflows";
}

TEST(Headroom, IsTheSameWithAutoReloadArmed) {
  Guest guest("skymont");
  count(guest, 2, misses, 1000);
  count(guest, 3, branches, 500);
  const u64 without = headroom(guest);
  guest.write(msr::V6_GP0_CFG_B + 4 * 2, 0x8);
  guest.write(msr::V6_GP0_CFG_B + 4 * 3, 0xC);
  guest.write(msr::V6_GP0_CFG_C + 4 * 2, -1000 & low_bits(32));
  guest.write(msr::V6_GP0_CFG_C + 4 * 3, -500 & low_bits(32));
  EXPECT_EQ(headroom(guest), without);
  EXPECT_EQ(without, 249u);

  const BlockTotals totals = guest.pmu.totals(loop(), 0);
  EXPECT_EQ(guest.pmu.advance(totals, 1'000'000), 249u);
  execute(guest);
  EXPECT_EQ(guest.pmu.acr_reload_count(2), 1u) << "the reload came in the exact execution";
  EXPECT_EQ(headroom(guest), 249u);
}

TEST(Headroom, IsNoneWhileAPmiIsOnItsWay) {
  CpuModel model = Guest::with_short_skid("skymont");
  model.policies.pmi_skid_cycles = 6;
  Guest guest(model);
  guest.write(msr::X2APIC_LVTPC, msr::lvtpc::NMI);
  count(guest, 2, misses | msr::evtsel::INT, 1);
  execute(guest);
  EXPECT_EQ(headroom(guest), 0u);
  guest.write(msr::X2APIC_LVTPC, msr::lvtpc::NMI | msr::lvtpc::MASKED);
  EXPECT_GT(headroom(guest), 0u) << "it stays where it is until software unmasks it";
  guest.write(msr::X2APIC_LVTPC, msr::lvtpc::NMI);
  execute(guest);
  EXPECT_EQ(guest.pmis, 1u);
  EXPECT_GT(headroom(guest), 0u);
}

TEST(Headroom, IsNoneWhileAnAssistWaitsForItsInstruction) {
  Guest guest("skymont");
  guest.write(msr::PEBS_ENABLE, 4);
  count(guest, 2, misses, 1);
  execute(guest);
  EXPECT_EQ(headroom(guest), 0u) << "armed: the next miss is sampled";
  execute(guest);
  EXPECT_GT(headroom(guest), 0u);
}

TEST(Headroom, IsNoneForEdgesWithinACycle) {
  Guest guest("skymont");
  count(guest, 2, branches | msr::evtsel::EDGE | u64{1} << 24, 1'000'000);
  EXPECT_EQ(headroom(guest), 0u);
}

TEST(Headroom, OfAConditionEndsWhereTheCyclesThatSatisfyItOverflow) {
  Guest guest("skymont");
  count(guest, 2, branches | u64{1} << 24, 101);
  EXPECT_EQ(headroom(guest), 50u) << "two cycles each, of which the last stays open";
  count(guest, 2, branches | u64{2} << 24, 101);
  EXPECT_EQ(headroom(guest), bit(58)) << "no cycle has two: the clocks end it";
  count(guest, 2, branches | u64{2} << 24 | msr::evtsel::INV, 101);
  EXPECT_EQ(headroom(guest), 25u) << "all four have fewer";
  std::vector<Retirement> shared = loop();
  for (Retirement& r : shared) --r.cycle;
  EXPECT_EQ(guest.pmu.headroom(guest.pmu.totals(shared, 0)), 0u) << "its first cycle is not its own";
}

TEST(Headroom, IsNoneForBranchesThatAreStoredToMemory) {
  Guest guest("skymont");
  execute(guest);
  EXPECT_FALSE(guest.pmu.records_branches());
  guest.write(msr::DEBUGCTL, msr::debugctl::TR | msr::debugctl::BTS);
  EXPECT_EQ(headroom(guest), 0u);
  EXPECT_EQ(guest.pmu.quiet_instructions(), 0u);
  EXPECT_TRUE(guest.pmu.records_branches());
}

TEST(Headroom, IsNoneForTotalsOfAnotherProgrammingUntilThatReturns) {
  Guest guest("skymont");
  count(guest, 2, branches, 101);
  const BlockTotals totals = guest.pmu.totals(loop(), 0);
  guest.write(msr::PERFEVTSEL0 + 2, misses);
  EXPECT_EQ(guest.pmu.headroom(totals), 0u);
  guest.write(msr::PERFEVTSEL0 + 2, branches);
  EXPECT_EQ(guest.pmu.headroom(totals), 50u);
}

TEST(Headroom, IsNoneOnceARegisterThatSelectsEventsChanges) {
  Guest guest("icelake");
  guest.write(msr::PERFEVTSEL0, user | 0x01CD);  // load latency
  guest.write(msr::PERFEVTSEL0 + 1, user | 0x01B7);
  guest.write(msr::PERFEVTSEL0 + 2, user | 0x01C6);
  guest.write(msr::FIXED_CTR_CTRL, msr::fixed_ctrl::USR << 12);
  const u64 all = guest.pmu.model().counters() | msr::status::PERF_METRICS;
  guest.write(msr::PERF_GLOBAL_CTRL, all);
  const BlockTotals totals = guest.pmu.totals(loop(), 0);
  const std::pair<u32, u64> changes[] = {{msr::PEBS_LD_LAT_THRESHOLD, 30},
                                         {msr::OFFCORE_RSP_0, 0x10001},
                                         {msr::PEBS_FRONTEND, 0x12},
                                         {msr::FIXED_CTR_CTRL, msr::fixed_ctrl::OS << 12},
                                         {msr::PERFEVTSEL0 + 1, user | 0x02B7},
                                         {msr::PERF_GLOBAL_CTRL, all & ~bit(2)},
                                         {msr::PERF_GLOBAL_CTRL, all & ~msr::status::PERF_METRICS}};
  for (const auto& [address, value] : changes) {
    const u64 before = guest.read(address);
    guest.write(address, value);
    EXPECT_EQ(guest.pmu.headroom(totals), 0u) << std::hex << address << " <- " << value;
    guest.write(address, before);
    EXPECT_GT(guest.pmu.headroom(totals), 0u) << std::hex << address;
  }
}

TEST(Headroom, GivesTheOpenCycleToThePrivilegeThatItHas) {
  Guest guest("skymont");
  guest.write(msr::FIXED_CTR_CTRL, msr::fixed_ctrl::OS << 4);  // cycles of the kernel
  guest.write(msr::PERF_GLOBAL_CTRL, bit(33));
  guest.pmu.retire({.ip = 1, .next_ip = 2, .cycle = 1, .signals = {Signal::instruction}, .cpl = Cpl::kernel});
  EXPECT_EQ(guest.pmu.advance(guest.pmu.totals(loop(), 0), 3), 3u) << "of user mode";
  EXPECT_EQ(guest.read(msr::FIXED_CTR0 + 1), 2u) << "what was before it, and its own";
}

TEST(QuietInstructions, EndWhereTheNextCouldOverflow) {
  Guest guest("skymont");
  EXPECT_EQ(guest.pmu.quiet_instructions(), 0u) << "nothing has retired";
  execute(guest);
  count(guest, 2, branches, 101);
  EXPECT_EQ(guest.pmu.quiet_instructions(), 100u);
  EXPECT_EQ(guest.pmu.quiet_instructions(4), 100u) << "a branch counts once";
  count(guest, 3, user | 0x01C2, 101);
  EXPECT_EQ(guest.pmu.quiet_instructions(4), 25u) << "of four uops at most";
  count(guest, 3, 0, 101);
  guest.write(msr::PEBS_ENABLE, 4);
  count(guest, 2, misses, 1);
  execute(guest);
  EXPECT_EQ(guest.pmu.quiet_instructions(), 0u) << "an assist waits";
}

TEST(QuietInstructions, HaveAConditionHoldOncePerCycleAtMost) {
  Guest guest("skylake");
  execute(guest);
  // What perf takes for cycles:pp there: cycles that retire fewer than 16 uops.
  count(guest, 0, user | 0x01C2 | msr::evtsel::INV | u64{16} << 24, 101);
  EXPECT_EQ(guest.pmu.quiet_instructions(255), 99u) << "and the open one";
}

TEST(QuietInstructions, LeaveTheirBranchesToBeTold) {
  Guest guest("skylake");
  execute(guest);
  EXPECT_FALSE(guest.pmu.records_branches());
  guest.write(msr::DEBUGCTL, msr::debugctl::LBR);
  EXPECT_TRUE(guest.pmu.records_branches());
  EXPECT_GT(guest.pmu.quiet_instructions(), 0u);
  const BlockTotals totals = guest.pmu.totals(loop(), 0, BlockBranches::apart);
  guest.pmu.log_branch({.ip = 0x100C, .next_ip = 0x1000, .cycle = 8, .branch = BranchKind::direct_jump});
  EXPECT_EQ(guest.pmu.advance(totals, 1), 1u);
  EXPECT_EQ(guest.read(msr::LBR_TOS), 1u) << "once";
  execute(guest);
  EXPECT_EQ(guest.read(msr::LBR_TOS), 2u);
  EXPECT_EQ(guest.read(msr::LBR_INFO_0 + 2) & lbr_info::CYC_CNT, 4u) << "since the branch that was told";
}

TEST(CountedEvents, AreThoseOfRunningCounters) {
  Guest guest("icelake");
  guest.write(msr::OFFCORE_RSP_1, 0x10001);
  guest.write(msr::PERFEVTSEL0, user | 0x01BB);
  guest.write(msr::PERFEVTSEL0 + 1, user | 0xFFFF);
  guest.write(msr::PERFEVTSEL0 + 2, msr::evtsel::EN | 0xC0);  // at no privilege level
  guest.write(msr::FIXED_CTR_CTRL, msr::fixed_ctrl::USR << 4);
  guest.write(msr::PERF_GLOBAL_CTRL, guest.pmu.model().counters());
  const std::vector<CountedEvent> events = guest.pmu.counted_events();
  ASSERT_EQ(events.size(), 3u);
  EXPECT_EQ(events[0].extra, 0x10001u);
  EXPECT_TRUE(events[0].event.has_value());
  EXPECT_FALSE(events[1].event.has_value());
  EXPECT_EQ(events[2].counter, 33u);
  EXPECT_EQ(events[2].event->name, "CPU_CLK_UNHALTED.THREAD");
}

TEST(Headroom, IsNoneForABlockThatChangesPrivilege) {
  Guest guest("skymont");
  std::vector<Retirement> execution = loop();
  execution[1].cpl = Cpl::kernel;
  EXPECT_EQ(guest.pmu.headroom(guest.pmu.totals(execution, 0)), 0u);
  EXPECT_EQ(guest.pmu.headroom(guest.pmu.totals({}, 0)), 0u) << "nor for an empty one";
}

TEST(Advance, CountsAMillionExecutionsAndKeepsTheNewestBranches) {
  Guest guest("skymont");
  count(guest, 2, branches, 1u << 31);
  guest.write(msr::ARCH_LBR_CTL, ~lbr_ctl::CALL_STACK & 0x7F000F);
  EXPECT_EQ(guest.pmu.advance(guest.pmu.totals(loop(), 0), 1'000'000), 1'000'000u);
  EXPECT_EQ(guest.read(msr::PMC0 + 2), (-(u64{1} << 31) + 2'000'000) & low_bits(48));
  EXPECT_EQ(guest.pmu.now(), 4'000'000u);
  for (const u32 entry : {0u, 31u}) {
    EXPECT_EQ(guest.read(msr::ARCH_LBR_FROM_0 + entry), 0x100Cu);
    EXPECT_EQ(guest.read(msr::ARCH_LBR_INFO_0 + entry) & lbr_info::CYC_CNT, 4u);
  }
}

TEST(Advance, LegacyTopOfStackTurnsOncePerBranch) {
  Guest guest("skylake");
  guest.write(msr::DEBUGCTL, msr::debugctl::LBR);
  EXPECT_EQ(guest.pmu.advance(guest.pmu.totals(loop(), 0), 1'000'003), 1'000'003u);
  EXPECT_EQ(guest.read(msr::LBR_TOS), 1'000'003u % 32);
}

TEST(Advance, TheNextPmiFindsTheRegistersThatTheRunLeft) {
  struct Frame : PmiHandler {
    void handle_pmi(const InterruptFrame& f) override { frame = f; }
    InterruptFrame frame;
  } handler;
  Guest guest("skymont");
  guest.pmu.set_pmi_handler(&handler);
  guest.write(msr::X2APIC_LVTPC, msr::lvtpc::NMI);
  guest.write(msr::FIXED_CTR0 + 1, -41 & low_bits(48));
  guest.write(msr::FIXED_CTR_CTRL, (msr::fixed_ctrl::USR | msr::fixed_ctrl::PMI) << 4);
  guest.write(msr::PERF_GLOBAL_CTRL, bit(33));
  Registers registers;
  registers[Gpr::rbx] = 42;
  ASSERT_EQ(guest.pmu.advance(guest.pmu.totals(loop(), 0), 10, &registers), 10u);
  Retirement r = loop().front();
  r.cycle = 43;
  guest.pmu.retire(r);
  EXPECT_TRUE(handler.frame.registers_known);
  EXPECT_EQ(handler.frame.registers[Gpr::rbx], 42u);
}

TEST(Advance, LeavesTheCycleThatIsOpenAsRetiringDoes) {
  Guest bulk("skylake"), exact("skylake");
  for (Guest* guest : {&bulk, &exact})
    count(*guest, 0, user | 0xC0 | msr::evtsel::INV | u64{10} << 24, 1000);  // holds in every cycle
  ASSERT_EQ(bulk.pmu.advance(bulk.pmu.totals(loop(), 0), 3), 3u);
  for (int pass = 0; pass < 3; ++pass) execute(exact);
  EXPECT_EQ(bulk.pmu.state_hash(), exact.pmu.state_hash());
  for (Guest* guest : {&bulk, &exact}) {
    guest->write(msr::PERFEVTSEL0, user | 0xC0 | u64{1} << 24);  // now it is asked what the open cycle holds
    execute(*guest);
  }
  EXPECT_EQ(bulk.read(msr::PMC0), exact.read(msr::PMC0));
}

}  // namespace
}  // namespace pmusim::bulk_test
