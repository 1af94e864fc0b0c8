// SPDX-License-Identifier: MIT
// What the software branch filter costs once it knows the code.
#include <benchmark/benchmark.h>

#include "tests/driver/fake_code.h"
#include "tests/driver/lbr_fixture.h"

namespace {
using namespace pmusim;
using namespace pmusim::driver;

constexpr u64 sites = 2000, first_site = 0x401000, distance = 23;

FakeCode program() {
  FakeCode code;
  const std::initializer_list<int> kinds[] = {
      {0x74, 0x10}, {0xEB, 0x10}, {0xE8, 1, 0, 0, 0}, {0xC3}, {0xFF, 0xE0}};
  for (u64 i = 0; i < sites; ++i) code.put(first_site + distance * i, kinds[i % 5]);
  return code;
}

std::vector<std::vector<perf::BranchEntry>> stacks() {
  std::vector<std::vector<perf::BranchEntry>> all(64);
  u64 site = 0;
  for (auto& stack : all) {
    stack.resize(32);
    for (perf::BranchEntry& branch : stack) {
      site = (site * 1103515245 + 12345) % 2147483648;
      branch.from = first_site + distance * (site % sites);
      branch.to = first_site;
    }
  }
  return all;
}

/// `prepare(filter, n)` comes before the n-th stack and says which one that is.
template <class Prepare>
void filter_stacks(benchmark::State& state, u64 request, Prepare prepare) {
  const FakeCode code = program();
  const auto all = stacks();
  BranchFilter filter;
  std::vector<perf::BranchEntry> work;
  std::size_t n = 0;
  for (auto _ : state) {
    work = all[prepare(filter, n++) % all.size()];
    filter.apply(work, request, code);
    benchmark::DoNotOptimize(work.data());
  }
  state.SetItemsProcessed(state.iterations() * 32);
}

void SoftwareFilter(benchmark::State& state, u64 request) {
  filter_stacks(state, request, [](BranchFilter&, std::size_t n) { return n; });
}
BENCHMARK_CAPTURE(SoftwareFilter, all_kept_unfiltered, branch_class::ALL);
BENCHMARK_CAPTURE(SoftwareFilter, any_user, branch_class::ANY | branch_class::USER);
BENCHMARK_CAPTURE(SoftwareFilter, any_user_save_type,
                  branch_class::ANY | branch_class::USER | branch_class::TYPE_SAVE);
BENCHMARK_CAPTURE(SoftwareFilter, returns, branch_class::RET | branch_class::USER);

/// Two tasks take turns and run the same addresses.
void TasksTakingTurns(benchmark::State& state, u32 other_process) {
  filter_stacks(state, branch_class::ANY | branch_class::USER, [=](BranchFilter& filter, std::size_t n) {
    filter.set_address_space(n % 2 == 0 ? 1 : other_process);
    return n / 2;
  });
}
BENCHMARK_CAPTURE(TasksTakingTurns, threads_of_a_process, 1);
BENCHMARK_CAPTURE(TasksTakingTurns, two_processes, 2);

void ReadInterrupt(benchmark::State& state, FakeBus cpu, u64 request) {
  LbrRig rig(std::move(cpu));
  rig.code = program();
  for (u32 i = 0; i < 32; ++i) {
    const u64 from = first_site + distance * i;
    rig.put(msr::LBR_NHM_FROM_IP + i, from), rig.put(msr::LBR_NHM_TO_IP + i, first_site);
    rig.put(msr::ARCH_LBR_FROM_0 + i, from), rig.put(msr::ARCH_LBR_TO_0 + i, first_site);
  }
  perf::Event event = LbrRig::event(request);
  rig.sample(event);
  for (auto _ : state) {
    rig.lbr.read_in_pmi(rig.code);
    benchmark::DoNotOptimize(rig.lbr.stack(event));
  }
}
constexpr u64 any_user = perf::branch::ANY | perf::branch::USER;
BENCHMARK_CAPTURE(ReadInterrupt, skylake, skylake(), any_user);
BENCHMARK_CAPTURE(ReadInterrupt, haswell, haswell(), any_user);
BENCHMARK_CAPTURE(ReadInterrupt, lion_cove, lion_cove(), any_user);

}  // namespace
