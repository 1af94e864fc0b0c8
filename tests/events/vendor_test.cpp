#include "pmusim/events/vendor.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <set>

namespace pmusim::events {
namespace {

/// Rows that libpfm4 4.13 gets wrong: it puts these two on event 00, where no general-purpose counter counts
/// (reference: architectural event 8; events of counter 0).
const std::set<std::string_view> library_errors{"TOPDOWN.BACKEND_BOUND_SLOTS", "TOPDOWN.BR_MISPREDICT_SLOTS"};

/// Off-core responses name the suppliers that a product has: the same name has other values on a server. Only
/// their event select is compared.
bool is_off_core(const EventDefinition& row) { return row.name.starts_with("OCR"); }

std::optional<VendorEvent> find_in_library(CpuModel model, std::string_view name) {
  model.events = {};
  return find_vendor_event(model, name);
}

TEST(EventTables, AgreeWithLibpfm4WhereverItKnowsTheEvent) {
  for (const CpuModel& model : cpu_models()) {
    unsigned known = 0;
    for (const EventDefinition& row : model.events) {
      const auto library = find_in_library(model, row.name);
      if (!library || library_errors.contains(row.name)) continue;
      ++known;
      EXPECT_EQ(library->config, event_select_bits(row)) << model.name << " " << row.name;
      if (row.extra != 0 && !is_off_core(row)) {
        EXPECT_EQ(library->config1, row.extra) << model.name << " " << row.name;
      }
    }
    EXPECT_TRUE(library_events(model).empty() || known >= 20u) << model.name;
  }
}

TEST(EventTables, HaveSixtyEventsPerModelFromSkylakeOn) {
  for (const CpuModel& model : cpu_models()) {
    const bool newer = model.microarchitecture() >= Microarchitecture::skylake;
    std::set<std::string_view> names;
    for (const EventDefinition& row : model.events) names.insert(row.name);
    EXPECT_EQ(names.size(), model.events.size()) << model.name << " names an event twice";
    EXPECT_GE(names.size(), newer ? 60u : 20u) << model.name;
  }
}

TEST(EventTables, GiveRowsOfOneEventSelectOneRule) {
  for (const CpuModel& model : cpu_models()) {
    std::map<std::tuple<u8, u8, u64>, const EventDefinition*> first;
    for (const EventDefinition& row : model.events) {
      const auto& earlier = *first.try_emplace({row.event, row.umask, row.extra}, &row).first->second;
      EXPECT_TRUE(earlier.rule == row.rule) << model.name << " " << row.name << " and " << earlier.name;
    }
  }
}

}  // namespace
}  // namespace pmusim::events
