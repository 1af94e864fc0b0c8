// SPDX-License-Identifier: MIT
// Where events may be counted (Linux: x86_get_event_constraints). The rows of each core are in
// constraint_tables_test.cpp.
#include "driver/intel/scheduling/constraint_book.h"

#include <gtest/gtest.h>

namespace pmusim::driver::constraint_book_test {
namespace {

using enum Microarchitecture;

constexpr u64 fixed(unsigned m) { return bit(32 + m); }
constexpr u64 metric(unsigned m) { return bit(48 + m); }

Enumeration core(Microarchitecture which, u64 counters, u64 capabilities = 0) {
  Enumeration e;
  e.microarchitecture = which;
  e.perfmon_version = 5;
  e.counters = counters;
  e.counter_width = 48;
  e.perf_capabilities = capabilities;
  return e;
}

constexpr u64 four_gp = 0x7'0000'000F, eight_gp = 0x7'0000'00FF, ice_lake_counters = 0xF'0000'00FF,
              lion_cove_counters = 0xF'0000'03FF;
constexpr u64 inverted = msr::evtsel::INV | u64{16} << 24;  // what makes cycles of a retirement count

u64 counters_of(const Enumeration& e, u64 config) {
  return ConstraintBook(e).find({.config = config}).counters;
}
u64 precise_counters_of(const Enumeration& e, u64 config, unsigned level = 1) {
  return ConstraintBook(e).find({.config = config, .precise = level}).counters;
}

// --- 4.1: matching and widening ---------------------------------------------------------------------------

TEST(Constraint, MatchesACodeOrTheCodesThatFollowIt) {
  const Constraint range{.counters = 1, .code = 0x48, .mask = 0xFF, .size = 0x0E, .overlap = false};
  EXPECT_FALSE(range.matches(0x0147));
  EXPECT_TRUE(range.matches(0x0148));
  EXPECT_TRUE(range.matches(0xFF56));
  EXPECT_FALSE(range.matches(0x0157));
}

TEST(ConstraintBook, FixedEventsMayUseEveryGeneralCounterToo) {
  EXPECT_EQ(counters_of(core(skylake, four_gp), 0x00C0), fixed(0) | 0xF);
  EXPECT_EQ(counters_of(core(skylake, four_gp), 0x003C), fixed(1) | 0xF);
}

TEST(ConstraintBook, PseudoEventsLiveOnTheirFixedCounterAlone) {
  EXPECT_EQ(counters_of(core(skylake, four_gp), 0x0300), fixed(2));
  EXPECT_EQ(counters_of(core(ice_lake, ice_lake_counters), 0x0400), fixed(3));
  EXPECT_EQ(counters_of(core(ice_lake, ice_lake_counters), 0x0100), fixed(0));
}

TEST(ConstraintBook, AModifiedEventIsNotTheFixedOne) {
  using namespace msr::evtsel;
  for (const u64 modifier : {u64{1} << 24, EDGE, INV, IN_TX, IN_TXCP, EQ})
    EXPECT_EQ(counters_of(core(ice_lake, ice_lake_counters), 0x00C0 | modifier) & ~u64{0xFF}, 0u) << modifier;
}

TEST(ConstraintBook, AMissingFixedCounterEmptiesItsPseudoEvents) {
  EXPECT_EQ(counters_of(core(ice_lake, eight_gp), 0x0400), 0u);
  EXPECT_EQ(counters_of(core(ice_lake, eight_gp, msr::perf_cap::PERF_METRICS), 0x8000), 0u);
}

TEST(ConstraintBook, MetricsExistWhereThePmuReportsThem) {
  const u64 metrics = msr::perf_cap::PERF_METRICS;
  EXPECT_EQ(counters_of(core(ice_lake, ice_lake_counters, metrics), 0x8300), metric(3));
  EXPECT_EQ(counters_of(core(golden_cove, ice_lake_counters, metrics), 0x8700), metric(7));
  EXPECT_EQ(counters_of(core(golden_cove, ice_lake_counters), 0x8000), 0u);
}

TEST(ConstraintBook, UnmatchedEventsMayUseAllGeneralCountersOnly) {
  EXPECT_EQ(counters_of(core(skylake, four_gp), 0x00C4), 0xFu);
  EXPECT_EQ(counters_of(core(lion_cove, lion_cove_counters), 0x00C4), 0x3FFu);
}

TEST(ConstraintBook, UnknownPartsHaveTheArchitecturalFixedEvents) {
  const Enumeration e = core(unknown, 0x1F'0000'00FF);
  EXPECT_EQ(counters_of(e, 0x00C0), fixed(0) | 0xFF);
  EXPECT_EQ(counters_of(e, 0x0400), fixed(3));
  EXPECT_EQ(counters_of(e, 0x0500), fixed(4));
}

TEST(ConstraintBook, TheSixteenthFixedCounterHasNoNumber) {  // 47 is the branch trace's
  EXPECT_EQ(counters_of(core(unknown, 0xFFFF'0000'00FF), 0x0F00), fixed(14));
  EXPECT_EQ(counters_of(core(unknown, 0xFFFF'0000'00FF), 0x1000), 0u);
}

TEST(ConstraintBook, BeforeVersion5UnknownPartsHave3FixedEvents) {
  Enumeration e = core(unknown, 0xF'0000'000F);
  e.perfmon_version = 4;
  EXPECT_EQ(counters_of(e, 0x0300), fixed(2));
  EXPECT_EQ(counters_of(e, 0x0400), 0xFu);
}

// --- 4.6: aliases of cycles, whose threshold and inversion are part of the event
// ----------------------------

TEST(PebsTable, TheCyclesAliasIsAnEventOfItsOwnOnCore2) {
  EXPECT_EQ(precise_counters_of(core(core2, 0x7'0000'0003), 0x00C0 | inverted), 0x1u);
  EXPECT_EQ(precise_counters_of(core(core2, 0x7'0000'0003), 0x01C0 | inverted), 0u);
}

TEST(PebsTable, CyclesAliasesUseFourCountersOrTheDistributingOne) {
  for (const Microarchitecture which : {nehalem, westmere, sandy_bridge, ivy_bridge, haswell, broadwell})
    EXPECT_EQ(precise_counters_of(core(which, eight_gp), 0x01C2 | inverted), 0xFu);
  for (const Microarchitecture which : {sandy_bridge, ivy_bridge, haswell, broadwell, skylake})
    EXPECT_EQ(precise_counters_of(core(which, eight_gp), 0x01C0 | inverted, 3), 0x2u);
  EXPECT_EQ(precise_counters_of(core(skylake, eight_gp), 0x00C0 | inverted), 0xFu);
}

TEST(PebsTable, NoPreciseFixedCounterFromSandyBridgeToSkylake) {
  for (const Microarchitecture which : {sandy_bridge, ivy_bridge, haswell, broadwell, skylake})
    for (const u64 config : {0x00C0, 0x003C, 0x0300, 0x01C4})
      EXPECT_EQ(precise_counters_of(core(which, eight_gp), config), 0xFu);
}

TEST(PebsTable, FromIceLakeOnUnlistedEventsMayUseFixedCounters) {
  EXPECT_EQ(precise_counters_of(core(ice_lake, ice_lake_counters), 0x003C), fixed(1) | 0xFF);
}

TEST(PebsTable, FromIceLakeOnBranchesUseEveryGeneralCounter) {
  for (const Microarchitecture which : {ice_lake, golden_cove, redwood_cove, lion_cove, gracemont, crestmont,
                                        skymont, darkmont, arctic_wolf, panther_cove})
    for (const u64 config : {0x00C4, 0x00C5}) {
      EXPECT_EQ(counters_of(core(which, ice_lake_counters), config), 0xFFu);
      EXPECT_EQ(precise_counters_of(core(which, ice_lake_counters), config), 0xFFu);
    }
}

// --- 4.2: what a core adds --------------------------------------------------------------------------------

TEST(PlacementRule, OnlyCounterTwoCanRollBack) {
  for (const Microarchitecture which : {haswell, broadwell, skylake, ice_lake})
    EXPECT_EQ(counters_of(core(which, eight_gp), 0x00C4 | msr::evtsel::IN_TXCP), 0x4u);
  EXPECT_EQ(counters_of(core(haswell, eight_gp), 0x01CD | msr::evtsel::IN_TXCP), 0u);
}

TEST(PlacementRule, IceLakeDistributesInstructionsOnFixedZero) {
  EXPECT_EQ(precise_counters_of(core(ice_lake, ice_lake_counters), 0x00C0, 3), fixed(0));
  EXPECT_EQ(precise_counters_of(core(ice_lake, ice_lake_counters), 0x00C4, 3), 0xFFu);
}

TEST(PlacementRule, GoldenCoveDistributesOthersOnGeneralZeroOnly) {
  for (const Microarchitecture which : {golden_cove, redwood_cove, lion_cove, panther_cove}) {
    const Enumeration e = core(which, ice_lake_counters);
    EXPECT_EQ(precise_counters_of(e, 0x00C0, 3), fixed(0));
    EXPECT_EQ(precise_counters_of(e, 0x00C4, 3), 0x1u);
    EXPECT_EQ(precise_counters_of(e, 0x01CD, 3), 0u);
  }
}

TEST(PlacementRule, TremontAndGracemontDistributeOnCounterZero) {
  for (const Microarchitecture which : {tremont, gracemont}) {
    EXPECT_EQ(precise_counters_of(core(which, four_gp), 0x00C0, 3), fixed(0) | 0x1);
    EXPECT_EQ(precise_counters_of(core(which, four_gp), 0x00C4, 3), 0x1u);
  }
  EXPECT_EQ(precise_counters_of(core(goldmont_plus, four_gp), 0x00C0, 3), 0x1u);
}

TEST(PlacementRule, CrestmontHasTwoDistributingCounters) {
  for (const Microarchitecture which : {crestmont, skymont, darkmont, arctic_wolf}) {
    const Enumeration e = core(which, eight_gp);
    EXPECT_EQ(precise_counters_of(e, 0x00C0, 3), fixed(0) | 0x3);
    EXPECT_EQ(precise_counters_of(e, 0x06D0, 3), 0x3u);
    EXPECT_EQ(ConstraintBook(e).find({.config = 0xC0, .precise = 3, .branch_counters = true}).counters, 0x3u);
  }
  EXPECT_EQ(precise_counters_of(core(arctic_wolf, eight_gp), 0x04B7, 3), 0u);  // GP 2 alone logs it
}

TEST(PlacementRule, RedwoodCoveDistributesWithoutRetireLatency) {
  for (const Microarchitecture which : {redwood_cove, lion_cove, coyote_cove}) {
    const ConstraintBook book(core(which, ice_lake_counters));
    EXPECT_EQ(book.find({.config = 0xC0, .precise = 1, .retire_latency = true}).counters, 0xFEu);
    EXPECT_EQ(book.find({.config = 0xC0, .precise = 3, .retire_latency = true}).counters, 0u);
    EXPECT_EQ(book.find({.config = 0xC0, .precise = 3}).counters, fixed(0));
  }
  // Diamond Rapids has Golden Cove's rule (Linux 7.3).
  const ConstraintBook server(core(panther_cove, ice_lake_counters));
  EXPECT_EQ(server.find({.config = 0xC0, .precise = 3, .retire_latency = true}).counters, fixed(0));
}

TEST(ConstraintBook, MemoryEventsOfTheEarlyCoresAreExclusive) {
  const ConstraintBook book(core(sandy_bridge, eight_gp));
  EXPECT_TRUE(book.exclusive({.config = 0x81D0}));
  EXPECT_TRUE(book.exclusive({.config = 0x81D3, .precise = 2}));
  EXPECT_FALSE(book.exclusive({.config = 0x00C4}));
  EXPECT_FALSE(ConstraintBook(core(skylake, eight_gp)).exclusive({.config = 0x81D0}));
}

}  // namespace
}  // namespace pmusim::driver::constraint_book_test
