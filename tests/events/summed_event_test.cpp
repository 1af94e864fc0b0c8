// SPDX-License-Identifier: MIT
// Which events sums over many retirements tell, and as what.
#include "events/summed_event.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "pmusim/events/parser.h"

namespace pmusim::events::summed_event_test {
namespace {

using By = SummedEvent::By;
using testing::ElementsAre;

std::optional<SummedEvent> summed(std::string_view event, std::string_view model_name = "skylake") {
  const CpuModel model = find_cpu_model(model_name).value();
  const auto parsed = parse_events(event, model);
  EXPECT_TRUE(parsed.ok()) << event << ": " << (parsed.ok() ? "" : parsed.error().message);
  const auto resolved = identify(model, parsed->front().events.front().attr);
  EXPECT_TRUE(resolved.ok()) << event << ": " << (resolved.ok() ? "" : resolved.error().message);
  return sum_up(model, *resolved);
}

testing::Matcher<SummedEvent::Term> is(Quantity quantity, u64 factor) {
  return testing::AllOf(testing::Field(&SummedEvent::Term::quantity, quantity),
                        testing::Field(&SummedEvent::Term::factor, factor));
}
constexpr u64 minus_once = ~u64{0};

TEST(SummedEvents, AreRetirementsThatARuleMatches) {
  for (const char* const event : {"instructions", "branches", "branch-misses", "mem_load_retired.l1_miss"}) {
    ASSERT_TRUE(summed(event)) << event;
    EXPECT_EQ(summed(event)->by, By::signals) << event;
    EXPECT_TRUE(summed(event)->terms.empty()) << event;
  }
}

TEST(SummedEvents, AreQuantities) {
  EXPECT_THAT(summed("cycles")->terms, ElementsAre(is(Quantity::cycles, 1)));
  EXPECT_THAT(summed("uops_retired.retire_slots")->terms, ElementsAre(is(Quantity::uops, 1)));
  EXPECT_THAT(summed("slots", "icelake")->terms, ElementsAre(is(Quantity::cycles, 5)))
      << "five in each cycle";
}

// CMASK 1 with INV counts the cycles without: all but those with.
TEST(SummedEvents, AreCyclesWithAndWithoutWhatIsAlikeInAllOfThem) {
  EXPECT_THAT(summed("int_misc.recovery_cycles")->terms, ElementsAre(is(Quantity::recovery_cycles, 1)));
  EXPECT_THAT(summed("cpu/event=0x0d,umask=0x01,cmask=1/")->terms,
              ElementsAre(is(Quantity::recovery_cycles, 1)));
  EXPECT_THAT(summed("cpu/event=0x0d,umask=0x01,cmask=1,inv/")->terms,
              ElementsAre(is(Quantity::cycles, 1), is(Quantity::recovery_cycles, minus_once)));
  EXPECT_THAT(summed("cpu/event=0x0d,umask=0x01,cmask=2/")->terms, ElementsAre()) << "once in a cycle";
}

TEST(SummedEvents, AreBeginningsOfFewConditions) {
  EXPECT_EQ(summed("cpu/event=0x0d,umask=0x01,cmask=1,edge/")->by, By::refills);
  ASSERT_TRUE(summed("machine_clears.count"));
  EXPECT_EQ(summed("machine_clears.count")->by, By::cycles);
  EXPECT_FALSE(summed("cpu/event=0xc3,umask=1,cmask=1,edge,inv/"));
  EXPECT_FALSE(summed("cpu/event=0xc4,cmask=1,edge/")) << "branches fall into any cycle";
}

TEST(SummedEvents, AreNotThoseThatCompareEachOrOtherClocks) {
  for (const char* const event :
       {"cpu/mem-loads,ldlat=50/", "frontend_retired.latency_ge_16", "ref-cycles",
        "cpu/instructions,in_tx=1/", "cpu/event=0xc0,cmask=2/", "cpu/event=0x0d,umask=0x01,cmask=2,edge/"})
    EXPECT_FALSE(summed(event)) << event;
}

}  // namespace
}  // namespace pmusim::events::summed_event_test
