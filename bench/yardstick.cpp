// SPDX-License-Identifier: MIT
// What every benchmark program measures beside its own: copies and reads of memory, warm. With
// --benchmark_enable_random_interleaving they take turns with the rows that are held against them.
#include <benchmark/benchmark.h>

#include <cstring>
#include <numeric>
#include <vector>

#include "pmusim/base/types.h"

namespace pmusim {
namespace {

void copy(benchmark::State& state) {
  const auto bytes = static_cast<std::size_t>(state.range(0));
  const std::vector<std::byte> from(bytes, std::byte{1});
  std::vector<std::byte> to(bytes);
  for (auto _ : state) {
    std::memcpy(to.data(), from.data(), bytes);
    benchmark::DoNotOptimize(to.data());
    benchmark::ClobberMemory();
  }
  state.SetBytesProcessed(state.iterations() * state.range(0));
}

void read(benchmark::State& state) {
  const std::vector<u64> words(static_cast<std::size_t>(state.range(0)) / sizeof(u64), 1);
  for (auto _ : state) benchmark::DoNotOptimize(std::reduce(words.begin(), words.end()));
  state.SetBytesProcessed(state.iterations() * state.range(0));
}

void sizes(benchmark::internal::Benchmark* benchmark) {
  for (const i64 bytes : {64, 4096, 65536, 1 << 20, 16 << 20}) benchmark->Arg(bytes);
}
BENCHMARK(copy)->Name("yardstick/copy")->Apply(sizes);
BENCHMARK(read)->Name("yardstick/read")->Apply(sizes);

}  // namespace
}  // namespace pmusim

BENCHMARK_MAIN();
