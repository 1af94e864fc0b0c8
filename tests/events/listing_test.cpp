// SPDX-License-Identifier: MIT
#include "events/listing.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace pmusim::events {
namespace {

CpuModel model_named(std::string_view name) { return find_cpu_model(name).value(); }

std::optional<ListedEvent> find(const std::vector<ListedEvent>& events, std::string_view name) {
  const auto found = std::ranges::find_if(events, [&](const ListedEvent& e) { return e.name == name; });
  return found == events.end() ? std::nullopt : std::optional(*found);
}

TEST(ListEvents, ShowsWhatPerfsNamesCount) {
  const auto events = list_events(model_named("icelake"), Listed::modelled);
  EXPECT_EQ(find(events, "branch-misses")->counts, "BR_MISP_RETIRED.ALL_BRANCHES");
  EXPECT_FALSE(find(events, "stalled-cycles-frontend")) << "Ice Lake has none";
  EXPECT_FALSE(find(events, "task-clock")) << "no event of a PMU";
}

TEST(ListEvents, ListsWhatIsNotModelledOnlyIfAsked) {
  const CpuModel model = model_named("icelake");
  EXPECT_FALSE(find(list_events(model, Listed::modelled), "L2_LINES_OUT.SILENT"));
  const auto all = list_events(model, Listed::all);
  EXPECT_FALSE(find(all, "L2_LINES_OUT.SILENT")->modelled);
  EXPECT_TRUE(find(all, "BR_INST_RETIRED.COND")->modelled);
}

TEST(ListEvents, HasDescriptionsOfCoresThatLibpfm4DoesNotKnow) {
  const auto events = list_events(model_named("lioncove"), Listed::modelled);
  EXPECT_FALSE(find(events, "BR_INST_RETIRED.NEAR_TAKEN")->description.empty());
}

TEST(PebsEvents, AreEverythingFromIceLakeOnAndAListBefore) {  // Linux: intel_*_pebs_event_constraints
  const auto pebs = [](std::string_view model, std::string_view name) {
    return find(list_events(model_named(model), Listed::modelled), name)->pebs;
  };
  EXPECT_TRUE(pebs("penryn", "INST_RETIRED.ANY_P"));
  EXPECT_FALSE(pebs("penryn", "CPU_CLK_UNHALTED.CORE_P"));
  EXPECT_FALSE(pebs("core2", "INST_RETIRED.ANY_P")) << "left off for its errata";
  EXPECT_TRUE(pebs("goldmont", "CPU_CLK_UNHALTED.CORE_P"));
  EXPECT_TRUE(pebs("nehalem", "MEM_LOAD_RETIRED.L3_MISS"));
  EXPECT_FALSE(pebs("nehalem", "L2_RQSTS.MISS"));
  EXPECT_TRUE(pebs("skylake", "BR_INST_RETIRED.NEAR_TAKEN"));
  EXPECT_TRUE(pebs("skylake", "INST_RETIRED.ANY")) << "on a general counter";
  EXPECT_FALSE(pebs("skylake", "CPU_CLK_UNHALTED.REF_TSC")) << "no PEBS on fixed counters";
  EXPECT_TRUE(pebs("icelake", "CPU_CLK_UNHALTED.THREAD_P"));
  EXPECT_TRUE(pebs("icelake", "INST_RETIRED.ANY"));
}

TEST(ListEvents, SaysWhyAReplayCannotCountWhatACoreLacks) {
  EXPECT_EQ(find(list_events(model_named("silvermont"), Listed::modelled), "MACHINE_CLEARS.MEMORY_ORDERING")
                ->refusal,
            "MACHINE_CLEARS.MEMORY_ORDERING exists on Silvermont, but loads of this core pass no store that "
            "they could need");
}

TEST(ListEvents, CountsTransactionsAndTheirAborts) {
  const auto events = list_events(model_named("haswell"), Listed::modelled);
  for (const std::string_view name : {"RTM_RETIRED.ABORTED", "tx-abort", "cycles-t", "cycles-ct", "cycles"})
    EXPECT_EQ(find(events, name)->refusal, "") << name;
}

TEST(PerfTerms, WriteTheEventAsPerfReadsIt) {
  EXPECT_EQ(perf_terms(0x018002C2, 0), "cpu/event=0xc2,umask=0x02,cmask=1,inv/");
  EXPECT_EQ(perf_terms(0x010401C3, 0), "cpu/event=0xc3,umask=0x01,cmask=1,edge/");
  EXPECT_EQ(perf_terms(0x01CD, 64), "cpu/event=0xcd,umask=0x01,config1=0x40/");
  EXPECT_EQ(perf_terms(0x0100'0000'11C4, 0), "cpu/event=0xc4,umask=0x111/");
}

}  // namespace
}  // namespace pmusim::events
