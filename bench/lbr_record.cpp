// SPDX-License-Identifier: MIT
// What recording one branch costs, beside the plain stores that it cannot do without.
#include <benchmark/benchmark.h>

#include <vector>

#include "tests/lbr/lbr_machine.h"

namespace {
using namespace pmusim;

std::vector<Branch> loop_branches() {
  std::vector<Branch> branches(4096);
  u64 cycle = 1000;
  for (std::size_t i = 0; i < branches.size(); ++i) {
    branches[i].from = 0x401000 + 16 * i;
    branches[i].to = 0x402000 + 16 * i;
    branches[i].cycle = cycle += 1 + i % 13;
    branches[i].kind = static_cast<BranchKind>(1 + i * 7 % 6);
    branches[i].mispredicted = i % 11 == 0;
  }
  return branches;
}

void PlainStores(benchmark::State& state) {
  const std::vector<Branch> branches = loop_branches();
  std::array<LbrEntry, 64> ring{};
  unsigned head = 0;
  for (auto _ : state) {
    for (const Branch& b : branches) {
      head = (head + 1) & 63;
      ring[head] = {b.from, b.to, b.cycle};
    }
    benchmark::DoNotOptimize(ring);
    benchmark::ClobberMemory();
  }
  state.SetItemsProcessed(state.iterations() * static_cast<i64>(branches.size()));
}
BENCHMARK(PlainStores);

void Record(benchmark::State& state, const CpuModel& model, u64 select) {
  test::LbrMachine m(model);
  if (m.wrmsr(model.has_arch_lbr() ? msr::ARCH_LBR_CTL : msr::LBR_SELECT, select) != Fault::none)
    return state.SkipWithError("filter refused");
  const std::vector<Branch> branches = loop_branches();
  u64 recorded = 0;
  for (auto _ : state) {
    for (const Branch& b : branches) recorded += m.stack.record(b, LbrGate::open);
    benchmark::DoNotOptimize(recorded);
    benchmark::ClobberMemory();
  }
  state.SetItemsProcessed(state.iterations() * static_cast<i64>(branches.size()));
}
BENCHMARK_CAPTURE(Record, skylake_any_user, test::skylake(), 0x1);
BENCHMARK_CAPTURE(Record, skylake_conditional, test::skylake(), 0x1F9);
BENCHMARK_CAPTURE(Record, skylake_call_stack, test::skylake(), 0x3C5);
BENCHMARK_CAPTURE(Record, arch_any_user, test::lion_cove(), 0x7F0005);

void Render(benchmark::State& state, CpuModel model) {
  model.lbr.depth = 32;
  test::LbrMachine m(model);
  if (model.has_arch_lbr() && m.wrmsr(msr::ARCH_LBR_CTL, 0x7F0005) != Fault::none)
    return state.SkipWithError("filter refused");
  for (const Branch& b : loop_branches()) m.stack.record(b, LbrGate::open);
  std::array<LbrEntry, 32> entries;
  for (auto _ : state) {
    benchmark::DoNotOptimize(m.stack.render(entries));
    benchmark::ClobberMemory();
  }
}
BENCHMARK_CAPTURE(Render, format_0_addresses_32, test::legacy_model(LbrFormat::addresses_32, 32));
BENCHMARK_CAPTURE(Render, format_2_eip, test::legacy_model(LbrFormat::eip, 32));
BENCHMARK_CAPTURE(Render, format_3_eip_flags, test::nehalem());
BENCHMARK_CAPTURE(Render, format_4_eip_flags_tsx, test::haswell());
BENCHMARK_CAPTURE(Render, format_5_info, test::skylake());
BENCHMARK_CAPTURE(Render, format_6_time, test::goldmont());
BENCHMARK_CAPTURE(Render, format_7_info_no_tsx, test::goldmont_plus());
BENCHMARK_CAPTURE(Render, format_3f_arch, test::lion_cove());

}  // namespace
