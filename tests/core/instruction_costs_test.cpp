// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <initializer_list>

#include "tests/core/program.h"

// What instructions cost on the cores that InstLatX64 measured, in loops of the code itself.
namespace pmusim {
namespace {

using Code = std::vector<u8>;

enum class Ending { falls_through, loops };

double cycles_of(const std::string& model, const Code& code, unsigned copies = 1,
                 Ending ending = Ending::falls_through) {
  trace::Block block;
  for (unsigned n = 0; n < copies; ++n)
    for (const u8 value : code) block.code.push_back(static_cast<std::byte>(value));
  for (std::size_t at = 0; at < block.code.size();) {
    block.instructions.push_back(x86::decode(std::span(block.code).subspan(at), 0x401000 + at));
    at += block.instructions.back().length;
  }
  Core core = test::make_core(find_cpu_model(model).value());
  constexpr unsigned warm = 100, counted = 400;
  u64 before = 0;
  for (unsigned n = 0; n < warm + counted; ++n) {
    if (n == warm) before = core.cycle();
    test::run(core, block, {}, ending == Ending::loops ? block.start() : block.instructions.back().end());
  }
  return static_cast<double>(core.cycle() - before) / counted;
}

const Code imul_chain{0x48, 0x0F, 0xAF, 0xC3};                         // imul rax, rbx
const Code two_imuls{0x4D, 0x0F, 0xAF, 0xC1, 0x4D, 0x0F, 0xAF, 0xD1};  // imul r8, r9; imul r10, r9
const Code addsd_chain{0xF2, 0x0F, 0x58, 0xC1};
const Code divsd_chain{0xF2, 0x0F, 0x5E, 0xC1};
const Code three_loads{0x48, 0x8B, 0x07, 0x48, 0x8B, 0x5F, 0x40, 0x48, 0x8B, 0x8F, 0x80, 0, 0, 0};
const Code load_add{0x48, 0x03, 0x07};  // add rax, [rdi]
const Code two_stores{0x48, 0x89, 0x07, 0x48, 0x89, 0x5F, 0x40};
const Code shuffles{0x66, 0x0F, 0x70, 0xC0, 1, 0x66, 0x0F, 0x70, 0xC9, 1};  // pshufd of two registers
const Code add_immediate{0x48, 0x83, 0xC0, 1};
const Code pause{0xF3, 0x90};

TEST(InstructionCosts, AMultiplicationChainTakesTheCoresLatency) {
  EXPECT_NEAR(cycles_of("skylake", imul_chain), 3, 0.1);
  EXPECT_NEAR(cycles_of("silvermont", imul_chain), 5, 0.1);
  EXPECT_NEAR(cycles_of("bonnell", imul_chain), 14, 0.1);
}

TEST(InstructionCosts, IndependentMultiplicationsShareTheirPort) {
  EXPECT_NEAR(cycles_of("skylake", {0x4D, 0x0F, 0xAF, 0xC1, 0x4D, 0x89, 0xC8}), 1, 0.1);  // imul, mov
  EXPECT_NEAR(cycles_of("skylake", two_imuls), 3, 0.1);                                   // two chains
}

TEST(InstructionCosts, DoubleAddAndDivideTakeTheMeasuredCycles) {
  EXPECT_NEAR(cycles_of("haswell", addsd_chain), 3, 0.1);
  EXPECT_NEAR(cycles_of("skylake", addsd_chain), 4, 0.1);
  EXPECT_NEAR(cycles_of("skymont", addsd_chain), 2, 0.1);
  EXPECT_NEAR(cycles_of("sandybridge", divsd_chain), 22, 0.1);
  EXPECT_NEAR(cycles_of("skylake", divsd_chain), 14, 0.1);
}

TEST(InstructionCosts, LoadsRetireAsFastAsThereArePortsForThem) {
  EXPECT_NEAR(cycles_of("nehalem", three_loads), 3, 0.1);
  EXPECT_NEAR(cycles_of("skylake", three_loads), 1.5, 0.1);
  EXPECT_NEAR(cycles_of("goldencove", three_loads), 1, 0.1);
}

TEST(InstructionCosts, StoresRetireAsFastAsTheirDataLeave) {
  EXPECT_NEAR(cycles_of("skylake", two_stores), 2, 0.1);
  EXPECT_NEAR(cycles_of("icelake", two_stores), 1, 0.1);
}

TEST(InstructionCosts, OnlyTheAddressOfALoadWaits) {
  EXPECT_NEAR(cycles_of("skylake", load_add), 1, 0.1);  // the sum is the chain, not the load
}

TEST(InstructionCosts, ShufflesHaveOnePortUntilIceLake) {
  EXPECT_NEAR(cycles_of("skylake", shuffles), 2, 0.1);
  EXPECT_NEAR(cycles_of("icelake", shuffles), 1, 0.1);
}

TEST(InstructionCosts, GoldenCoveAddsConstantsAtRename) {
  EXPECT_NEAR(cycles_of("skylake", add_immediate, 6), 6, 0.1);
  EXPECT_NEAR(cycles_of("goldencove", add_immediate, 6), 1, 0.1);
}

// InstLatX64, 90672: of 64 bits add r, imm8 and lea r, [r+disp8] take 0.2 cycles in a chain, of 32 bits one.
TEST(InstructionCosts, GoldenCoveAddsOnly64BitConstantsAtRename) {
  EXPECT_NEAR(cycles_of("goldencove", {0x83, 0xC0, 1}, 6), 6, 0.1);        // add eax, 1
  EXPECT_NEAR(cycles_of("goldencove", {0x48, 0x8D, 0x40, 8}, 6), 1, 0.1);  // lea rax, [rax+8]
  EXPECT_NEAR(cycles_of("goldencove", {0x8D, 0x40, 8}, 6), 6, 0.1);        // lea eax, [rax+8]
  EXPECT_NEAR(cycles_of("skylake", {0x48, 0x8D, 0x40, 8}, 6), 6, 0.1);
}

/// Cycles of each of so many instructions.
struct Measured {
  const char* what;
  Code code;
  unsigned instructions;
  double cycles;
};

// InstLatX64, 90672 (big core).
TEST(InstructionCosts, GoldenCoveHasFewPortsForTheseForms) {
  const Measured forms[] = {
      {"bt rbx, 3", {0x48, 0x0F, 0xBA, 0xE3, 3}, 1, 1},
      {"cqo", {0x48, 0x99}, 1, 0.52},
      {"lea r8, [rdi+rbx*8]; lea r9; lea r10",
       {0x4C, 0x8D, 0x04, 0xDF, 0x4C, 0x8D, 0x0C, 0xDF, 0x4C, 0x8D, 0x14, 0xDF},
       3,
       0.33},
      {"pcmpeqb xmm0 and xmm1, xmm8", {0x66, 0x41, 0x0F, 0x74, 0xC0, 0x66, 0x41, 0x0F, 0x74, 0xC8}, 2, 0.5},
      {"unpcklps xmm0 and xmm1, xmm8", {0x41, 0x0F, 0x14, 0xC0, 0x41, 0x0F, 0x14, 0xC8}, 2, 1},
      {"pushfq", {0x9C}, 1, 1},
  };
  for (const Measured& form : forms)
    EXPECT_NEAR(cycles_of("goldencove", form.code, 4) / 4 / form.instructions, form.cycles, 0.1) << form.what;
}

TEST(InstructionCosts, GoldenCoveChainsTakeTheMeasuredCycles) {
  const Measured chains[] = {
      {"lea rax, [rax+rbx*8]", {0x48, 0x8D, 0x04, 0xD8}, 1, 2},
      {"bswap eax", {0x0F, 0xC8}, 1, 1},
      {"rcl rax, 1", {0x48, 0xD1, 0xD0}, 1, 2},
      {"rcl rax, 3", {0x48, 0xC1, 0xD0, 3}, 1, 7},
      {"cmpxchg rbx, rcx", {0x48, 0x0F, 0xB1, 0xCB}, 1, 5},
      {"fsqrt", {0xD9, 0xFA}, 1, 19},
      {"packuswb xmm0, xmm1", {0x66, 0x0F, 0x67, 0xC1}, 1, 3},
      {"pcmpgtq xmm0, xmm1", {0x66, 0x0F, 0x38, 0x37, 0xC1}, 1, 3},
      {"pslld xmm0, xmm1", {0x66, 0x0F, 0xF2, 0xC1}, 1, 2},
      {"phaddd xmm0, xmm1", {0x66, 0x0F, 0x38, 0x02, 0xC1}, 1, 2.1},
      {"vblendvps xmm0, xmm0, xmm1, xmm0", {0xC4, 0xE3, 0x79, 0x4A, 0xC1, 0}, 1, 3},
  };
  for (const Measured& chain : chains)
    EXPECT_NEAR(cycles_of("goldencove", chain.code, 4) / 4, chain.cycles, 0.15) << chain.what;
}

// InstLatX64, C0662: cmov has all of Lion Cove's integer ports; Skymont's vectors of 256 bits are two halves.
TEST(InstructionCosts, LionCoveAndSkymontHaveTheMeasuredPorts) {
  const Code six_cmovs{0x4C, 0x0F, 0x45, 0xC3, 0x4C, 0x0F, 0x45, 0xCB, 0x4C, 0x0F, 0x45, 0xD3,
                       0x4C, 0x0F, 0x45, 0xDB, 0x4C, 0x0F, 0x45, 0xE3, 0x4C, 0x0F, 0x45, 0xEB};
  EXPECT_NEAR(cycles_of("lioncove", six_cmovs, 4) / 24, 0.2, 0.05);
  const Code ymm_add{0xC4, 0xC1, 0x0D, 0xFE, 0xDF};  // vpaddd ymm3, ymm14, ymm15
  EXPECT_NEAR(cycles_of("skymont", ymm_add, 8) / 8, 0.5, 0.05);
  const Code pshufb{0x66, 0x41, 0x0F, 0x38, 0x00, 0xC0, 0x66, 0x41, 0x0F, 0x38, 0x00, 0xC8};  // xmm0, xmm1
  EXPECT_NEAR(cycles_of("skymont", pshufb, 4) / 8, 0.5, 0.05);
}

TEST(InstructionCosts, PauseIsLongSinceSkylake) {
  EXPECT_NEAR(cycles_of("haswell", pause), 9, 1);
  EXPECT_NEAR(cycles_of("skylake", pause), 140, 1);
}

// Bonnell: cmp and jne, an addition and a load; the pair is one uop from Nehalem on.
TEST(InstructionCosts, AComparisonAndItsBranchAreOneUop) {
  const Code compare_and_branch{0x48, 0x39, 0xD8, 0x75, 0};
  EXPECT_NEAR(cycles_of("core2", compare_and_branch, 4), 4, 0.1);
  EXPECT_NEAR(cycles_of("skylake", compare_and_branch, 4), 2, 0.1);
}

// Port 6 alone takes taken branches until Ice Lake and Tiger Lake; Emerald Rapids was measured to take two in
// a cycle in a small loop and Ice Lake one (D. Lemire, "More than a taken branch per cycle?", 2026), Alder
// Lake and Rocket Lake two, Skymont one of taken and three of others (Chips and Cheese).
TEST(InstructionCosts, TakenBranchesHaveFewerPortsThanOthers) {
  const Code jump{0xEB, 0xFE}, branch{0x75, 0xFE}, compare_and_branch{0x48, 0x39, 0xD8, 0x75, 0xFB};
  for (const char* model : {"haswell", "broadwell", "icelake", "icelake-server", "tigerlake"}) {
    EXPECT_NEAR(cycles_of(model, jump, 1, Ending::loops), 1, 0.1) << model;
    EXPECT_NEAR(cycles_of(model, branch, 1, Ending::loops), 1, 0.1) << model;
    EXPECT_NEAR(cycles_of(model, compare_and_branch, 1, Ending::loops), 1, 0.1) << model;
    EXPECT_NEAR(cycles_of(model, branch, 2), 1, 0.1) << model;
  }
  for (const char* model : {"rocketlake", "goldencove", "emeraldrapids"}) {
    EXPECT_NEAR(cycles_of(model, jump, 1, Ending::loops), 0.5, 0.1) << model;
    EXPECT_NEAR(cycles_of(model, branch, 1, Ending::loops), 0.5, 0.1) << model;
    EXPECT_NEAR(cycles_of(model, compare_and_branch, 1, Ending::loops), 0.5, 0.1) << model;
  }
  EXPECT_NEAR(cycles_of("skymont", branch, 1, Ending::loops), 1, 0.1);
  EXPECT_NEAR(cycles_of("skymont", branch, 3), 1, 0.1);
}

// In order: a long division holds what does not need it, which an out-of-order core runs ahead of.
TEST(InstructionCosts, BonnellStartsInOrder) {
  const Code divide_then_multiply{0xF2, 0x0F, 0x5E, 0xC1, 0x0F, 0xAF, 0xC3, 0x0F, 0xAF, 0xC3};
  EXPECT_GE(cycles_of("bonnell", divide_then_multiply), 60);
  EXPECT_NEAR(cycles_of("silvermont", divide_then_multiply), 34, 1);
}

// AMD's cores: cycles of uops.info and Agner Fog's tables.
const Code eight_adds{
    0x4D, 0x01, 0xC8, 0x4D, 0x01, 0xCA, 0x4D, 0x01, 0xCB, 0x4D, 0x01, 0xCC,   // add r8..r12, r9
    0x4D, 0x01, 0xCD, 0x4D, 0x01, 0xCE, 0x4D, 0x01, 0xCF, 0x4C, 0x01, 0xC8};  // r13..r15, rax
const Code four_adds(eight_adds.begin(), eight_adds.begin() + 12);
const Code two_loads(three_loads.begin(), three_loads.begin() + 7);
const Code six_moves{0x4D, 0x89, 0xC8, 0x4D, 0x89, 0xCA, 0x4D, 0x89, 0xCB,
                     0x4D, 0x89, 0xCC, 0x4D, 0x89, 0xCD, 0x4D, 0x89, 0xCE};
const Code two_ymm_adds{0xC5, 0xF4, 0x58, 0xC2, 0xC5, 0xF4, 0x58, 0xDA};  // vaddps of ymm0 and ymm3
const Code zmm_add{0x62, 0xF1, 0x75, 0x48, 0xFE, 0xC2};                   // vpaddd zmm0, zmm1, zmm2
const Code divide{0x48, 0xF7, 0xF3};                                      // div rbx
const Code vector_chain{0x0F, 0x58, 0xC1};                                // addps xmm0, xmm1

Code operator+(Code first, const Code& second) {
  first.insert(first.end(), second.begin(), second.end());
  return first;
}

TEST(ZenCosts, FourAdditionsShareACycleAndSixOnZen5) {
  for (const char* const model : {"naples", "rome", "milan", "genoa"})
    EXPECT_NEAR(cycles_of(model, eight_adds), 2, 0.1) << model;
  EXPECT_NEAR(cycles_of("turin", eight_adds, 3), 4, 0.2);
}

// In a loop, as the decoders give four in a cycle and the op cache more.
TEST(ZenCosts, SixOpsAreDispatchedInACycleFromZen3On) {
  const auto looped = [](const Code& six) {
    Code loop = six + six + six + six;
    const auto back = static_cast<u8>(-static_cast<int>(loop.size() + 2));
    return loop + Code{0xEB, back};
  };
  for (const char* const model : {"milan", "genoa"}) {
    EXPECT_NEAR(cycles_of(model, looped(four_adds + two_loads), 1, Ending::loops), 25.0 / 6, 0.4) << model;
    EXPECT_NEAR(cycles_of(model, looped(six_moves), 1, Ending::loops), 25.0 / 6, 0.4) << model;
  }
}

TEST(ZenCosts, LoadsAreTwoInACycleAndThreeFromZen3On) {
  EXPECT_NEAR(cycles_of("naples", three_loads), 1.5, 0.1);
  EXPECT_NEAR(cycles_of("rome", three_loads), 1.5, 0.1);
  EXPECT_NEAR(cycles_of("milan", three_loads), 1, 0.1);
}

TEST(ZenCosts, StoresAreOneInACycleAndTwoFromZen3On) {
  EXPECT_NEAR(cycles_of("rome", two_stores), 2, 0.2);
  EXPECT_NEAR(cycles_of("genoa", two_stores), 1, 0.2);
}

TEST(ZenCosts, ChainsTakeTheMeasuredLatencies) {
  for (const char* const model : {"naples", "rome", "milan", "genoa", "turin"})
    EXPECT_NEAR(cycles_of(model, imul_chain), 3, 0.1) << model;
  for (const char* const model : {"naples", "rome", "milan", "genoa"})
    EXPECT_NEAR(cycles_of(model, vector_chain), 3, 0.1) << model;
}

TEST(ZenCosts, DivisionsTakeWhatSmallOperandsDo) {
  EXPECT_NEAR(cycles_of("rome", divide), 14, 1) << "8 to 41 measured, one in 14";
  EXPECT_NEAR(cycles_of("milan", divide), 10, 1) << "9 to 19";
}

TEST(ZenCosts, WideVectorsAreTwoOpsOrTwoPasses) {
  EXPECT_NEAR(cycles_of("naples", two_ymm_adds), 2, 0.1);
  EXPECT_NEAR(cycles_of("rome", two_ymm_adds), 1, 0.1);
  EXPECT_NEAR(cycles_of("genoa", zmm_add, 4), 2, 0.1);
  EXPECT_NEAR(cycles_of("turin", zmm_add, 4), 1, 0.1);
}

}  // namespace
}  // namespace pmusim
