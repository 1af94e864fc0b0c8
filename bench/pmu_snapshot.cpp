// SPDX-License-Identifier: MIT
// What it costs to have a CPU: to make one, to take a snapshot and go back to it, and to hash its state. With
// `bytes` of mapped memory, as a driver's debug store has them.
#include <benchmark/benchmark.h>

#include "pmusim/pmu/pmu.h"

namespace pmusim {
namespace {

void create_and_destroy(benchmark::State& state) {
  const CpuModel model = *find_cpu_model("lioncove");
  for (auto _ : state) {
    Pmu pmu(model);
    benchmark::DoNotOptimize(pmu);
  }
}
BENCHMARK(create_and_destroy);

Pmu with_memory(u64 bytes) {
  Pmu pmu(*find_cpu_model("lioncove"));
  if (bytes != 0 && !pmu.map_memory(0x1000, bytes)) std::abort();
  return pmu;
}

/// As a test does it that goes back to one state again and again: both hold their memory.
void snapshot_and_restore(benchmark::State& state) {
  Pmu pmu = with_memory(static_cast<u64>(state.range(0)));
  Pmu snapshot = pmu;
  for (auto _ : state) {
    snapshot = pmu;
    pmu = snapshot;
    benchmark::DoNotOptimize(pmu);
  }
}
BENCHMARK(snapshot_and_restore)->ArgName("bytes")->Arg(0)->Arg(4096)->Arg(65536);

/// A snapshot that is made anew and thrown away.
void new_snapshot_and_restore(benchmark::State& state) {
  Pmu pmu = with_memory(static_cast<u64>(state.range(0)));
  for (auto _ : state) {
    const Pmu snapshot = pmu;
    pmu = snapshot;
    benchmark::DoNotOptimize(pmu);
  }
}
BENCHMARK(new_snapshot_and_restore)->ArgName("bytes")->Arg(0)->Arg(4096)->Arg(65536);

void hash_state(benchmark::State& state) {
  const Pmu pmu = with_memory(static_cast<u64>(state.range(0)));
  for (auto _ : state) benchmark::DoNotOptimize(pmu.state_hash());
}
BENCHMARK(hash_state)->ArgName("bytes")->Arg(0)->Arg(4096)->Arg(65536);

}  // namespace
}  // namespace pmusim
