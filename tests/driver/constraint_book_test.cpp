// Where events may be counted: reference "Counter scheduling", 4.1, 4.2 and 4.6.
#include "pmusim/driver/constraint_book.h"

#include <gtest/gtest.h>

namespace pmusim::driver {
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
              lion_cove_counters = 0xF'0000'03FF, skymont_counters = 0x77'0000'00FF;

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

TEST(ConstraintBook, UnmatchedEventsMayUseEveryGeneralCounterAndNoFixedOne) {
  EXPECT_EQ(counters_of(core(skylake, four_gp), 0x00C4), 0xFu);
  EXPECT_EQ(counters_of(core(lion_cove, lion_cove_counters), 0x00C4), 0x3FFu);
}

TEST(ConstraintBook, UnknownPartsHaveTheArchitecturalFixedEvents) {
  const Enumeration e = core(unknown, 0x1F'0000'00FF);
  EXPECT_EQ(counters_of(e, 0x00C0), fixed(0) | 0xFF);
  EXPECT_EQ(counters_of(e, 0x0400), fixed(3));
  EXPECT_EQ(counters_of(e, 0x0500), fixed(4));
}

// --- 4.6: main tables -------------------------------------------------------------------------------------

struct Row {
  Microarchitecture which;
  u64 counters;
  u64 config;
  u64 expected;
};

class MainTable : public testing::TestWithParam<Row> {};

TEST_P(MainTable, HasTheRow) {
  const Row& row = GetParam();
  EXPECT_EQ(counters_of(core(row.which, row.counters, msr::perf_cap::PERF_METRICS), row.config), row.expected)
      << std::hex << row.config;
}

INSTANTIATE_TEST_SUITE_P(
    Early, MainTable,
    testing::Values(Row{nehalem, four_gp, 0x0140, 0x3}, Row{nehalem, four_gp, 0x0143, 0x3},
                    Row{nehalem, four_gp, 0x0144, 0xF}, Row{nehalem, four_gp, 0x0148, 0x3},
                    Row{nehalem, four_gp, 0x014E, 0x3}, Row{nehalem, four_gp, 0x0151, 0x3},
                    Row{nehalem, four_gp, 0x0163, 0x3}, Row{westmere, four_gp, 0x0151, 0x3},
                    Row{westmere, four_gp, 0x0160, 0x1}, Row{westmere, four_gp, 0x0163, 0x3},
                    Row{westmere, four_gp, 0x01B3, 0x1}, Row{sandy_bridge, eight_gp, 0x04A3, 0xF},
                    Row{sandy_bridge, eight_gp, 0x05A3, 0xF}, Row{sandy_bridge, eight_gp, 0x02A3, 0x4},
                    Row{sandy_bridge, eight_gp, 0x06A3, 0x4}, Row{sandy_bridge, eight_gp, 0x0148, 0x4},
                    Row{sandy_bridge, eight_gp, 0x01C0, 0x2}, Row{sandy_bridge, eight_gp, 0x01CD, 0x8},
                    Row{sandy_bridge, eight_gp, 0x81D0, 0xF}, Row{sandy_bridge, eight_gp, 0x00C4, 0xFF},
                    Row{haswell, eight_gp, 0x0148, 0x4}, Row{haswell, eight_gp, 0x08A3, 0x4},
                    Row{haswell, eight_gp, 0x0CA3, 0x4}, Row{haswell, eight_gp, 0x04A3, 0xF},
                    Row{haswell, eight_gp, 0x01CD, 0x8}, Row{broadwell, eight_gp, 0x08A3, 0x4},
                    Row{broadwell, eight_gp, 0x0CA3, 0x4}, Row{broadwell, eight_gp, 0x04A3, 0xFF},
                    Row{broadwell, eight_gp, 0x81D0, 0xF}, Row{skylake, eight_gp, 0x01C0, 0x2},
                    Row{skylake, eight_gp, 0x01C6, 0xF}, Row{skylake, eight_gp, 0x01CD, 0xF}));

INSTANTIATE_TEST_SUITE_P(
    IceLake, MainTable,
    testing::Values(
        Row{ice_lake, ice_lake_counters, 0x01C0, fixed(0) | 0xFF},
        Row{ice_lake, ice_lake_counters, 0x0102, 0xFF}, Row{ice_lake, ice_lake_counters, 0x0103, 0xF},
        Row{ice_lake, ice_lake_counters, 0x010A, 0xF}, Row{ice_lake, ice_lake_counters, 0x010B, 0xFF},
        Row{ice_lake, ice_lake_counters, 0x0128, 0xF}, Row{ice_lake, ice_lake_counters, 0x0132, 0xF},
        Row{ice_lake, ice_lake_counters, 0x0156, 0xF}, Row{ice_lake, ice_lake_counters, 0x018B, 0xF},
        Row{ice_lake, ice_lake_counters, 0x04A3, 0xFF}, Row{ice_lake, ice_lake_counters, 0x10A3, 0xFF},
        Row{ice_lake, ice_lake_counters, 0x14A3, 0xFF}, Row{ice_lake, ice_lake_counters, 0x08A3, 0xF},
        Row{ice_lake, ice_lake_counters, 0x01B0, 0xF}, Row{ice_lake, ice_lake_counters, 0x01B1, 0xFF},
        Row{ice_lake, ice_lake_counters, 0x01BD, 0xF}, Row{ice_lake, ice_lake_counters, 0x81D0, 0xF},
        Row{ice_lake, ice_lake_counters, 0x01EF, 0xF}, Row{ice_lake, ice_lake_counters, 0x01F4, 0xF},
        Row{ice_lake, ice_lake_counters, 0x00C4, 0xFF}));

INSTANTIATE_TEST_SUITE_P(
    GoldenCove, MainTable,
    testing::Values(
        Row{golden_cove, ice_lake_counters, 0x013C, fixed(2) | 0xFF},
        Row{golden_cove, ice_lake_counters, 0x412E, 0xFF}, Row{golden_cove, ice_lake_counters, 0x023C, 0xFF},
        Row{golden_cove, ice_lake_counters, 0x0101, 0xF}, Row{golden_cove, ice_lake_counters, 0x018F, 0xF},
        Row{golden_cove, ice_lake_counters, 0x0190, 0xFF}, Row{golden_cove, ice_lake_counters, 0x01A3, 0xF},
        Row{golden_cove, ice_lake_counters, 0x04A3, 0xFF}, Row{golden_cove, ice_lake_counters, 0x04A4, 0x1},
        Row{golden_cove, ice_lake_counters, 0x08A4, 0x1}, Row{golden_cove, ice_lake_counters, 0x02CD, 0x1},
        Row{golden_cove, ice_lake_counters, 0x01CE, 0x1}, Row{golden_cove, ice_lake_counters, 0x01DF, 0xF},
        Row{redwood_cove, ice_lake_counters, 0x00C4, 0xFF}, Row{lion_cove, lion_cove_counters, 0x0120, 0xF},
        Row{lion_cove, lion_cove_counters, 0x012A, 0xF}, Row{lion_cove, lion_cove_counters, 0x0148, 0x4},
        Row{lion_cove, lion_cove_counters, 0x0175, 0x4}, Row{lion_cove, lion_cove_counters, 0x412E, 0x3FF},
        Row{lion_cove, lion_cove_counters, 0x0CA3, 0x4}, Row{lion_cove, lion_cove_counters, 0x10A4, 0x8},
        Row{lion_cove, lion_cove_counters, 0x01B1, 0x8}, Row{lion_cove, lion_cove_counters, 0x01CD, 0x3FC},
        Row{lion_cove, lion_cove_counters, 0x02CD, 0x3}, Row{lion_cove, lion_cove_counters, 0x87D0, 0x3FF},
        Row{lion_cove, lion_cove_counters, 0x81D0, 0xF}, Row{lion_cove, lion_cove_counters, 0x00E0, 0xF},
        Row{panther_cove, ice_lake_counters, 0x01CD, 0xFC}, Row{panther_cove, ice_lake_counters, 0x01CE, 0x1},
        Row{coyote_cove, ice_lake_counters, 0x0179, 0xF}, Row{panther_cove, ice_lake_counters, 0x0847, 0xF}));

INSTANTIATE_TEST_SUITE_P(Atom, MainTable,
                         testing::Values(Row{gracemont, 0x7'0000'003F, 0x013C, fixed(2) | 0x3F},
                                         Row{crestmont, eight_gp, 0x0073, 0xFF},
                                         Row{skymont, skymont_counters, 0x0073, fixed(4) | 0xFF},
                                         Row{skymont, skymont_counters, 0x019C, fixed(5) | 0xFF},
                                         Row{darkmont, skymont_counters, 0x02C2, fixed(6) | 0xFF},
                                         Row{arctic_wolf, skymont_counters, 0x04B7, 0x4},
                                         Row{arctic_wolf, skymont_counters, 0x08D4, 0x8},
                                         Row{arctic_wolf, skymont_counters, 0x0275, 0x2},
                                         Row{arctic_wolf, skymont_counters, 0x21D3, 0x1}));

// --- 4.6: PEBS tables -------------------------------------------------------------------------------------

TEST(PebsTable, NehalemAndWestmereHaveAClosedList) {
  EXPECT_EQ(precise_counters_of(core(nehalem, four_gp), 0x00C4), 0xFu);
  EXPECT_EQ(precise_counters_of(core(nehalem, four_gp), 0x00C5), 0u);
  EXPECT_EQ(precise_counters_of(core(nehalem, four_gp), 0x02C5), 0xFu);
  EXPECT_EQ(precise_counters_of(core(westmere, four_gp), 0x00C5), 0xFu);
  EXPECT_EQ(precise_counters_of(core(nehalem, four_gp), 0x0151), 0u);
}

TEST(PebsTable, Core2SamplesOnCounterZeroOnly) {
  EXPECT_EQ(precise_counters_of(core(core2, 0x7'0000'0003), 0x01CB), 0x1u);
  EXPECT_EQ(precise_counters_of(core(core2, 0x7'0000'0003), 0x108000C0), 0x1u);
  EXPECT_EQ(precise_counters_of(core(core2, 0x7'0000'0003), 0x00C4), 0u);
}

TEST(PebsTable, FromSandyBridgeToSkylakePreciseEventsNeverUseAFixedCounter) {
  for (const Microarchitecture which : {sandy_bridge, ivy_bridge, haswell, broadwell, skylake}) {
    EXPECT_EQ(precise_counters_of(core(which, eight_gp), 0x00C0), 0xFu);
    EXPECT_EQ(precise_counters_of(core(which, eight_gp), 0x01C0), 0x2u);
  }
  EXPECT_EQ(precise_counters_of(core(sandy_bridge, eight_gp), 0x01CD), 0x8u);
  EXPECT_EQ(precise_counters_of(core(haswell, eight_gp), 0x01CD), 0xFu);
}

TEST(PebsTable, FromIceLakeOnAnEventWithoutARowMayUseItsFixedCounter) {
  EXPECT_EQ(precise_counters_of(core(ice_lake, ice_lake_counters), 0x003C), fixed(1) | 0xFF);
  EXPECT_EQ(precise_counters_of(core(ice_lake, ice_lake_counters), 0x01C0), fixed(0));
  EXPECT_EQ(precise_counters_of(core(ice_lake, ice_lake_counters), 0x0400), fixed(3));
  EXPECT_EQ(precise_counters_of(core(ice_lake, ice_lake_counters), 0x01CD), 0xFFu);
  EXPECT_EQ(precise_counters_of(core(ice_lake, ice_lake_counters), 0x01D4), 0xFu);
}

TEST(PebsTable, GoldenCoveKeepsInstructionsAndLoadLatencyOffCounterZero) {
  const Enumeration e = core(golden_cove, ice_lake_counters);
  EXPECT_EQ(precise_counters_of(e, 0x00C0), 0xFEu);
  EXPECT_EQ(precise_counters_of(e, 0x01CD), 0xFEu);
  EXPECT_EQ(precise_counters_of(e, 0x02CD), 0x1u);
  EXPECT_EQ(precise_counters_of(e, 0x00C4), 0xFFu);
}

TEST(PebsTable, LionCoveNarrowsOffcoreResponsesFurther) {
  const Enumeration e = core(lion_cove, lion_cove_counters);
  EXPECT_EQ(precise_counters_of(e, 0x012A), 0x1u);
  EXPECT_EQ(precise_counters_of(e, 0x01CD), 0x3FCu);
}

TEST(PebsTable, SmallCoresHaveRowsForLatencyOnly) {
  const Enumeration e = core(gracemont, 0x7'0000'003F);
  EXPECT_EQ(precise_counters_of(e, 0x05D0), 0x3u);
  EXPECT_EQ(precise_counters_of(e, 0x06D0), 0x3Fu);
  EXPECT_EQ(precise_counters_of(e, 0x00C4), 0x3Fu);
  EXPECT_EQ(precise_counters_of(core(goldmont, four_gp), 0x00C4), 0x1u);
  EXPECT_EQ(precise_counters_of(core(arctic_wolf, skymont_counters), 0x06D0), 0xFFu);
  EXPECT_EQ(precise_counters_of(core(arctic_wolf, skymont_counters), 0x02D4), 0x2u);
}

// --- 4.2: what a core adds --------------------------------------------------------------------------------

TEST(PlacementRule, OnlyCounterTwoCanRollBack) {
  const Enumeration e = core(haswell, eight_gp);
  EXPECT_EQ(counters_of(e, 0x00C4 | msr::evtsel::IN_TXCP), 0x4u);
  EXPECT_EQ(counters_of(e, 0x01CD | msr::evtsel::IN_TXCP), 0u);
}

TEST(PlacementRule, IceLakeDistributesInstructionsOnFixedCounterZero) {
  EXPECT_EQ(precise_counters_of(core(ice_lake, ice_lake_counters), 0x00C0, 3), fixed(0));
  EXPECT_EQ(precise_counters_of(core(ice_lake, ice_lake_counters), 0x00C4, 3), 0xFFu);
}

TEST(PlacementRule, GoldenCoveDistributesOtherEventsOnCounterZeroOrNotAtAll) {
  const Enumeration e = core(golden_cove, ice_lake_counters);
  EXPECT_EQ(precise_counters_of(e, 0x00C0, 3), fixed(0));
  EXPECT_EQ(precise_counters_of(e, 0x00C4, 3), 0x1u);
  EXPECT_EQ(precise_counters_of(e, 0x01CD, 3), 0u);
}

TEST(PlacementRule, TremontAndGracemontDistributeOnCounterZeroWhateverTheTablesSay) {
  for (const Microarchitecture which : {tremont, gracemont}) {
    EXPECT_EQ(precise_counters_of(core(which, four_gp), 0x00C0, 3), fixed(0) | 0x1);
    EXPECT_EQ(precise_counters_of(core(which, four_gp), 0x00C4, 3), 0x1u);
  }
  EXPECT_EQ(precise_counters_of(core(goldmont_plus, four_gp), 0x00C0, 3), 0x1u);
}

TEST(PlacementRule, CrestmontHasTwoDistributingCounters) {
  const Enumeration e = core(crestmont, eight_gp);
  EXPECT_EQ(precise_counters_of(e, 0x00C0, 3), fixed(0) | 0x3);
  EXPECT_EQ(precise_counters_of(e, 0x06D0, 3), 0x3u);
  EXPECT_EQ(ConstraintBook(e).find({.config = 0xC0, .precise = 3, .branch_counters = true}).counters, 0x3u);
}

TEST(PlacementRule, RedwoodCoveHasNoRetireLatencyOnTheDistributingCounters) {
  const ConstraintBook book(core(redwood_cove, ice_lake_counters));
  EXPECT_EQ(book.find({.config = 0xC0, .precise = 1, .retire_latency = true}).counters, 0xFEu);
  EXPECT_EQ(book.find({.config = 0xC0, .precise = 3, .retire_latency = true}).counters, 0u);
  EXPECT_EQ(book.find({.config = 0xC0, .precise = 3}).counters, fixed(0));
}

TEST(ConstraintBook, MemoryEventsOfTheEarlyCoresAreExclusive) {
  const ConstraintBook book(core(sandy_bridge, eight_gp));
  EXPECT_TRUE(book.exclusive({.config = 0x81D0}));
  EXPECT_TRUE(book.exclusive({.config = 0x81D3, .precise = 2}));
  EXPECT_FALSE(book.exclusive({.config = 0x00C4}));
  EXPECT_FALSE(ConstraintBook(core(skylake, eight_gp)).exclusive({.config = 0x81D0}));
}

}  // namespace
}  // namespace pmusim::driver
