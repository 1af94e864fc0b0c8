// SPDX-License-Identifier: MIT
// What an event is said to count, held to the structure of libpfm4's tables, which are walked here once more.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <perfmon/pfmlib.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <set>

#include "events/listing.h"

namespace pmusim::events {
namespace {

/// Texts by the name of an event with its unit mask, both as libpfm4 spells them.
using Words = std::map<std::string, std::set<std::string>>;

std::string spelled(std::string name) {
  std::ranges::replace(name, '.', '_');
  return name;
}

void add_words_of(const pfm_event_info_t& event, Words& words) {
  bool has_unit_masks = false;
  for (int i = 0; i < event.nattrs; ++i) {
    pfm_event_attr_info_t attribute{};
    attribute.size = sizeof attribute;
    if (pfm_get_event_attr_info(event.idx, i, PFM_OS_NONE, &attribute) != PFM_SUCCESS) continue;
    if (attribute.type != PFM_ATTR_UMASK) continue;
    has_unit_masks = true;
    words[spelled(std::string(event.name) + "." + attribute.name)].insert(attribute.desc);
  }
  if (!has_unit_masks) words[event.name].insert(event.desc);
}

/// The words of one PMU, or of all where no name is given.
Words words_of(std::string_view name) {
  setenv("LIBPFM_ENCODE_INACTIVE", "1", 1);
  EXPECT_EQ(pfm_initialize(), PFM_SUCCESS);
  Words words;
  for (int p = PFM_PMU_NONE; p < PFM_PMU_MAX; ++p) {
    pfm_pmu_info_t pmu{};
    pmu.size = sizeof pmu;
    if (pfm_get_pmu_info(static_cast<pfm_pmu_t>(p), &pmu) != PFM_SUCCESS) continue;
    if (!name.empty() && name != pmu.name) continue;
    for (int i = pmu.first_event; i != -1; i = pfm_get_event_next(i)) {
      pfm_event_info_t event{};
      event.size = sizeof event;
      if (pfm_get_event_info(i, PFM_OS_NONE, &event) == PFM_SUCCESS) add_words_of(event, words);
    }
  }
  return words;
}

TEST(EventWords, AreThoseOfTheirOwnUnitMaskOrAbsent) {
  for (const CpuModel& model : cpu_models()) {
    const Words words = words_of(model.pfm_name);
    for (const ListedEvent& event : list_events(model, Listed::all)) {
      if (event.description.empty()) continue;
      const auto own = words.find(spelled(event.name));
      ASSERT_NE(own, words.end()) << model.name << " " << event.name << ": " << event.description;
      EXPECT_TRUE(own->second.contains(event.description)) << model.name << " " << event.name;
      EXPECT_STRCASENE(event.description.c_str(), "TBD") << model.name << " " << event.name;
    }
  }
}

std::string words_for(std::string_view model, std::string_view name) {
  const auto events = list_events(find_cpu_model(model).value(), Listed::modelled);
  const auto found = std::ranges::find(events, name, &ListedEvent::name);
  return found == events.end() ? "no such event" : found->description;
}

TEST(EventWords, AreThereWhereTheTableHasTheUnitMask) {
  EXPECT_THAT(words_for("skylake", "BR_MISP_RETIRED.ALL_BRANCHES"), testing::HasSubstr("mispredicted"));
  EXPECT_THAT(words_for("sapphirerapids", "OCR.DEMAND_RFO.L3_MISS"), testing::HasSubstr("ownership"));
  EXPECT_THAT(words_for("lioncove", "MEM_INST_RETIRED.STLB_MISS_LOADS"), testing::HasSubstr("load"));
}

TEST(EventWords, AreNotTakenFromTheFirstUnitMask) {
  EXPECT_EQ(words_for("gracemont", "BR_INST_RETIRED.COND"), "");
  EXPECT_EQ(words_for("goldencove", "MEM_TRANS_RETIRED.LOAD_LATENCY_GT_4"), "");
  EXPECT_EQ(words_for("gracemont", "DTLB_LOAD_MISSES.STLB_HIT"), "");
}

TEST(EventWords, CoverMostOfTheOlderTables) {
  for (const std::string_view name : {"nehalem", "haswell", "skylake", "icelake"}) {
    std::size_t listed = 0, described = 0;
    for (const ListedEvent& event : list_events(find_cpu_model(name).value(), Listed::modelled)) {
      if (!event.counts.empty()) continue;
      ++listed;
      described += event.description.empty() ? 0 : 1;
    }
    EXPECT_GT(described * 10, listed * 7) << name << ": " << described << " of " << listed;
  }
}

}  // namespace
}  // namespace pmusim::events
