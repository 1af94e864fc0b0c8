// SPDX-License-Identifier: MIT
// Rules of decoders, renamers and load ports, each against what is published of it, and with the rule off.
#include <gtest/gtest.h>

#include "tests/core/code.h"
#include "tests/core/program.h"

namespace pmusim::rules_test {
namespace {

using namespace test;

constexpr u64 text = 0x400000;

/// A core whose code always comes through the decoders, as unrolled code does.
CpuModel decoding(std::string_view name) {
  CpuModel model = find_cpu_model(name).value();
  model.core.uop_cache_lines = model.core.loop_buffer_uops = 0;
  return model;
}
CpuModel without(CpuModel model, unsigned CoreParameters::*rule) {
  model.core.*rule = 0;
  return model;
}

/// Cycles per copy of code that stands 64 times in a row, in the long run.
double cycles(const CpuModel& model, std::initializer_list<unsigned> bytes,
              const std::vector<u64>& addresses = {}) {
  constexpr unsigned copies = 64, warm = 20, counted = 20;
  Core core = make_core(model);
  std::vector<trace::Block> blocks;
  for (unsigned n = 0; n < copies; ++n) blocks.push_back(code(text + n * bytes.size(), bytes));
  u64 before = 0;
  for (unsigned pass = 0; pass < warm + counted; ++pass) {
    if (pass == warm) before = core.cycle();
    for (const trace::Block& each : blocks) run(core, each, addresses);
  }
  return static_cast<double>(core.cycle() - before) / (counted * copies);
}

// uiCA, 4.1: five instructions of a 16-byte block in a cycle, so six take two.
TEST(Predecoder, SixInstructionsOfABlockTakeTwoCycles) {
  const auto six = {0x0Fu, 0x1Fu, 0x00u, 0x0Fu, 0x1Fu, 0x00u, 0x0Fu, 0x1Fu,
                    0x00u, 0x0Fu, 0x1Fu, 0x00u, 0x66u, 0x90u, 0x66u, 0x90u};
  const CpuModel skylake = decoding("skylake");
  EXPECT_NEAR(cycles(skylake, six), 2.0, 0.05);
  EXPECT_NEAR(cycles(without(skylake, &CoreParameters::predecode_instructions), six), 1.5, 0.05);
}

// uiCA, 4.1: one that ends in the next block takes a place in the one of its opcode, too. Four single bytes
// and one of 11 fill a block; the eleven begin at byte 4, and all shift by one when the block is 17 long.
TEST(Predecoder, WhatCrossesABlockCountsInBoth) {
  const auto crossing = {0x90u, 0x90u, 0x90u, 0x90u, 0x90u, 0x48u, 0xB8u, 1u,
                         2u,    3u,    4u,    5u,    6u,    7u,    8u,    0x90u};
  const CpuModel skylake = decoding("skylake");
  EXPECT_GE(cycles(skylake, crossing), 1.95);
  EXPECT_LT(cycles(without(skylake, &CoreParameters::predecode_instructions), crossing), 1.8);
}

// uiCA, 4.1: until Skylake the last decoder leaves what could fuse with a jump to the next cycle.
TEST(Decoders, TheLastOfHaswellTakesNoComparison) {
  const auto compare = {0x48u, 0x83u, 0xFAu, 0x0Du};  // cmp $13, %rdx
  const CpuModel haswell = decoding("haswell");
  EXPECT_NEAR(cycles(haswell, compare), 1 / 3., 0.02);
  EXPECT_NEAR(cycles(without(haswell, &CoreParameters::last_decoder_leaves_pairs), compare), 0.25, 0.02);
  EXPECT_NEAR(cycles(decoding("skylake"), compare), 0.25, 0.02);
}

// uiCA's table of microarchitectures: POP of R12 is for the first decoder, and until Broadwell alone there.
TEST(Decoders, APopOfR12IsForTheFirstAlone) {
  const auto pops = {0x5Bu, 0x41u, 0x5Cu, 0x41u, 0x5Du};  // pop %rbx; pop %r12; pop %r13
  const CpuModel haswell = decoding("haswell"), skylake = decoding("skylake");
  EXPECT_NEAR(cycles(haswell, pops), 2.0, 0.02);
  EXPECT_NEAR(cycles(without(haswell, &CoreParameters::pop_r12_decoding), pops), 1.5, 0.02);
  EXPECT_NEAR(cycles(skylake, pops), 1.5, 0.02);
  const auto two = {0x5Bu, 0x41u, 0x5Cu};  // pop %rbx; pop %r12
  EXPECT_NEAR(cycles(skylake, two), 1.0, 0.02);
  const auto others = {0x5Bu, 0x41u, 0x5Du, 0x41u, 0x5Eu};  // pop %rbx; pop %r13; pop %r14
  EXPECT_NEAR(cycles(haswell, others), 1.5, 0.02);
}

// uiCA, 4.1.3: four values that moves have given another name; a chain through moves beyond that takes a
// cycle for each.
TEST(MoveSlots, AMoveBeyondThemIsExecuted) {
  // mov %rdi, %r14; shl $5, %r14; mov %r14, %rdi
  const auto there_and_back = {0x49u, 0x89u, 0xFEu, 0x49u, 0xC1u, 0xE6u, 0x05u, 0x4Cu, 0x89u, 0xF7u};
  CpuModel none = decoding("haswell");
  none.core.move_elimination = MoveElimination::none;
  const double eliminated = cycles(without(decoding("haswell"), &CoreParameters::move_slots), there_and_back);
  const double some = cycles(decoding("haswell"), there_and_back), executed = cycles(none, there_and_back);
  EXPECT_NEAR(eliminated, 1.0, 0.02);
  EXPECT_NEAR(executed, 3.0, 0.02);
  EXPECT_GT(some, eliminated + 0.3);
  EXPECT_LT(some, executed - 0.3);
}

// BHive's harness: a store and a load at one place of two pages which are one.
TEST(OnePhysicalPage, ALoadWaitsForTheStoreOfAnotherPage) {
  // mov %rax, (%rbx); mov (%rcx), %rax
  const auto through_memory = {0x48u, 0x89u, 0x03u, 0x48u, 0x8Bu, 0x01u};
  const std::vector<u64> addresses{0x10000, 0x20000};
  CpuModel one = decoding("haswell");
  one.core.one_physical_page = 1;
  EXPECT_LT(cycles(decoding("haswell"), through_memory, addresses), 2.0);
  EXPECT_GT(cycles(one, through_memory, addresses), 13.0);
}

// Intel's optimization manual, on the stack pointer tracker.
TEST(StackEngine, AnAdditionBehindAPopWaitsForASynchronisation) {
  const auto leave = {0x48u, 0x83u, 0xC4u, 0x08u, 0x5Bu};  // add $8, %rsp; pop %rbx
  const CpuModel skylake = decoding("skylake");
  EXPECT_NEAR(cycles(skylake, leave), 2.0, 0.05);
  EXPECT_NEAR(cycles(without(skylake, &CoreParameters::stack_sync_uops), leave), 1.0, 0.05);
}

TEST(StackEngine, ASynchronisationIsAUopOfTheInstruction) {
  Core core = make_core(decoding("skylake"));
  const auto seen = run(core, code(text, {0x5B, 0x48, 0x89, 0xE0}));  // pop %rbx; mov %rsp, %rax
  EXPECT_EQ(seen[0][Quantity::uops], 1u);
  EXPECT_EQ(seen[1][Quantity::uops], 2u);
}

TEST(StackEngine, PopsAloneNeedNone) {
  Core core = make_core(decoding("skylake"));
  EXPECT_EQ(total(run(core, code(text, {0x5B, 0x5D, 0x5B, 0x5D})), Quantity::uops), 4u);
}

// Agner Fog, "The microarchitecture of Intel, AMD and VIA CPUs", on partial registers of Haswell.
TEST(PartialRegisters, AByteThatIsWrittenWaitsForTheRest) {
  const auto set = {0xB0u, 0x01u, 0x84u, 0xC0u};  // mov $1, %al; test %al, %al
  const CpuModel haswell = decoding("haswell");
  EXPECT_NEAR(cycles(haswell, set), 1.0, 0.05);
  EXPECT_LT(cycles(without(haswell, &CoreParameters::merges_partial_registers), set), 0.8);
}

TEST(PartialRegisters, TheWholeBehindAHighByteTakesAUopMore) {
  Core core = make_core(decoding("haswell"));
  const auto seen = run(core, code(text, {0xB4, 0x01, 0x01, 0xC3}));  // mov $1, %ah; add %eax, %ebx
  EXPECT_EQ(seen[0][Quantity::uops], 1u);
  EXPECT_EQ(seen[1][Quantity::uops], 2u);
}

// uiCA: rename gives that uop a cycle of its own.
TEST(PartialRegisters, TheUopBehindAHighByteIsRenamedAlone) {
  const auto written = {0xB4u, 0x01u, 0x01u, 0xC3u};  // mov $1, %ah; add %eax, %ebx
  const CpuModel haswell = decoding("haswell");
  EXPECT_NEAR(cycles(haswell, written), 2.0, 0.05);
  EXPECT_NEAR(cycles(without(haswell, &CoreParameters::high_byte_merge_uops), written), 1.0, 0.05);
}

// Intel's errata HSD146 and SKL029, and uops.info.
TEST(OldDestination, PopcntWaitsForItUntilIceLake) {
  const auto popcnt = {0xF3u, 0x48u, 0x0Fu, 0xB8u, 0xC3u};  // popcnt %rbx, %rax
  EXPECT_NEAR(cycles(decoding("skylake"), popcnt), 3.0, 0.05);
  EXPECT_NEAR(cycles(without(decoding("skylake"), &CoreParameters::waits_for_old_destination), popcnt), 1.0,
              0.05);
  EXPECT_NEAR(cycles(decoding("icelake"), popcnt), 1.0, 0.05);
}

TEST(OldDestination, TzcntWaitsForItUntilSkylake) {
  const auto tzcnt = {0xF3u, 0x48u, 0x0Fu, 0xBCu, 0xC3u};  // tzcnt %rbx, %rax
  EXPECT_NEAR(cycles(decoding("haswell"), tzcnt), 3.0, 0.05);
  EXPECT_NEAR(cycles(decoding("skylake"), tzcnt), 1.0, 0.05);
}

// Intel's optimization manual, on micro-fusion and indexed addresses.
TEST(IndexedOperands, AComparisonIsTwoUopsAtRename) {
  const auto compare = {0x49u, 0x3Bu, 0x54u, 0xC0u, 0x08u};  // cmp 8(%r8,%rax,8), %rdx
  Core core = make_core(decoding("haswell")),
       whole = make_core(without(decoding("haswell"), &CoreParameters::splits_indexed_operands));
  EXPECT_EQ(run(core, code(text, compare))[0][Quantity::uops], 2u);
  EXPECT_EQ(run(whole, code(text, compare))[0][Quantity::uops], 1u);
}

TEST(IndexedOperands, AnAdditionStaysWholeSinceHaswell) {
  const auto add = {0x49u, 0x03u, 0x54u, 0xC0u, 0x08u};  // add 8(%r8,%rax,8), %rdx
  Core ivy = make_core(decoding("ivybridge")), haswell = make_core(decoding("haswell"));
  EXPECT_EQ(run(ivy, code(text, add))[0][Quantity::uops], 2u);
  EXPECT_EQ(run(haswell, code(text, add))[0][Quantity::uops], 1u);
}

TEST(RipRelativeOperands, OneWithAConstantIsTwoUops) {
  const auto compare = {0x83u, 0x3Du, 0u, 0u, 0u, 0u, 0x05u};  // cmpl $5, 0(%rip)
  Core core = make_core(decoding("skylake")),
       whole = make_core(without(decoding("skylake"), &CoreParameters::splits_constants_at_rip));
  EXPECT_EQ(run(core, code(text, compare))[0][Quantity::uops], 2u);
  EXPECT_EQ(run(whole, code(text, compare))[0][Quantity::uops], 1u);
}

// uops.info: Haswell's CMOV has two uops, of which the second needs the destination.
TEST(LateOperands, ACmovTakesOneFromItsDestinationTwoFromFlags) {
  const auto own = {0x48u, 0x85u, 0xDBu, 0x48u, 0x0Fu, 0x45u, 0xCBu};    // test %rbx, %rbx; cmovne %rbx, %rcx
  const auto flags = {0x48u, 0x85u, 0xC9u, 0x48u, 0x0Fu, 0x45u, 0xCBu};  // test %rcx, %rcx; cmovne ...
  EXPECT_NEAR(cycles(decoding("haswell"), own), 1.0, 0.05);
  EXPECT_NEAR(cycles(decoding("haswell"), flags), 3.0, 0.05);
  EXPECT_NEAR(cycles(decoding("skylake"), flags), 2.0, 0.05);
}

// uops.info and Agner Fog: 5 cycles from store to load on Haswell, 4 at best on Skylake, beside the addition.
TEST(StoreForwarding, ACounterTakesSixCyclesAndFiveOnSkylake) {
  const auto count = {0x48u, 0xFFu, 0x0Bu};  // decq (%rbx)
  EXPECT_NEAR(cycles(decoding("haswell"), count, {0x10000}), 6.0, 0.05);
  EXPECT_NEAR(cycles(decoding("skylake"), count, {0x10000}), 5.0, 0.05);
}

// Intel's optimization manual: 4 cycles from a base register and an offset below 2048 that was loaded.
TEST(LoadLatency, PointersAreFastWithinTwoKibibytesUntilSkylake) {
  const auto near = {0x48u, 0x8Bu, 0x5Bu, 0x08u}, before = {0x48u, 0x8Bu, 0x5Bu, 0xF8u};  // 8(%rbx), -8(%rbx)
  const CpuModel haswell = decoding("haswell");
  EXPECT_NEAR(cycles(haswell, near), 4.0, 0.05);
  EXPECT_NEAR(cycles(haswell, before), 5.0, 0.05);
  EXPECT_NEAR(cycles(without(haswell, &CoreParameters::slow_address_cycles), before), 4.0, 0.05);
}

// Intel's optimization manual, on L1D bank conflicts of Sandy Bridge. CPUID keeps one turn's loads from
// another's.
TEST(Banks, LoadsOfOneBankInDifferentLinesTakeACycleEach) {
  const auto loads = {0x0Fu, 0xA2u,  // cpuid; mov (%rsi), ...
                      0x48u, 0x8Bu, 0x06u, 0x48u, 0x8Bu, 0x0Eu, 0x48u, 0x8Bu, 0x16u, 0x48u, 0x8Bu, 0x1Eu,
                      0x4Cu, 0x8Bu, 0x06u, 0x4Cu, 0x8Bu, 0x0Eu, 0x4Cu, 0x8Bu, 0x16u, 0x4Cu, 0x8Bu, 0x1Eu};
  std::vector<u64> alike, apart;
  for (u64 n = 0; n < 8; ++n) {
    alike.push_back(0x10000 + n * 64);
    apart.push_back(0x10000 + n * 72);
  }
  const auto conflicts = [&](std::string_view model) {
    return cycles(decoding(model), loads, alike) - cycles(decoding(model), loads, apart);
  };
  EXPECT_GE(conflicts("ivybridge"), 2.0);
  EXPECT_NEAR(conflicts("haswell"), 0.0, 0.05);
}

// A load that finds its bank taken has had a port for nothing, so that no two of these share a cycle.
TEST(Banks, ConflictsCostPorts) {
  const auto loads = {0x48u, 0x8Bu, 0x3Bu, 0x48u, 0x8Bu, 0x31u};  // mov (%rbx), %rdi; mov (%rcx), %rsi
  const std::vector<u64> alike{0x10000, 0x10100}, apart{0x10000, 0x10108};
  const CpuModel ivy = decoding("ivybridge");
  EXPECT_NEAR(cycles(ivy, loads, alike), 2.0, 0.1);
  EXPECT_NEAR(cycles(ivy, loads, apart), 1.0, 0.05);
  EXPECT_NEAR(cycles(without(ivy, &CoreParameters::l1d_bank_bytes), loads, alike), 1.0, 0.05);
}

// Intel, "Mitigations for Jump Conditional Code Erratum": a jump that ends at a border of 32 bytes.
TEST(JumpErratum, AJumpAtABorderIsDecodedEveryTime) {
  std::vector<unsigned> bytes(30, 0x90);
  bytes.insert(bytes.end(), {0xEB, 0xE0});  // to the beginning
  const auto decoded = [&](const CpuModel& model) {
    Core core = make_core(model);
    const trace::Block loop = code(text, bytes);
    u64 uops = 0;
    for (unsigned n = 0; n < 100; ++n) uops += total(run(core, loop, {}, text), Quantity::uops_mite);
    return uops;
  };
  const CpuModel skylake = find_cpu_model("skylake").value();
  EXPECT_GT(decoded(skylake), 3000u);
  bytes.erase(bytes.begin());
  bytes.back() += 1;
  EXPECT_LT(decoded(skylake), decoded(without(skylake, &CoreParameters::jump_border_erratum)) + 200);
}

}  // namespace
}  // namespace pmusim::rules_test
