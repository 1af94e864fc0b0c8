// SPDX-License-Identifier: MIT
// All placements of up to two PMIs in a window of 200 register accesses, whose handler acknowledges and
// rearms.
#include <benchmark/benchmark.h>

#include <cstdlib>

#include "pmusim/explore/explore.h"

namespace pmusim::explore {
namespace {

class Driver final : public PmiHandler {
 public:
  explicit Driver(Cpu& cpu) : cpu_(cpu) {
    cpu.pmu().set_pmi_handler(this);
    write(msr::PERFEVTSEL0, msr::evtsel::EN | msr::evtsel::OS | msr::evtsel::INT | 0xC0);
    restart();
    write(msr::PERF_GLOBAL_CTRL, 1);
  }
  void handle_pmi(const InterruptFrame&) override {
    write(msr::PERF_GLOBAL_STATUS_RESET, *cpu_.rdmsr(msr::PERF_GLOBAL_STATUS));
    restart();
  }
  void run(unsigned accesses) {
    for (unsigned n = 0; n < accesses; ++n)
      write(msr::PERFEVTSEL0 + 1, n % 2 == 0 ? 0 : msr::evtsel::EN | 0xC0);
  }

 private:
  void restart() {
    write(msr::PMC0, low_bits(32));
    write(msr::X2APIC_LVTPC, msr::lvtpc::NMI);
  }
  void write(u32 address, u64 value) {
    if (cpu_.wrmsr(address, value) != Fault::none) std::abort();
  }
  Cpu& cpu_;
};

void explore_window(benchmark::State& state) {
  const Pmu start(*find_cpu_model("skylake"));
  const auto scenario = [](Cpu& cpu) {
    Driver driver(cpu);
    cpu.open();
    driver.run(200);
    cpu.close();
  };
  u64 runs = 0;
  for (auto _ : state) {
    const auto report = explore(start, scenario, {.most_pmis = 2});
    if (!report.ok() || report->finding || !report->complete) return state.SkipWithError("not explored");
    runs = report->runs;
  }
  state.counters["runs"] = static_cast<double>(runs);
}
BENCHMARK(explore_window)->Unit(benchmark::kSecond)->Iterations(1);

}  // namespace
}  // namespace pmusim::explore
