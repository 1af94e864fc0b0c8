// SPDX-License-Identifier: MIT
// What the recorder has to know of an instruction before it steps it.
#include "trace/live_code.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <vector>

namespace pmusim::trace {
namespace {

using Code = std::vector<unsigned>;

LiveInstruction described(const Code& values) {
  std::vector<std::byte> code;
  for (const unsigned value : values) code.push_back(static_cast<std::byte>(value));
  InstructionStore store;
  const LiveInstruction live = store.find_or_add(code, 0x1000);
  EXPECT_EQ(live.instruction.length, values.size()) << fmt::format("{:02x}", fmt::join(values, " "));
  return live;
}

// Single steps see a change only where it is looked for: all that XSAVE manages, whatever the encoding.
TEST(LiveCode, InstructionsThatMayChangeExtendedRegistersAreKnown) {
  const Code changing[] = {
      {0x0F, 0x28, 0xC1},                    // movaps xmm0, xmm1
      {0x66, 0x0F, 0x6F, 0x00},              // movdqa xmm0, [rax]
      {0xF3, 0x41, 0x0F, 0x10, 0x00},        // movss xmm0, [r8]
      {0xC5, 0xF8, 0x77},                    // vzeroupper
      {0xC4, 0xE1, 0x7C, 0x77},              // vzeroall, three bytes of VEX
      {0xC4, 0xE2, 0x7B, 0x49, 0xC0},        // tilezero tmm0
      {0xC4, 0xE2, 0x78, 0x49, 0x00},        // ldtilecfg [rax]
      {0xC4, 0xE2, 0x78, 0x49, 0xC0},        // tilerelease
      {0x62, 0xF1, 0x7C, 0x48, 0x28, 0xC1},  // vmovaps zmm0, zmm1
      {0xC5, 0xF8, 0x92, 0xC8},              // kmovw k1, eax
      {0x0F, 0x77},                          // emms
      {0xD9, 0xE8},                          // fld1
      {0xDD, 0x20},                          // frstor [rax]
      {0x66, 0xDD, 0x20},                    // the same of 16 bits
      {0x9B},                                // fwait
      {0x0F, 0xAE, 0x10},                    // ldmxcsr [rax]
      {0x0F, 0xAE, 0x08},                    // fxrstor [rax]
      {0x48, 0x0F, 0xAE, 0x28},              // xrstor64 [rax]
      {0x64, 0x0F, 0xAE, 0x28},              // xrstor fs:[rax]
      {0x3E, 0x0F, 0xAE, 0x28},              // xrstor ds:[rax]
      {0x0F, 0x01, 0xEF},                    // wrpkru
      {0x0F, 0xC7, 0x18},                    // xrstors [rax]
      {0x0F, 0x05},                          // syscall
      {0xCD, 0x80},                          // int 0x80
  };
  for (const Code& code : changing)
    EXPECT_TRUE(described(code).may_change_extended) << fmt::format("{:02x}", fmt::join(code, " "));
}

TEST(LiveCode, PrefixesHideNothing) {
  for (const unsigned prefix : {0x26u, 0x2Eu, 0x36u, 0x3Eu, 0x64u, 0x65u, 0x67u, 0x41u, 0x4Fu})
    EXPECT_TRUE(described({prefix, 0x0F, 0xAE, 0x28}).may_change_extended) << prefix;  // xrstor
  for (const unsigned prefix :
       {0x26u, 0x2Eu, 0x36u, 0x3Eu, 0x64u, 0x65u, 0x66u, 0x67u, 0xF2u, 0xF3u, 0x40u, 0x48u})
    EXPECT_TRUE(described({prefix, 0x9C}).pushes_flags) << prefix;
}

// Reading them costs a system call.
TEST(LiveCode, InstructionsOfGeneralRegistersAloneAreNotLookedAt) {
  const Code others[] = {{0x90},       {0x48, 0x01, 0xD8}, {0x66, 0x01, 0xC8},
                         {0xF3, 0xA4}, {0xF0, 0x01, 0x08}, {0x0F, 0xAF, 0xC1},
                         {0xC3},       {0x74, 0x10},       {0x0F, 0x84, 0, 0, 0, 0},
                         {0x0F, 0xA2}};
  for (const Code& code : others)
    EXPECT_FALSE(described(code).may_change_extended) << fmt::format("{:02x}", fmt::join(code, " "));
}

TEST(LiveCode, InstructionsThatShowOrChangeTheTrapFlagAreKnown) {
  for (const Code& code : {Code{0x9C}, Code{0x66, 0x9C}}) {
    EXPECT_TRUE(described(code).pushes_flags);
    EXPECT_FALSE(described(code).pops_flags);
  }
  for (const Code& code : {Code{0x9D}, Code{0x66, 0x9D}, Code{0xCF}, Code{0x48, 0xCF}})
    EXPECT_TRUE(described(code).pops_flags);
  for (const Code& code : {Code{0x50}, Code{0xFF, 0x30}, Code{0x6A, 0x9C}, Code{0x6A, 0x9D}, Code{0x01, 0xCF},
                           Code{0x00, 0x18}, Code{0x9B}}) {
    EXPECT_FALSE(described(code).pushes_flags);
    EXPECT_FALSE(described(code).pops_flags);
  }
}

TEST(LiveCode, InstructionsThatTrapThemselvesAreKnown) {
  for (const Code& code : {Code{0xCC}, Code{0xCD, 0x03}, Code{0xF1}})
    EXPECT_TRUE(described(code).raises_trap);
  for (const Code& code : {Code{0xCD, 0x80}, Code{0x90}, Code{0x6A, 0x03}})
    EXPECT_FALSE(described(code).raises_trap);
}

}  // namespace
}  // namespace pmusim::trace
