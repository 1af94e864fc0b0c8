// SPDX-License-Identifier: MIT
// What a register access and a counted instruction cost. PlainArrayLoad is the yardstick of the same run:
// RDMSR through the register file stays under ten times of it.
#include <benchmark/benchmark.h>

#include <array>

#include "msr/counters.h"
#include "msr/register_file.h"
#include "pmusim/pmu/pmu.h"

namespace pmusim {
namespace {

CpuModel model(const char* name) { return find_cpu_model(name).value(); }

void array_load(benchmark::State& state) {
  std::array<u64, 4096> values{};
  benchmark::DoNotOptimize(values.data());
  u64 value = 0;
  for (auto _ : state) benchmark::DoNotOptimize(value = values[msr::PMC0 + value]);
}
BENCHMARK(array_load);

void rdmsr(benchmark::State& state, const char* name, u32 address) {
  Pmu pmu(model(name));
  u64 value = 0;
  for (auto _ : state) benchmark::DoNotOptimize(value = *pmu.rdmsr(address + static_cast<u32>(value)));
}
BENCHMARK_CAPTURE(rdmsr, counter, "skylake", msr::PMC0);
BENCHMARK_CAPTURE(rdmsr, legacy_lbr_entry, "skylake", msr::LBR_NHM_FROM_IP + 5);
BENCHMARK_CAPTURE(rdmsr, arch_lbr_entry, "sapphirerapids", msr::ARCH_LBR_FROM_0 + 5);
BENCHMARK_CAPTURE(rdmsr, global_status, "skylake", msr::PERF_GLOBAL_STATUS);

void wrmsr(benchmark::State& state, const char* name, u32 address, u64 value) {
  Pmu pmu(model(name));
  for (auto _ : state) {
    benchmark::DoNotOptimize(address);
    benchmark::DoNotOptimize(pmu.wrmsr(address, value));
  }
}
BENCHMARK_CAPTURE(wrmsr, counter, "skylake", msr::PMC0, 1);
BENCHMARK_CAPTURE(wrmsr, event_select, "skylake", msr::PERFEVTSEL0, 0x4300C4);
BENCHMARK_CAPTURE(wrmsr, legacy_lbr_entry, "skylake", msr::LBR_NHM_FROM_IP + 5, 0x401000);

/// Another event in counter 0 each time, while so many others count.
void wrmsr_another_event(benchmark::State& state) {
  Pmu pmu(model("skylake"));
  for (u32 n = 1; n <= state.range(0); ++n) static_cast<void>(pmu.wrmsr(msr::PERFEVTSEL0 + n, 0x4300C5));
  u64 select = 0x4300C4;
  for (auto _ : state) {
    benchmark::DoNotOptimize(pmu.wrmsr(msr::PERFEVTSEL0, select));
    select ^= 0xC4 ^ 0xC0;
  }
}
BENCHMARK(wrmsr_another_event)->Arg(0)->Arg(3);

/// Alternately instructions, branches, mispredicts and loads on `count` general-purpose counters.
CounterFile counting(const CpuModel& m, unsigned count, bool with_cycles) {
  static constexpr std::array<u64, 4> events{0x4300C0, 0x4300C4, 0x4300C5, 0x4381D0};
  CounterFile counters(m);
  const RegisterFile<CounterFile> registers(m);
  const auto write = [&](u32 address, u64 value) {
    static_cast<void>(registers.write(address, value, 0, counters));
  };
  for (u32 n = 0; n < count; ++n) write(msr::PERFEVTSEL0 + n, events[n % events.size()]);
  if (with_cycles) {
    write(msr::FIXED_CTR_CTRL, 0x33);
    write(msr::PERF_GLOBAL_CTRL, 0x3000000FF);
  }
  return counters;
}

void retire(benchmark::State& state, bool with_cycles) {
  const CpuModel m = model("icelake");
  CounterFile counters = counting(m, static_cast<unsigned>(state.range(0)), with_cycles);
  std::array<Retirement, 4> instructions{};
  instructions[0].signals = {Signal::instruction, Signal::load, Signal::load_l1_hit};
  instructions[1].signals = {Signal::instruction};
  instructions[2].signals = {Signal::instruction, Signal::branch, Signal::conditional,
                             Signal::conditional_taken};
  instructions[3].signals = {Signal::instruction, Signal::store};
  u64 n = 0;
  for (auto _ : state) {
    Retirement& r = instructions[n % instructions.size()];
    r.cycle = ++n / 2;
    benchmark::DoNotOptimize(counters.pass_time(r.cycle, r.cpl));
    benchmark::DoNotOptimize(counters.retire(r));
  }
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK_CAPTURE(retire, occurrences, false)->Arg(0)->Arg(1)->Arg(4)->Arg(8);
BENCHMARK_CAPTURE(retire, and_fixed_0_and_1, true)->Arg(0)->Arg(4)->Arg(8);

}  // namespace
}  // namespace pmusim
