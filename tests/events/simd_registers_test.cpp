// SPDX-License-Identifier: MIT
#include <gmock/gmock.h>

#include "pmusim/events/parser.h"

namespace pmusim::events {
namespace {

TEST(SimdRegisterList, AClassAloneIsAllOfIt) {
  const auto registers = parse_simd_registers("zmm,opmask,egpr,ssp");
  ASSERT_TRUE(registers);
  EXPECT_EQ(*registers, (SimdRegisters{8, 0xffffffff, 0xff, bits(40, 24)}));
}

TEST(SimdRegisterList, AMaskNamesSome) {
  EXPECT_EQ(*parse_simd_registers("zmm:0x3,opmask:1"), (SimdRegisters{8, 3, 1, 0}));
  EXPECT_EQ(parse_simd_registers("egpr:0x8001")->general, bit(24) | bit(39));
}

TEST(SimdRegisterList, TheWidestClassWins) {
  EXPECT_EQ(*parse_simd_registers("xmm,ymm:3"), (SimdRegisters{4, 0xffff, 0, 0}));
}

TEST(SimdRegisterList, WhatMakesNoSenseIsRefusedByName) {
  for (const char* list :
       {"", "zmm,", "tmm", "xmm:0x10000", "opmask:0", "opmask:x", "ssp:2", "zmm:", "zmm:1x"})
    EXPECT_FALSE(parse_simd_registers(list)) << list;
  EXPECT_THAT(parse_simd_registers("zmn").error().message, testing::HasSubstr("did you mean zmm?"));
  EXPECT_EQ(parse_simd_registers("opmask:0x100").error().message,
            "'opmask:0x100': the mask has to name some of k0 to k7, within 0xff");
}

TEST(RegisterChoice, StaysInTheNumbersOfOldWhereTheyCanSayIt) {
  perf::Attr attr;
  ask_for_registers(attr, {.interrupt = 1 | bits(33, 32), .user = bit(7)});
  EXPECT_EQ(attr.sample_regs_intr, 1 | bits(33, 32));
  EXPECT_EQ(attr.sample_regs_user, bit(7));
  EXPECT_EQ(attr.sample_simd_regs_enabled, 0u);
}

TEST(RegisterChoice, SimdOnOneSideMovesTheXmmRegistersOfBoth) {
  perf::Attr attr;
  ask_for_registers(attr, {.interrupt = bit(8) | bits(35, 34),
                           .user = bit(7) | bits(33, 32),
                           .interrupt_simd = *parse_simd_registers("opmask:2,ssp")});
  EXPECT_EQ(attr.sample_simd_regs_enabled, 1u);
  EXPECT_EQ(attr.sample_regs_intr, bit(8) | bit(40));
  EXPECT_EQ(attr.sample_regs_user, bit(7));
  EXPECT_EQ(attr.sample_simd_vec_reg_qwords, 2u);
  EXPECT_EQ(attr.sample_simd_vec_reg_intr, 2u);
  EXPECT_EQ(attr.sample_simd_vec_reg_user, 1u);
  EXPECT_EQ(attr.sample_simd_pred_reg_qwords, 1u);
  EXPECT_EQ(attr.sample_simd_pred_reg_intr, 2u);
  EXPECT_EQ(attr.sample_simd_pred_reg_user, 0u);
}

}  // namespace
}  // namespace pmusim::events
