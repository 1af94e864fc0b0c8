// SPDX-License-Identifier: MIT
#include "events/refusals.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <string>

#include "events/listing.h"
#include "events/resolve.h"
#include "events/vendor.h"
#include "pmusim/events/parser.h"

namespace pmusim::events {
namespace {

using testing::HasSubstr;

Result<ResolvedEvent, Error> resolve_name(std::string_view name, std::string_view model_name) {
  const CpuModel model = find_cpu_model(model_name).value();
  return resolve(model, parse_events(name, model).value().front().events.front().attr);
}
std::string refusal_of(std::string_view name, std::string_view model) {
  const auto resolved = resolve_name(name, model);
  return resolved.ok() ? "counted" : resolved.error().message;
}

TEST(Refusals, SayWhatAnEventWouldNeed) {
  EXPECT_EQ(
      refusal_of("DTLB_LOAD_MISSES.WALK_COMPLETED_2M_4M", "skylake"),
      "DTLB_LOAD_MISSES.WALK_COMPLETED_2M_4M exists on Skylake, but page sizes are not in the trace: all "
      "pages are 4 KiB");
  EXPECT_THAT(refusal_of("CPU_CLK_UNHALTED.ONE_THREAD_ACTIVE", "icelake"),
              HasSubstr("needs a second hardware thread"));
  EXPECT_THAT(refusal_of("FP_ASSIST.ANY", "haswell"), HasSubstr("needs the values of operands"));
  EXPECT_THAT(refusal_of("MEM_LOAD_L3_HIT_RETIRED.XSNP_HITM", "skylake"), HasSubstr("other cores"));
  EXPECT_THAT(refusal_of("BUS_TRANS_ANY.SELF", "core2"), HasSubstr("uncore"));
  EXPECT_THAT(refusal_of("L2_LINES_OUT.NON_SILENT", "skylake"), HasSubstr("nothing is written back"));
}

TEST(Refusals, SayWhatCannotBeComparedWithinACycle) {
  EXPECT_EQ(refusal_of("L1D_PEND_MISS.PENDING", "skylake"), "counted");
  EXPECT_EQ(refusal_of("L1D_PEND_MISS.PENDING_CYCLES", "skylake"), "counted");
  EXPECT_EQ(refusal_of("UOPS_EXECUTED.CORE_CYCLES_NONE", "haswell"),
            "UOPS_EXECUTED.CORE exists on Haswell, but with INV and no CMASK, so that counters ignore INV");
  EXPECT_EQ(refusal_of("UOPS_EXECUTED.CORE_CYCLES_NONE", "skylake"), "counted");
  EXPECT_THAT(refusal_of("cpu/event=0x48,umask=0x01,cmask=3/", "skylake"), HasSubstr("within a cycle"));
  EXPECT_EQ(refusal_of("OFFCORE_REQUESTS_OUTSTANDING.DEMAND_DATA_RD_GE_6", "skylake"), "counted");
  EXPECT_THAT(refusal_of("cpu/event=0x60,umask=0x01,cmask=5/", "skylake"), HasSubstr("within a cycle"));
}

// libpfm4's bits of OFFCORE_RSP: 0x10 is PF_L2_DATA_RD, 0x80 PF_LLC_DATA_RD, 0x400 Skylake's PF_L1D_AND_SW.
TEST(Refusals, SayThatOffCorePrefetchesAreNotCounted) {
  const auto off_core = [](std::string_view value, std::string_view model) {
    return refusal_of("cpu/event=0xb7,umask=0x1,offcore_rsp=" + std::string(value) + "/", model);
  };
  EXPECT_EQ(off_core("0x10007", "skylake"), "counted");
  EXPECT_EQ(off_core("0x10011", "skylake"),
            "OFFCORE_RESPONSE with 0x10011 exists on Skylake, but it asks for prefetches, of which the core "
            "does not tell what answers them; choose request bits 0 to 2");
  EXPECT_THAT(off_core("0x10401", "skylake"), HasSubstr("prefetches"));
  EXPECT_EQ(off_core("0x10401", "haswell"), "counted") << "locks of the bus, which never come";
  EXPECT_THAT(off_core("0x10091", "sandybridge"), HasSubstr("prefetches"));
  EXPECT_THAT(off_core("0xff33", "nehalem"), HasSubstr("prefetches"));
  EXPECT_THAT(off_core("0x12001", "goldmont"), HasSubstr("prefetches"));
  EXPECT_THAT(off_core("0x18000", "skylake"), HasSubstr("choose among the demand requests"));
  EXPECT_THAT(off_core("0x1000400001", "skylake"), HasSubstr("none of these answers"));
}

TEST(Refusals, EachLibpfm4EventIsCountedOrRefusedWithItsReason) {
  for (const CpuModel& model : cpu_models()) {
    std::set<std::string> unexplained;
    for (const ListedEvent& event : list_events(model, Listed::all))
      if (event.refusal.find("cannot produce it") != std::string::npos ||
          event.refusal.find("never tells it") != std::string::npos ||
          event.refusal.find("has no event with") != std::string::npos)
        unexplained.insert(event.name);
    EXPECT_THAT(unexplained, testing::IsEmpty()) << model.name;
  }
}

// perf's names mean what the vendor's names of the same code mean.
TEST(GenericEvents, CountWhatTheVendorsEventOfTheSameCodeCounts) {
  for (const CpuModel& model : cpu_models())
    for (const ListedEvent& event : list_events(model, Listed::modelled)) {
      if (event.counts.empty() || (event.config & 0xFF) == 0) continue;
      const auto definition = selected_event(model, event.config, event.extra);
      ASSERT_TRUE(definition) << model.name << " " << event.name;
      perf::Attr raw;
      raw.type = static_cast<u32>(perf::EventType::raw);
      raw.config = event.config;
      raw.config1 = event.extra;
      const auto vendor = identify(model, raw);
      ASSERT_TRUE(vendor.ok()) << model.name << " " << event.name;
      if (!event.counts.starts_with("cpu/")) {
        EXPECT_EQ(vendor->definition.name, event.counts) << model.name << " " << event.name;
      } else {  // a value of an off-core register that has no name
        const auto encoded = parse_events(event.counts, model);
        ASSERT_TRUE(encoded.ok()) << event.counts;
        EXPECT_EQ(encoded->front().events.front().attr.config, event.config) << event.counts;
        EXPECT_EQ(encoded->front().events.front().attr.config1, event.extra) << event.counts;
      }
      EXPECT_TRUE(vendor->definition.rule == definition->rule) << model.name << " " << event.name;
    }
}

}  // namespace
}  // namespace pmusim::events
