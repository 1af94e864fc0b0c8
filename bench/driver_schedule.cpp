// SPDX-License-Identifier: MIT
// How long it takes to give eight events their counters.
#include <benchmark/benchmark.h>

#include <array>

#include "driver/intel/scheduling/constraint_book.h"
#include "driver/x86/scheduler.h"

namespace pmusim::driver {
namespace {

Enumeration golden_cove() {
  Enumeration e;
  e.microarchitecture = Microarchitecture::golden_cove;
  e.perfmon_version = 5;
  e.counters = 0xF'0000'00FF;
  e.counter_width = 48;
  return e;
}

// Instructions, cycles, and six that crowd the lower general counters.
constexpr std::array<u64, 8> selects{0x00C0, 0x003C, 0x00C4, 0x00C5, 0x81D0, 0x01D1, 0x08A4, 0x0151};

void find_constraints(benchmark::State& state) {
  const ConstraintBook book(golden_cove());
  for (auto _ : state)
    for (const u64 select : selects) benchmark::DoNotOptimize(book.find({.config = select}));
}
BENCHMARK(find_constraints);

void assign_eight_events(benchmark::State& state) {
  const ConstraintBook book(golden_cove());
  std::array<Constraint, 8> constraints;
  for (std::size_t i = 0; i < selects.size(); ++i) constraints[i] = book.find({.config = selects[i]});
  std::array<int, 8> counters{};
  for (auto _ : state) {
    benchmark::DoNotOptimize(assign_counters(constraints, 8, counters));
    benchmark::DoNotOptimize(counters);
  }
}
BENCHMARK(assign_eight_events);

/// Crossing constraints, with as much backtracking as there can be.
void assign_with_backtracking(benchmark::State& state) {
  std::array<Constraint, 8> constraints;
  for (std::size_t i = 0; i < 8; ++i) constraints[i].counters = i < 3 ? 0x3 << i : 0xFF;
  constraints[0].overlap = constraints[1].overlap = true;
  std::array<int, 8> counters{};
  for (auto _ : state) benchmark::DoNotOptimize(assign_counters(constraints, 16, counters));
}
BENCHMARK(assign_with_backtracking);

}  // namespace
}  // namespace pmusim::driver
