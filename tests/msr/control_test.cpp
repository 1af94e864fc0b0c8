// SPDX-License-Identifier: MIT
#include "tests/msr/msr_machine.h"

namespace pmusim {
namespace {

using testing::MsrMachine;

TEST(Tsc, AWriteMovesTscAdjustByAsMuchAndBack) {  // SDM vol. 3, IA32_TSC_ADJUST
  MsrMachine m("skylake");
  m.pass_to(1000);
  m.write(msr::TSC, 5000);
  EXPECT_EQ(m.read(msr::TSC_ADJUST), 4000u);
  m.write(msr::TSC_ADJUST, 0);
  EXPECT_EQ(m.read(msr::TSC), 1000u);
}

TEST(Tsc, RunsAtTheModelsRatio) {
  CpuModel model = find_cpu_model("skylake").value();
  model.core.tsc_per_core_cycle_numerator = 3;
  model.core.tsc_per_core_cycle_denominator = 4;
  MsrMachine m(model);
  m.pass_to(1001);
  EXPECT_EQ(m.read(msr::TSC), 750u);
  EXPECT_EQ(m.read(msr::MPERF), 750u);
  EXPECT_EQ(m.read(msr::APERF), 1001u);
}

TEST(Mperf, AWriteLoadsTheCountAndTimeGoesOnFromThere) {
  MsrMachine m("skylake");
  m.pass_to(100);
  m.write(msr::APERF, 0);
  m.pass_to(130);
  EXPECT_EQ(m.read(msr::APERF), 30u);
  EXPECT_EQ(m.read(msr::MPERF), 130u);
}

TEST(MiscEnable, WhatThePartCannotDoCannotBeFlipped) {  // KVM rejects writes that flip bits 11 and 12
  MsrMachine m("skylake");
  const u64 reset = m.read(msr::MISC_ENABLE);
  EXPECT_EQ(m.wrmsr(msr::MISC_ENABLE, reset | bit(12)), Fault::gp);
  EXPECT_EQ(m.wrmsr(msr::MISC_ENABLE, reset & ~bit(7)), Fault::none);
  EXPECT_EQ(m.read(msr::MISC_ENABLE), reset) << "performance monitoring stays available";
}

TEST(Lvtpc, DeliveryStatusIsReadOnly) {
  MsrMachine m("skylake");
  m.write(msr::X2APIC_LVTPC, msr::lvtpc::NMI | msr::lvtpc::DELIVERY_STATUS);
  EXPECT_EQ(m.read(msr::X2APIC_LVTPC), msr::lvtpc::NMI);
  EXPECT_EQ(m.wrmsr(msr::X2APIC_LVTPC, bit(17)), Fault::gp);
}

}  // namespace
}  // namespace pmusim
