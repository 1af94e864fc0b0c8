// SPDX-License-Identifier: MIT
#include "events/resolve.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "events/vendor.h"
#include "pmusim/cpu/retirement.h"
#include "pmusim/events/parser.h"

namespace pmusim::events {
namespace {

using testing::HasSubstr;

perf::Attr attr_of(std::string_view event, const CpuModel& model) {
  return parse_events(event, model).value().front().events.front().attr;
}

Result<ResolvedEvent, Error> resolve_text(std::string_view event, std::string_view model_name,
                                          DataAddresses addresses = DataAddresses::recorded) {
  const CpuModel model = find_cpu_model(model_name).value();
  return resolve(model, attr_of(event, model), {.addresses = addresses});
}

std::string name_of(std::string_view event, std::string_view model) {
  const auto resolved = resolve_text(event, model);
  return resolved.ok() ? std::string(resolved->definition.name) : resolved.error().message;
}

TEST(Resolve, NamesWhatAGenericEventCountsOnThePart) {
  EXPECT_EQ(name_of("cycles", "icelake"), "CPU_CLK_UNHALTED.THREAD_P");
  EXPECT_EQ(name_of("ref-cycles", "icelake"), "CPU_CLK_UNHALTED.REF_TSC");
  EXPECT_EQ(name_of("ref-cycles", "goldencove"), "CPU_CLK_UNHALTED.REF_TSC_P");
  EXPECT_EQ(name_of("branch-misses", "nehalem"), "BR_MISP_EXEC.ANY") << "erratum AAJ80";
  EXPECT_EQ(name_of("L1-dcache-load-misses", "skylake"), "L1D.REPLACEMENT");
  EXPECT_EQ(name_of("LLC-load-misses", "sapphirerapids"), "OCR.DEMAND_DATA_RD.L3_MISS");
}

TEST(Resolve, FindsTheNameThatGoesWithTheModifierBits) {
  EXPECT_EQ(name_of("cpu/event=0xc2,umask=2,cmask=1,inv/", "icelake"), "UOPS_RETIRED.STALL_CYCLES");
  EXPECT_EQ(name_of("cpu/event=0xc2,umask=2/", "icelake"), "UOPS_RETIRED.SLOTS");
  EXPECT_EQ(name_of("cpu/event=0xc2,umask=2,cmask=3/", "icelake"), "UOPS_RETIRED.SLOTS");
  EXPECT_EQ(name_of("FRONTEND_RETIRED.L2_MISS", "skylake"), "FRONTEND_RETIRED.L2_MISS");
  EXPECT_EQ(name_of("cpu/mem-loads,ldlat=50/", "icelake"), "MEM_TRANS_RETIRED.LOAD_LATENCY");
}

TEST(Resolve, KnowsTheMetricsWhereThePartHasThem) {
  EXPECT_EQ(name_of("topdown-fe-bound", "icelake"), "PERF_METRICS.FRONTEND_BOUND");
  EXPECT_EQ(name_of("topdown-mem-bound", "sapphirerapids"), "PERF_METRICS.MEMORY_BOUND");
  EXPECT_THAT(name_of("r8700", "icelake"), HasSubstr("no event with event 0x00 and umask 0x87"));
  EXPECT_EQ(name_of("topdown-bad-spec", "skymont"), "TOPDOWN_BAD_SPECULATION.ALL_P");
}

TEST(Resolve, RefusesAnEventThatThePartHasButTheCoreCannotProduce) {
  EXPECT_EQ(
      name_of("L2_LINES_OUT.SILENT", "icelake"),
      "L2_LINES_OUT.SILENT exists on Ice Lake, but caches do not tell which lines are modified, exclusive or "
      "shared, and nothing is written back");
  EXPECT_EQ(
      name_of("r01f2", "icelake"),
      "L2_LINES_OUT.SILENT exists on Ice Lake, but caches do not tell which lines are modified, exclusive or "
      "shared, and nothing is written back");
}

TEST(Resolve, RefusesEventsThatNeedTheProgramsOwnCode) {
  const CpuModel model = find_cpu_model("icelake").value();
  const auto resolved = [&](std::string_view event) {
    return resolve(model, attr_of(event, model), {.code = TracedCode::stand_in});
  };
  for (const std::string_view known : {"instructions", "cycles", "branch-misses", "MEM_LOAD_RETIRED.L1_MISS"})
    EXPECT_TRUE(resolved(known).ok()) << known;
  for (const std::string_view unknown :
       {"MEM_INST_RETIRED.LOCK_LOADS", "BR_INST_RETIRED.FAR_BRANCH", "UOPS_RETIRED.SLOTS"}) {
    ASSERT_FALSE(resolved(unknown).ok()) << unknown;
    EXPECT_THAT(resolved(unknown).error().message, HasSubstr("needs the program's own code"));
  }
}

TEST(Resolve, RefusesEventsThatRecordedTimeLacks) {
  const CpuModel model = find_cpu_model("icelake").value();
  const auto resolved = [&](std::string_view event) {
    return resolve(model, attr_of(event, model), {.time = TimeSource::recorded});
  };
  for (const std::string_view known :
       {"instructions", "cycles", "ref-cycles", "slots", "branch-misses", "UOPS_RETIRED.SLOTS"})
    EXPECT_TRUE(resolved(known).ok()) << known;
  for (const std::string_view unknown :
       {"topdown-fe-bound", "CYCLE_ACTIVITY.STALLS_TOTAL", "INT_MISC.RECOVERY_CYCLES",
        "UOPS_RETIRED.STALL_CYCLES", "FRONTEND_RETIRED.LATENCY_GE_8", "cpu/event=0xc0,cmask=2/"}) {
    ASSERT_FALSE(resolved(unknown).ok()) << unknown;
    EXPECT_THAT(resolved(unknown).error().message, HasSubstr("needs to know what each cycle was lost to"));
  }
}

TEST(Resolve, RefusesWhatNobodyKnows) {
  EXPECT_EQ(name_of("r77fe", "icelake"),
            "the core model has no event with event 0xfe and umask 0x77 on Ice Lake");
  EXPECT_EQ(name_of("stalled-cycles-backend", "haswell"),
            "Haswell has no event for 'stalled-cycles-backend'");
  EXPECT_EQ(name_of("LLC-prefetches", "icelake"), "Ice Lake has no event for 'LLC-prefetches'");
  EXPECT_FALSE(resolve_text("task-clock", "icelake").ok());
}

TEST(Resolve, RefusesMemoryEventsOnATraceWithoutAddresses) {
  EXPECT_THAT(resolve_text("MEM_LOAD_RETIRED.L1_MISS", "icelake", DataAddresses::missing).error().message,
              HasSubstr("needs the addresses of data accesses"));
  EXPECT_THAT(resolve_text("cache-misses", "icelake", DataAddresses::missing).error().message,
              HasSubstr("needs the addresses of data accesses"));
  EXPECT_TRUE(resolve_text("MEM_INST_RETIRED.ALL_LOADS", "icelake", DataAddresses::missing).ok());
  EXPECT_TRUE(resolve_text("branch-misses", "icelake", DataAddresses::missing).ok());
}

TEST(Resolve, EveryRowOfEveryModelResolvesToItself) {
  for (const CpuModel& model : cpu_models()) {
    for (const EventDefinition& row : model.events) {
      const auto resolved = identify(model, attr_of(row.name, model));
      if (row.event == 0 && (model.fixed_counters & bit(row.umask - 1u)) == 0) continue;
      ASSERT_TRUE(resolved.ok()) << model.name << " " << row.name << ": " << resolved.error().message;
      EXPECT_TRUE(resolved->definition.rule == row.rule) << model.name << " " << row.name;
    }
  }
}

TEST(Resolve, NamesOfFixedCountersAreThoseOfTheGeneralEvents) {  // perf's jevents.py; constraint tables
  const auto config = [](std::string_view name, std::string_view model_name) {
    return attr_of(name, find_cpu_model(model_name).value()).config;
  };
  for (const std::string_view model : {"core2", "skylake", "icelake", "lioncove", "silvermont", "skymont"})
    EXPECT_EQ(config("INST_RETIRED.ANY", model), 0xC0u) << model;
  for (const std::string_view model : {"core2", "skylake", "icelake", "lioncove"})
    EXPECT_EQ(config("CPU_CLK_UNHALTED.THREAD", model), 0x3Cu) << model;
  for (const std::string_view model : {"goldmont", "gracemont", "skymont"})
    EXPECT_EQ(config("CPU_CLK_UNHALTED.CORE", model), 0x3Cu) << model;
  EXPECT_EQ(config("CPU_CLK_UNHALTED.REF_TSC", "skylake"), 0x0300u);
  EXPECT_EQ(config("INST_RETIRED.PREC_DIST", "icelake"), 0x0100u);
  EXPECT_EQ(config("TOPDOWN.SLOTS", "icelake"), 0x0400u);
  EXPECT_EQ(config("TOPDOWN_BAD_SPECULATION.ALL", "skymont"), 0x0073u);
  EXPECT_EQ(config("TOPDOWN_FE_BOUND.ALL", "darkmont"), 0x019Cu);
  EXPECT_EQ(config("TOPDOWN_RETIRING.ALL", "arcticwolf"), 0x02C2u);
}

TEST(Resolve, RefusesEventZeroWhereNoFixedCounterTakesIt) {
  EXPECT_EQ(name_of("r0100", "icelake"), "INST_RETIRED.PREC_DIST");
  EXPECT_THAT(name_of("r0100", "skylake"), HasSubstr("stands for no fixed counter of Skylake"));
  EXPECT_THAT(name_of("r0200", "icelake"), HasSubstr("stands for no fixed counter of Ice Lake"));
  EXPECT_THAT(name_of("r0500", "skymont"), HasSubstr("stands for no fixed counter of"));
}

TEST(Resolve, CountsWithinTransactionsWhereTheCoreHasThem) {
  for (const std::string_view event : {"cycles-t", "cycles-ct", "cpu/event=0xc0,in_tx=1/"})
    EXPECT_TRUE(resolve_text(event, "haswell").ok()) << event;
  const CpuModel haswell = find_cpu_model("haswell").value();
  EXPECT_THAT(resolve(haswell, attr_of("cycles-t", haswell), {.core = CoreLevel::simple}).error().message,
              HasSubstr("more than core 'simple' knows"));
}

TEST(Resolve, KnowsTheCompanionOfLoadLatencyAsTheEventThatItIs) {
  EXPECT_EQ(name_of("mem-loads-aux", "sapphirerapids"), "LD_BLOCKS.STORE_FORWARD");
}

TEST(Resolve, RefusesWhatACoreHasNoMechanismFor) {
  EXPECT_EQ(name_of("MACHINE_CLEARS.MEMORY_ORDERING", "skylake"), "MACHINE_CLEARS.MEMORY_ORDERING");
  EXPECT_THAT(name_of("MACHINE_CLEARS.MEMORY_ORDERING", "silvermont"),
              HasSubstr("loads of this core pass no store that they could need"));
}

TEST(Resolve, EveryGenericEventIsCountedOrRefusedWithASentence) {
  for (const CpuModel& model : cpu_models()) {
    perf::Attr attr;
    for (attr.config = 0; attr.config < 12; ++attr.config) {
      const auto resolved = resolve(model, attr);
      EXPECT_TRUE(resolved.ok() || !resolved.error().message.empty()) << model.name << " " << attr.config;
    }
    attr.type = 3;
    for (const u64 cache : {0, 1, 2, 3, 4, 5, 6, 7})
      for (const u64 operation_and_result : {0x0, 0x1, 0x2, 0x3, 0x100, 0x101, 0x102, 0x200}) {
        attr.config = cache | operation_and_result << 8;
        const auto resolved = resolve(model, attr);
        EXPECT_TRUE(resolved.ok() || !resolved.error().message.empty()) << model.name << " " << attr.config;
      }
  }
}

TEST(CoreLevels, RefuseWhatTheyDoNotKnowAndSayWhichLevelDoes) {
  const CpuModel model = find_cpu_model("icelake").value();
  const auto answer = [&](std::string_view event, CoreLevel core) {
    const auto resolved = resolve(model, attr_of(event, model), {.core = core});
    return resolved.ok() ? std::string("counted") : resolved.error().message;
  };
  for (const char* event : {"cycles", "instructions", "ref-cycles", "branches", "BR_INST_RETIRED.NEAR_CALL",
                            "MEM_INST_RETIRED.ALL_LOADS", "FP_ARITH_INST_RETIRED.SCALAR_DOUBLE", "r01c0"})
    for (const CoreLevel core : {CoreLevel::flat, CoreLevel::simple, CoreLevel::memory, CoreLevel::interval})
      EXPECT_EQ(answer(event, core), "counted") << event;
  EXPECT_EQ(answer("branch-misses", CoreLevel::flat),
            "BR_MISP_RETIRED.ALL_BRANCHES is more than core 'flat' knows: core 'simple' counts it");
  EXPECT_EQ(answer("branch-misses", CoreLevel::simple), "counted");
  for (const char* event : {"L1-dcache-load-misses", "MEM_LOAD_RETIRED.L1_HIT", "L2_RQSTS.REFERENCES",
                            "FRONTEND_RETIRED.L2_MISS", "iTLB-load-misses", "LONGEST_LAT_CACHE.MISS"}) {
    for (const CoreLevel core : {CoreLevel::flat, CoreLevel::simple})
      EXPECT_THAT(answer(event, core), HasSubstr("core 'memory' counts it")) << event;
    EXPECT_EQ(answer(event, CoreLevel::memory), "counted") << event;
  }
  for (const char* event :
       {"slots", "topdown-fe-bound", "UOPS_RETIRED.SLOTS", "CYCLE_ACTIVITY.STALLS_TOTAL", "IDQ.MITE_UOPS",
        "INT_MISC.RECOVERY_CYCLES", "cpu/instructions,cmask=2/", "mem-loads", "FRONTEND_RETIRED.DSB_MISS",
        "L1D_PEND_MISS.PENDING", "DTLB_LOAD_MISSES.WALK_PENDING", "LD_BLOCKS.STORE_FORWARD",
        "MACHINE_CLEARS.COUNT"})
    for (const CoreLevel core : {CoreLevel::flat, CoreLevel::simple, CoreLevel::memory}) {
      EXPECT_THAT(answer(event, core), HasSubstr("core 'interval' counts it")) << event;
      EXPECT_EQ(answer(event, CoreLevel::interval), "counted") << event;
    }
}

// What decoding tells, and how a branch went: all that the retirements of a flat core have.
TEST(CoreLevels, FlatCountsOnlyWhatTheInstructionsSay) {
  SignalSet said = branch_signals(BranchKind::none);
  for (unsigned kind = 1; kind <= static_cast<unsigned>(BranchKind::tsx_abort); ++kind)
    for (const bool taken : {false, true})
      said = said | branch_signals(static_cast<BranchKind>(kind)) |
             outcome_signals(static_cast<BranchKind>(kind), {.taken = taken});
  for (auto signal = static_cast<unsigned>(Signal::instruction);
       signal <= static_cast<unsigned>(Signal::rep_string); ++signal)
    said.add(static_cast<Signal>(signal));
  for (auto signal = static_cast<unsigned>(Signal::fp_scalar_half);
       signal <= static_cast<unsigned>(Signal::prefetch_write); ++signal)
    said.add(static_cast<Signal>(signal));
  for (const Signal signal : {Signal::microcoded, Signal::load, Signal::store, Signal::pause,
                              Signal::tx_start, Signal::tx_commit, Signal::lbr_insert})
    said.add(signal);
  unsigned counted = 0;
  for (const CpuModel& model : cpu_models())
    for (const EventDefinition& event : model.events) {
      const perf::Attr attr{.type = static_cast<u32>(perf::EventType::raw),
                            .config = event_select_bits(event),
                            .config1 = event.extra};
      const auto resolved = resolve(model, attr, {.core = CoreLevel::flat});
      if (!resolved.ok() || resolved->definition.rule.quantity != Quantity::none) continue;
      const EventRule& rule = resolved->definition.rule;
      EXPECT_TRUE(said.contains(rule.all | rule.any | rule.none)) << model.name << ' ' << event.name;
      ++counted;
    }
  EXPECT_GT(counted, 10 * cpu_models().size());
}

}  // namespace
}  // namespace pmusim::events
