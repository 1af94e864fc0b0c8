// SPDX-License-Identifier: MIT
// What events are to each other by their definitions (SDM vol. 3, event tables) holds on recorded programs.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "events/resolve.h"
#include "pmusim/events/parser.h"
#include "pmusim/session/stat.h"
#include "pmusim/trace/trace.h"
#include "tests/support/workload_recording.h"

namespace pmusim {
namespace {

enum class Relation : u8 { equal, at_most };

/// The sum of some events against the sum of others.
struct Identity {
  Relation relation;
  std::vector<std::string> left, right;
};

const std::vector<Identity> identities{
    {Relation::equal,
     {"MEM_LOAD_RETIRED.L1_HIT", "MEM_LOAD_RETIRED.L1_MISS", "MEM_LOAD_RETIRED.FB_HIT"},
     {"MEM_INST_RETIRED.ALL_LOADS"}},
    {Relation::equal, {"MEM_LOAD_RETIRED.L2_HIT", "MEM_LOAD_RETIRED.L2_MISS"}, {"MEM_LOAD_RETIRED.L1_MISS"}},
    {Relation::equal, {"MEM_LOAD_RETIRED.L3_HIT", "MEM_LOAD_RETIRED.L3_MISS"}, {"MEM_LOAD_RETIRED.L2_MISS"}},
    {Relation::equal,
     {"L2_RQSTS.ALL_DEMAND_DATA_RD", "L2_RQSTS.ALL_RFO", "L2_RQSTS.ALL_CODE_RD"},
     {"L2_RQSTS.ALL_DEMAND_REFERENCES"}},
    {Relation::equal,
     {"L2_RQSTS.DEMAND_DATA_RD_MISS", "L2_RQSTS.RFO_MISS", "L2_RQSTS.CODE_RD_MISS"},
     {"L2_RQSTS.ALL_DEMAND_MISS"}},
    {Relation::equal,
     {"L2_RQSTS.DEMAND_DATA_RD_HIT", "L2_RQSTS.DEMAND_DATA_RD_MISS"},
     {"L2_RQSTS.ALL_DEMAND_DATA_RD"}},
    {Relation::equal, {"L2_RQSTS.RFO_HIT", "L2_RQSTS.RFO_MISS"}, {"L2_RQSTS.ALL_RFO"}},
    {Relation::equal, {"L2_RQSTS.CODE_RD_HIT", "L2_RQSTS.CODE_RD_MISS"}, {"L2_RQSTS.ALL_CODE_RD"}},
    {Relation::equal,
     {"L2_RQSTS.LOADS", "L2_RQSTS.RFOS", "L2_RQSTS.IFETCHES", "L2_RQSTS.PREFETCHES"},
     {"L2_RQSTS.REFERENCES"}},
    {Relation::equal, {"L2_RQSTS.REFERENCES"}, {"L2_RQSTS.ALL_DEMAND_REFERENCES", "L2_RQSTS.ALL_PF"}},
    {Relation::equal, {"L2_RQSTS.MISS"}, {"L2_RQSTS.ALL_DEMAND_MISS", "L2_RQSTS.PF_MISS"}},
    {Relation::at_most, {"L2_RQSTS.MISS"}, {"L2_RQSTS.REFERENCES"}},
    {Relation::at_most, {"L2_RQSTS.PF_MISS"}, {"L2_RQSTS.ALL_PF"}},
    {Relation::equal,
     {"OFFCORE_RESPONSE.DEMAND_DATA_RD.L3_HIT.ANY_SNOOP",
      "OFFCORE_RESPONSE.DEMAND_DATA_RD.L3_MISS_LOCAL_DRAM.ANY_SNOOP"},
     {"OFFCORE_RESPONSE.DEMAND_DATA_RD.ANY_RESPONSE"}},
    {Relation::at_most, {"OFFCORE_RESPONSE.DEMAND_RFO.ANY_RESPONSE"}, {"L2_RQSTS.RFO_MISS"}},
    {Relation::equal,
     {"OCR.DEMAND_DATA_RD.L3_HIT", "OCR.DEMAND_DATA_RD.LOCAL_DRAM"},
     {"OCR.DEMAND_DATA_RD.ANY_RESPONSE"}},
    {Relation::equal,
     {"BR_INST_RETIRED.COND_TAKEN", "BR_INST_RETIRED.COND_NTAKEN"},
     {"BR_INST_RETIRED.COND"}},
    {Relation::at_most, {"BR_MISP_RETIRED.ALL_BRANCHES"}, {"BR_INST_RETIRED.ALL_BRANCHES"}},
    {Relation::at_most, {"UOPS_EXECUTED.CYCLES_GE_2"}, {"UOPS_EXECUTED.CYCLES_GE_1"}},
    {Relation::at_most, {"UOPS_EXECUTED.CYCLES_GE_3"}, {"UOPS_EXECUTED.CYCLES_GE_2"}},
    {Relation::at_most, {"CYCLE_ACTIVITY.STALLS_L3_MISS"}, {"CYCLE_ACTIVITY.STALLS_L2_MISS"}},
    {Relation::at_most, {"CYCLE_ACTIVITY.STALLS_L2_MISS"}, {"CYCLE_ACTIVITY.STALLS_L1D_MISS"}},
    {Relation::at_most, {"CYCLE_ACTIVITY.STALLS_L1D_MISS"}, {"CYCLE_ACTIVITY.STALLS_MEM_ANY"}},
    {Relation::at_most, {"CYCLE_ACTIVITY.STALLS_MEM_ANY"}, {"CYCLE_ACTIVITY.STALLS_TOTAL"}},
    {Relation::at_most, {"CYCLE_ACTIVITY.CYCLES_L2_MISS"}, {"CYCLE_ACTIVITY.CYCLES_L1D_MISS"}},
    {Relation::at_most, {"CYCLE_ACTIVITY.CYCLES_L1D_MISS"}, {"CYCLE_ACTIVITY.CYCLES_MEM_ANY"}},
    {Relation::at_most, {"CYCLE_ACTIVITY.STALLS_MEM_ANY"}, {"CYCLE_ACTIVITY.CYCLES_MEM_ANY"}},
    {Relation::at_most, {"CYCLE_ACTIVITY.STALLS_L1D_MISS"}, {"CYCLE_ACTIVITY.CYCLES_L1D_MISS"}},
    {Relation::at_most, {"CYCLE_ACTIVITY.STALLS_L2_MISS"}, {"CYCLE_ACTIVITY.CYCLES_L2_MISS"}},
    {Relation::at_most, {"CYCLE_ACTIVITY.STALLS_L3_MISS"}, {"CYCLE_ACTIVITY.CYCLES_L3_MISS"}},
    {Relation::at_most, {"CYCLE_ACTIVITY.STALLS_L1D_PENDING"}, {"CYCLE_ACTIVITY.CYCLES_L1D_PENDING"}},
    {Relation::at_most, {"CYCLE_ACTIVITY.STALLS_L2_PENDING"}, {"CYCLE_ACTIVITY.CYCLES_L2_PENDING"}},
    {Relation::at_most, {"CYCLE_ACTIVITY.STALLS_LDM_PENDING"}, {"CYCLE_ACTIVITY.CYCLES_LDM_PENDING"}},
    {Relation::at_most, {"MEMORY_ACTIVITY.STALLS_L1D_MISS"}, {"MEMORY_ACTIVITY.CYCLES_L1D_MISS"}},
    {Relation::at_most, {"MEMORY_ACTIVITY.STALLS_L2_MISS"}, {"CYCLE_ACTIVITY.CYCLES_L2_MISS"}},
    {Relation::equal, {"CYCLE_ACTIVITY.STALLS_TOTAL"}, {"UOPS_EXECUTED.STALL_CYCLES"}},
    {Relation::equal, {"CYCLE_ACTIVITY.STALLS_TOTAL"}, {"UOPS_EXECUTED.STALLS"}},
    {Relation::equal,
     {"EXE_ACTIVITY.EXE_BOUND_0_PORTS", "RS_EVENTS.EMPTY_CYCLES"},
     {"CYCLE_ACTIVITY.STALLS_TOTAL"}},
    {Relation::equal, {"EXE_ACTIVITY.EXE_BOUND_0_PORTS", "RS.EMPTY"}, {"CYCLE_ACTIVITY.STALLS_TOTAL"}},
    {Relation::at_most, {"RS_EVENTS.EMPTY_END"}, {"RS_EVENTS.EMPTY_CYCLES"}},
    {Relation::equal,
     {"EXE_ACTIVITY.2_PORTS_UTIL", "EXE_ACTIVITY.3_PORTS_UTIL"},
     {"EXE_ACTIVITY.2_3_PORTS_UTIL"}},
    {Relation::at_most, {"UOPS_EXECUTED.X87"}, {"UOPS_EXECUTED.THREAD"}},
    {Relation::at_most,
     {"OFFCORE_REQUESTS_OUTSTANDING.DEMAND_DATA_RD_GE_6"},
     {"OFFCORE_REQUESTS_OUTSTANDING.CYCLES_WITH_DEMAND_DATA_RD"}},
    {Relation::at_most,
     {"INT_MISC.CLEAR_RESTEER_CYCLES"},
     {"IDQ_UOPS_NOT_DELIVERED.CYCLES_0_UOPS_DELIV.CORE"}},
    {Relation::at_most, {"IDQ.DSB_CYCLES_OK"}, {"IDQ.DSB_CYCLES_ANY"}},
    {Relation::at_most, {"TOPDOWN_FE_BOUND.FRONTEND_LATENCY"}, {"TOPDOWN_FE_BOUND.ALL"}},
    {Relation::equal,
     {"TOPDOWN_FE_BOUND.FRONTEND_LATENCY", "TOPDOWN_FE_BOUND.FRONTEND_BANDWIDTH"},
     {"TOPDOWN_FE_BOUND.ALL"}},
    {Relation::equal,
     {"MEM_BOUND_STALLS.LOAD_L2_HIT", "MEM_BOUND_STALLS.LOAD_LLC_HIT", "MEM_BOUND_STALLS.LOAD_DRAM_HIT"},
     {"MEM_BOUND_STALLS.LOAD"}},
    {Relation::equal,
     {"MEM_BOUND_STALLS_LOAD.L2_HIT", "MEM_BOUND_STALLS_LOAD.L2_MISS"},
     {"MEM_BOUND_STALLS_LOAD.ALL"}},
    {Relation::equal,
     {"MEM_BOUND_STALLS_LOAD.LLC_HIT", "MEM_BOUND_STALLS_LOAD.LLC_MISS"},
     {"MEM_BOUND_STALLS_LOAD.L2_MISS"}},
    {Relation::equal, {"LD_HEAD.L1_MISS_AT_RET", "LD_HEAD.L1_BOUND_AT_RET"}, {"LD_HEAD.ANY_AT_RET"}},
    {Relation::equal, {"LD_HEAD.L1_MISS_AT_RET"}, {"MEM_BOUND_STALLS_LOAD.ALL"}},
    {Relation::equal, {"LD_HEAD.L1_MISS_AT_RET"}, {"MEM_BOUND_STALLS.LOAD"}},
    {Relation::equal, {"TOPDOWN_BAD_SPECULATION.NUKE"}, {"TOPDOWN_BAD_SPECULATION.MACHINE_CLEARS"}},
    {Relation::equal,
     {"TOPDOWN_BAD_SPECULATION.MISPREDICT", "TOPDOWN_BAD_SPECULATION.MACHINE_CLEARS"},
     {"TOPDOWN_BAD_SPECULATION.ALL"}},
    {Relation::equal, {"L2_REQUEST.HIT", "L2_REQUEST.MISS"}, {"L2_REQUEST.ALL"}},
    {Relation::equal,
     {"BR_INST_RETIRED.COND_TAKEN", "BR_INST_RETIRED.REL_JMP", "BR_INST_RETIRED.INDIRECT_JMP",
      "BR_INST_RETIRED.NEAR_CALL", "BR_INST_RETIRED.NEAR_RETURN", "BR_INST_RETIRED.FAR_BRANCH"},
     {"BR_INST_RETIRED.TAKEN"}},
    {Relation::equal,
     {"BR_INST_RETIRED.NEAR_TAKEN", "BR_INST_RETIRED.FAR_BRANCH"},
     {"BR_INST_RETIRED.TAKEN"}},
    {Relation::equal,
     {"BR_MISP_RETIRED.COND_TAKEN", "BR_MISP_RETIRED.COND_NTAKEN"},
     {"BR_MISP_RETIRED.COND"}},
    {Relation::equal,
     {"BR_MISP_RETIRED.INDIRECT_CALL", "BR_MISP_RETIRED.INDIRECT_JMP"},
     {"BR_MISP_RETIRED.INDIRECT"}},
    {Relation::equal,
     {"BR_MISP_RETIRED.COND_TAKEN", "BR_MISP_RETIRED.INDIRECT", "BR_MISP_RETIRED.RET"},
     {"BR_MISP_RETIRED.NEAR_TAKEN"}},
    {Relation::at_most, {"BACLEARS.COND", "BACLEARS.UNCOND"}, {"BACLEARS.ANY"}},
    {Relation::at_most, {"ARITH.FP_DIVIDER_ACTIVE"}, {"ARITH.DIVIDER_ACTIVE"}},
    {Relation::at_most, {"ARITH.IDIV_ACTIVE"}, {"ARITH.DIV_ACTIVE"}},
    {Relation::at_most, {"MEM_BOUND_STALLS_LOAD.LLC_MISS"}, {"MEM_BOUND_STALLS_LOAD.L2_MISS"}},
    {Relation::at_most, {"MEM_BOUND_STALLS_LOAD.L2_MISS"}, {"MEM_BOUND_STALLS_LOAD.ALL"}},
};

bool counts_all(const CpuModel& model, const Identity& identity) {
  for (const auto* side : {&identity.left, &identity.right})
    for (const std::string& name : *side) {
      const auto groups = events::parse_events(name, model);
      if (!groups.ok() || !events::resolve(model, groups->front().events.front().attr).ok()) return false;
    }
  return true;
}

std::string joined(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ",") + name;
  return text;
}

/// Checks what the model counts of the identities, and returns how many that were.
unsigned check(const CpuModel& model, const std::string& trace) {
  std::vector<const Identity*> counted;
  std::string list;
  for (const Identity& identity : identities)
    if (counts_all(model, identity)) {
      counted.push_back(&identity);
      list += (list.empty() ? "" : ",") + joined(identity.left) + "," + joined(identity.right);
    }
  auto session = Session::open(trace, {.model = model}).value();
  const StatReport report = stat(session, {.events = events::parse_events(list, model).value()}).value();
  std::size_t next = 0;
  const auto sum = [&](const std::vector<std::string>& names) {
    u64 total = 0;
    for (std::size_t n = 0; n < names.size(); ++n) total += report.events[next++].value();
    return total;
  };
  for (const Identity* const identity : counted) {
    const u64 left = sum(identity->left), right = sum(identity->right);
    const std::string where =
        fmt::format("{}: {} and {}", model.name, joined(identity->left), joined(identity->right));
    if (identity->relation == Relation::equal) {
      EXPECT_EQ(left, right) << where;
    } else {
      EXPECT_LE(left, right) << where;
    }
  }
  return static_cast<unsigned>(counted.size());
}

TEST(EventIdentities, HoldOnRecordedPrograms) {
  const std::vector<std::vector<std::string>> programs{
      {"branches", "300"}, {"events"}, {"mispredict", "512", "2"}};
  for (const auto& program : programs) {
    const WorkloadRecording recording(program, {.start_symbol = "main"});
    for (const char* model :
         {"nehalem", "haswell", "skylake", "cascadelake", "icelake", "sapphirerapids", "lioncove",
          "cougarcove", "tremont", "gracemont", "crestmont", "skymont", "darkmont"})
      EXPECT_GE(check(find_cpu_model(model).value(), recording.path()), 1u) << program.front() << model;
  }
}

}  // namespace
}  // namespace pmusim
