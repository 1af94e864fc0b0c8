// SPDX-License-Identifier: MIT
// Models of one's own: registers, RDPMC, CPUID and RESET follow the members.
#include <gtest/gtest.h>

#include "pmusim/pmu/pmu.h"

namespace pmusim {
namespace {

CpuModel skylake_of_version(unsigned version) {
  CpuModel model = *find_cpu_model("skylake");
  model.perfmon_version = version;
  return model;
}

TEST(CustomModel, CountersAndRdpmcFollowThePerfmonVersion) {
  for (const unsigned version : {0u, 1u, 2u, 4u}) {
    Pmu pmu(skylake_of_version(version));
    const bool gp = version >= 1, fixed = version >= 2;
    EXPECT_EQ(pmu.rdmsr(msr::PMC0).ok(), gp) << version;
    EXPECT_EQ(pmu.rdmsr(msr::A_PMC0).ok(), gp) << version;
    EXPECT_EQ(pmu.rdmsr(msr::PERFEVTSEL0).ok(), gp) << version;
    EXPECT_EQ(pmu.rdpmc(0).ok(), gp) << version;
    EXPECT_EQ(pmu.rdmsr(msr::FIXED_CTR0).ok(), fixed) << version;
    EXPECT_EQ(pmu.rdmsr(msr::FIXED_CTR_CTRL).ok(), fixed) << version;
    EXPECT_EQ(pmu.rdpmc(0x40000000).ok(), fixed) << version;
  }
}

TEST(CustomModel, CpuidSaysClflushAndTheLineSize) {
  constexpr u32 clfsh = 1u << 19;
  CpuModel model = *find_cpu_model("skylake");
  for (const u32 line_bytes : {64u, 128u}) {
    model.core.l1d.line_bytes = line_bytes;
    const CpuidResult leaf = cpuid(model, 1, 0);
    EXPECT_NE(leaf.edx & clfsh, 0u);
    EXPECT_EQ((leaf.ebx >> 8 & 0xFF) * 8, line_bytes);
  }
}

TEST(CustomModel, TheMicrocodeRevisionIsReadFromItsRegister) {
  CpuModel model = *find_cpu_model("sandybridge");
  model.microcode_revision = 0x28;
  Pmu pmu(model);
  EXPECT_EQ(pmu.wrmsr(0x8B, 0), Fault::none);
  EXPECT_EQ(pmu.rdmsr(0x8B).value_or(0), 0x28'00000000u);
}

TEST(PredictionBarrier, IsACommandThatIsCountedAndNeverRead) {
  Pmu pmu(*find_cpu_model("skylake"));
  EXPECT_EQ(pmu.wrmsr(0x49, 1), Fault::none);
  EXPECT_EQ(pmu.wrmsr(0x49, 0), Fault::none);
  EXPECT_EQ(pmu.wrmsr(0x49, 2), Fault::gp);
  EXPECT_FALSE(pmu.rdmsr(0x49).ok());
  EXPECT_EQ(pmu.prediction_barriers(), 1u);
  EXPECT_NE(pmu.cpuid(7, 0).edx & 1u << 26, 0u);
  EXPECT_EQ(Pmu(*find_cpu_model("core2")).wrmsr(0x49, 1), Fault::gp);
}

}  // namespace
}  // namespace pmusim
