// SPDX-License-Identifier: MIT
// XSAVES of what a sample of everything needs (SSE, AVX, AVX-512, CET_U, LBR), beside a copy of as many
// bytes.
#include <benchmark/benchmark.h>

#include <cstring>
#include <random>

#include "pmusim/pmu/pmu.h"

namespace pmusim {
namespace {

using enum StateComponent;
constexpr u64 address = 0x10000;
constexpr u64 components = vector_state | state_bits(cet_u, lbr);

Pmu machine_in_full_use() {
  const CpuModel cpu = find_cpu_model("sapphirerapids").value();
  Pmu pmu(cpu);
  std::mt19937_64 random(1);
  ExtendedState state;
  for (const unsigned n : set_bits(components & ~state_bit(lbr)))
    for (std::size_t q = 0; q < ExtendedState::size_of(static_cast<StateComponent>(n)); ++q)
      if (q != ExtendedState::mxcsr_qword || n != 1)
        state.write(static_cast<StateComponent>(n), q, {random() & bits(46, 12)});
  bool ready = pmu.map_memory(address, 0x4000) && pmu.xsetbv(0, cpu.xcr0) == Fault::none &&
               pmu.wrmsr(msr::XSS, cpu.xss) == Fault::none;
  for (u32 n = 0; n < 32; ++n)
    ready = ready && pmu.wrmsr(msr::ARCH_LBR_FROM_0 + n, random() & bits(46, 0)) == Fault::none;
  if (!ready) std::abort();
  pmu.set_extended_state(&state);
  return pmu;
}

void xsaves(benchmark::State& state) {
  Pmu pmu = machine_in_full_use();
  for (auto _ : state) {
    if (pmu.xsaves(address, components) != Fault::none) state.SkipWithError("XSAVES faults");
    benchmark::ClobberMemory();
  }
  state.SetBytesProcessed(state.iterations() *
                          xsave::compacted_layout(xsave::intel_components, components).bytes);
}
BENCHMARK(xsaves);

void copy_of_the_same_bytes(benchmark::State& state) {
  const std::size_t bytes = xsave::compacted_layout(xsave::intel_components, components).bytes;
  std::vector<std::byte> from(bytes, std::byte{1}), to(bytes);
  for (auto _ : state) {
    std::memcpy(to.data(), from.data(), bytes);
    benchmark::DoNotOptimize(to.data());
    benchmark::ClobberMemory();
  }
  state.SetBytesProcessed(state.iterations() * static_cast<i64>(bytes));
}
BENCHMARK(copy_of_the_same_bytes);

}  // namespace
}  // namespace pmusim
