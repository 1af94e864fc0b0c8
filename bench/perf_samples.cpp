#include <benchmark/benchmark.h>

#include <cstring>

#include "pmusim/perf/ring_reader.h"
#include "pmusim/perf/sample_output.h"

/// Formatting samples into a ring, beside memcpy of the same bytes into the same ring.
namespace {

using namespace pmusim;
using namespace pmusim::perf;

struct Scene {
  Event event;
  SampleData data;
  InterruptFrame frame;
  SampleEnvironment environment;
  std::vector<BranchEntry> branches = std::vector<BranchEntry>(32);
  std::vector<u64> chain = std::vector<u64>(23);
  Sample sample() const { return {event, data, frame, environment}; }
};

/// IP, TID, TIME, CPU, PERIOD.
Scene small() {
  Scene scene;
  scene.event.attr.sample_type = sample::IP | sample::TID | sample::TIME | sample::CPU | sample::PERIOD;
  scene.data.time = 1;
  return scene;
}

/// A call chain of 22 addresses and its marker.
Scene call_chain() {
  Scene scene = small();
  scene.event.attr.sample_type |= sample::CALLCHAIN;
  scene.environment.callchain = scene.chain;
  return scene;
}

/// Memory information and all general registers.
Scene registers() {
  Scene scene = small();
  scene.event.attr.sample_type |= sample::ADDR | sample::WEIGHT_STRUCT | sample::DATA_SRC | sample::REGS_INTR;
  scene.event.attr.sample_regs_intr = 0xff0fff;
  scene.data.address = 2;
  return scene;
}

Scene branch_stack() {
  Scene scene = small();
  scene.event.attr.sample_type |= sample::BRANCH_STACK;
  scene.data.branches = BranchStack{scene.branches, 0, {}};
  return scene;
}

constexpr std::size_t data_pages = 16;  // stays in the first cache level, as the memcpy does

void set_rates(benchmark::State& state, std::size_t bytes) {
  state.SetBytesProcessed(static_cast<i64>(state.iterations() * bytes));
  state.counters["record"] = static_cast<double>(bytes);
}

void format(benchmark::State& state, Scene (*make)()) {
  Scene scene = make();
  scene.event.leader = &scene.event;
  scene.event.layout = make_sample_layout(scene.event.attr);
  RingBuffer ring(data_pages, {.when_full = RingBuffer::WhenFull::overwrite});
  for (auto _ : state) {
    output_sample(ring, scene.event, scene.data, scene.frame, scene.environment);
    benchmark::ClobberMemory();
  }
  set_rates(state, sample_size(scene.sample()).bytes);
}

void copy(benchmark::State& state, Scene (*make)()) {
  Scene scene = make();
  scene.event.leader = &scene.event;
  scene.event.layout = make_sample_layout(scene.event.attr);
  const SampleSize size = sample_size(scene.sample());
  std::vector<std::byte> record(size.bytes);
  write_sample(record.data(), scene.sample(), size);
  std::vector<std::byte> ring(data_pages * RingBuffer::page_bytes);
  std::size_t at = 0;
  for (auto _ : state) {
    if (at + record.size() > ring.size()) at = 0;
    std::memcpy(ring.data() + at, record.data(), record.size());
    at += record.size();
    benchmark::ClobberMemory();
  }
  set_rates(state, size.bytes);
}

BENCHMARK_CAPTURE(format, 48_bytes, small);
BENCHMARK_CAPTURE(copy, 48_bytes, small);
BENCHMARK_CAPTURE(format, 240_bytes_call_chain, call_chain);
BENCHMARK_CAPTURE(copy, 240_bytes_call_chain, call_chain);
BENCHMARK_CAPTURE(format, 240_bytes_registers, registers);
BENCHMARK_CAPTURE(copy, 240_bytes_registers, registers);
BENCHMARK_CAPTURE(format, branch_stack_of_32, branch_stack);
BENCHMARK_CAPTURE(copy, branch_stack_of_32, branch_stack);

}  // namespace
