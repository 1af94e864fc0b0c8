// SPDX-License-Identifier: MIT
// Counters that are merged in pairs, the instruction counter beside them, and the pair of last-branch
// registers (APM vol. 2, 13.1 and 13.2; the order of Merge as Linux programs it). Values are literal.
#include <gmock/gmock.h>

#include "tests/pmu/amd_cpu.h"

namespace pmusim::amd_test {
namespace {

using testing::ElementsAre;

constexpr u64 merge = 0xF004000FF;  // event FFF, EN

/// Instructions of one cycle with so many floating-point additions each.
void retire_additions(Cpu& cpu, std::initializer_list<u32> additions) {
  u64 cycle = cpu.pmu.now() + 1;
  for (const u32 each : additions) {
    Retirement r{
        .ip = 0x401000, .next_ip = 0x401004, .cycle = cycle, .signals = {Signal::instruction}, .length = 4};
    r.quantities[static_cast<unsigned>(Quantity::flops_add)] = each;
    cpu.pmu.retire(r);
  }
  cpu.pmu.wait_until(cycle + 1, {.cpl = Cpl::user});
}

/// Counter 2 with all floating-point operations from `start`, with an interrupt, and counter 3 as its upper
/// half.
void start_pair(Cpu& cpu, u64 start, u64 upper) {
  cpu.write(0xC0010207, upper);
  cpu.write(0xC0010206, merge);
  cpu.write(0xC0010205, start);
  cpu.write(0xC0010204, 0x510103);
}

TEST(AmdMergedCounters, CountMoreThanFifteenInACycle) {
  Cpu cpu("genoa");
  start_pair(cpu, 0, 0);
  retire_additions(cpu, {32, 16});
  EXPECT_EQ(cpu.read(0xC0010205), 48u);
  EXPECT_EQ(cpu.read(0xC0010207), 0u);
}

TEST(AmdMergedCounters, OverflowAsTheUpperHalfDoes) {  // scenario 15
  for (const char* model : {"naples", "rome", "milan", "genoa", "turin"}) {
    Cpu cpu(model);
    start_pair(cpu, 0xFFFFFFFFFFF0, 0xFFFF);
    if (cpu.pmu.model().family == 0x17 && cpu.pmu.model().model < 0x30) cpu.write(0xC0010204, 0x51FF03);
    retire_additions(cpu, {20});
    EXPECT_EQ(cpu.read(0xC0010205), 4u) << model;
    EXPECT_EQ(cpu.read(0xC0010207), 0u) << model;
    if (cpu.pmu.model().has_global_control()) {
      EXPECT_EQ(cpu.read(0xC0000300), 4u) << model;
    }
    cpu.retire_instructions(2);
    EXPECT_EQ(cpu.pmis, 1u) << model;
  }
}

TEST(AmdMergedCounters, CarryIntoTheUpperHalfWithoutAnOverflow) {
  Cpu cpu("turin");
  start_pair(cpu, 0xFFFFFFFFFFF0, 0x1234);
  retire_additions(cpu, {20});
  EXPECT_EQ(cpu.read(0xC0010205), 4u);
  EXPECT_EQ(cpu.read(0xC0010207), 0x1235u);
  EXPECT_EQ(cpu.read(0xC0000300), 0u);
  EXPECT_FALSE(cpu.pmu.pmi_pending());
}

/// Alone it adds fifteen in a cycle, however many instructions they are of.
TEST(AmdMergedCounters, AreNeededForEventsThatOccurMoreOften) {
  Cpu cpu("genoa");
  cpu.write(0xC0010204, 0x410103);
  retire_additions(cpu, {16});
  EXPECT_EQ(cpu.read(0xC0010205), 15u);
  retire_additions(cpu, {8, 8});
  EXPECT_EQ(cpu.read(0xC0010205), 30u);
  retire_additions(cpu, {4, 3});
  EXPECT_EQ(cpu.read(0xC0010205), 37u);
}

TEST(AmdFloatingPoint, IsToldApartByPrecision) {
  const auto count_of = [](const char* model, u64 umask) {
    Cpu cpu(model);
    cpu.write(0xC0010206, merge);
    cpu.write(0xC0010204, 0x410003 | umask << 8);
    const auto retire = [&](Signal precision, Quantity kind, u32 operations) {
      Retirement r{.ip = 0x401000,
                   .next_ip = 0x401004,
                   .cycle = cpu.pmu.now() + 1,
                   .signals = {Signal::instruction, precision},
                   .length = 4};
      r.quantities[static_cast<unsigned>(kind)] = operations;
      cpu.pmu.retire(r);
    };
    retire(Signal::fp_scalar_single, Quantity::flops_add, 1);
    retire(Signal::fp_packed_256_double, Quantity::flops_add, 4);
    retire(Signal::fp_packed_512_single, Quantity::flops_multiply_add, 32);
    retire(Signal::fp_scalar_double, Quantity::flops_divide, 1);
    return cpu.read(0xC0010205);
  };
  EXPECT_EQ(count_of("naples", 0x01), 1u);
  EXPECT_EQ(count_of("naples", 0x10), 4u);
  EXPECT_EQ(count_of("naples", 0x08), 32u);
  EXPECT_EQ(count_of("naples", 0x40), 1u);
  EXPECT_EQ(count_of("naples", 0xFF), 38u);
  EXPECT_EQ(count_of("turin", 0x40), 1u);
  EXPECT_EQ(count_of("turin", 0x60), 32u);
  EXPECT_EQ(count_of("turin", 0x80), 1u);
  EXPECT_EQ(count_of("turin", 0xA0), 4u);
  EXPECT_EQ(count_of("turin", 0x0F), 38u);
}

TEST(AmdMergedCounters, AreAnEvenOneAndTheNext) {
  Cpu cpu("genoa");
  cpu.write(0xC0010208, merge);  // counter 4: no upper half of 3
  cpu.write(0xC0010207, 0xFFFFFFFFFFFF);
  cpu.write(0xC0010206, 0x410103);
  retire_additions(cpu, {2});
  EXPECT_EQ(cpu.read(0xC0010207), 1u);
  EXPECT_EQ(cpu.read(0xC0010209), 0u);
  EXPECT_EQ(cpu.read(0xC0000300), 8u);
}

TEST(AmdInstructionCounter, CountsAtEveryLevelWhileHwcrSaysSo) {
  Cpu cpu("genoa");
  EXPECT_EQ(cpu.pmu.cpuid(0x80000008, 0).ebx & 2, 2u);
  cpu.retire_instructions(3);
  EXPECT_EQ(cpu.read(0xC00000E9), 0u);
  cpu.write(0xC0010015, 0x40000000);
  cpu.write(0xC0000301, 0);        // no counter counts
  cpu.write(0xC0000303, bit(59));  // and all are frozen
  cpu.retire_instructions(5);
  cpu.retire_instructions(2, 1, Cpl::kernel);
  EXPECT_EQ(cpu.read(0xC00000E9), 7u);
  cpu.write(0xC00000E9, 1);  // ignored
  EXPECT_EQ(cpu.read(0xC00000E9), 7u);
  cpu.write(0xC0010015, 0);
  cpu.retire_instructions(4);
  EXPECT_EQ(cpu.read(0xC00000E9), 7u);
  EXPECT_EQ(cpu.pmu.running_counters(), 0u);
}

std::array<u64, 4> last_branches(Cpu& cpu) {
  return {cpu.read(0x1DB), cpu.read(0x1DC), cpu.read(0x1DD), cpu.read(0x1DE)};
}

TEST(AmdLastBranch, IsKeptWhileDebugCtlSaysSo) {  // kvm-unit-tests, svm_tests.c
  for (const char* model : {"naples", "milan", "genoa", "turin"}) {
    Cpu cpu(model);
    cpu.retire_branch(0x1000, 0x2000);
    EXPECT_THAT(last_branches(cpu), ElementsAre(0, 0, 0, 0)) << model;
    cpu.write(0x1D9, 1);
    cpu.retire_branch(0x1000, 0x2000);
    cpu.retire_branch(0x2010, 0x3000, BranchKind::direct_call);
    cpu.write(0x1D9, 0);
    cpu.retire_branch(0x3010, 0x4000);
    EXPECT_THAT(last_branches(cpu), ElementsAre(0x2010, 0x3000, 0, 0)) << model;
    EXPECT_EQ(cpu.pmu.wrmsr(0x1DB, 0), Fault::gp) << model;
  }
}

TEST(AmdLastBranch, BeforeAnInterruptGoesIntoASecondPair) {
  Cpu cpu("rome");
  cpu.write(0x1D9, 1);
  cpu.retire_branch(0x1000, 0x2000);
  cpu.retire_branch(0x2004, 0xFFFFFFFF81000000, BranchKind::interrupt, Cpl::user, Cpl::kernel);
  EXPECT_THAT(last_branches(cpu), ElementsAre(0x2004, 0xFFFFFFFF81000000, 0x1000, 0x2000));
  cpu.pmu.debug_exception();
  EXPECT_EQ(cpu.read(0x1D9), 0u);
  EXPECT_THAT(last_branches(cpu), ElementsAre(0x2004, 0xFFFFFFFF81000000, 0x1000, 0x2000));
}

void retire_fused_branch(Cpu& cpu) {
  cpu.pmu.retire({.ip = 0x401003,
                  .next_ip = 0x401010,
                  .cycle = cpu.pmu.now() + 1,
                  .signals = {Signal::instruction},
                  .length = 2,
                  .fused_length = 3,
                  .branch = BranchKind::conditional,
                  .taken = true});
}

TEST(AmdLbr, NamesTheFirstOfAFusedPair) {  // scenario 20
  Cpu cpu("genoa");
  cpu.write(0xC000010F, 0x40);
  retire_fused_branch(cpu);
  EXPECT_EQ(cpu.read(0xC0010300), 0x401000u);
  EXPECT_EQ(cpu.read(0xC0010301), 0x80000000'00401010u);
  cpu.write(0x1D9, 1);
  retire_fused_branch(cpu);
  EXPECT_EQ(cpu.read(0xC0010300), 0x401003u);
  EXPECT_EQ(cpu.read(0x1DB), 0x401003u);
}

}  // namespace
}  // namespace pmusim::amd_test
