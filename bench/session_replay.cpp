// SPDX-License-Identifier: MIT
// Replay speed of the whole pipeline, and what a recorded instruction takes on disk. The trace is recorded
// here, from the program that the build compiled: PMUSIM_BENCH_TRACE names another one.
#include <benchmark/benchmark.h>

#include <cstdlib>
#include <filesystem>

#include "pmusim/session/record.h"
#include "pmusim/session/stat.h"
#include "pmusim/trace/trace.h"

namespace pmusim {
namespace {

std::string trace_path() {
  if (const char* const given = std::getenv("PMUSIM_BENCH_TRACE")) return given;
  static const std::string recorded = [] {
    std::string path = (std::filesystem::temp_directory_path() / "pmusim-bench.pmutrace").string();
    const auto summary = trace::record({PMUSIM_WORKLOADS "/mispredict", "4096", "4"}, {.output = path});
    if (!summary.ok()) std::abort();
    return path;
  }();
  return recorded;
}

Session open_session() {
  return std::move(*Session::open(trace_path(), {.model = *find_cpu_model("icelake")}));
}

void report(benchmark::State& state, u64 instructions, u64 bytes) {
  state.counters["instructions/s"] =
      benchmark::Counter(static_cast<double>(instructions), benchmark::Counter::kIsRate);
  state.counters["trace bytes/instruction"] = static_cast<double>(bytes) / static_cast<double>(instructions);
}

void count_events(benchmark::State& state, const char* list) {
  static_cast<void>(trace_path());  // recording is not what is measured
  u64 instructions = 0, bytes = 0;
  for (auto _ : state) {
    auto session = open_session();
    benchmark::DoNotOptimize(stat(session, {.events = *events::parse_events(list, session.model())}));
    instructions += session.instructions();
    bytes += std::filesystem::file_size(trace_path());
  }
  report(state, instructions, bytes);
}
BENCHMARK_CAPTURE(count_events, one_event, "instructions")->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(count_events, four_events, "cycles,instructions,branches,branch-misses")
    ->Unit(benchmark::kMillisecond);

void sample_events(benchmark::State& state, const char* list) {
  u64 instructions = 0, bytes = 0;
  const std::string output = (std::filesystem::temp_directory_path() / "pmusim-bench.data").string();
  for (auto _ : state) {
    auto session = open_session();
    RecordOptions options{
        .events = *events::parse_events(list, session.model()), .period = 10007, .output = output};
    options.branch_sample_type = perf::branch::ANY;
    benchmark::DoNotOptimize(record(session, options));
    instructions += session.instructions();
    bytes += std::filesystem::file_size(trace_path());
  }
  std::filesystem::remove(output);
  report(state, instructions, bytes);
}
BENCHMARK_CAPTURE(sample_events, cycles_and_branch_stacks, "cycles:upp")->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(sample_events, four_precise_events_and_branch_stacks,
                  "cycles:upp,instructions:upp,branches:upp,branch-misses:upp")
    ->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace pmusim
