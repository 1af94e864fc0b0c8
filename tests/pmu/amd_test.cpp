// SPDX-License-Identifier: MIT
// AMD's core PMU by the Architecture Programmer's Manual vol. 2, 13.1 and 13.2, and by what Linux and
// kvm-unit-tests expect of it. Values are literal.
#include <gmock/gmock.h>

#include "pmusim/arch/branch.h"
#include "pmusim/arch/msr.h"
#include "pmusim/pmu/pmu.h"
#include "tests/pmu/amd_cpu.h"
#include "tests/support/dice.h"

namespace pmusim::amd_test {
namespace {

using testing::ElementsAre;

class EveryAmdModel : public testing::TestWithParam<std::string> {};
std::vector<std::string> names() {
  std::vector<std::string> all;
  for (const CpuModel& model : cpu_models(Vendor::amd)) all.push_back(model.name);
  return all;
}
INSTANTIATE_TEST_SUITE_P(Models, EveryAmdModel, testing::ValuesIn(names()), [](const auto& of) {
  std::string name = of.param;
  std::ranges::replace(name, '-', '_');
  return name;
});

TEST_P(EveryAmdModel, SaysAmdAndHasNothingOfIntels) {
  Cpu cpu(GetParam());
  const CpuidResult vendor = cpu.pmu.cpuid(0, 0);
  EXPECT_THAT((std::array{vendor.ebx, vendor.edx, vendor.ecx}),
              ElementsAre(0x68747541, 0x69746E65, 0x444D4163));
  EXPECT_EQ(cpu.pmu.cpuid(0xA, 0).eax, 0u);
  for (const u32 address :
       {0xC1u, 0x186u, 0x1A0u, 0x309u, 0x345u, 0x38Du, 0x38Eu, 0x38Fu, 0x390u, 0x3F1u, 0x600u})
    EXPECT_EQ(cpu.pmu.rdmsr(address).error(), Fault::gp) << std::hex << address;
}

TEST_P(EveryAmdModel, HasTheSameRegistersAtTheLegacyAddresses) {
  Cpu cpu(GetParam());
  cpu.write(0xC0010001, 0x530076);
  EXPECT_EQ(cpu.read(0xC0010202), 0x530076u);
  cpu.write(0xC0010205, 0x123);
  EXPECT_EQ(cpu.read(0xC0010006), 0x123u);
  EXPECT_FALSE(cpu.pmu.rdmsr(0xC001020C).ok());  // a seventh counter
}

TEST_P(EveryAmdModel, DropsReservedBitsOfSelects) {
  Cpu cpu(GetParam());
  const bool precise = cpu.pmu.cpuid(0x80000021, 0).eax == 0x1000;
  for (const u32 n : {0u, 1u, 2u, 5u}) {
    cpu.write(0xC0010200 + 2 * n, ~u64{0});
    EXPECT_EQ(cpu.read(0xC0010200 + 2 * n), n == 2 && precise ? 0x00000B0F'FFD7FFFFu : 0x0000030F'FFD7FFFFu);
  }
}

TEST_P(EveryAmdModel, HasCountersOf48BitsWithoutSignExtension) {
  Cpu cpu(GetParam());
  cpu.write(0xC0010201, 0xFFFF0123456789AB);
  EXPECT_EQ(cpu.read(0xC0010201), 0x0123456789ABu);
  EXPECT_EQ(cpu.pmu.rdpmc(0).value(), 0x0123456789ABu);
  for (const u32 ecx : {6u, 15u, 32u, 0x40000000u, 0x80000000u})
    EXPECT_EQ(cpu.pmu.rdpmc(ecx).error(), Fault::gp) << ecx;
  EXPECT_EQ(cpu.pmu.rdpmc(0, Cpl::user).error(), Fault::gp);
  cpu.pmu.set_user_rdpmc(UserRdpmc::allowed);
  EXPECT_TRUE(cpu.pmu.rdpmc(5, Cpl::user).ok());
}

TEST_P(EveryAmdModel, CountsForHostsOnlyWhileSvmeIsSet) {
  Cpu cpu(GetParam());
  cpu.write(0xC0010200, user_instructions | bit(41));
  cpu.write(0xC0010202, user_instructions | bit(40));
  cpu.write(0xC0010204, user_instructions | bit(40) | bit(41));
  cpu.write(0xC0010206, user_instructions);
  cpu.retire_instructions(5);
  cpu.write(0xC0000080, 0x1000);
  cpu.retire_instructions(3);
  EXPECT_THAT(
      (std::array{cpu.read(0xC0010201), cpu.read(0xC0010203), cpu.read(0xC0010205), cpu.read(0xC0010207)}),
      ElementsAre(3, 0, 3, 8));
}

TEST_P(EveryAmdModel, TellsGuestsFromTheirHost) {
  Cpu cpu(GetParam());
  cpu.write(0xC0000080, 0x1000);
  for (const u32 n : {0u, 1u, 2u, 3u}) cpu.write(0xC0010200 + 2 * n, user_instructions | u64{n} << 40);
  cpu.retire_instructions(5);
  cpu.pmu.set_vm_mode(VmMode::guest);
  cpu.retire_instructions(3);
  cpu.pmu.set_vm_mode(VmMode::host);
  cpu.retire_instructions(1);
  EXPECT_THAT(
      (std::array{cpu.read(0xC0010201), cpu.read(0xC0010203), cpu.read(0xC0010205), cpu.read(0xC0010207)}),
      ElementsAre(9, 3, 6, 9));  // all, GuestOnly, HostOnly, both
}

TEST_P(EveryAmdModel, CountsByPrivilegeMaskAndEdge) {
  Cpu cpu(GetParam());
  cpu.write(0xC0010200, 0x4000C0);               // neither USR nor OS
  cpu.write(0xC0010202, 0x4300C0 | 2ull << 24);  // at least two at once
  cpu.write(0xC0010204, 0xC300C0 | 2ull << 24);  // INV: fewer
  cpu.write(0xC0010206, 0x4700C0 | 1ull << 24);  // EDGE: runs of busy cycles
  cpu.write(0xC0010208, 0x4200C0);               // OS
  cpu.retire_instructions(4, 4);
  cpu.retire_instructions(1);
  cpu.pmu.wait_until(cpu.pmu.now() + 2, {.cpl = Cpl::user});
  cpu.retire_instructions(3, 3);
  cpu.pmu.wait_until(cpu.pmu.now() + 1, {.cpl = Cpl::user});
  EXPECT_EQ(cpu.read(0xC0010201), 0u);
  EXPECT_EQ(cpu.read(0xC0010203), 2u);
  EXPECT_EQ(cpu.read(0xC0010207), 2u);
  EXPECT_EQ(cpu.read(0xC0010209), 0u);
  cpu.retire_instructions(7, 1, Cpl::kernel);
  EXPECT_EQ(cpu.read(0xC0010209), 7u);
}

TEST_P(EveryAmdModel, CountsCyclesByHowManyRetireInThem) {  // 4, 1, 0 and 3 instructions
  Cpu cpu(GetParam());
  cpu.retire_instructions(1);
  cpu.pmu.wait_until(cpu.pmu.now() + 1, {.cpl = Cpl::user});
  cpu.write(0xC0010202, 0x4300C0 | 2ull << 24);
  cpu.write(0xC0010204, 0xC300C0 | 2ull << 24);
  const u64 start = cpu.pmu.now();
  const auto retire_at = [&](u64 cycle, unsigned count) {
    for (unsigned n = 0; n < count; ++n)
      cpu.pmu.retire({.ip = 0x401000,
                      .next_ip = 0x401004,
                      .cycle = start + cycle,
                      .signals = {Signal::instruction},
                      .length = 4});
  };
  retire_at(0, 4);
  retire_at(1, 1);
  retire_at(3, 3);
  cpu.pmu.wait_until(start + 4, {.cpl = Cpl::user});
  EXPECT_EQ(cpu.read(0xC0010203), 2u);
  EXPECT_EQ(cpu.read(0xC0010205), 2u);
}

TEST_P(EveryAmdModel, DoesNotMaskTheLocalApicAtAPmi) {
  Cpu cpu(GetParam());
  for (const unsigned pmis : {1u, 2u}) {
    cpu.write(0xC0010200, 0);
    cpu.write(0xC0010201, ~u64{0});
    cpu.write(0xC0010200, with_interrupt);
    cpu.retire_instructions(2);
    EXPECT_EQ(cpu.pmis, pmis);
    EXPECT_EQ(cpu.lvtpc(), 0x400u);
  }
}

TEST_P(EveryAmdModel, FaultsOnBitsOfDebugCtlThatMustBeZero) {
  Cpu cpu(GetParam());
  for (const unsigned n : {3u, 4u, 5u, 6u}) EXPECT_EQ(cpu.pmu.wrmsr(0x1D9, bit(n)), Fault::gp) << n;
  const bool freezes = (cpu.pmu.cpuid(0x80000022, 0).eax & 4) != 0;
  cpu.write(0x1D9, 0xFFFFFFFF'FFFFFF83);
  EXPECT_EQ(cpu.read(0x1D9), freezes ? 0x1803u : 3u);
}

TEST(AmdCounters, ThatAreNotEnabledTogetherNeedNoGlobalControl) {
  Cpu cpu("naples");
  EXPECT_FALSE(cpu.pmu.rdmsr(0xC0000300).ok());
  EXPECT_FALSE(cpu.pmu.rdmsr(0xC0000301).ok());
  cpu.write(0xC0010201, static_cast<u64>(-5));
  cpu.write(0xC0010200, with_interrupt);
  cpu.retire_instructions(4, 1, Cpl::kernel);
  cpu.retire_instructions(5);
  EXPECT_EQ(cpu.read(0xC0010201), 0u);
  EXPECT_EQ(cpu.pmis, 0u);
  EXPECT_TRUE(cpu.pmu.pmi_pending());
  cpu.retire_instructions(1);
  EXPECT_EQ(cpu.pmis, 1u);
}

TEST(AmdPerfMonV2, CountsWhatGlobalControlEnablesAndShowsOverflows) {
  Cpu cpu("genoa");
  EXPECT_EQ(cpu.read(0xC0000301), 0x3Fu);
  const auto overflow_with = [&](u64 global, u64 select) {
    cpu.write(0xC0000302, ~u64{0});
    cpu.write(0xC0010200, 0);
    cpu.write(0xC0000301, global);
    cpu.write(0xC0010201, static_cast<u64>(-5));
    cpu.write(0xC0010200, select);
    cpu.retire_instructions(5);
    return cpu.read(0xC0000300);
  };
  EXPECT_EQ(overflow_with(0x3E, user_instructions), 0u);
  EXPECT_EQ(cpu.read(0xC0010201), 0xFFFFFFFFFFFBu);
  EXPECT_EQ(overflow_with(1, user_instructions), 1u);
  cpu.retire_instructions(1);
  EXPECT_EQ(cpu.pmis, 0u);
  EXPECT_EQ(overflow_with(~u64{0}, with_interrupt), 1u);
  cpu.retire_instructions(1);
  EXPECT_EQ(cpu.pmis, 1u);
}

TEST(AmdPerfMonV2, ClearsAndSetsStatusThroughTwoRegisters) {
  Cpu cpu("genoa");
  cpu.write(0xC0000303, ~u64{0});
  EXPECT_EQ(cpu.read(0xC0000300), 0x0C00'0000'0000'003Fu);
  cpu.write(0xC0000300, 0);  // ignored
  EXPECT_EQ(cpu.read(0xC0000300), 0x0C00'0000'0000'003Fu);
  EXPECT_EQ(cpu.read(0xC0000302), 0u);
  EXPECT_EQ(cpu.read(0xC0000303), 0u);
  cpu.write(0xC0000302, ~u64{0});
  EXPECT_EQ(cpu.read(0xC0000300), 0u);
  cpu.retire_instructions(1);
  EXPECT_EQ(cpu.pmis, 0u);
}

TEST(AmdPerfMonV2, FreezesCountersWhenSoftwareSaysSo) {
  Cpu cpu("genoa");
  cpu.write(0x1D9, 0x1800);
  cpu.write(0xC0010200, user_instructions);
  cpu.write(0xC0000303, 1);  // an overflow alone freezes nothing
  cpu.retire_instructions(2);
  cpu.write(0xC0000303, bit(59));
  cpu.retire_instructions(3);
  EXPECT_EQ(cpu.read(0xC0010201), 2u);
  cpu.write(0xC0000302, bit(59));
  cpu.retire_instructions(4);
  EXPECT_EQ(cpu.read(0xC0010201), 6u);
}

void start_lbr(Cpu& cpu, u64 select = 0) {
  cpu.write(0xC000010E, select);
  cpu.write(0xC000010F, 0x40);
}

TEST(AmdPerfMonV2, FreezesRecordsWhenSoftwareSaysSo) {
  Cpu cpu("genoa");
  start_lbr(cpu);
  cpu.retire_branch(0x1000, 0x2000);
  cpu.write(0xC0000303, bit(58));
  cpu.retire_branch(0x3000, 0x4000);
  EXPECT_EQ(cpu.read(0xC0010300), 0x1000u);
  cpu.write(0xC0000302, bit(58));
  cpu.retire_branch(0x5000, 0x6000);
  EXPECT_EQ(cpu.read(0xC0010300), 0x5000u);
  EXPECT_EQ(cpu.read(0xC0010302), 0x1000u);
}

TEST(AmdPerfMonV2, FreezesCountersAndRecordsAtAnInterrupt) {
  Cpu cpu("genoa");
  cpu.write(0x1D9, 0x1800);
  start_lbr(cpu);
  cpu.write(0xC0010203, 0);
  cpu.write(0xC0010202, user_instructions);
  cpu.write(0xC0010201, static_cast<u64>(-2));
  cpu.write(0xC0010200, user_instructions);
  cpu.retire_instructions(3);
  EXPECT_EQ(cpu.read(0xC0000300), 1u);  // without INT
  cpu.write(0xC0000302, 1);
  cpu.write(0xC0010201, static_cast<u64>(-1));
  cpu.write(0xC0010200, with_interrupt);
  cpu.retire_branch(0x401000, 0x402000);
  EXPECT_EQ(cpu.read(0xC0000300), 0x0C00'0000'0000'0001u);
  cpu.retire_branch(0x403000, 0x404000);
  EXPECT_EQ(cpu.read(0xC0010203), 4u);
  EXPECT_EQ(cpu.read(0xC0010300), 0x401000u);
  cpu.write(0xC0000302, ~u64{0});
  cpu.retire_branch(0x405000, 0x406000);
  EXPECT_EQ(cpu.read(0xC0010203), 5u);
  EXPECT_EQ(cpu.read(0xC0010300), 0x405000u);
}

TEST(AmdPerfMonV2, OfEarlyFirmwareDoesNotFreeze) {
  Cpu cpu("raphael-early");
  cpu.write(0x1D9, 0x1800);
  EXPECT_EQ(cpu.read(0x1D9), 0u);
  cpu.write(0xC0010201, ~u64{0});
  cpu.write(0xC0010200, with_interrupt);
  cpu.retire_instructions(1);
  EXPECT_EQ(cpu.read(0xC0000300), 1u);
}

TEST(AmdLbr, HasTheNewestRecordFirst) {
  Cpu cpu("genoa");
  start_lbr(cpu);
  for (const u64 from : {0x1000u, 0x2000u, 0x3000u}) cpu.retire_branch(from, from + 0x100);
  EXPECT_THAT((std::array{cpu.read(0xC0010300), cpu.read(0xC0010302), cpu.read(0xC0010304)}),
              ElementsAre(0x3000, 0x2000, 0x1000));
  EXPECT_EQ(cpu.read(0xC0010301), 0x80000000'00003100u);
  EXPECT_EQ(cpu.read(0xC0010306), 0u);
  EXPECT_EQ(cpu.read(0xC0010307), 0u);
  EXPECT_FALSE(cpu.pmu.rdmsr(0xC0010320).ok());  // a seventeenth record
}

TEST(AmdLbr, FiltersByTheLevelAtTheTarget) {
  Cpu cpu("genoa");
  start_lbr(cpu, 1);
  cpu.retire_branch(0x1000, 0x2000);
  cpu.retire_branch(0x2000, 0xFFFFFFFF81000000, BranchKind::syscall, Cpl::user, Cpl::kernel);
  cpu.retire_branch(0xFFFFFFFF81000010, 0xFFFFFFFF81000100, BranchKind::direct_jump, Cpl::kernel,
                    Cpl::kernel);
  cpu.retire_branch(0xFFFFFFFF81000200, 0x2002, BranchKind::sysret, Cpl::kernel, Cpl::user);
  EXPECT_EQ(cpu.read(0xC0010300), 0x03FFFFFF'81000200u);
  EXPECT_EQ(cpu.read(0xC0010301), 0x80000000'00002002u);
  EXPECT_EQ(cpu.read(0xC0010302), 0x1000u);
}

TEST(AmdLbr, KeepsOutTheKindsThatSelectNames) {
  const struct {
    unsigned n;
    BranchKind kind;
  } rows[] = {{2, BranchKind::conditional},     {3, BranchKind::direct_call},
              {4, BranchKind::indirect_call},   {5, BranchKind::near_return},
              {6, BranchKind::indirect_jump},   {7, BranchKind::direct_jump},
              {8, BranchKind::interrupt_return}};
  for (const auto& row : rows) {
    for (const auto& branch : rows) {
      Cpu cpu("turin");
      start_lbr(cpu, bit(row.n));
      cpu.retire_branch(0x1000, 0x2000, branch.kind);
      EXPECT_EQ(cpu.read(0xC0010301) != 0, row.n != branch.n) << row.n << " " << branch.n;
    }
  }
}

TEST(AmdLbr, MarksMispredictsAndTakesWhatSoftwareWrites) {
  Cpu cpu("genoa");
  start_lbr(cpu);
  cpu.retire_branch(0x1000, 0x2000, BranchKind::conditional, Cpl::user, Cpl::user, true);
  EXPECT_EQ(cpu.read(0xC0010300), 0x80000000'00001000u);
  cpu.write(0xC0010301, bit(62) | 0x2000);  // recorded on a path that was not taken
  EXPECT_EQ(cpu.read(0xC0010301), bit(62) | 0x2000);
  cpu.write(0xC0010300, 0);
  cpu.write(0xC0010301, 0);
  EXPECT_EQ(cpu.read(0xC0010300) | cpu.read(0xC0010301), 0u);
}

TEST(AmdLbr, HasAnEnableThatDebugExceptionsClear) {
  Cpu cpu("genoa");
  EXPECT_EQ(cpu.pmu.wrmsr(0xC000010F, 1), Fault::gp);
  EXPECT_THAT(cpu.pmu.why(), testing::HasSubstr("bit 0 is reserved on Zen 4 (Genoa)"));
  start_lbr(cpu);
  cpu.pmu.debug_exception();
  EXPECT_EQ(cpu.read(0xC000010F), 0u);
  cpu.retire_branch(0x1000, 0x2000);
  EXPECT_EQ(cpu.read(0xC0010301), 0u);
  Cpu vermeer("vermeer");
  EXPECT_FALSE(vermeer.pmu.rdmsr(0xC000010F).ok());
}

/// Zen 3's server samples taken branches with counter 0, four before the overflow.
void start_branch_sampling(Cpu& cpu) {
  cpu.write(0xC000010F, 0x1C);
  cpu.write(0xC0010201, static_cast<u64>(-4));
  cpu.write(0xC0010200, 0x5100C4);
}

TEST(AmdBranchSampling, HoldsTheInterruptForSixteenBranches) {
  Cpu cpu("milan");
  start_branch_sampling(cpu);
  for (u64 n = 0; n < 4 + 15; ++n) cpu.retire_branch(0x1000 + 16 * n, 0x1008 + 16 * n);
  EXPECT_FALSE(cpu.pmu.pmi_pending());
  EXPECT_EQ(cpu.read(0xC000010F), 0xF003Cu);  // fifteen are there
  cpu.retire_branch(0x8000, 0x9000, BranchKind::syscall, Cpl::user, Cpl::kernel);
  EXPECT_TRUE(cpu.pmu.pmi_pending());
  EXPECT_EQ(cpu.read(0xC000010F), 0x38u);  // off, full, back at the first
  EXPECT_EQ(cpu.read(0xC0010300), 0x1040u);
  EXPECT_EQ(cpu.read(0xC0010301), 0x1048u);
  EXPECT_EQ(cpu.read(0xC001031E), 0x8000u);
  EXPECT_EQ(cpu.read(0xC0010201), 16u);  // it went on counting
  cpu.retire_branch(0xA000, 0xB000);
  EXPECT_EQ(cpu.pmis, 1u);
  EXPECT_EQ(cpu.read(0xC0010300), 0x1040u);
}

TEST(AmdBranchSampling, LetsTheInterruptGoWhenItIsTurnedOff) {
  Cpu cpu("milan");
  start_branch_sampling(cpu);
  for (u64 n = 0; n < 4 + 5; ++n) cpu.retire_branch(0x1000 + 16 * n, 0x1008 + 16 * n);
  EXPECT_FALSE(cpu.pmu.pmi_pending());
  cpu.write(0xC000010F, 0x18);
  EXPECT_TRUE(cpu.pmu.pmi_pending());
  EXPECT_EQ(cpu.read(0xC000010F), 0x50038u);  // five
}

TEST(AmdEvents, AreCountedByTheirTwelveBits) {
  Cpu cpu("genoa");
  cpu.write(0xC0010200, 0x4300C0);
  cpu.write(0xC0010202, 0x4300C2);
  cpu.write(0xC0010204, 0x1'004300C9);  // 1C9: unconditional branches
  cpu.write(0xC0010206, 0x4300C9);      // 0C9: mispredicted returns
  cpu.write(0xC0010208, 0x430076);
  cpu.write(0xC001020A, 0x1'00430076);  // 176 is none
  cpu.retire_instructions(6);
  cpu.retire_branch(0x1000, 0x2000, BranchKind::conditional);
  cpu.retire_branch(0x1000, 0x2000, BranchKind::near_return, Cpl::user, Cpl::user, true);
  cpu.retire_branch(0x1000, 0x2000, BranchKind::direct_call);
  EXPECT_THAT((std::array{cpu.read(0xC0010201), cpu.read(0xC0010203), cpu.read(0xC0010205),
                          cpu.read(0xC0010207), cpu.read(0xC001020B)}),
              ElementsAre(9, 3, 2, 1, 0));
  EXPECT_EQ(cpu.read(0xC0010209), cpu.pmu.now());
}

/// A model of AMD's that has no counters is a CPU all the same.
TEST(AmdModel, WithoutCountersFaultsOnAllOfThem) {
  CpuModel model{.name = "bare", .title = "Bare", .vendor = Vendor::amd};
  Pmu cpu(model);
  EXPECT_EQ(cpu.cpuid(0, 0).ecx, 0x444D4163u);
  for (const u32 address :
       {0xC1u, 0x186u, 0x38Fu, 0xC0010000u, 0xC0010004u, 0xC0010200u, 0xC0000300u, 0xC000010Fu})
    EXPECT_EQ(cpu.rdmsr(address).error(), Fault::gp) << std::hex << address;
  EXPECT_EQ(cpu.rdpmc(0).error(), Fault::gp);
  EXPECT_TRUE(cpu.rdmsr(0x10).ok());
}

/// A block at once, or an instruction at a time: the same registers and PMIs.
TEST(AmdProperty, BlocksAtOnceCountAsInstructionsDo) {
  Dice dice(39);
  u64 executions_at_once = 0;
  for (unsigned round = 0; round < 400; ++round) {
    constexpr const char* models[] = {"genoa", "naples", "turin", "milan"};
    const std::string name = models[dice.below(4)];
    Cpu exact(name);
    const u64 events[] = {0xC0, 0xC1, 0xC2, 0xC4, 0x76, 0x1'000000C9, 0xD1};
    for (unsigned n = 0; n < 6; ++n) {
      exact.write(0xC0010201 + 2 * n, -u64{dice.below(3000) + 1});
      exact.write(0xC0010200 + 2 * n,
                  events[dice.below(7)] | 0x400000 | ((dice.below(100) < 80) ? bit(16) : bit(17)) |
                      ((dice.below(100) < 50) ? bit(20) : 0) | ((dice.below(100) < 20) ? bit(41) : 0));
    }
    if (name == "milan" && dice.below(2) == 0) exact.write(0xC000010F, 0x1C | dice.below(6) << 24);
    if (name == "genoa" || name == "turin") {
      exact.write(0xC0000301, dice.below(64));
      exact.write(0x1D9, (dice.below(100) < 50) ? 0x1800 : 0);
      start_lbr(exact, dice.below(512));
      exact.write(0x850, 0x400);
      if (dice.below(100) < 15) exact.write(0xC0011033, bit(17) | bit(19) | (1 + dice.below(40)));
      if (dice.below(100) < 15) exact.write(0xC0011030, bit(57) | bit(48) | (1 + dice.below(40)));
    }
    if (dice.below(4) == 0) {  // a merged pair
      exact.write(0xC0010206, 0xF004000FF);
      exact.write(0xC0010204, 0x510003 | (dice.one_in(2) ? 0x0100 : 0x1F00));
    }
    if (dice.below(4) == 0) exact.write(0xC0010208, 0x410103);
    if (dice.below(4) == 0) exact.write(0xC0010015, 0x40000000);
    if (dice.below(8) == 0) exact.write(0x1D9, 1);
    Cpu bulk = exact;
    bulk.pmu.set_pmi_handler(&bulk);

    std::vector<Retirement> block;
    u64 cycle = 0;
    for (unsigned n = 0; n < 5; ++n) {
      const bool branch = n == 4 || (dice.below(100) < 30);
      const BranchKind kind = (dice.below(100) < 50) ? BranchKind::conditional : BranchKind::direct_jump;
      Retirement r{.ip = 0x1000 + 16 * n,
                   .next_ip = branch ? 0x9000 + 32 * n : 0x1010 + 16 * n,
                   .cycle = cycle += dice.below(3),
                   .signals = {Signal::instruction},
                   .length = 4};
      if (branch) {
        r.branch = kind;
        r.taken = true;
        r.signals = r.signals | branch_signals(kind) | outcome_signals(kind, {.taken = true});
      }
      r.quantities[static_cast<unsigned>(Quantity::uops)] = 1 + static_cast<u32>(dice.below(3));
      r.quantities[static_cast<unsigned>(Quantity::flops_add)] = static_cast<u32>(dice.below(20));
      if (branch && dice.below(2) == 0) r.fused_length = 3;
      block.push_back(r);
    }
    block.back().cycle += 1;
    const u64 cycles = block.back().cycle;
    const auto execute = [&](Cpu& cpu) {
      const u64 start = cpu.pmu.now();
      for (Retirement r : block) {
        r.cycle += start;
        cpu.pmu.retire(r);
      }
    };
    const BlockTotals totals = bulk.pmu.totals(block, 0);
    u64 at_once = 0;
    for (unsigned execution = 0; execution < 300;) {
      execute(bulk);
      ++execution;
      const u64 more = bulk.pmu.advance(totals, 300 - execution);
      execution += static_cast<unsigned>(more);
      at_once += more;
    }
    for (unsigned execution = 0; execution < 300; ++execution) execute(exact);
    ASSERT_EQ(exact.pmu.now(), 300 * cycles);
    ASSERT_EQ(bulk.pmu.state_hash(), exact.pmu.state_hash()) << round;
    ASSERT_EQ(bulk.pmis, exact.pmis) << round;
    executions_at_once += at_once;
  }
  EXPECT_GT(executions_at_once, 10000u);
}

}  // namespace
}  // namespace pmusim::amd_test
