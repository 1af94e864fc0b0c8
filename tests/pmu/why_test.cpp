// SPDX-License-Identifier: MIT
// Why accesses to registers fault: the numbers are of SDM vol. 4, by model.
#include <gmock/gmock.h>

#include <array>
#include <boost/endian/arithmetic.hpp>
#include <span>

#include "pmusim/arch/msr.h"
#include "pmusim/pmu/observer.h"
#include "pmusim/pmu/pmu.h"

namespace pmusim::why_test {
namespace {

using observed::FaultRule;
using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;

Pmu pmu_of(std::string_view model) { return Pmu(*find_cpu_model(model)); }

std::string why_write(Pmu& pmu, u32 address, u64 value) {
  EXPECT_EQ(pmu.wrmsr(address, value), Fault::gp);
  return pmu.why();
}
std::string why_read(Pmu& pmu, u32 address) {
  EXPECT_FALSE(pmu.rdmsr(address).ok());
  return pmu.why();
}

TEST(Why, NamesTheReservedBitsAndWhatTheModelHasOfTheirField) {
  Pmu pmu = pmu_of("skylake");
  EXPECT_EQ(
      why_write(pmu, msr::PERF_GLOBAL_CTRL, 0x10),
      "wrmsr IA32_PERF_GLOBAL_CTRL (38FH) = 0x10: #GP: bit 4 is reserved on Skylake (enable PMCn (bit n): "
      "bits 3:0)");
  EXPECT_EQ(pmu.last_fault().bits, 0x10u);
  EXPECT_EQ(why_write(pmu, msr::PERF_GLOBAL_CTRL, 0xFFF0'0000'0000'001F),
            "wrmsr IA32_PERF_GLOBAL_CTRL (38FH) = 0xfff000000000001f: #GP: bits 63:52 and 4 are reserved on "
            "Skylake (enable PMCn (bit n): bits 3:0)");
  EXPECT_THAT(why_write(pmu, msr::PERFEVTSEL0, bit(34)),
              EndsWith("bit 34 is reserved on Skylake (adaptive record: none)"));
  Pmu icelake = pmu_of("icelake");
  EXPECT_THAT(
      why_write(icelake, msr::PERF_GLOBAL_CTRL, bit(8) | bit(36)),
      EndsWith("bits 36 and 8 are reserved on Ice Lake (enable PMCn (bit n): bits 7:0; enable FIXED_CTRm "
               "(bit 32 + m): bits 35:32)"));
}

TEST(Why, NamesRegistersThatOtherModelsHave) {
  Pmu pmu = pmu_of("skylake");
  EXPECT_EQ(why_read(pmu, msr::PERF_METRICS),
            "rdmsr MSR_PERF_METRICS (329H): #GP: Skylake has no such register");
  EXPECT_EQ(why_write(pmu, 0xBAD, 1), "wrmsr BADH = 0x1: #GP: Skylake has no such register");
}

TEST(Why, SaysWhichWayARegisterDoesNotGo) {
  Pmu pmu = pmu_of("skylake");
  EXPECT_THAT(why_write(pmu, msr::PERF_GLOBAL_STATUS, 1), EndsWith("#GP: the register is read-only"));
  EXPECT_THAT(why_read(pmu, msr::PRED_CMD), EndsWith("#GP: the register is write-only"));
}

TEST(Why, SaysWhatARegisterTakes) {
  Pmu pmu = pmu_of("skylake"), arch = pmu_of("goldencove");
  EXPECT_THAT(why_write(pmu, msr::DS_AREA, bit(47)), HasSubstr("canonical"));
  EXPECT_THAT(why_write(arch, msr::ARCH_LBR_DEPTH, 7), HasSubstr("CPUID.1CH:EAX"));
  ASSERT_EQ(arch.wrmsr(msr::ARCH_LBR_DEPTH, 8), Fault::none);
  EXPECT_THAT(why_read(arch, msr::ARCH_LBR_FROM_0 + 8), HasSubstr("IA32_LBR_8_FROM_IP"));
  EXPECT_THAT(arch.why(), HasSubstr("IA32_LBR_DEPTH"));
}

TEST(Why, KnowsRdpmcAndXcr0) {
  Pmu pmu = pmu_of("skylake");
  EXPECT_FALSE(pmu.rdpmc(4).ok());
  EXPECT_THAT(pmu.why(),
              HasSubstr("rdpmc ECX 4H: #GP: Skylake has no such counter, but 4 general-purpose and 3"));
  EXPECT_FALSE(pmu.rdpmc(0, Cpl::user).ok());
  EXPECT_THAT(pmu.why(), HasSubstr("CR4.PCE"));
  EXPECT_EQ(pmu.xsetbv(0, 5), Fault::gp);
  EXPECT_THAT(pmu.why(), EndsWith("AVX (bit 2) needs SSE (bit 1)"));
  EXPECT_EQ(pmu.xsetbv(0, bit(62) | 1), Fault::gp);
  EXPECT_THAT(pmu.why(), HasSubstr("bit 62 is reserved on Skylake"));
  pmu.set_xsave_control({.os_enabled = false});
  EXPECT_EQ(pmu.xsetbv(0, 1), Fault::ud);
  EXPECT_THAT(pmu.why(), EndsWith("#UD: CR4.OSXSAVE is clear"));
}

TEST(Why, IsTheLastFaultUntilAResetAndGoesWithACopy) {
  Pmu pmu = pmu_of("skylake");
  EXPECT_EQ(pmu.why(), "");
  static_cast<void>(pmu.wrmsr(0xBAD, 1));
  EXPECT_EQ(pmu.wrmsr(msr::PMC0, 1), Fault::none);
  const Pmu copy = pmu;
  EXPECT_THAT(copy.why(), HasSubstr("BADH"));
  pmu.reset();
  EXPECT_EQ(pmu.last_fault().fault, Fault::none);
}

TEST(Why, HasARuleForEachFaultOfEachRegisterOfEachModel) {
  unsigned faults = 0;
  for (const CpuModel& model : cpu_models()) {
    const Pmu pristine(model);
    for (const Register& r : pristine.registers().all()) {
      Pmu pmu = pristine;
      for (unsigned n = 0; n < 64; ++n) {
        if (pmu.wrmsr(r.address, r.reset ^ bit(n)) == Fault::none) continue;
        ++faults;
        const observed::AccessFault fault = pmu.last_fault();
        ASSERT_EQ(fault.bits, fault.rule == FaultRule::reserved ? (r.reset ^ bit(n)) & ~r.writable : 0);
        const std::string why = pmu.why();
        ASSERT_THAT(why, HasSubstr(r.name() + " ("));
        ASSERT_THAT(why, Not(EndsWith(": "))) << model.name;
      }
    }
  }
  EXPECT_GT(faults, 50'000u);
}

TEST(LocalApic, ComesUpInX2apicModeAndLeavesItByBeingDisabled) {  // SDM vol. 3, x2APIC state transitions
  constexpr u64 page = 0xFEE00000, disabled = page, xapic = page | bit(11), x2apic = page | bits(11, 10),
                invalid = page | bit(10);
  Pmu pmu = pmu_of("skylake");
  EXPECT_EQ(pmu.rdmsr(msr::APIC_BASE).value(), x2apic | bit(8));
  EXPECT_EQ(pmu.wrmsr(msr::APIC_BASE, xapic), Fault::gp);
  EXPECT_THAT(pmu.why(), HasSubstr("bits 11 and 10"));
  EXPECT_EQ(pmu.wrmsr(msr::APIC_BASE, invalid), Fault::gp);
  EXPECT_EQ(pmu.wrmsr(msr::APIC_BASE, x2apic | 1), Fault::gp);
  EXPECT_EQ(pmu.wrmsr(msr::X2APIC_LVTPC, msr::lvtpc::NMI), Fault::none);

  EXPECT_EQ(pmu.wrmsr(msr::APIC_BASE, disabled), Fault::none);
  EXPECT_THAT(why_read(pmu, msr::X2APIC_LVTPC), HasSubstr("x2APIC mode"));
  EXPECT_EQ(pmu.wrmsr(msr::X2APIC_EOI, 0), Fault::gp);
  EXPECT_EQ(pmu.wrmsr(msr::APIC_BASE, x2apic), Fault::gp);  // not at once
  EXPECT_EQ(pmu.wrmsr(msr::APIC_BASE, invalid), Fault::gp);

  EXPECT_EQ(pmu.wrmsr(msr::APIC_BASE, xapic), Fault::none);
  std::array<std::byte, 4> word{};
  EXPECT_EQ(pmu.read_memory(page + 0x340, word), Fault::none);
  EXPECT_EQ(word[2], std::byte{1});  // masked: it has forgotten
  EXPECT_EQ(pmu.write_memory(page + 0xB0, word), Fault::none);
  EXPECT_FALSE(pmu.rdmsr(msr::X2APIC_LVTPC).ok());
  EXPECT_EQ(pmu.wrmsr(msr::APIC_BASE, 0x12345000 | bit(11)), Fault::none);  // its page moves
  EXPECT_EQ(pmu.read_memory(page + 0x340, word), Fault::pf);
  EXPECT_EQ(pmu.read_memory(0x12345340, word), Fault::none);

  EXPECT_EQ(pmu.wrmsr(msr::APIC_BASE, x2apic), Fault::none);
  EXPECT_EQ(pmu.rdmsr(msr::X2APIC_LVTPC).value(), 0x10000u);
}

/// Extended entries, AMD64 APM vol. 2, "Extended Local Vector Table": at 500h, 510h, ... of the page, masked
/// after reset and once the APIC is disabled.
TEST(LocalApic, HasAmdsExtendedEntriesInMemory) {
  constexpr u64 page = 0xFEE00000, disabled = page, xapic = page | bit(11);
  Pmu pmu = pmu_of("rome");
  const auto entry = [&](u64 n) {
    boost::endian::little_uint32_t word = 0;
    EXPECT_EQ(pmu.read_memory(page + 0x500 + 0x10 * n, std::as_writable_bytes(std::span(&word, 1))),
              Fault::none);
    return u32(word);
  };
  const auto write = [&](u64 offset, u32 value) {
    const boost::endian::little_uint32_t word = value;
    return pmu.write_memory(page + offset, std::as_bytes(std::span(&word, 1)));
  };
  EXPECT_EQ(pmu.wrmsr(msr::APIC_BASE, disabled), Fault::none);  // it comes up in x2APIC mode
  EXPECT_EQ(pmu.wrmsr(msr::APIC_BASE, xapic), Fault::none);
  for (u64 n = 0; n < 4; ++n) EXPECT_EQ(entry(n), msr::lvtpc::MASKED) << n;
  EXPECT_EQ(write(0x510, msr::lvtpc::NMI | 0x1000), Fault::none);
  EXPECT_EQ(entry(1), msr::lvtpc::NMI);  // delivery status is not software's
  EXPECT_EQ(entry(0), msr::lvtpc::MASKED);
  EXPECT_EQ(write(0x540, 0), Fault::pf);  // there are four

  EXPECT_EQ(pmu.wrmsr(msr::APIC_BASE, disabled), Fault::none);
  EXPECT_EQ(pmu.wrmsr(msr::APIC_BASE, xapic), Fault::none);
  EXPECT_EQ(entry(1), msr::lvtpc::MASKED);
}

TEST(LocalApic, TakesTheEndOfAnInterruptAs0Alone) {
  Pmu pmu = pmu_of("skylake");
  EXPECT_EQ(pmu.wrmsr(msr::X2APIC_EOI, 0), Fault::none);
  EXPECT_EQ(pmu.wrmsr(msr::X2APIC_EOI, 1), Fault::gp);
  EXPECT_FALSE(pmu.rdmsr(msr::X2APIC_EOI).ok());
}

}  // namespace
}  // namespace pmusim::why_test
