// SPDX-License-Identifier: MIT
// PERF_METRICS beside SLOTS: SDM vol. 3, performance metrics.
#include "tests/msr/msr_machine.h"

namespace pmusim {
namespace {

using testing::MsrMachine;

constexpr u32 slots_register = msr::FIXED_CTR0 + 3;
constexpr u64 count_slots = 0x3000;  // FIXED_CTR_CTRL: counter 3 in all rings
constexpr u64 enable_slots = bit(35), enable_metrics = bit(48);

MsrMachine& with_slots(MsrMachine& m, u64 slots, u64 metrics, u64 enables) {
  m.write(msr::FIXED_CTR_CTRL, count_slots);
  m.write(slots_register, slots);
  m.write(msr::PERF_METRICS, metrics);
  m.write(msr::PERF_GLOBAL_CTRL, enables);
  return m;
}

Retirement uops(u64 number) {
  Retirement r;
  r.quantities[static_cast<unsigned>(Quantity::uops)] = static_cast<u32>(number);
  return r;
}

TEST(PerfMetrics, EachByteThatIsWrittenStaysItsOwnShareOfTheSlots) {
  MsrMachine icelake("icelake");
  MsrMachine& m = with_slots(icelake, 25500, 0x3B338110, enable_slots | enable_metrics);
  m.counters.retire(uops(0));
  EXPECT_EQ(m.read(msr::PERF_METRICS), 0x3B338110u);
}

TEST(PerfMetrics, StandStillWhileSlotsAreNotCounted) {
  MsrMachine icelake("icelake");
  MsrMachine& m = with_slots(icelake, 1000, 0x40404040, enable_metrics);
  m.counters.retire(uops(100));
  EXPECT_EQ(m.read(msr::PERF_METRICS), 0x40404040u);
}

TEST(PerfMetrics, OverflowOnlyWhenACountPassesItsLastValue) {
  MsrMachine icelake("icelake");
  MsrMachine& m = with_slots(icelake, low_bits(48), 0xFF, enable_slots | enable_metrics);
  EXPECT_EQ(m.counters.retire(uops(0)).overflowed & enable_metrics, 0u);
  EXPECT_EQ(m.counters.retire(uops(1)).overflowed & enable_metrics, enable_metrics);
}

// SDM vol. 4, IA32_DEBUGCTL[12:11]: where CPUID.1:ECX[15] is set and CPUID.0AH:EAX[7:0] is above 1.
TEST(Debugctl, FreezesOnPmiWherePerfCapabilitiesAre) {
  CpuModel model = find_cpu_model("core2").value();
  EXPECT_EQ(MsrMachine(model).wrmsr(msr::DEBUGCTL, bit(11) | bit(12)), Fault::none);
  model.has_pdcm = false;
  EXPECT_EQ(MsrMachine(model).wrmsr(msr::DEBUGCTL, bit(12)), Fault::gp);
}

}  // namespace
}  // namespace pmusim
