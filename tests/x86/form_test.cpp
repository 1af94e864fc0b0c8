// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <vector>

#include "pmusim/x86/instruction.h"

namespace pmusim::x86 {
namespace {

Instruction of(std::initializer_list<u8> code) {
  std::vector<std::byte> bytes;
  for (const u8 value : code) bytes.push_back(static_cast<std::byte>(value));
  return decode(bytes, 0x401000);
}

TEST(InstructionForm, FollowsFromMnemonicWidthAndOperands) {
  EXPECT_EQ(of({0x48, 0x01, 0xD8}).form, InstructionForm::alu);                     // add rax, rbx
  EXPECT_EQ(of({0x48, 0x83, 0xC0, 0x01}).form, InstructionForm::fold);              // add rax, 1
  EXPECT_EQ(of({0x48, 0x89, 0xD8}).form, InstructionForm::move);                    // mov rax, rbx
  EXPECT_EQ(of({0x48, 0x89, 0xC0}).form, InstructionForm::alu);                     // mov rax, rax
  EXPECT_EQ(of({0x48, 0x8B, 0x07}).form, InstructionForm::load);                    // mov rax, [rdi]
  EXPECT_EQ(of({0x48, 0x89, 0x07}).form, InstructionForm::store);                   // mov [rdi], rax
  EXPECT_EQ(of({0x0F, 0xAF, 0xC3}).form, InstructionForm::imul_32);                 // imul eax, ebx
  EXPECT_EQ(of({0x48, 0x0F, 0xAF, 0xC3}).form, InstructionForm::imul_64);           // imul rax, rbx
  EXPECT_EQ(of({0x48, 0xF7, 0xE3}).form, InstructionForm::mul_wide);                // mul rbx
  EXPECT_EQ(of({0xF7, 0xF3}).form, InstructionForm::div_32);                        // div ebx
  EXPECT_EQ(of({0x48, 0xF7, 0xFB}).form, InstructionForm::idiv_64);                 // idiv rbx
  EXPECT_EQ(of({0x48, 0x8D, 0x04, 0x18}).form, InstructionForm::lea);               // lea rax, [rax+rbx]
  EXPECT_EQ(of({0x48, 0x8D, 0x44, 0x18, 0x08}).form, InstructionForm::lea_three);   // lea rax, [rax+rbx+8]
  EXPECT_EQ(of({0x48, 0x8D, 0x44, 0xD8, 0x08}).form, InstructionForm::lea_scaled);  // lea rax, [rax+rbx*8+8]
  EXPECT_EQ(of({0x48, 0xC1, 0xE0, 0x03}).form, InstructionForm::shift);             // shl rax, 3
  EXPECT_EQ(of({0x48, 0xD3, 0xE0}).form, InstructionForm::shift_by_cl);             // shl rax, cl
  EXPECT_EQ(of({0x31, 0xC0}).form, InstructionForm::zero_idiom);                    // xor eax, eax
  EXPECT_EQ(of({0x0F, 0x44, 0xC3}).form, InstructionForm::cmov);                    // cmove eax, ebx
  EXPECT_EQ(of({0xF3, 0x90}).form, InstructionForm::pause);
  EXPECT_EQ(of({0x90}).form, InstructionForm::nop);
}

TEST(InstructionForm, VectorFormsFollowFromWidthAndElement) {
  EXPECT_EQ(of({0xF3, 0x0F, 0x58, 0xC1}).form, InstructionForm::add_scalar_single);
  EXPECT_EQ(of({0xF2, 0x0F, 0x58, 0xC1}).form, InstructionForm::add_scalar_double);
  EXPECT_EQ(of({0x66, 0x0F, 0x58, 0xC1}).form, InstructionForm::add_double);
  EXPECT_EQ(of({0xC5, 0xFC, 0x58, 0xC1}).form, InstructionForm::add_256);  // vaddps ymm0, ymm0, ymm1
  EXPECT_EQ(of({0xF2, 0x0F, 0x51, 0xC1}).form, InstructionForm::square_root_scalar_double);
  EXPECT_EQ(of({0x66, 0x0F, 0xFE, 0xC1}).form, InstructionForm::vector_add);            // paddd
  EXPECT_EQ(of({0x66, 0x0F, 0x70, 0xC1, 1}).form, InstructionForm::shuffle);            // pshufd
  EXPECT_EQ(of({0x0F, 0x28, 0xC1}).form, InstructionForm::vector_move);                 // movaps xmm0, xmm1
  EXPECT_EQ(of({0x0F, 0x28, 0x07}).form, InstructionForm::vector_load);                 // movaps xmm0, [rdi]
  EXPECT_EQ(of({0x66, 0x48, 0x0F, 0x6E, 0xC0}).form, InstructionForm::move_to_vector);  // movq xmm0, rax
  EXPECT_EQ(of({0x66, 0x48, 0x0F, 0x7E, 0xC0}).form, InstructionForm::move_from_vector);  // movq rax, xmm0
}

TEST(InstructionForm, FlagWritersAndBranchesThatFuseAreMarked) {
  EXPECT_EQ(of({0x48, 0x39, 0xD8}).flag_writer, FlagWriter::compare);
  EXPECT_EQ(of({0x48, 0x85, 0xC0}).flag_writer, FlagWriter::test);
  EXPECT_EQ(of({0x48, 0xFF, 0xC0}).flag_writer, FlagWriter::increment);
  EXPECT_EQ(of({0x48, 0x83, 0x3F, 0x01}).flag_writer, FlagWriter::none);  // cmp qword [rdi], 1
  EXPECT_EQ(of({0x48, 0x3B, 0x07}).flag_writer, FlagWriter::compare);     // cmp rax, [rdi]
  EXPECT_EQ(of({0x75, 0x00}).condition, ConditionGroup::equal);
  EXPECT_EQ(of({0x7C, 0x00}).condition, ConditionGroup::signed_order);
  EXPECT_EQ(of({0xE3, 0x00}).condition, ConditionGroup::none);  // jrcxz
}

}  // namespace
}  // namespace pmusim::x86
