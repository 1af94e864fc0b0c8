// SPDX-License-Identifier: MIT
// Floating-point operations as AMD's event 003 counts them: each lane, a fused multiply-add twice.
#include <gtest/gtest.h>

#include <vector>

#include "pmusim/x86/instruction.h"

namespace pmusim::x86::flops_test {
namespace {

TEST(FloatingPointOperations, AreThoseOfEachLane) {
  const struct {
    const char* text;
    std::vector<unsigned char> code;
    Quantity kind;
    unsigned count;
  } rows[] = {
      {"addss", {0xF3, 0x0F, 0x58, 0xC1}, Quantity::flops_add, 1},
      {"subpd", {0x66, 0x0F, 0x5C, 0xC1}, Quantity::flops_add, 2},
      {"haddps", {0xF2, 0x0F, 0x7C, 0xC1}, Quantity::flops_add, 4},
      {"vaddps ymm", {0xC5, 0xF4, 0x58, 0xC1}, Quantity::flops_add, 8},
      {"vaddps zmm", {0x62, 0xF1, 0x74, 0x48, 0x58, 0xC1}, Quantity::flops_add, 16},
      {"vaddpd zmm", {0x62, 0xF1, 0xF5, 0x48, 0x58, 0xC1}, Quantity::flops_add, 8},
      {"mulsd", {0xF2, 0x0F, 0x59, 0xC1}, Quantity::flops_multiply, 1},
      {"divps", {0x0F, 0x5E, 0xC1}, Quantity::flops_divide, 4},
      {"sqrtsd", {0xF2, 0x0F, 0x51, 0xC1}, Quantity::flops_divide, 1},
      {"vfmadd231ps", {0xC4, 0xE2, 0x71, 0xB8, 0xC2}, Quantity::flops_multiply_add, 8},
      {"vfmadd231ps zmm", {0x62, 0xF2, 0x75, 0x48, 0xB8, 0xC2}, Quantity::flops_multiply_add, 32},
      {"maxps", {0x0F, 0x5F, 0xC1}, Quantity::none, 0},
      {"rcpps", {0x0F, 0x53, 0xC1}, Quantity::none, 0},
      {"movaps", {0x0F, 0x28, 0xC1}, Quantity::none, 0},
      {"paddd", {0x66, 0x0F, 0xFE, 0xC1}, Quantity::none, 0},
      {"fadd", {0xD8, 0xC1}, Quantity::none, 0},  // x87 has an event of its own
      {"add", {0x01, 0xC8}, Quantity::none, 0},
  };
  for (const auto& row : rows) {
    const Instruction instruction = decode(std::as_bytes(std::span(row.code)), 0x401000);
    EXPECT_EQ(instruction.length, row.code.size()) << row.text;
    EXPECT_EQ(instruction.flop_kind, row.kind) << row.text;
    EXPECT_EQ(instruction.flops, row.count) << row.text;
  }
}

}  // namespace
}  // namespace pmusim::x86::flops_test
