// SPDX-License-Identifier: MIT
// What auto counter reload costs, in the exact path and in bulk. A loop of twenty instructions with five
// branches, one of them mispredicted; branches end a window of `period` of them, and both counters start
// over: by ACR, or, for comparison, by a PMI whose handler writes them.
#include <benchmark/benchmark.h>

#include <vector>

#include "pmusim/pmu/pmu.h"

namespace pmusim {
namespace {

enum class ReloadBy : u8 { software, acr };
/// How retirements reach the PMU: one by one; each block at once; each block as often as headroom allows.
enum class Speed : u8 { exact, block, run };

constexpr unsigned misses = 2, branches = 3;

class DrivenCpu : public PmiHandler {
 public:
  DrivenCpu(ReloadBy reload, u64 period) : pmu_(*find_cpu_model("skymont")), period_(period) {
    pmu_.set_pmi_handler(this);
    const bool acr = reload == ReloadBy::acr;
    if (acr) {
      write(msr::V6_GP0_CFG_B + 4 * misses, bit(branches));
      write(msr::V6_GP0_CFG_B + 4 * branches, bit(misses) | bit(branches));
      for (const unsigned n : {misses, branches}) write(msr::V6_GP0_CFG_C + 4 * n, -period & low_bits(32));
    }
    constexpr u64 user = msr::evtsel::USR | msr::evtsel::EN;
    write(msr::V6_GP0_CFG_A + 4 * misses, user | 0xC5);
    write(msr::V6_GP0_CFG_A + 4 * branches, user | 0xC4 | (acr ? 0 : msr::evtsel::INT));
    write(msr::PERF_GLOBAL_CTRL, bit(misses) | bit(branches));
    restart();
    for (u64 n = 1; n <= 20; ++n) {
      Retirement r{
          .ip = 0x1000, .next_ip = 0x1004, .cycle = n, .signals = {Signal::instruction}, .length = 4};
      if (n % 4 == 0) r.signals.add(Signal::branch);
      if (n == 20) r.signals.add(Signal::mispredicted);
      loop_.push_back(r);
    }
    totals_ = pmu_.totals(loop_, 0);
  }

  void handle_pmi(const InterruptFrame&) override {
    write(msr::PERF_GLOBAL_STATUS_RESET, bit(branches));
    restart();
  }

  /// Executes the loop `times` times and returns how many of them went in bulk.
  u64 execute(u64 times, Speed speed) {
    u64 in_bulk = 0;
    for (u64 left = times; left != 0;) {
      const u64 wanted = speed == Speed::run ? left : 1;
      const u64 done = speed == Speed::exact ? 0 : pmu_.advance(totals_, wanted);
      if (done == 0) retire_each();
      in_bulk += done;
      left -= done == 0 ? 1 : done;
    }
    return in_bulk;
  }
  unsigned loop_length() const { return static_cast<unsigned>(loop_.size()); }

 private:
  void write(u32 address, u64 value) {
    if (pmu_.wrmsr(address, value) != Fault::none) std::abort();
  }
  void restart() {
    for (const unsigned n : {misses, branches}) write(msr::V6_GP0_CTR + 4 * n, -period_ & low_bits(48));
    write(msr::X2APIC_LVTPC, msr::lvtpc::NMI);
  }
  void retire_each() {
    const u64 start = pmu_.now();
    for (Retirement r : loop_) {
      r.cycle += start;
      pmu_.retire(r);
    }
  }

  Pmu pmu_;
  u64 period_;
  std::vector<Retirement> loop_;
  BlockTotals totals_;
};

void periods(benchmark::internal::Benchmark* b) {
  b->ArgName("period")->RangeMultiplier(10)->Range(1000, 100'000);
}

void advance(benchmark::State& state, Speed speed, ReloadBy reload) {
  constexpr u64 executions = 20'000;
  DrivenCpu machine(reload, static_cast<u64>(state.range(0)));
  u64 in_bulk = 0, all = 0;
  for (auto _ : state) {
    in_bulk += machine.execute(executions, speed);
    all += executions;
  }
  const double retirements = static_cast<double>(all * machine.loop_length());
  state.counters["per_retirement"] =
      benchmark::Counter(retirements, benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
  state.counters["in_bulk_%"] = 100 * static_cast<double>(in_bulk) / static_cast<double>(all);
}

BENCHMARK_CAPTURE(advance, exact_software, Speed::exact, ReloadBy::software)->Apply(periods);
BENCHMARK_CAPTURE(advance, exact_acr, Speed::exact, ReloadBy::acr)->Apply(periods);
BENCHMARK_CAPTURE(advance, block_software, Speed::block, ReloadBy::software)->Apply(periods);
BENCHMARK_CAPTURE(advance, block_acr, Speed::block, ReloadBy::acr)->Apply(periods);
BENCHMARK_CAPTURE(advance, run_software, Speed::run, ReloadBy::software)->Apply(periods);
BENCHMARK_CAPTURE(advance, run_acr, Speed::run, ReloadBy::acr)->Apply(periods);

}  // namespace
}  // namespace pmusim
