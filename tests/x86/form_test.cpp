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
  EXPECT_EQ(of({0x0F, 0xAE, 0x20}).form, InstructionForm::save_state);  // xsave [rax]
  EXPECT_EQ(of({0x0F, 0x01, 0xD0}).form, InstructionForm::microcoded);  // xgetbv saves nothing
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

TEST(InstructionForm, RenamersFoldConstantsOf64BitsAlone) {
  EXPECT_EQ(of({0x48, 0xFF, 0xC0}).form, InstructionForm::fold);  // inc rax
  EXPECT_EQ(of({0x83, 0xC0, 0x01}).form, InstructionForm::alu);   // add eax, 1
  EXPECT_EQ(of({0xFF, 0xC0}).form, InstructionForm::alu);         // inc eax
}

TEST(InstructionForm, TellsWhatDiffersInPortsOrCycles) {
  EXPECT_EQ(of({0x48, 0x8D, 0x43, 8}).form, InstructionForm::lea_offset);           // lea rax, [rbx+8]
  EXPECT_EQ(of({0x8D, 0x43, 8}).form, InstructionForm::lea);                        // lea eax, [rbx+8]
  EXPECT_EQ(of({0x48, 0x8D, 0x04, 0xD8}).form, InstructionForm::lea_indexed);       // lea rax, [rax+rbx*8]
  EXPECT_EQ(of({0x48, 0x8D, 0x04, 0xDD, 8, 0, 0, 0}).form, InstructionForm::lea);   // lea rax, [rbx*8+8]
  EXPECT_EQ(of({0x48, 0x0F, 0xBA, 0xE3, 3}).form, InstructionForm::bit_test);       // bt rbx, 3
  EXPECT_EQ(of({0x48, 0x0F, 0xBA, 0x27, 3}).form, InstructionForm::bit_test);       // bt qword [rdi], 3
  EXPECT_EQ(of({0x48, 0x99}).form, InstructionForm::shift);                         // cqo
  EXPECT_EQ(of({0x0F, 0xC8}).form, InstructionForm::bswap_32);                      // bswap eax
  EXPECT_EQ(of({0x48, 0x0F, 0x38, 0xF0, 0x07}).form, InstructionForm::bswap);       // movbe rax, [rdi]
  EXPECT_EQ(of({0x48, 0xD1, 0xD0}).form, InstructionForm::rotate_carry_one);        // rcl rax, 1
  EXPECT_EQ(of({0x48, 0xC1, 0xD0, 3}).form, InstructionForm::rotate_carry);         // rcl rax, 3
  EXPECT_EQ(of({0x48, 0x0F, 0xB1, 0xCB}).form, InstructionForm::compare_exchange);  // cmpxchg rbx, rcx
  EXPECT_EQ(of({0x0F, 0xC7, 0x0F}).form, InstructionForm::cmpxchg_8);               // cmpxchg8b [rdi]
  EXPECT_EQ(of({0x9C}).form, InstructionForm::push_flags);                          // pushfq
  EXPECT_EQ(of({0x9D}).form, InstructionForm::pushf_popf);                          // popfq
  EXPECT_EQ(of({0x48, 0xAD}).form, InstructionForm::string_one);                    // lodsq
  EXPECT_EQ(of({0x48, 0xA5}).form, InstructionForm::string);                        // movsq
  EXPECT_EQ(of({0xD9, 0xFA}).form, InstructionForm::x87_square_root);               // fsqrt
  EXPECT_EQ(of({0x66, 0x0F, 0x74, 0xC1}).form, InstructionForm::vector_compare);    // pcmpeqb xmm0, xmm1
  EXPECT_EQ(of({0xC5, 0xFD, 0x74, 0xC8}).form,
            InstructionForm::vector_compare_256);  // vpcmpeqb ymm1, ymm0, ymm0
  EXPECT_EQ(of({0x66, 0x0F, 0x38, 0x37, 0xC1}).form, InstructionForm::compare_quads);  // pcmpgtq xmm0, xmm1
  EXPECT_EQ(of({0x66, 0x0F, 0xF2, 0xC1}).form, InstructionForm::shift_by_vector);      // pslld xmm0, xmm1
  EXPECT_EQ(of({0x66, 0x0F, 0x72, 0xF0, 3}).form, InstructionForm::vector_shift);      // pslld xmm0, 3
  EXPECT_EQ(of({0xC4, 0xE2, 0x71, 0x47, 0xD0}).form,
            InstructionForm::vector_shift);                                        // vpsllvd xmm2, xmm1, xmm0
  EXPECT_EQ(of({0x66, 0x0F, 0x60, 0xC8}).form, InstructionForm::shuffle);          // punpcklbw xmm1, xmm0
  EXPECT_EQ(of({0x0F, 0x14, 0xC8}).form, InstructionForm::unpack);                 // unpcklps xmm1, xmm0
  EXPECT_EQ(of({0x66, 0x0F, 0x3A, 0x0F, 0xC8, 3}).form, InstructionForm::unpack);  // palignr xmm1, xmm0, 3
  EXPECT_EQ(of({0x66, 0x0F, 0x67, 0xC1}).form, InstructionForm::pack);             // packuswb xmm0, xmm1
  EXPECT_EQ(of({0x66, 0x0F, 0x38, 0x14, 0xD1}).form, InstructionForm::blend_variable);  // blendvps xmm2, xmm1
  EXPECT_EQ(of({0x66, 0x0F, 0x3A, 0x0E, 0xC1, 3}).form,
            InstructionForm::blend_words);  // pblendw xmm0, xmm1, 3
  EXPECT_EQ(of({0xC4, 0xE3, 0x69, 0x4A, 0xD9, 0}).form, InstructionForm::blend_variable_vex);
  EXPECT_EQ(of({0x66, 0x0F, 0x38, 0x02, 0xC1}).form, InstructionForm::horizontal_add_integer);  // phaddd
  EXPECT_EQ(of({0x66, 0x0F, 0x3A, 0x63, 0xC8, 3}).form, InstructionForm::compare_strings);      // pcmpistri
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
