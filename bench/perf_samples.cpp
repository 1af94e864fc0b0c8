// SPDX-License-Identifier: MIT
#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstring>

#include "bench/cpu_time.h"
#include "perf/sample_output.h"
#include "pmusim/perf/core.h"

/// Formatting samples into a ring, beside memcpy of the same bytes into a buffer like it in the same run.
namespace {

using namespace pmusim;
using namespace pmusim::perf;

struct Scene {
  Event event;
  SampleData data;
  InterruptFrame frame;
  SampleEnvironment environment;
  std::vector<BranchEntry> branches = std::vector<BranchEntry>(32);
  BranchStack stack{branches, 0, {}};
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
  return scene;
}

/// Whole register files, as an XSAVES image has them.
struct RegisterFiles {
  std::vector<std::byte> low = std::vector<std::byte>(256), zmm_high = std::vector<std::byte>(512),
                         hi16 = std::vector<std::byte>(1024), opmask = std::vector<std::byte>(64);
  ExtendedRegisters view{
      .xmm = low, .ymm_high = low, .zmm_high = zmm_high, .hi16_zmm = hi16, .opmask = opmask};
};

/// All general registers and every vector register of this width, with opmasks beside ZMM.
Scene simd_registers(u16 qwords) {
  static const RegisterFiles files;
  Scene scene = small();
  scene.event.attr.sample_type |= sample::REGS_INTR;
  scene.event.attr.sample_regs_intr = 0xff0fff;
  scene.event.attr.sample_simd_regs_enabled = scene.event.attr.sample_simd_pred_reg_qwords = 1;
  scene.event.attr.sample_simd_vec_reg_qwords = qwords;
  scene.event.attr.sample_simd_vec_reg_intr = qwords == 8 ? 0xffffffff : 0xffff;
  scene.event.attr.sample_simd_pred_reg_intr = qwords == 8 ? 0xff : 0;
  scene.data.extended = &files.view;
  return scene;
}
Scene xmm() { return simd_registers(2); }
Scene ymm() { return simd_registers(4); }
Scene zmm_and_opmasks() { return simd_registers(8); }

/// Nanoseconds of a call, in the best of several rounds.
template <class Call>
double best_ns(Call call) {
  constexpr int rounds = 25, calls = 200'000;
  double best = 0;
  for (int round = 0; round < rounds; ++round) {
    const double start = cpu_ns();
    for (int i = 0; i < calls; ++i) {
      call();
      benchmark::ClobberMemory();
    }
    const double ns = (cpu_ns() - start) / calls;
    best = round == 0 ? ns : std::min(best, ns);
  }
  return best;
}

/// memcpy of the record of `scene` through a buffer of the ring's size and alignment, round and round.
double copy_ns(const Scene& scene, std::size_t pages) {
  const SampleSize size = sample_size(scene.sample());
  std::vector<std::byte> record(size.bytes);
  write_sample(record.data(), scene.sample(), size);
  RingBuffer buffer(pages, {});
  const auto data = buffer.mapping().subspan(RingBuffer::page_bytes);
  std::size_t at = 0;
  return best_ns([&] {
    if (at + record.size() > data.size()) at = 0;
    std::memcpy(data.data() + at, record.data(), record.size());
    at += record.size();
  });
}

void format(benchmark::State& state, Scene (*make)()) {
  Scene scene = make();
  scene.event.leader = &scene.event;
  scene.data.branches = &scene.stack;
  scene.event.layout = make_sample_layout(scene.event.attr);
  const auto pages = static_cast<std::size_t>(state.range(0));
  RingBuffer ring(pages, {.when_full = RingBuffer::WhenFull::overwrite});
  const auto output = [&] { output_sample(ring, scene.event, scene.data, scene.frame, scene.environment); };
  double ns = 0, copy = 0;
  for (auto _ : state) {
    ns = best_ns(output);
    copy = copy_ns(scene, pages);
  }
  const auto bytes = static_cast<double>(sample_size(scene.sample()).bytes);
  state.counters["bytes"] = bytes;
  state.counters["ns"] = ns;
  state.counters["GB/s"] = bytes / ns;
  state.counters["memcpy_ns"] = copy;
  state.counters["x_memcpy"] = ns / copy;
}

/// 16 KiB, which any first-level cache holds, and 512 KiB, perf's default.
void both_sizes(benchmark::internal::Benchmark* bench) {
  bench->ArgName("pages")->Arg(4)->Arg(128)->Iterations(1);
}

BENCHMARK_CAPTURE(format, 48_bytes, small)->Apply(both_sizes);
BENCHMARK_CAPTURE(format, 240_bytes_registers, registers)->Apply(both_sizes);
BENCHMARK_CAPTURE(format, 240_bytes_call_chain, call_chain)->Apply(both_sizes);
BENCHMARK_CAPTURE(format, branch_stack_of_32, branch_stack)->Apply(both_sizes);
BENCHMARK_CAPTURE(format, simd_xmm, xmm)->Apply(both_sizes);
BENCHMARK_CAPTURE(format, simd_ymm, ymm)->Apply(both_sizes);
BENCHMARK_CAPTURE(format, simd_zmm_and_opmasks, zmm_and_opmasks)->Apply(both_sizes);

}  // namespace
