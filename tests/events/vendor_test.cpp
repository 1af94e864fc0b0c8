// SPDX-License-Identifier: MIT
#include "events/vendor.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <set>
#include <utility>

namespace pmusim::events {
namespace {

/// What libpfm4 4.13 encodes otherwise than the vendor does, by its PMU name.
const std::set<std::pair<std::string_view, std::string_view>> library_errors{
    // Topdown events on event 00, where no general-purpose counter counts (SDM vol. 3: architectural event
    // 8).
    {"icl", "TOPDOWN.BACKEND_BOUND_SLOTS"},
    {"icl", "TOPDOWN.BR_MISPREDICT_SLOTS"},
    {"icx", "TOPDOWN.BACKEND_BOUND_SLOTS"},
    {"icx", "TOPDOWN.BR_MISPREDICT_SLOTS"},
    {"spr", "TOPDOWN.BACKEND_BOUND_SLOTS"},
    {"spr", "TOPDOWN.BAD_SPEC_SLOTS"},
    {"spr", "TOPDOWN.BR_MISPREDICT_SLOTS"},
    {"spr", "TOPDOWN.MEMORY_BOUND_SLOTS"},
    // Fixed counters as event 00 or as the precise event, where perf has C0.00 and 3C.00 (jevents.py).
    {"icl", "INST_RETIRED.ANY"},
    {"icx", "INST_RETIRED.ANY"},
    {"spr", "INST_RETIRED.ANY"},
    {"wsm", "INST_RETIRED.ANY"},
    {"spr", "CPU_CLK_UNHALTED.THREAD"},
    {"glm", "CPU_CLK_UNHALTED.CORE"},
    // Clocks on event 00 (SDM vol. 3: fixed counters; architectural event 2 is 3C.01).
    {"knl", "UNHALTED_REFERENCE_CYCLES"},
    {"glm", "CPU_CLK_UNHALTED.CORE_P"},
    {"glm", "CPU_CLK_UNHALTED.REF"},
    // CD.02 (Intel's event lists); libpfm4 has umask 03.
    {"spr", "MEM_TRANS_RETIRED.STORE_SAMPLE"},
    // AD.40 and C2.04 with 7 and 8 in MSR_PEBS_FRONTEND (Intel's event lists, intel_glc_extra_regs), which
    // libpfm4 takes for their umasks.
    {"spr", "INT_MISC.UNKNOWN_BRANCH_CYCLES"},
    {"spr", "UOPS_RETIRED.MS"},
    // "All branches" without PEBS is umask 0 on Sandy Bridge too.
    {"snb", "BR_INST_RETIRED.ALL_BRANCHES"},
    {"snb", "BR_MISP_RETIRED.ALL_BRANCHES"},
    {"snb", "BRANCH_INSTRUCTIONS_RETIRED"},
    {"snb", "MISPREDICTED_BRANCH_RETIRED"},
};

/// Models newer than their libpfm4 table, which is the nearest one: FRONTEND_RETIRED has another umask there.
bool is_newer_than_library(const CpuModel& model, const EventDefinition& row) {
  return model.microarchitecture() == Microarchitecture::redwood_cove &&
         row.name.starts_with("FRONTEND_RETIRED");
}

/// Off-core responses name the suppliers that a product has: the same name has other values on a server. Only
/// their event select is compared.
bool is_off_core(const EventDefinition& row) { return row.name.starts_with("OCR"); }

std::optional<VendorEvent> find_in_library(CpuModel model, std::string_view name) {
  model.events = {};
  model.family = 0;  // and no list of the vendor's
  return find_vendor_event(model, name);
}

TEST(EventTables, AgreeWithLibpfm4WhereverItKnowsTheEvent) {
  for (const CpuModel& model : cpu_models()) {
    unsigned known = 0;
    for (const EventDefinition& row : model.events) {
      const auto library = find_in_library(model, row.name);
      if (!library || library_errors.contains({model.pfm_name, row.name})) continue;
      if (is_newer_than_library(model, row)) continue;
      ++known;
      EXPECT_EQ(library->config, event_select_bits(row)) << model.name << " " << row.name;
      if (row.extra != 0 && !is_off_core(row)) {
        EXPECT_EQ(library->config1, row.extra) << model.name << " " << row.name;
      }
    }
    EXPECT_TRUE(library_events(model).empty() || known >= 8u) << model.name;
  }
}

TEST(EventTables, HaveSixtyEventsPerModelFromPerfmonVersion4On) {
  for (const CpuModel& model : cpu_models()) {
    const bool newer = model.vendor == Vendor::amd || model.perfmon_version >= 4;
    std::set<std::string_view> names;
    for (const EventDefinition& row : model.events) names.insert(row.name);
    EXPECT_EQ(names.size(), model.events.size()) << model.name << " names an event twice";
    EXPECT_GE(names.size(), newer ? 60u : 9u) << model.name;
  }
}

TEST(EventTables, GiveRowsOfOneEventSelectOneRule) {
  for (const CpuModel& model : cpu_models()) {
    std::map<std::tuple<u8, u16, u64>, const EventDefinition*> first;
    for (const EventDefinition& row : model.events) {
      const auto& earlier = *first.try_emplace({row.event, row.umask, row.extra}, &row).first->second;
      EXPECT_TRUE(earlier.rule == row.rule) << model.name << " " << row.name << " and " << earlier.name;
    }
  }
}

}  // namespace
}  // namespace pmusim::events
