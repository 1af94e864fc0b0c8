#include <array>
#include <bit>

#include "perf/sample_parts.h"

/// REGS_USER and REGS_INTR: an ABI word, the general registers, and with SIMD sampling a block of whole
/// vector and predicate registers (xsave-simd.md section 4.4).
namespace pmusim::perf {

namespace {

constexpr u64 abi_none = 0, abi_64 = 2, abi_simd = 4;

/// Register numbers of sample_regs_user and sample_regs_intr (perf-abi.md section 1.6). From 24 up they mean
/// XMM halves (from 32) or, with SIMD sampling, R16 to R31 and SSP.
enum : unsigned {
  reg_ip = 8,
  reg_flags = 9,
  reg_cs = 10,
  reg_ss = 11,
  reg_r8 = 16,
  reg_r16 = 24,
  reg_ssp = 40
};
constexpr unsigned first_xmm_bit = 32;
constexpr std::array first_eight = {Gpr::rax, Gpr::rbx, Gpr::rcx, Gpr::rdx,
                                    Gpr::rsi, Gpr::rdi, Gpr::rbp, Gpr::rsp};

/// Selectors of 64-bit code, as Linux lays out its descriptor table.
constexpr u64 user_cs = 0x33, user_ss = 0x2b, kernel_cs = 0x10, kernel_ss = 0x18;

u64 code_segment(Cpl cpl) { return cpl == Cpl::user ? user_cs : kernel_cs; }
u64 stack_segment(Cpl cpl) { return cpl == Cpl::user ? user_ss : kernel_ss; }

u64 word_or_zero(std::span<const u64> words, std::size_t n) { return n < words.size() ? words[n] : 0; }

u64 high_register(const RegisterSource& source, unsigned number, bool simd) {
  if (!simd) return number >= first_xmm_bit ? word_or_zero(source.xmm, number - first_xmm_bit) : 0;
  if (number == reg_ssp) return source.extended->shadow_stack_pointer;
  return word_or_zero(source.extended->egpr, number - reg_r16);
}

u64 register_value(const RegisterSource& source, unsigned number, bool simd) {
  const Registers& general = *source.general;
  if (number < first_eight.size()) return general[first_eight[number]];
  if (number >= reg_r16) return high_register(source, number, simd);
  if (number >= reg_r8) return general.gpr[number - reg_r8 + 8];
  switch (number) {
    case reg_ip:
      return general.rip;
    case reg_flags:
      return general.rflags;
    case reg_cs:
      return code_segment(source.cpl);
    case reg_ss:
      return stack_segment(source.cpl);
    default:
      return 0;
  }
}

/// All that a 64-bit program has, which is what tools ask for by default: worth writing without a loop.
constexpr u64 all_general = 0xff0fff;

ByteWriter write_all_general(ByteWriter out, const RegisterSource& source) {
  const Registers& r = *source.general;
  for (const Gpr number : first_eight) out.put(r[number]);
  out.put(r.rip);
  out.put(r.rflags);
  out.put(code_segment(source.cpl));
  out.put(stack_segment(source.cpl));
  out.put_all(std::span(r.gpr).subspan<8>());
  return out;
}

u64 vector_word(const RegisterSource& source, unsigned vector, unsigned word) {
  if (!source.extended->vectors.empty())
    return word_or_zero(source.extended->vectors, vector * ExtendedRegisters::words_per_vector + word);
  return word < 2 ? word_or_zero(source.xmm, 2 * vector + word) : 0;
}

/// Counts and widths follow from the attribute alone: a register that cannot be read is written as zeros.
ByteWriter write_simd(ByteWriter out, const Event& event, const RegisterMasks& masks,
                      const RegisterSource& source) {
  const u16 vector_qwords = event.attr.sample_simd_vec_reg_qwords;
  const u16 predicate_qwords = event.attr.sample_simd_pred_reg_qwords;
  const std::array counts = {static_cast<u16>(std::popcount(masks.vectors)), vector_qwords,
                             static_cast<u16>(std::popcount(masks.predicates)), predicate_qwords};
  if (event.layout.simd == SimdAbi::series_v7)
    out.put(counts);
  else
    for (const u16 count : counts) out.put(u64{count});
  for (const unsigned vector : set_bits(masks.vectors))
    for (unsigned word = 0; word < vector_qwords; ++word) out.put(vector_word(source, vector, word));
  if (predicate_qwords == 0) return out;
  for (const unsigned predicate : set_bits(masks.predicates))
    out.put(word_or_zero(source.extended->predicates, predicate));
  return out;
}

}  // namespace

RegisterSource user_registers(const Sample& s) {
  return {s.environment.user_registers, Cpl::user, {}, &s.environment.user_extended};
}

RegisterSource interrupt_registers(const Sample& s) {
  return {s.data.registers ? s.data.registers : &s.frame.registers, s.frame.cpl, s.data.xmm,
          &s.data.extended};
}

u32 register_bytes(const Attr& attr, RegisterSide side, SimdAbi simd) {
  const RegisterMasks masks = register_masks(attr, side);
  const auto count = [](u64 mask) { return static_cast<u32>(std::popcount(mask)); };
  const u32 general = 8 * count(masks.general);
  if (attr.sample_simd_regs_enabled == 0) return general;
  const u32 counts = simd == SimdAbi::series_v7 ? 4 * sizeof(u16) : 4 * sizeof(u64);
  return general + counts + 8 * count(masks.vectors) * attr.sample_simd_vec_reg_qwords +
         8 * count(masks.predicates) * attr.sample_simd_pred_reg_qwords;
}

ByteWriter write_registers(ByteWriter out, const Event& event, RegisterSide side,
                           const RegisterSource& source) {
  const RegisterMasks masks = register_masks(event.attr, side);
  const bool simd = event.attr.sample_simd_regs_enabled != 0;
  if (!source.general) {
    out.put(abi_none);
    return out;
  }
  out.put(simd ? abi_64 | abi_simd : abi_64);
  if (masks.general == all_general)
    out = write_all_general(out, source);
  else
    for (const unsigned number : set_bits(masks.general)) out.put(register_value(source, number, simd));
  return simd ? write_simd(out, event, masks, source) : out;
}

}  // namespace pmusim::perf
