// What auto counter reload costs the exact path: a branch in every fourth instruction, one in five of them
// mispredicted, two counters.
#include <benchmark/benchmark.h>

#include "pmusim/pmu/pmu.h"

namespace pmusim {
namespace {

enum class Causes { none, never_due, each_window };

Pmu counting_pmu(Causes causes) {
  Pmu pmu(*find_cpu_model("skymont"));
  const auto write = [&](u32 address, u64 value) {
    if (pmu.wrmsr(address, value) != Fault::none) std::abort();
  };
  constexpr u64 user = msr::evtsel::USR | msr::evtsel::EN;
  const u64 period = causes == Causes::each_window ? 1000 : u64{1} << 31;
  if (causes != Causes::none) {
    write(msr::V6_GP0_CFG_B + 4 * 2, 0x8);
    write(msr::V6_GP0_CFG_B + 4 * 3, 0xC);
    for (const u32 n : {2u, 3u}) write(msr::V6_GP0_CFG_C + 4 * n, -period & low_bits(32));
  }
  for (const u32 n : {2u, 3u}) write(msr::V6_GP0_CTR + 4 * n, -period & low_bits(48));
  write(msr::V6_GP0_CFG_A + 4 * 2, user | 0xC5);
  write(msr::V6_GP0_CFG_A + 4 * 3, user | 0xC4);
  write(msr::PERF_GLOBAL_CTRL, 0xC);
  return pmu;
}

void retire(benchmark::State& state) {
  Pmu pmu = counting_pmu(static_cast<Causes>(state.range(0)));
  u64 n = 0;
  for (auto _ : state) {
    Retirement r{
        .ip = 0x1000, .next_ip = 0x1004, .cycle = ++n, .signals = {Signal::instruction}, .length = 4};
    if (n % 4 == 0) r.signals.add(Signal::branch);
    if (n % 20 == 0) r.signals.add(Signal::mispredicted);
    pmu.retire(r);
  }
  state.SetItemsProcessed(state.iterations());
  state.counters["reloads"] = static_cast<double>(pmu.acr().reload_count(2) + pmu.acr().reload_count(3));
}
BENCHMARK(retire)->ArgName("causes")->DenseRange(0, 2);

}  // namespace
}  // namespace pmusim
