// SPDX-License-Identifier: MIT
#include <algorithm>
#include <string_view>

#include "x86/classes.h"

// Which measured form an instruction has. Names of families are recognised by their beginning: `vpaddd`,
// `paddq` and `psubb` all add integers in vectors.
namespace pmusim::x86 {
namespace {

using Form = InstructionForm;

struct ByMnemonic {
  ZydisMnemonic mnemonic;
  Form form;
};
constexpr ByMnemonic by_mnemonic[] = {
    {ZYDIS_MNEMONIC_ADC, Form::adc},
    {ZYDIS_MNEMONIC_SBB, Form::adc},
    {ZYDIS_MNEMONIC_SHL, Form::shift},
    {ZYDIS_MNEMONIC_SHR, Form::shift},
    {ZYDIS_MNEMONIC_SAR, Form::shift},
    {ZYDIS_MNEMONIC_SHLX, Form::shift},
    {ZYDIS_MNEMONIC_SHRX, Form::shift},
    {ZYDIS_MNEMONIC_SARX, Form::shift},
    {ZYDIS_MNEMONIC_RORX, Form::shift},
    {ZYDIS_MNEMONIC_ROL, Form::rotate},
    {ZYDIS_MNEMONIC_ROR, Form::rotate},
    {ZYDIS_MNEMONIC_RCL, Form::rotate_carry},
    {ZYDIS_MNEMONIC_RCR, Form::rotate_carry},
    {ZYDIS_MNEMONIC_SHLD, Form::double_shift},
    {ZYDIS_MNEMONIC_SHRD, Form::double_shift},
    {ZYDIS_MNEMONIC_CDQ, Form::shift},
    {ZYDIS_MNEMONIC_CQO, Form::shift},
    {ZYDIS_MNEMONIC_BSF, Form::bit_scan},
    {ZYDIS_MNEMONIC_BSR, Form::bit_scan},
    {ZYDIS_MNEMONIC_POPCNT, Form::popcnt},
    {ZYDIS_MNEMONIC_LZCNT, Form::lzcnt},
    {ZYDIS_MNEMONIC_TZCNT, Form::tzcnt},
    {ZYDIS_MNEMONIC_PDEP, Form::pdep},
    {ZYDIS_MNEMONIC_PEXT, Form::pdep},
    {ZYDIS_MNEMONIC_CRC32, Form::popcnt},
    {ZYDIS_MNEMONIC_XCHG, Form::xchg},
    {ZYDIS_MNEMONIC_XADD, Form::xchg},
    {ZYDIS_MNEMONIC_CMPXCHG, Form::compare_exchange},
    {ZYDIS_MNEMONIC_CMPXCHG8B, Form::cmpxchg_8},
    {ZYDIS_MNEMONIC_CMPXCHG16B, Form::cmpxchg_16},
    {ZYDIS_MNEMONIC_LFENCE, Form::load_fence},
    {ZYDIS_MNEMONIC_SFENCE, Form::store_fence},
    {ZYDIS_MNEMONIC_MFENCE, Form::memory_fence},
    {ZYDIS_MNEMONIC_PAUSE, Form::pause},
    {ZYDIS_MNEMONIC_RDTSC, Form::rdtsc},
    {ZYDIS_MNEMONIC_RDTSCP, Form::rdtsc},
    {ZYDIS_MNEMONIC_CPUID, Form::cpuid},
    {ZYDIS_MNEMONIC_SERIALIZE, Form::serialize},
    {ZYDIS_MNEMONIC_RDPID, Form::rdpid},
    {ZYDIS_MNEMONIC_RDRAND, Form::rdrand},
    {ZYDIS_MNEMONIC_RDSEED, Form::rdrand},
    {ZYDIS_MNEMONIC_PUSHFQ, Form::push_flags},
    {ZYDIS_MNEMONIC_POPFQ, Form::pushf_popf},
    {ZYDIS_MNEMONIC_LDMXCSR, Form::load_mxcsr},
    {ZYDIS_MNEMONIC_VLDMXCSR, Form::load_mxcsr},
    {ZYDIS_MNEMONIC_CLFLUSH, Form::clflush},
    {ZYDIS_MNEMONIC_CLFLUSHOPT, Form::clflush},
    {ZYDIS_MNEMONIC_MOVD, Form::move_to_vector},
    {ZYDIS_MNEMONIC_MOVQ, Form::move_to_vector},
    {ZYDIS_MNEMONIC_VMOVD, Form::move_to_vector},
    {ZYDIS_MNEMONIC_VMOVQ, Form::move_to_vector},
    {ZYDIS_MNEMONIC_VZEROUPPER, Form::zero_upper},
    {ZYDIS_MNEMONIC_VZEROALL, Form::zero_all},
    {ZYDIS_MNEMONIC_CMOVBE, Form::cmov_two_flags},
    {ZYDIS_MNEMONIC_CMOVNBE, Form::cmov_two_flags},
    {ZYDIS_MNEMONIC_SETBE, Form::set_two_flags},
    {ZYDIS_MNEMONIC_SETNBE, Form::set_two_flags},
    {ZYDIS_MNEMONIC_LOOP, Form::microcoded},
    {ZYDIS_MNEMONIC_LOOPE, Form::microcoded},
    {ZYDIS_MNEMONIC_LOOPNE, Form::microcoded},
    {ZYDIS_MNEMONIC_ENTER, Form::microcoded},
    {ZYDIS_MNEMONIC_XGETBV, Form::microcoded},
    {ZYDIS_MNEMONIC_WRMSR, Form::microcoded},
    {ZYDIS_MNEMONIC_INVD, Form::microcoded},
    {ZYDIS_MNEMONIC_WBINVD, Form::microcoded},
    {ZYDIS_MNEMONIC_INVLPG, Form::microcoded},
    {ZYDIS_MNEMONIC_FSQRT, Form::x87_square_root},
    {ZYDIS_MNEMONIC_FSIN, Form::x87_transcendental},
    {ZYDIS_MNEMONIC_FCOS, Form::x87_transcendental},
    {ZYDIS_MNEMONIC_FSINCOS, Form::x87_transcendental},
    {ZYDIS_MNEMONIC_FPTAN, Form::x87_transcendental},
    {ZYDIS_MNEMONIC_FPATAN, Form::x87_transcendental},
    {ZYDIS_MNEMONIC_F2XM1, Form::x87_transcendental},
    {ZYDIS_MNEMONIC_FYL2X, Form::x87_transcendental},
};

struct Family {
  std::string_view beginning;  ///< of the mnemonic, without a leading V
  Form form;
};
// The first that fits.
constexpr Family families[] = {
    {"pmulld", Form::multiply_low_32},
    {"pmullq", Form::multiply_low_32},
    {"pmuludq", Form::multiply_wide_32},
    {"pmuldq", Form::multiply_wide_32},
    {"pmadd", Form::multiply_add_16},
    {"pdp", Form::multiply_add_16},
    {"pmul", Form::multiply_low_16},
    {"psadbw", Form::sum_differences},
    {"mpsadbw", Form::sum_differences},
    {"pshufb", Form::shuffle_bytes},
    {"pmovmskb", Form::mask_bytes},
    {"movmsk", Form::mask_bytes},
    {"ptest", Form::vector_test},
    {"pcmpestr", Form::compare_strings},
    {"pcmpistr", Form::compare_strings},
    {"pcmpgtq", Form::compare_quads},
    {"pblendw", Form::blend_words},
    {"pblendv", Form::blend_variable},
    {"blendv", Form::blend_variable},
    {"phadd", Form::horizontal_add_integer},
    {"phsub", Form::horizontal_add_integer},
    {"perm2", Form::permute_lanes},
    {"permil", Form::unpack},
    {"perm", Form::permute_words},
    {"broadcast", Form::permute_lanes},
    {"insertf", Form::insert_lane},
    {"inserti", Form::insert_lane},
    {"extractf", Form::extract_lane},
    {"extracti", Form::extract_lane},
    {"aesdec", Form::aes_decode},
    {"aes", Form::aes_encode},
    {"pclmul", Form::carryless_multiply},
    {"sha", Form::sha},
    {"shufp", Form::shuffle},
    {"pshuf", Form::shuffle},
    {"palignr", Form::unpack},
    {"pack", Form::pack},
    {"pmovzx", Form::shuffle},
    {"pmovsx", Form::shuffle},
    {"pbroadcast", Form::permute_lanes},
    {"movddup", Form::unpack},
    {"movs", Form::shuffle},
    {"movhlps", Form::shuffle},
    {"movlhps", Form::shuffle},
    {"insertps", Form::unpack},
    {"psrldq", Form::shuffle},
    {"pslldq", Form::shuffle},
    {"punpck", Form::shuffle},
    {"unpck", Form::unpack},
    {"psllv", Form::vector_shift},
    {"psrlv", Form::vector_shift},
    {"psrav", Form::vector_shift},
    {"psll", Form::shift_by_vector},
    {"psrl", Form::shift_by_vector},
    {"psra", Form::shift_by_vector},
    {"pinsr", Form::move_to_vector},
    {"pextr", Form::move_from_vector},
    {"extractps", Form::move_from_vector},
    {"ucomis", Form::compare_flags},
    {"comis", Form::compare_flags},
    {"cvtsi2", Form::convert_from_integer},
    {"cvtsd2si", Form::convert_to_integer},
    {"cvttsd2si", Form::convert_to_integer},
    {"cvtss2si", Form::convert_to_integer},
    {"cvttss2si", Form::convert_to_integer},
    {"cvtss2sd", Form::convert_to_double},
    {"cvtps2pd", Form::convert_to_double},
    {"cvtdq2pd", Form::convert_to_double},
    {"cvtsd2ss", Form::convert_to_single},
    {"cvtpd2", Form::convert_to_single},
    {"cvttpd2", Form::convert_to_single},
    {"cvt", Form::convert_packed},
    {"round", Form::round},
    {"rndscale", Form::round},
    {"cmpp", Form::compare},
    {"cmps", Form::compare},
    {"min", Form::minimum},
    {"max", Form::minimum},
    {"rcp", Form::reciprocal},
    {"rsqrt", Form::reciprocal},
    {"hadd", Form::horizontal_add},
    {"hsub", Form::horizontal_add},
    {"dpp", Form::dot_product},
    {"and", Form::logic},
    {"or", Form::logic},
    {"xor", Form::logic},
    {"pand", Form::vector_add},
    {"por", Form::vector_add},
    {"pcmp", Form::vector_compare},
    {"pmin", Form::vector_compare},
    {"pmax", Form::vector_compare},
    {"pavg", Form::vector_compare},
    {"pabs", Form::vector_compare},
    {"psign", Form::vector_compare},
    {"padds", Form::vector_compare},
    {"paddus", Form::vector_compare},
    {"psubs", Form::vector_compare},
    {"psubus", Form::vector_compare},
    {"pxor", Form::vector_add},
    {"pternlog", Form::vector_add},
    {"mov", Form::vector_move},
    {"lddqu", Form::vector_move},
};

bool is_vector_register(const ZydisDecodedOperand& o) {
  if (o.type != ZYDIS_OPERAND_TYPE_REGISTER) return false;
  const ZydisRegisterClass c = ZydisRegisterGetClass(o.reg.value);
  return c == ZYDIS_REGCLASS_XMM || c == ZYDIS_REGCLASS_YMM || c == ZYDIS_REGCLASS_ZMM ||
         c == ZYDIS_REGCLASS_MMX;
}

bool uses_vectors(const Decoded& d) { return std::ranges::any_of(d.operands(), is_vector_register); }

unsigned vector_bits(const Decoded& d) {
  unsigned bits = 128;
  for (const ZydisDecodedOperand& o : d.operands())
    if (is_vector_register(o)) bits = std::max<unsigned>(bits, o.size);
  return bits;
}

bool has_immediate(const Decoded& d) {
  return std::ranges::any_of(
      d.operands(), [](const ZydisDecodedOperand& o) { return o.type == ZYDIS_OPERAND_TYPE_IMMEDIATE; });
}

Form lea_form(const Decoded& d) {
  const ZydisDecodedOperandMem& m = d.all_operands[1].mem;
  if (m.base == ZYDIS_REGISTER_RIP) return Form::alu;
  if (m.base == ZYDIS_REGISTER_NONE) return Form::lea;
  if (m.index == ZYDIS_REGISTER_NONE) return d.instruction.operand_width == 64 ? Form::lea_offset : Form::lea;
  if (m.scale > 1) return m.disp.has_displacement ? Form::lea_scaled : Form::lea_indexed;
  return m.disp.has_displacement ? Form::lea_three : Form::lea;
}

Form multiply_form(const Decoded& d) {
  const bool wide = d.mnemonic() != ZYDIS_MNEMONIC_IMUL || d.instruction.operand_count_visible == 1;
  const bool is_64 = d.instruction.operand_width == 64;
  if (wide) return is_64 ? Form::mul_wide : Form::imul_32;
  return is_64 ? Form::imul_64 : Form::imul_32;
}

Form divide_form(const Decoded& d) {
  if (d.instruction.operand_width != 64) return Form::div_32;
  return d.mnemonic() == ZYDIS_MNEMONIC_DIV ? Form::div_64 : Form::idiv_64;
}

bool shifts_by_one(const Decoded& d) {
  const ZydisDecodedOperand& count = d.all_operands[1];
  return count.type == ZYDIS_OPERAND_TYPE_IMMEDIATE && count.imm.value.u == 1;
}

Form shift_form(const Decoded& d, Form form) {
  if (form == Form::rotate_carry) return shifts_by_one(d) ? Form::rotate_carry_one : form;
  const bool by_cl = d.instruction.operand_count_visible >= 2 &&
                     d.all_operands[1].type == ZYDIS_OPERAND_TYPE_REGISTER &&
                     d.all_operands[1].reg.value == ZYDIS_REGISTER_CL;
  return by_cl ? Form::shift_by_cl : form;
}

Form gather_form(const Decoded& d) {
  const bool quad = std::string_view(ZydisMnemonicGetString(d.mnemonic())).ends_with('q') ||
                    std::string_view(ZydisMnemonicGetString(d.mnemonic())).ends_with("pd");
  if (d.instruction.avx.vector_length <= 128) return Form::gather_128;
  return quad ? Form::gather_quad_256 : Form::gather_256;
}

Form fp_add_form(unsigned bits, bool scalar, bool is_double) {
  if (scalar) return is_double ? Form::add_scalar_double : Form::add_scalar_single;
  if (bits == 512) return Form::add_512;
  if (bits == 256) return Form::add_256;
  return is_double ? Form::add_double : Form::add_single;
}

Form fp_multiply_form(unsigned bits, bool scalar, bool is_double) {
  if (bits == 512) return Form::multiply_512;
  if (bits == 256) return Form::multiply_256;
  if (!scalar) return Form::multiply_double;
  return is_double ? Form::multiply_scalar_double : Form::multiply_scalar_single;
}

Form fma_form(unsigned bits) {
  return bits == 512 ? Form::fma_512 : bits == 256 ? Form::fma_256 : Form::fma_scalar;
}

Form fp_divide_form(unsigned bits, bool scalar, bool is_double) {
  if (bits >= 256) return is_double ? Form::divide_256_double : Form::divide_256_single;
  if (scalar) return is_double ? Form::divide_scalar_double : Form::divide_scalar_single;
  return is_double ? Form::divide_double : Form::divide_single;
}

Form square_root_form(unsigned bits, bool scalar, bool is_double) {
  if (bits >= 256) return is_double ? Form::square_root_256_double : Form::square_root_256_single;
  if (is_double) return scalar ? Form::square_root_scalar_double : Form::square_root_double;
  return Form::square_root_scalar_single;
}

Form x87_form(const FpOperation& fp) {
  switch (fp.kind) {
    case FpOperation::Kind::add:
      return Form::x87_add;
    case FpOperation::Kind::multiply:
      return Form::x87_multiply;
    case FpOperation::Kind::divide:
      return Form::x87_divide;
    default:
      return Form::x87_move;
  }
}

std::string_view stem_of(const Decoded& d) {
  std::string_view name = ZydisMnemonicGetString(d.mnemonic());
  if (name.starts_with('v')) name.remove_prefix(1);
  return name;
}

const Family* find_family(std::string_view stem) {
  const auto* found =
      std::ranges::find_if(families, [&](const Family& f) { return stem.starts_with(f.beginning); });
  return found == std::end(families) ? nullptr : found;
}

bool is_moving_between_files(const Decoded& d) {
  return d.all_operands[0].type == ZYDIS_OPERAND_TYPE_REGISTER &&
         d.all_operands[1].type == ZYDIS_OPERAND_TYPE_REGISTER &&
         is_vector_register(d.all_operands[0]) != is_vector_register(d.all_operands[1]);
}

Form move_form(const Decoded& d) {
  if (!is_moving_between_files(d)) return Form::vector_move;
  return is_vector_register(d.all_operands[0]) ? Form::move_to_vector : Form::move_from_vector;
}

// A family by the way that its operands are given.
Form form_in_family(const Decoded& d, Form form) {
  switch (form) {
    case Form::vector_compare:
      if (vector_bits(d) == 512) return Form::vector_add_512;
      return vector_bits(d) == 256 ? Form::vector_compare_256 : form;
    case Form::shift_by_vector:
      return has_immediate(d) ? Form::vector_shift : form;
    case Form::blend_variable:
      return d.instruction.operand_count_visible == 4 ? Form::blend_variable_vex : form;
    default:
      return form;
  }
}

Form vector_form(const Decoded& d, const FpOperation& fp) {
  const std::string_view stem = stem_of(d);
  if (stem.starts_with("fm") || stem.starts_with("fnm")) return fma_form(vector_bits(d));
  if (const Family* family = find_family(stem)) return form_in_family(d, family->form);
  const bool is_double = stem.ends_with('d');
  const bool scalar = stem.size() > 2 && stem[stem.size() - 2] == 's';
  const unsigned bits = vector_bits(d);
  switch (fp.kind) {
    case FpOperation::Kind::add:
      return fp_add_form(bits, scalar, is_double);
    case FpOperation::Kind::multiply:
      return fp_multiply_form(bits, scalar, is_double);
    case FpOperation::Kind::divide:
      return stem.starts_with("sqrt") ? square_root_form(bits, scalar, is_double)
                                      : fp_divide_form(bits, scalar, is_double);
    default:
      return bits == 512 ? Form::vector_add_512 : bits == 256 ? Form::vector_add_256 : Form::vector_add;
  }
}

Form branch_form(BranchKind branch) {
  switch (branch) {
    case BranchKind::conditional:
      return Form::conditional_branch;
    case BranchKind::direct_jump:
    case BranchKind::indirect_jump:
      return Form::branch;
    case BranchKind::direct_call:
      return Form::call;
    case BranchKind::indirect_call:
      return Form::indirect_call;
    case BranchKind::near_return:
      return Form::ret;
    default:
      return Form::far_branch;
  }
}

// A register copied as it is, which the renamer can do; extending moves are work.
bool is_plain_move(const Decoded& d) {
  return d.mnemonic() == ZYDIS_MNEMONIC_MOV && d.all_operands[0].type == ZYDIS_OPERAND_TYPE_REGISTER &&
         d.all_operands[1].type == ZYDIS_OPERAND_TYPE_REGISTER && d.instruction.operand_width >= 32 &&
         d.all_operands[0].reg.value != d.all_operands[1].reg.value;
}

bool is_add_or_subtract(const Decoded& d) {
  switch (d.mnemonic()) {
    case ZYDIS_MNEMONIC_ADD:
    case ZYDIS_MNEMONIC_SUB:
    case ZYDIS_MNEMONIC_INC:
    case ZYDIS_MNEMONIC_DEC:
      return true;
    default:
      return false;
  }
}

bool counts_by_constant(const Decoded& d) {
  const bool one = d.mnemonic() == ZYDIS_MNEMONIC_INC || d.mnemonic() == ZYDIS_MNEMONIC_DEC;
  return is_add_or_subtract(d) && (one || has_immediate(d)) &&
         d.all_operands[0].type == ZYDIS_OPERAND_TYPE_REGISTER && d.instruction.operand_width == 64;
}

bool tests_bit(const Decoded& d) {
  return d.category() == ZYDIS_CATEGORY_BITBYTE &&
         (d.mnemonic() == ZYDIS_MNEMONIC_BT || d.mnemonic() == ZYDIS_MNEMONIC_BTC ||
          d.mnemonic() == ZYDIS_MNEMONIC_BTR || d.mnemonic() == ZYDIS_MNEMONIC_BTS);
}

bool swaps_bytes(const Decoded& d) {
  return d.mnemonic() == ZYDIS_MNEMONIC_BSWAP || d.mnemonic() == ZYDIS_MNEMONIC_MOVBE;
}

Form string_form(const Decoded& d) {
  const std::string_view name = ZydisMnemonicGetString(d.mnemonic());
  return name.starts_with("movs") || name.starts_with("cmps") ? Form::string : Form::string_one;
}

Form integer_form(const Instruction& i, const Decoded& d) {
  switch (d.category()) {
    case ZYDIS_CATEGORY_CMOV:
      return Form::cmov;
    case ZYDIS_CATEGORY_SETCC:
      return Form::set;
    case ZYDIS_CATEGORY_PUSH:
      return Form::push;
    case ZYDIS_CATEGORY_POP:
      return Form::pop;
    case ZYDIS_CATEGORY_STRINGOP:
      return string_form(d);
    case ZYDIS_CATEGORY_XSAVE:
    case ZYDIS_CATEGORY_XSAVEOPT:
      return Form::save_state;
    default:
      break;
  }
  if (is_plain_move(d)) return Form::move;
  if (counts_by_constant(d)) return Form::fold;
  if (swaps_bytes(d)) return d.instruction.operand_width == 64 ? Form::bswap : Form::bswap_32;
  if (d.category() == ZYDIS_CATEGORY_DATAXFER && i.memory_operands == 1) {
    if (!i.memory[0].store) return Form::load;
    if (!i.memory[0].load) return Form::store;
  }
  if (i.uops > 4) return Form::microcoded;
  return tests_bit(d) ? Form::bit_test : Form::alu;
}

bool is_multiply_mnemonic(const Decoded& d) {
  return d.mnemonic() == ZYDIS_MNEMONIC_MUL || d.mnemonic() == ZYDIS_MNEMONIC_MULX ||
         d.mnemonic() == ZYDIS_MNEMONIC_IMUL;
}

// Loads that leave the rest of the register alone, or spread what they load, on the load port itself.
bool loads_scalar(const Instruction& i, const Decoded& d) {
  if (i.memory_operands != 1 || i.memory[0].store) return false;
  switch (d.mnemonic()) {
    case ZYDIS_MNEMONIC_MOVSS:
    case ZYDIS_MNEMONIC_MOVSD:
    case ZYDIS_MNEMONIC_VMOVSS:
    case ZYDIS_MNEMONIC_VMOVSD:
    case ZYDIS_MNEMONIC_MOVDDUP:
    case ZYDIS_MNEMONIC_VMOVDDUP:
    case ZYDIS_MNEMONIC_MOVSHDUP:
    case ZYDIS_MNEMONIC_VMOVSHDUP:
    case ZYDIS_MNEMONIC_MOVSLDUP:
    case ZYDIS_MNEMONIC_VMOVSLDUP:
    case ZYDIS_MNEMONIC_VBROADCASTSS:
    case ZYDIS_MNEMONIC_VBROADCASTSD:
    case ZYDIS_MNEMONIC_VBROADCASTF128:
    case ZYDIS_MNEMONIC_VBROADCASTI128:
    case ZYDIS_MNEMONIC_VPBROADCASTD:
    case ZYDIS_MNEMONIC_VPBROADCASTQ:
      return true;
    default:
      return false;
  }
}

bool stores_vector_part(const Instruction& i, const Decoded& d) {
  if (i.memory_operands != 1 || i.memory[0].load) return false;
  switch (d.mnemonic()) {
    case ZYDIS_MNEMONIC_MOVSS:
    case ZYDIS_MNEMONIC_MOVSD:
    case ZYDIS_MNEMONIC_VMOVSS:
    case ZYDIS_MNEMONIC_VMOVSD:
    case ZYDIS_MNEMONIC_MOVLPS:
    case ZYDIS_MNEMONIC_MOVLPD:
    case ZYDIS_MNEMONIC_VMOVLPS:
    case ZYDIS_MNEMONIC_VMOVLPD:
      return true;
    default:
      return false;
  }
}

Form vector_or_memory_form(const Instruction& i, const Decoded& d, const FpOperation& fp) {
  if (loads_scalar(i, d)) return Form::vector_load;
  if (stores_vector_part(i, d)) return Form::store;
  const Form form = vector_form(d, fp);
  const bool moves =
      form == Form::vector_move || form == Form::move_to_vector || form == Form::move_from_vector;
  if (!moves || d.category() != ZYDIS_CATEGORY_DATAXFER) return form;
  if (i.memory_operands == 0) return move_form(d);
  return i.memory[0].store ? Form::store : Form::vector_load;
}

ConditionGroup condition_of(ZydisMnemonic mnemonic) {
  switch (mnemonic) {
    case ZYDIS_MNEMONIC_JO:
    case ZYDIS_MNEMONIC_JNO:
    case ZYDIS_MNEMONIC_JS:
    case ZYDIS_MNEMONIC_JNS:
    case ZYDIS_MNEMONIC_JP:
    case ZYDIS_MNEMONIC_JNP:
      return ConditionGroup::overflow_sign_parity;
    case ZYDIS_MNEMONIC_JB:
    case ZYDIS_MNEMONIC_JNB:
      return ConditionGroup::carry;
    case ZYDIS_MNEMONIC_JBE:
    case ZYDIS_MNEMONIC_JNBE:
      return ConditionGroup::below_or_equal;
    case ZYDIS_MNEMONIC_JZ:
    case ZYDIS_MNEMONIC_JNZ:
      return ConditionGroup::equal;
    case ZYDIS_MNEMONIC_JL:
    case ZYDIS_MNEMONIC_JNL:
    case ZYDIS_MNEMONIC_JLE:
    case ZYDIS_MNEMONIC_JNLE:
      return ConditionGroup::signed_order;
    default:
      return ConditionGroup::none;
  }
}

FlagWriter flag_writer_of(const Instruction& i, const Decoded& d) {
  if (i.memory_operands != 0 && (i.memory[0].store || has_immediate(d))) return FlagWriter::none;
  switch (d.mnemonic()) {
    case ZYDIS_MNEMONIC_TEST:
      return FlagWriter::test;
    case ZYDIS_MNEMONIC_AND:
      return FlagWriter::bitwise_and;
    case ZYDIS_MNEMONIC_CMP:
      return FlagWriter::compare;
    case ZYDIS_MNEMONIC_ADD:
    case ZYDIS_MNEMONIC_SUB:
      return FlagWriter::add_subtract;
    case ZYDIS_MNEMONIC_INC:
    case ZYDIS_MNEMONIC_DEC:
      return FlagWriter::increment;
    default:
      return FlagWriter::none;
  }
}

InstructionForm form_of(const Instruction& i, const Decoded& d, const FpOperation& fp) {
  if (i.branch != BranchKind::none) return branch_form(i.branch);
  if (d.mnemonic() == ZYDIS_MNEMONIC_PAUSE) return Form::pause;
  if (is_nop(d)) return Form::nop;
  if (i.rep) return Form::repeated_string;
  if (i.memory_operands != 0 && i.memory[0].vector_index && i.memory[0].load) return gather_form(d);
  if (d.mnemonic() == ZYDIS_MNEMONIC_LEA) return lea_form(d);
  if (is_multiply_mnemonic(d)) return multiply_form(d);
  if (d.mnemonic() == ZYDIS_MNEMONIC_DIV || d.mnemonic() == ZYDIS_MNEMONIC_IDIV) return divide_form(d);
  if (is_zeroing(d)) return Form::zero_idiom;
  const auto* listed = std::ranges::find(by_mnemonic, d.mnemonic(), &ByMnemonic::mnemonic);
  const bool moves = listed != std::end(by_mnemonic) && listed->form == Form::move_to_vector;
  if (listed != std::end(by_mnemonic) && !moves) return shift_form(d, listed->form);
  if (fp.signals.has(Signal::x87)) return x87_form(fp);
  return uses_vectors(d) ? vector_or_memory_form(i, d, fp) : integer_form(i, d);
}

}  // namespace

void add_form(Instruction& instruction, const Decoded& decoded, const FpOperation& fp) {
  instruction.form = form_of(instruction, decoded, fp);
  instruction.flag_writer = flag_writer_of(instruction, decoded);
  instruction.condition = condition_of(decoded.mnemonic());
}

}  // namespace pmusim::x86
