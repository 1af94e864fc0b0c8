// SPDX-License-Identifier: MIT
// How fast a native trace is read, and how many bytes an instruction takes, on a workload recorded once.
#include <benchmark/benchmark.h>
#include <unistd.h>

#include <filesystem>
#include <string>

#include "pmusim/trace/trace.h"

namespace {

using namespace pmusim;

/// The first million instructions of a workload, which the build puts beside the benchmarks.
class RecordedTrace {
 public:
  RecordedTrace(const std::string& name, const std::string& argument, trace::RecordedRegisters registers)
      : path_((std::filesystem::temp_directory_path() / ("pmusim-bench-" + std::to_string(::getpid()) + name +
                                                         std::to_string(static_cast<int>(registers))))
                  .string()) {
    trace::RecordingOptions options{path_, registers};
    options.max_instructions = 1'000'000;
    const auto workload = std::filesystem::read_symlink("/proc/self/exe").parent_path() / "workloads" / name;
    ok_ = trace::record({workload.string(), argument}, options).ok();
  }
  RecordedTrace(const RecordedTrace&) = delete;
  RecordedTrace& operator=(const RecordedTrace&) = delete;
  ~RecordedTrace() { std::filesystem::remove(path_); }
  const std::string& path() const { return path_; }
  bool ok() const { return ok_; }

 private:
  std::string path_;
  bool ok_ = false;
};

u64 read_to_end(trace::Reader& reader) {
  u64 instructions = 0;
  for (;;) {
    const auto item = reader.next();
    if (!item.ok() || !item->has_value()) return instructions;
    if (const auto* run = std::get_if<trace::BlockRun>(&**item))
      instructions += run->block->instructions.size();
  }
}

void decode(benchmark::State& state, const std::string& name, const std::string& argument,
            trace::RecordedRegisters registers) {
  const RecordedTrace recorded(name, argument, registers);
  if (!recorded.ok())
    return state.SkipWithError("cannot record: are the workloads built, and is ptrace permitted?");
  u64 instructions = 0, bytes = 0;
  for (auto _ : state) {
    auto reader = trace::Reader::open(recorded.path());
    instructions = read_to_end(*reader);
    bytes = reader->file_bytes();
  }
  state.SetItemsProcessed(static_cast<i64>(instructions) * state.iterations());
  state.counters["instructions"] = static_cast<double>(instructions);
  state.counters["bytes_per_instruction"] = static_cast<double>(bytes) / static_cast<double>(instructions);
}

using trace::RecordedRegisters;
BENCHMARK_CAPTURE(decode, addresses, "branches", "1000000", RecordedRegisters::none)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(decode, addresses_and_registers, "branches", "1000000", RecordedRegisters::gpr)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(decode, branches_with_extended, "branches", "1000000", RecordedRegisters::simd)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(decode, simd_with_extended, "simd", "1", RecordedRegisters::simd)
    ->Unit(benchmark::kMillisecond);

}  // namespace
