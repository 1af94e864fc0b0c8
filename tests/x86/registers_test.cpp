// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <initializer_list>
#include <vector>

#include "pmusim/base/types.h"
#include "pmusim/x86/instruction.h"

namespace pmusim::x86 {
namespace {

constexpr RegisterMask rax = bit(0), rdx = bit(2), rbx = bit(3), rsp = bit(4), rbp = bit(5), zmm1 = bit(17),
                       flags = bit(57);

Instruction decoded(std::initializer_list<unsigned> bytes) {
  std::vector<std::byte> code;
  for (const unsigned byte : bytes) code.push_back(static_cast<std::byte>(byte));
  return decode(code, 0x401000);
}

TEST(RegisterDependencies, APartOfARegisterIsTheWhole) {
  const Instruction add = decoded({0x01, 0xd8});  // add eax, ebx
  EXPECT_EQ(add.registers_read, rax | rbx);
  EXPECT_EQ(add.registers_written, rax | flags);
}

TEST(RegisterDependencies, AddressesAreRead) {
  const Instruction load = decoded({0x8b, 0x04, 0x9a});  // mov eax, [rdx + rbx*4]
  EXPECT_EQ(load.registers_read, rdx | rbx);
  EXPECT_EQ(load.registers_written, rax);
}

TEST(RegisterDependencies, ConditionalBranchReadsComparisonFlags) {
  EXPECT_EQ(decoded({0x83, 0x7d, 0xfc, 0x3f}).registers_written, flags);  // cmp dword [rbp-4], 63
  EXPECT_EQ(decoded({0x7e, 0x10}).registers_read, flags);                 // jle
}

TEST(RegisterDependencies, TheStackEngineTracksRsp) {
  EXPECT_EQ(decoded({0x55}).registers_read, rbp);  // push rbp
  EXPECT_EQ(decoded({0x55}).registers_written, 0u);
  EXPECT_EQ(decoded({0xc3}).registers_read & rsp, 0u);         // ret
  EXPECT_EQ(decoded({0x48, 0x89, 0xe5}).registers_read, rsp);  // mov rbp, rsp
}

TEST(RegisterDependencies, AZeroingIdiomWaitsForNothing) {
  EXPECT_EQ(decoded({0x31, 0xc0}).registers_read, 0u);  // xor eax, eax
  EXPECT_EQ(decoded({0x31, 0xc0}).registers_written, rax | flags);
  EXPECT_EQ(decoded({0x66, 0x0f, 0xef, 0xc9}).registers_read, 0u);  // pxor xmm1, xmm1
  EXPECT_EQ(decoded({0x66, 0x0f, 0xef, 0xc9}).registers_written, zmm1);
}

}  // namespace
}  // namespace pmusim::x86
