// SPDX-License-Identifier: MIT
// Placements of PMIs in a driver that has a race, and in one that has none (docs/explore.md).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "small_driver.h"

namespace pmusim::explore {
namespace {

using testing::HasSubstr;

Pmu skylake() { return Pmu(*find_cpu_model("skylake")); }

enum class State : u8 { given, withheld };

/// Two events that come while everything is enabled, and go again.
void two_events(Cpu& cpu, Order order, State state) {
  SmallDriver driver(cpu, order);
  std::array<Event, 2> events;
  if (state == State::given) cpu.set_driver_state([&](StateHash& hash) { hash.add(driver, events); });
  driver.unmask();
  driver.enable_all();
  cpu.open();
  driver.start(0, events[0]);
  driver.start(1, events[1]);
  driver.stop(0);
  driver.stop(1);
  cpu.close();
}
void racy(Cpu& cpu) { two_events(cpu, Order::active_before_event, State::given); }
void correct(Cpu& cpu) { two_events(cpu, Order::event_before_active, State::given); }
void secretive(Cpu& cpu) { two_events(cpu, Order::event_before_active, State::withheld); }

TEST(Explore, FindsACounterMarkedActiveBeforeItsEventIsStored) {
  const auto report = explore(skylake(), racy);
  ASSERT_TRUE(report.ok()) << report.error().message;
  ASSERT_TRUE(report->finding);
  EXPECT_EQ(report->finding->what, "an active counter without an event");
  EXPECT_EQ(report->finding->seed, "overflow@3");
  EXPECT_THAT(text_of(*report->finding), HasSubstr("after wrmsr 186 = "));
}

TEST(Explore, PassesTheDriverThatStoresTheEventFirst) {
  const auto report =
      explore(skylake(), correct, {.most_pmis = 2, .causes = {Cause::overflow, Cause::spurious}});
  ASSERT_TRUE(report.ok()) << report.error().message;
  EXPECT_FALSE(report->finding) << text_of(*report->finding);
  EXPECT_TRUE(report->complete);
  EXPECT_GT(report->runs, 20u);
}

TEST(Explore, ReplaysAFindingFromItsSeed) {
  const auto found = explore(skylake(), racy);
  ASSERT_TRUE(found.ok());
  const auto again = replay(skylake(), racy, found->finding->seed);
  ASSERT_TRUE(again.ok()) << again.error().message;
  ASSERT_TRUE(again->finding);
  EXPECT_EQ(text_of(*again->finding), text_of(*found->finding));
  EXPECT_FALSE(replay(skylake(), correct, found->finding->seed)->finding);
}

TEST(Explore, BranchesEqualStatesOffOnce) {
  const auto merged = explore(skylake(), correct, {.most_pmis = 2});
  const auto every = explore(skylake(), secretive, {.most_pmis = 2});
  ASSERT_TRUE(merged.ok() && every.ok());
  EXPECT_GT(merged->merged, 0u);
  EXPECT_EQ(every->merged, 0u);
  EXPECT_LT(merged->runs, every->runs);
}

TEST(Explore, CountsEveryPlacementOfTwoPmisInAWindowOfOperations) {  // n, and pairs of them
  const auto reads = [](unsigned operations) {
    return [operations](Cpu& cpu) {
      struct Nothing final : PmiHandler {
        Cpu* cpu = nullptr;
        void handle_pmi(const InterruptFrame&) override {
          cpu->pmu().wrmsr(msr::X2APIC_LVTPC, msr::lvtpc::NMI) == Fault::none ? void() : cpu->fail("masked");
        }
      } handler;
      handler.cpu = &cpu;
      cpu.pmu().set_pmi_handler(&handler);
      static_cast<void>(cpu.wrmsr(msr::X2APIC_LVTPC, msr::lvtpc::NMI));
      cpu.open();
      for (unsigned n = 0; n < operations; ++n) static_cast<void>(cpu.rdmsr(msr::PERF_GLOBAL_CTRL));
      cpu.close();
    };
  };
  const auto report = explore(skylake(), reads(10), {.most_pmis = 2, .causes = {Cause::spurious}});
  ASSERT_TRUE(report.ok());
  // 21 boundaries; the end of a handler is one more, so that the second may come at once.
  EXPECT_EQ(report->boundaries, 21u);
  EXPECT_EQ(report->runs, 1u + 21 + 21 * 22 / 2);
}

TEST(Explore, LetsAPmiComeLate) {  // after the counter that asked for it is off, and its event gone
  const auto trusting = [](Cpu& cpu) {
    struct Driver final : PmiHandler {
      Cpu* cpu = nullptr;
      bool in_use = false;
      void handle_pmi(const InterruptFrame&) override {
        if (!in_use) cpu->fail("a PMI that nobody waits for");
      }
    } driver;
    driver.cpu = &cpu;
    cpu.pmu().set_pmi_handler(&driver);
    static_cast<void>(cpu.wrmsr(msr::X2APIC_LVTPC, msr::lvtpc::NMI));
    static_cast<void>(cpu.wrmsr(msr::PERF_GLOBAL_CTRL, 1));
    static_cast<void>(cpu.wrmsr(msr::PMC0, low_bits(32)));
    driver.in_use = true;
    cpu.open();
    static_cast<void>(
        cpu.wrmsr(msr::PERFEVTSEL0, msr::evtsel::EN | msr::evtsel::OS | msr::evtsel::INT | 0xC0));
    static_cast<void>(cpu.wrmsr(msr::PERFEVTSEL0, 0));
    driver.in_use = false;
    static_cast<void>(cpu.rdmsr(msr::PERF_GLOBAL_STATUS));
    cpu.close();
  };
  EXPECT_FALSE(explore(skylake(), trusting)->finding);
  const auto late = explore(skylake(), trusting, {.greatest_delay = 2});
  ASSERT_TRUE(late.ok() && late->finding);
  EXPECT_EQ(late->finding->seed, "overflow@2+2");
}

TEST(Explore, ComesBetweenTheStoresOfADriverThatNamesThem) {
  const auto lost_update = [](Cpu& cpu) {
    struct Driver final : PmiHandler {
      u64 total = 0;
      void handle_pmi(const InterruptFrame&) override { ++total; }
    } driver;
    cpu.pmu().set_pmi_handler(&driver);
    cpu.set_driver_state([&](StateHash& hash) { hash.add(driver.total); });
    static_cast<void>(cpu.wrmsr(msr::X2APIC_LVTPC, msr::lvtpc::NMI));
    cpu.open();
    const u64 read = driver.total;
    cpu.boundary();
    driver.total = read + 1;
    cpu.close();
    const u64 interrupts = cpu.placed();
    if (driver.total != 1 + interrupts) cpu.fail("an update is lost");
  };
  const auto report = explore(skylake(), lost_update, {.causes = {Cause::spurious}});
  ASSERT_TRUE(report.ok() && report->finding);
  EXPECT_EQ(report->finding->seed, "spurious@0");
}

/// An early interrupt puts a 1 into memory that the driver reads and sets back: then all is as without it,
/// but for what the driver holds in a local variable. Only a late interrupt shows that.
template <class ReadByte>
Scenario fails_where_it_read(std::byte value, ReadByte read_byte) {
  return [=](Cpu& cpu) {
    constexpr u64 place = 0x1000;
    struct Driver final : PmiHandler {
      Pmu* pmu = nullptr;
      bool is_back = false, late = false;
      void handle_pmi(const InterruptFrame&) override {
        late = is_back;
        if (!late) {
          EXPECT_EQ(pmu->write_memory(place, std::array{std::byte{1}}), Fault::none);
        }
        EXPECT_EQ(pmu->wrmsr(msr::X2APIC_LVTPC, msr::lvtpc::NMI), Fault::none);
      }
    } driver;
    driver.pmu = &cpu.pmu();
    driver.pmu->set_pmi_handler(&driver);
    cpu.set_driver_state([&](StateHash& hash) { hash.add(driver.is_back, driver.late); });
    ASSERT_TRUE(driver.pmu->map_memory(place, 0x1000));
    ASSERT_EQ(cpu.wrmsr(msr::X2APIC_LVTPC, msr::lvtpc::NMI), Fault::none);
    cpu.open();
    const bool as_looked_for = read_byte(cpu, place) == value;
    ASSERT_EQ(cpu.write_memory(place, std::array{std::byte{0}}), Fault::none);
    driver.is_back = true;
    static_cast<void>(cpu.rdmsr(msr::PERF_GLOBAL_STATUS));
    cpu.close();
    if (as_looked_for && driver.late) cpu.fail("interrupted late");
  };
}

TEST(Explore, KeepsApartRunsThatReadDifferentBytes) {
  const auto copied = [](Cpu& cpu, u64 place) {
    std::array<std::byte, 1> byte{};
    EXPECT_EQ(cpu.read_memory(place, byte), Fault::none);
    return byte[0];
  };
  const auto seen = [](Cpu& cpu, u64 place) { return cpu.memory(place, 1)[0]; };
  for (const std::byte value : {std::byte{0}, std::byte{1}})
    for (const Scenario& driver : {fails_where_it_read(value, copied), fails_where_it_read(value, seen)}) {
      const auto report = explore(skylake(), driver, {.most_pmis = 2, .causes = {Cause::spurious}});
      ASSERT_TRUE(report.ok()) << report.error().message;
      EXPECT_TRUE(report->finding) << static_cast<int>(value);
    }
}

TEST(Explore, WritesTheRecordOfASamplingCounter) {
  Pmu start(*find_cpu_model("skylake"));
  u64 records = 0;
  const auto precise = [&](Cpu& cpu) {
    static_cast<void>(cpu.wrmsr(msr::PERFEVTSEL0, msr::evtsel::EN | msr::evtsel::OS | 0xC0));
    static_cast<void>(cpu.wrmsr(msr::PMC0, low_bits(32)));
    static_cast<void>(cpu.wrmsr(msr::PEBS_ENABLE, 1));
    static_cast<void>(cpu.wrmsr(msr::PERF_GLOBAL_CTRL, 1));
    cpu.open();
    static_cast<void>(cpu.rdmsr(msr::PERF_GLOBAL_STATUS));
    cpu.close();
    records += cpu.pmu().assists(AssistOutcome::no_area);
  };
  ASSERT_TRUE(explore(start, precise).ok());
  EXPECT_EQ(records, 3u);  // one for each boundary
}

TEST(Explore, RefusesAScenarioThatDoesNotRepeatItself) {
  unsigned run = 0;
  const auto moody = [&](Cpu& cpu) {
    cpu.open();
    for (unsigned n = 0; n < run; ++n) static_cast<void>(cpu.rdmsr(msr::PERF_GLOBAL_CTRL));
    cpu.close();
    ++run;
  };
  const auto report = explore(skylake(), moody);
  ASSERT_FALSE(report.ok());
  EXPECT_THAT(report.error().message, HasSubstr("does not repeat itself"));
}

TEST(Explore, SaysThatItStoppedBeforeAllWereTried) {
  const auto report = explore(skylake(), correct, {.most_runs = 3});
  ASSERT_TRUE(report.ok());
  EXPECT_FALSE(report->complete);
  EXPECT_EQ(report->runs, 3u);
}

TEST(ExploreSeed, IsReadBackAsItWasWritten) {
  const Placement placement{{Cause::overflow, 17, 0}, {Cause::spurious, 40, 2}};
  EXPECT_EQ(seed_of(placement), "overflow@17,spurious@40+2");
  EXPECT_EQ(*parse_seed(seed_of(placement)), placement);
  EXPECT_TRUE(parse_seed("")->empty());
}

TEST(ExploreSeed, SaysWhatIsWrongAndWhere) {
  for (const char* seed :
       {"x", "overflow", "overflow@", "overflow@x", "overflow@1+", "overflow@1,", "overflow@1;",
        "overflow@99999999999", "overflow@2,overflow@2", ",", "overflow@-1"}) {
    const auto parsed = parse_seed(seed);
    ASSERT_FALSE(parsed.ok()) << seed;
    EXPECT_THAT(parsed.error().message, HasSubstr("expected")) << seed;
  }
}

TEST(ExploreSeed, ThatNamesNoBoundaryOfTheScenarioIsRefused) {
  const auto report = replay(skylake(), correct, "overflow@100000");
  ASSERT_FALSE(report.ok());
  EXPECT_THAT(report.error().message, HasSubstr("boundary 100000"));
}

}  // namespace
}  // namespace pmusim::explore
