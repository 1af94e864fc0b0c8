// SPDX-License-Identifier: MIT
// What it costs to be watched. Every fourth instruction is a branch that the LBR takes in; a counter of
// branches overflows every 1000 of them and is reloaded by the handler of its PMI.
#include <benchmark/benchmark.h>

#include "pmusim/pmu/observer.h"
#include "pmusim/pmu/pmu.h"

namespace pmusim {
namespace {

enum class Watching : u8 { nobody, events, events_and_retirements };

class Driver final : public PmiHandler {
 public:
  explicit Driver(Pmu& pmu) : pmu_(pmu) {
    pmu_.set_pmi_handler(this);
    write(msr::DEBUGCTL, msr::debugctl::LBR);
    write(msr::PERFEVTSEL0, msr::evtsel::EN | msr::evtsel::USR | msr::evtsel::INT | 0xC4);
    write(msr::PERF_GLOBAL_CTRL, 1);
    restart();
  }
  void handle_pmi(const InterruptFrame&) override {
    write(msr::PERF_GLOBAL_STATUS_RESET, 1);
    restart();
  }

 private:
  void restart() {
    write(msr::PMC0, -u64{1000} & low_bits(32));
    write(msr::X2APIC_LVTPC, msr::lvtpc::NMI);
  }
  void write(u32 address, u64 value) {
    if (pmu_.wrmsr(address, value) != Fault::none) std::abort();
  }
  Pmu& pmu_;
};

struct Counts final : Observer, RetirementObserver {
  u64 branches = 0, retirements = 0;
  void on_lbr_record(const observed::LbrRecord&) override { ++branches; }
  void on_retirement(const Retirement&) override { ++retirements; }
};

void retire(benchmark::State& state, Watching watching) {
  Pmu pmu(*find_cpu_model("skylake"));
  Driver driver(pmu);
  Counts counts;
  if (watching != Watching::nobody) pmu.set_observer(&counts);
  if (watching == Watching::events_and_retirements) pmu.set_retirement_observer(&counts);
  Retirement r{.ip = 0x1000, .next_ip = 0x1004, .signals = {Signal::instruction}, .length = 4};
  for (auto _ : state) {
    r.cycle = pmu.now() + 1;
    r.taken = r.cycle % 4 == 0;
    r.branch = r.taken ? BranchKind::conditional : BranchKind::none;
    r.signals = r.taken ? SignalSet{Signal::instruction, Signal::branch} : SignalSet{Signal::instruction};
    pmu.retire(r);
  }
  benchmark::DoNotOptimize(counts);
}

BENCHMARK_CAPTURE(retire, nobody, Watching::nobody);
BENCHMARK_CAPTURE(retire, events, Watching::events);
BENCHMARK_CAPTURE(retire, events_and_retirements, Watching::events_and_retirements);

}  // namespace
}  // namespace pmusim
