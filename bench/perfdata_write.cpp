// SPDX-License-Identifier: MIT
#include <benchmark/benchmark.h>

#include <filesystem>

#include "perf/output.h"
#include "perfdata/writer.h"
#include "pmusim/perf/core.h"
#include "pmusim/perfdata/reader.h"

/// From a sample in the driver's hands to a finished file: ring, drain at each wakeup, writer.
namespace {

using namespace pmusim;
using namespace pmusim::perf;

constexpr int samples = 200'000;

Event sampling_event(bool branches) {
  Event event;
  event.id = 1;
  event.attr.sample_period = 1000;
  event.attr.sample_type = sample::IP | sample::TID | sample::TIME | sample::CPU | sample::PERIOD;
  if (branches) {
    event.attr.sample_type |= sample::BRANCH_STACK;
    event.attr.branch_sample_type = branch::ANY | branch::USER;
  }
  event.layout = make_sample_layout(event.attr);
  return event;
}

u64 write_file(const std::filesystem::path& path, bool branches, perfdata::Options options) {
  auto writer = perfdata::Writer::create(path, std::move(options));
  Event event = sampling_event(branches);
  bool good = writer.ok() && writer->add_event(event.attr, "cycles", {&event.id, 1}).ok();
  RingBuffer ring(128, {});
  const auto drain = [&] {
    RingReader(ring).drain([&](auto bytes) { good = good && writer->write(bytes).ok(); });
  };
  ring.on_wakeup(drain);
  std::vector<BranchEntry> entries(32);
  const BranchStack stack{entries, 0, {}};
  SampleData data;
  if (branches) data.branches = &stack;
  InterruptFrame frame;
  SampleEnvironment environment;
  for (int i = 0; i < samples && good; ++i) {
    environment.moment.time = static_cast<u64>(i);
    frame.registers.rip = 0x400000 + static_cast<u64>(i);
    for (auto& entry : entries) entry.from = frame.registers.rip;
    good = output_sample(ring, event, data, frame, environment);
  }
  drain();
  return good && writer->finish().ok() ? writer->record_bytes() : 0;
}

void write(benchmark::State& state, bool branches, perfdata::Compression compression) {
  const auto path = std::filesystem::temp_directory_path() / "pmusim_bench.data";
  u64 bytes = 0;
  for (auto _ : state) {
    bytes = write_file(path, branches, {.compression = compression});
    if (bytes == 0) state.SkipWithError("writing failed");
  }
  std::filesystem::remove(path);
  state.SetItemsProcessed(state.iterations() * samples * (branches ? 32 : 1));
  state.SetBytesProcessed(state.iterations() * static_cast<i64>(bytes));
}

void read(benchmark::State& state) {
  const auto path = std::filesystem::temp_directory_path() / "pmusim_bench.data";
  write_file(path, true, {});
  for (auto _ : state) {
    auto reader = perfdata::Reader::open(path);
    while (true) {
      const auto record = reader->next();
      if (!record || !*record) break;
      benchmark::DoNotOptimize(record);
    }
  }
  std::filesystem::remove(path);
  state.SetItemsProcessed(state.iterations() * samples);
}

using perfdata::Compression;
BENCHMARK_CAPTURE(write, small_samples, false, Compression::none)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(write, branch_entries, true, Compression::none)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(write, branch_entries_compressed, true, Compression::zstd)->Unit(benchmark::kMillisecond);
BENCHMARK(read)->Unit(benchmark::kMillisecond);

}  // namespace
