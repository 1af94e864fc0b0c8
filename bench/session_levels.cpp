// SPDX-License-Identifier: MIT
// Replay at each level of core, by blocks and instruction by instruction, beside reading the trace alone.
// PMUSIM_BENCH_TRACE names a trace; else a short one of the workload `mispredict` is recorded here.
#include <benchmark/benchmark.h>

#include <cstdlib>
#include <filesystem>

#include "bench/cpu_time.h"
#include "pmusim/session/record.h"
#include "pmusim/session/stat.h"
#include "pmusim/trace/trace.h"

namespace pmusim {
namespace {

/// Known at every level, and on the counters together.
constexpr const char* events =
    "cycles,instructions,ref-cycles,branches,br_inst_retired.cond_taken,br_inst_retired.cond_ntaken,"
    "br_inst_retired.near_call,br_inst_retired.near_return";

const std::string& trace_path() {
  static const std::string path = [] {
    if (const char* const given = std::getenv("PMUSIM_BENCH_TRACE")) return std::string(given);
    std::string recorded = (std::filesystem::temp_directory_path() / "pmusim-levels.pmutrace").string();
    const auto summary = trace::record({PMUSIM_WORKLOADS "/mispredict", "4096", "4"}, {.output = recorded});
    if (!summary.ok()) std::abort();
    return recorded;
  }();
  return path;
}

/// Runs `replay`, which returns how many instructions it replayed, in each iteration; in processor time.
template <class Replay>
void measure(benchmark::State& state, Replay replay) {
  static_cast<void>(trace_path());  // recording is not what is measured
  u64 instructions = 0;
  double seconds = 0;
  for (auto _ : state) {
    const double before = cpu_ns();
    instructions += replay();
    const double passed = (cpu_ns() - before) / 1e9;
    seconds += passed;
    state.SetIterationTime(passed);
  }
  state.counters["instructions/s"] = static_cast<double>(instructions) / seconds;
}

Session open_session(CoreLevel level, Stepping stepping) {
  SessionOptions options{.model = *find_cpu_model("icelake"), .core = level, .stepping = stepping};
  return std::move(*Session::open(trace_path(), std::move(options)));
}

void read_trace(benchmark::State& state) {
  measure(state, [] {
    auto reader = std::move(*trace::Reader::open(trace_path()));
    u64 instructions = 0;
    while (const auto item = *reader.next())
      if (const auto* run = std::get_if<trace::BlockRun>(&*item))
        instructions += run->block->instructions.size();
    return instructions;
  });
}
BENCHMARK(read_trace)->Unit(benchmark::kMillisecond)->UseManualTime();

void count(benchmark::State& state, CoreLevel level, Stepping stepping) {
  measure(state, [&] {
    Session session = open_session(level, stepping);
    benchmark::DoNotOptimize(stat(session, {.events = *events::parse_events(events, session.model())}));
    return session.instructions();
  });
}

/// What BOLT and AutoFDO take.
void profile(benchmark::State& state, CoreLevel level, Stepping stepping) {
  measure(state, [&] {
    Session session = open_session(level, stepping);
    RecordOptions options{.events = *events::parse_events("cycles:upp", session.model()), .period = 100'003};
    options.branch_sample_type = perf::branch::ANY | perf::branch::USER;
    benchmark::DoNotOptimize(sample(session, options));
    return session.instructions();
  });
}

void add_rows() {
  for (const CoreLevel level :
       {CoreLevel::interval, CoreLevel::sampled, CoreLevel::memory, CoreLevel::simple, CoreLevel::flat})
    for (const Stepping stepping : {Stepping::blocks, Stepping::instructions}) {
      const std::string name =
          std::string(name_of(level)) + (stepping == Stepping::instructions ? "/exact" : "");
      benchmark::RegisterBenchmark(("count_8_events/" + name).c_str(), count, level, stepping)
          ->Unit(benchmark::kMillisecond)
          ->UseManualTime();
      benchmark::RegisterBenchmark(("branch_profile/" + name).c_str(), profile, level, stepping)
          ->Unit(benchmark::kMillisecond)
          ->UseManualTime();
    }
}
[[maybe_unused]] const bool added = (add_rows(), true);

}  // namespace
}  // namespace pmusim
