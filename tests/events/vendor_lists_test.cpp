// SPDX-License-Identifier: MIT
#include "events/vendor_lists.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>

#include "events/resolve.h"
#include "events/vendor.h"
#include "pmusim/events/parser.h"

namespace pmusim::events {
namespace {

using testing::HasSubstr;

CpuModel model_of(std::string_view name) { return find_cpu_model(name).value(); }

std::string outcome(const CpuModel& model, std::string_view name) {
  const auto groups = parse_events(name, model);
  if (!groups.ok()) return "unknown: " + groups.error().message;
  const auto event = resolve(model, groups->front().events.front().attr);
  return event.ok() ? "counted" : event.error().message;
}

/// libpfm4 spells the same with other words on Skylake, and in one word on later cores.
std::string library_word(std::string_view word) {
  constexpr std::pair<std::string_view, std::string_view> spellings[] = {
      {"DEMAND_DATA_RD", "DMND_DATA_RD"},
      {"DEMAND_RFO", "DMND_RFO"},
      {"DEMAND_CODE_RD", "DMND_CODE_RD"},
      {"L3_HIT_M", "L3_HITM"},
      {"L3_HIT_E", "L3_HITE"},
      {"L3_HIT_S", "L3_HITS"},
      {"L3_HIT_F", "L3_HITF"},
      {"SNOOP_NONE", "SNP_NONE"},
      {"SNOOP_NOT_NEEDED", "SNP_NOT_NEEDED"},
      {"SNOOP_MISS", "SNP_MISS"},
      {"SNOOP_HIT_NO_FWD", "SNP_HIT_NO_FWD"},
      {"SNOOP_HITM", "SNP_HITM"},
      {"SNOOP_NON_DRAM", "SNP_NON_DRAM"},
      {"ANY_SNOOP", "SNP_ANY"},
  };
  for (const auto& [ours, theirs] : spellings)
    if (ours == word) return std::string(theirs);
  return std::string(word);
}

std::string in_library_words(std::string_view name) {
  std::string spelled = "OFFCORE_RESPONSE_0";
  for (std::size_t dot = name.find('.'); dot != name.npos;) {
    const std::size_t next = name.find('.', dot + 1);
    spelled += ":" + library_word(name.substr(dot + 1, next - dot - 1));
    dot = next;
  }
  return spelled;
}

/// libpfm4's "any snoop" leaves out hits of split lines (bit 30), which it cannot ask for alone, and its L3
/// misses on Skylake are those of a server.
bool differs_in_library(std::string_view name) {
  return name.ends_with("ANY_SNOOP") || name.ends_with("SPL_HIT") || name.find(".L3_MISS.") != name.npos;
}

// libpfm4 has tables of its own for these, written from the manual's bits.
TEST(OffCoreNames, HaveTheValuesOfLibpfm4) {
  unsigned compared = 0;
  for (const std::string_view name : {"skylake", "icelake", "sapphirerapids", "emeraldrapids"}) {
    CpuModel model = model_of(name);
    const bool in_parts = name == "skylake";
    for (const std::string& event : vendor_lists::off_core_names(vendor_lists::list_of(model))) {
      std::string theirs = in_library_words(event);
      if (!in_parts) {  // one unit mask: the dots behind the first are part of its name
        const std::size_t colon = theirs.find(':');
        std::replace(theirs.begin() + static_cast<std::ptrdiff_t>(colon) + 1, theirs.end(), ':', '_');
        theirs.replace(colon + 1, std::string::npos, event.substr(event.find('.') + 1));
        std::replace(theirs.begin() + static_cast<std::ptrdiff_t>(colon) + 1, theirs.end(), '.', '_');
      }
      const auto library = find_vendor_event(model, theirs);
      if (!library || (in_parts && differs_in_library(event))) continue;
      ++compared;
      EXPECT_EQ(find_vendor_event(model, event)->config1, library->config1) << name << " " << event;
    }
  }
  EXPECT_GT(compared, 200u);
}

// The bits of the manual: request 15 is "other", supplier 17 none, 26 the local memory; snoops 31 to 37.
TEST(OffCoreNames, AreComposedOfRequestAndResponse) {
  const auto value = [](std::string_view model, std::string_view name) {
    return find_vendor_event(model_of(model), name).value().config1;
  };
  EXPECT_EQ(value("skylake", "OFFCORE_RESPONSE.OTHER.SUPPLIER_NONE.ANY_SNOOP"),
            bit(15) | bit(17) | bits(37, 30));
  EXPECT_EQ(value("cascadelake", "ocr.pf_l2_rfo.l3_hit_m.snoop_none"), bit(5) | bit(18) | bit(31));
  EXPECT_EQ(value("nehalem", "OFFCORE_RESPONSE.DEMAND_IFETCH.LOCAL_DRAM"), bit(2) | bit(14));
  EXPECT_EQ(value("tremont", "OCR.UC_RD.DRAM"), bit(44) | bit(26) | bit(31) | bit(32));
  EXPECT_EQ(value("lioncove", "OCR.DEMAND_DATA_RD.DRAM"), bit(0) | bits(34, 31) | bits(40, 37));
  EXPECT_EQ(value("knightslanding", "OFFCORE_RESPONSE.DEMAND_RFO.DDR_NEAR"), bit(1) | bit(23) | bit(31));
}

TEST(OffCoreNames, AreAllCountedOrRefusedWithAReason) {
  unsigned counted = 0;
  for (const CpuModel& model : cpu_models()) {
    const auto names = vendor_lists::off_core_names(vendor_lists::list_of(model));
    for (const std::string& name : names) {
      const std::string result = outcome(model, name);
      counted += result == "counted";
      EXPECT_THAT(result, testing::AnyOf("counted", HasSubstr(", but "))) << model.name << " " << name;
    }
  }
  EXPECT_GT(counted, 300u);
}

TEST(OffCoreNames, SayWhatALoneCoreCannotTell) {
  const CpuModel skylake = model_of("skylake");
  EXPECT_EQ(outcome(skylake, "OFFCORE_RESPONSE.DEMAND_DATA_RD.L3_HIT.ANY_SNOOP"), "counted");
  EXPECT_EQ(outcome(skylake, "OFFCORE_RESPONSE.DEMAND_DATA_RD.L3_MISS_LOCAL_DRAM.ANY_SNOOP"), "counted");
  EXPECT_THAT(outcome(skylake, "OFFCORE_RESPONSE.DEMAND_DATA_RD.L3_HIT_M.ANY_SNOOP"),
              HasSubstr("modified, exclusive or shared"));
  EXPECT_THAT(outcome(skylake, "OFFCORE_RESPONSE.DEMAND_DATA_RD.L4_HIT_LOCAL_L4.ANY_SNOOP"),
              HasSubstr("none of these answers"));
  EXPECT_THAT(outcome(model_of("cascadelake"), "OCR.PF_L2_RFO.ANY_RESPONSE"), HasSubstr("prefetches"));
  EXPECT_THAT(outcome(model_of("goldmont"), "OFFCORE_RESPONSE.DEMAND_RFO.OUTSTANDING"),
              HasSubstr("under way"));
}

TEST(VendorNames, AreSortedAndOfSomeList) {
  const auto names = vendor_lists::names();
  EXPECT_TRUE(std::ranges::is_sorted(names, {}, &vendor_lists::Name::name));
  for (const vendor_lists::Name& name : names) EXPECT_NE(name.lists, 0u) << name.name;
}

TEST(VendorNames, AreOneCodeOfEachList) {
  std::set<std::pair<std::string_view, u64>> seen;
  for (const vendor_lists::Name& name : vendor_lists::names())
    for (const unsigned list : set_bits(name.lists))
      EXPECT_TRUE(seen.insert({name.name, bit(list)}).second) << name.name << " of list " << list;
}

bool is_in_library(CpuModel model, std::string_view name) {
  model.events = {};
  model.family = 0;  // and no list of the vendor's
  return find_vendor_event(model, name).has_value();
}

/// The code that a list has for a name which libpfm4 lacks for it.
std::optional<u64> listed_code(vendor_lists::Lists list, std::string_view name) {
  for (const vendor_lists::Name& n : vendor_lists::names())
    if (n.name == name && (n.lists & list) != 0) return n.config;
  return std::nullopt;
}

/// The number of a fixed counter, and the code of 4_FLOPS.
const std::set<std::pair<std::string_view, std::string_view>> list_errors{
    {"bonnell", "INST_RETIRED.ANY"},
    {"skylake-x", "FP_ARITH_INST_RETIRED.8_FLOPS"},
    {"cascadelake", "FP_ARITH_INST_RETIRED.8_FLOPS"},
};

// What libpfm4 knows is compared with it (EventTables).
TEST(VendorNames, OfModelsTablesHaveTheCodesOfTheirLists) {
  unsigned compared = 0;
  for (const CpuModel& model : cpu_models())
    for (const EventDefinition& row : model.events) {
      const auto code = listed_code(vendor_lists::list_of(model), row.name);
      if (!code || is_in_library(model, row.name)) continue;
      if (list_errors.contains({model.name, row.name})) continue;
      ++compared;
      EXPECT_EQ(*code, event_select_bits(row)) << model.name << " " << row.name;
    }
  EXPECT_GT(compared, 500u);
}

// Nova Lake's list has other names, and no others for what answers beyond L2 but those of the OMR registers.
TEST(VendorNames, OfTheCoresBeforeAreNotThoseOfCoyoteCove) {
  const CpuModel coyote = model_of("coyotecove"), lion = model_of("lioncove");
  const auto has = [](const CpuModel& model, std::string_view name) {
    return std::ranges::count(model.events, name, &EventDefinition::name) != 0;
  };
  for (const char* gone : {"UOPS_DECODED.DEC0_UOPS", "MEM_LOAD_RETIRED.L3_HIT", "BR_MISP_RETIRED.INDIRECT",
                           "MEM_LOAD_L3_HIT_RETIRED.XSNP_MISS", "MEM_LOAD_L3_MISS_RETIRED.LOCAL_DRAM"}) {
    EXPECT_TRUE(has(lion, gone)) << gone;
    EXPECT_FALSE(has(coyote, gone)) << gone;
  }
  EXPECT_TRUE(has(coyote, "UOPS_DECODED.HEAVY_INST_UOPS"));
}

TEST(VendorNames, AreAllCountedOrRefusedWithAReason) {
  for (const CpuModel& model : cpu_models())
    for (const VendorEvent& event : listed_events(model)) {
      const std::string result = outcome(model, event.name);
      EXPECT_THAT(result, testing::Not(testing::AnyOf(HasSubstr("unknown"), HasSubstr("cannot produce it"),
                                                      HasSubstr("has no event with"))))
          << model.name << " " << event.name;
    }
}

}  // namespace
}  // namespace pmusim::events
