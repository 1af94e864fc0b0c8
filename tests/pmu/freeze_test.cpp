// What a driver sees of a freeze: status, enables, LVTPC and the LBR, for both strategies
// (docs/registers.md).
#include "tests/pmu/guest.h"

namespace pmusim {
namespace {

using test::Guest;

constexpr u64 counting = msr::evtsel::EN | msr::evtsel::OS | msr::evtsel::USR | msr::evtsel::INT | 0xC0;
constexpr u64 freeze_both = msr::debugctl::FREEZE_LBRS_ON_PMI | msr::debugctl::FREEZE_PERFMON_ON_PMI;

/// Counter 0 overflows with a PMI at the next instruction; counter 1 counts instructions beside it.
void arm(Guest& guest, u64 debugctl) {
  guest.write(msr::X2APIC_LVTPC, msr::lvtpc::NMI);
  guest.write(msr::DEBUGCTL, debugctl);
  guest.write(msr::PMC0, 0xFFFFFFFF);
  guest.write(msr::PMC0 + 1, 0);
  guest.write(msr::PERFEVTSEL0, counting);
  guest.write(msr::PERFEVTSEL0 + 1, counting & ~msr::evtsel::INT);
  guest.write(msr::PERF_GLOBAL_CTRL, 3);
}

class LegacyFreeze : public ::testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(Models, LegacyFreeze, ::testing::ValuesIn(test::model_names([](const CpuModel& m) {
                           return m.perfmon_version >= 2 && m.freeze == FreezeStyle::legacy;
                         })),
                         test::test_name);
class StreamlinedFreeze : public ::testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(Models, StreamlinedFreeze,
                         ::testing::ValuesIn(test::model_names([](const CpuModel& m) {
                           return m.freeze == FreezeStyle::streamlined;
                         })),
                         test::test_name);

TEST_P(LegacyFreeze, ClearsTheEnables) {  // DEBUGCTL = 1801, overflow with INT
  Guest guest(GetParam());
  guest.unmasks = false;
  arm(guest, freeze_both | msr::debugctl::LBR);
  guest.retire_instructions(1);
  EXPECT_EQ(guest.read(msr::DEBUGCTL), 0x1800u);
  EXPECT_EQ(guest.read(msr::PERF_GLOBAL_CTRL), 0u);
  EXPECT_EQ(guest.read(msr::PERF_GLOBAL_STATUS), 1u);
  guest.retire_instructions(5);
  EXPECT_EQ(guest.read(msr::PMC0 + 1), 1u) << "nothing counts after the overflow";
  EXPECT_EQ(guest.pmis, 1u);
  EXPECT_EQ(guest.read(msr::X2APIC_LVTPC), msr::lvtpc::NMI | msr::lvtpc::MASKED);
}

TEST_P(LegacyFreeze, SoftwareTurnsTheEnablesOnAgain) {
  Guest guest(GetParam());
  arm(guest, freeze_both | msr::debugctl::LBR);
  guest.retire_instructions(3);
  guest.write(msr::PERF_GLOBAL_STATUS_RESET, 1);
  guest.write(msr::DEBUGCTL, freeze_both | msr::debugctl::LBR);
  guest.write(msr::PERF_GLOBAL_CTRL, 3);
  guest.retire_instructions(4);
  EXPECT_EQ(guest.read(msr::PMC0 + 1), 1u + 4u);
}

TEST_P(LegacyFreeze, TheLbrKeepsWhatLedToTheOverflow) {
  Guest guest(GetParam());
  arm(guest, freeze_both | msr::debugctl::LBR);
  guest.write(msr::PMC0, 0xFFFFFFFE);
  guest.take_branch();
  const u64 newest = guest.read(msr::LBR_TOS);
  guest.take_branch();  // overflows: recorded, then frozen
  EXPECT_NE(guest.read(msr::LBR_TOS), newest);
  const u64 frozen = guest.read(msr::LBR_TOS);
  guest.take_branch();
  EXPECT_EQ(guest.read(msr::LBR_TOS), frozen);
}

TEST_P(StreamlinedFreeze, SetsFrozenBitsAndLeavesTheEnables) {
  Guest guest(GetParam());
  guest.unmasks = false;
  arm(guest, freeze_both);
  guest.retire_instructions(1);
  EXPECT_EQ(guest.read(msr::DEBUGCTL), freeze_both);
  EXPECT_EQ(guest.read(msr::PERF_GLOBAL_CTRL), 3u);
  EXPECT_EQ(guest.read(msr::PERF_GLOBAL_STATUS), 1 | msr::status::LBR_FRZ | msr::status::CTR_FRZ);
  guest.retire_instructions(5);
  EXPECT_EQ(guest.read(msr::PMC0 + 1), 1u);
  EXPECT_EQ(guest.pmis, 1u);
  EXPECT_EQ(guest.read(msr::X2APIC_LVTPC), msr::lvtpc::NMI | msr::lvtpc::MASKED);
}

TEST_P(StreamlinedFreeze, ClearingTheBitsResumes) {
  Guest guest(GetParam());
  arm(guest, freeze_both);
  guest.retire_instructions(3);
  guest.write(msr::PERF_GLOBAL_STATUS_RESET, 1 | msr::status::LBR_FRZ | msr::status::CTR_FRZ);
  EXPECT_EQ(guest.read(msr::PERF_GLOBAL_STATUS), 0u);
  guest.retire_instructions(4);
  EXPECT_EQ(guest.read(msr::PMC0 + 1), 1u + 4u);
}

TEST_P(StreamlinedFreeze, SoftwareCanFreezeThroughStatusSet) {
  Guest guest(GetParam());
  arm(guest, 0);
  guest.write(msr::PMC0, 0);
  guest.write(msr::PERF_GLOBAL_STATUS_SET, msr::status::CTR_FRZ);
  guest.retire_instructions(4);
  EXPECT_EQ(guest.read(msr::PMC0), 0u);
  guest.write(msr::PERF_GLOBAL_STATUS_RESET, msr::status::CTR_FRZ);
  guest.retire_instructions(4);
  EXPECT_EQ(guest.read(msr::PMC0), 4u);
}

class EitherFreeze : public ::testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(Models, EitherFreeze, ::testing::ValuesIn(test::model_names([](const CpuModel& m) {
                           return m.perfmon_version >= 2;
                         })),
                         test::test_name);

TEST_P(EitherFreeze, WithoutIntNothingFreezes) {
  Guest guest(GetParam());
  arm(guest, freeze_both);
  guest.write(msr::PERFEVTSEL0, counting & ~msr::evtsel::INT);
  guest.retire_instructions(5);
  EXPECT_EQ(guest.read(msr::PERF_GLOBAL_STATUS), 1u);
  EXPECT_EQ(guest.read(msr::PERF_GLOBAL_CTRL), 3u);
  EXPECT_EQ(guest.read(msr::PMC0 + 1), 5u);
}

TEST_P(EitherFreeze, FreezingTheLbrAloneLetsCountersRun) {
  Guest guest(GetParam());
  arm(guest, msr::debugctl::FREEZE_LBRS_ON_PMI);
  guest.retire_instructions(5);
  EXPECT_EQ(guest.read(msr::PMC0 + 1), 5u);
}

TEST_P(EitherFreeze, APmiWhileMaskedFreezesAtOnceAndArrivesWhenUnmasked) {
  Guest guest(GetParam());
  arm(guest, freeze_both);
  guest.write(msr::X2APIC_LVTPC, msr::lvtpc::NMI | msr::lvtpc::MASKED);
  guest.retire_instructions(5);
  EXPECT_EQ(guest.pmis, 0u);
  EXPECT_EQ(guest.read(msr::PMC0 + 1), 1u) << "frozen when the PMI was raised, not when it is taken";
  EXPECT_EQ(guest.read(msr::PERF_GLOBAL_STATUS) & 1, 1u);
  guest.write(msr::X2APIC_LVTPC, msr::lvtpc::NMI);
  guest.retire_instructions(1);
  EXPECT_EQ(guest.pmis, 1u);
}

TEST_P(EitherFreeze, ByPolicyAPmiWhileMaskedIsLost) {
  CpuModel model = Guest::with_short_skid(GetParam());
  model.policies.pmi_while_masked = 1;
  Guest guest(model);
  arm(guest, 0);
  guest.write(msr::X2APIC_LVTPC, msr::lvtpc::NMI | msr::lvtpc::MASKED);
  guest.retire_instructions(5);
  guest.write(msr::X2APIC_LVTPC, msr::lvtpc::NMI);
  guest.retire_instructions(5);
  EXPECT_EQ(guest.pmis, 0u);
  EXPECT_EQ(guest.read(msr::PERF_GLOBAL_STATUS), 1u) << "the status bit stays either way";
}

TEST_P(EitherFreeze, ByPolicyAWrapWhoseStatusBitIsSetInterruptsNoMore) {
  for (const u32 repeats : {0u, 1u}) {
    CpuModel model = Guest::with_short_skid(GetParam());
    model.policies.pmi_repeat = repeats;
    Guest guest(model);
    arm(guest, 0);
    guest.retire_instructions(2);
    guest.write(msr::PMC0, 0xFFFFFFFF);  // the handler left status bit 0 alone
    guest.retire_instructions(2);
    EXPECT_EQ(guest.pmis, 1 + repeats);
  }
}

TEST_P(EitherFreeze, LvtpcStaysMaskedUntilSoftwareRewritesIt) {
  Guest guest(GetParam());
  guest.unmasks = false;
  arm(guest, 0);
  guest.retire_instructions(2);
  EXPECT_EQ(guest.pmis, 1u);
  guest.write(msr::PMC0, 0xFFFFFFFF);
  guest.retire_instructions(5);
  EXPECT_EQ(guest.pmis, 1u) << "no rewrite, no further PMI";
  guest.write(msr::X2APIC_LVTPC, msr::lvtpc::NMI);
  guest.retire_instructions(1);
  EXPECT_EQ(guest.pmis, 2u);
}

}  // namespace
}  // namespace pmusim
