#include <algorithm>
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
struct Segments {
  u64 code, stack;
};
constexpr Segments user_segments{0x33, 0x2b}, kernel_segments{0x10, 0x18};

u64 word_or_zero(std::span<const u64> words, std::size_t n) { return n < words.size() ? words[n] : 0; }

/// Where the values of a register block come from.
struct RegisterSource {
  const Registers& general;
  const Segments& segments;
  std::span<const u64> xmm;
  const ExtendedRegisters& extended;
};

/// All that a 64-bit program has, which is what tools ask for by default: worth writing without a loop.
constexpr u64 all_general = 0xff0fff;

/// In pairs: neighbours are loaded and stored together.
inline ByteWriter write_all_general(ByteWriter out, const RegisterSource& source) {
  const Registers& r = source.general;
  out.put_words(r[Gpr::rax], r[Gpr::rbx]);
  out.put_words(r[Gpr::rcx], r[Gpr::rdx]);
  out.put_words(r[Gpr::rsi], r[Gpr::rdi]);
  out.put_words(r[Gpr::rbp], r[Gpr::rsp]);
  out.put_words(r.rip, r.rflags);
  out.put(source.segments);
  out.put_all(std::span(r.gpr).subspan<8>());
  return out;
}

u64 register_value(const RegisterSource& source, unsigned number) {
  const Registers& general = source.general;
  if (number < first_eight.size()) return general[first_eight[number]];
  if (number == reg_ssp) return source.extended.shadow_stack_pointer;
  if (number >= reg_r16) return word_or_zero(source.extended.egpr, number - reg_r16);
  if (number >= reg_r8) return general.gpr[number - reg_r8 + 8];
  switch (number) {
    case reg_ip:
      return general.rip;
    case reg_flags:
      return general.rflags;
    case reg_cs:
      return source.segments.code;
    case reg_ss:
      return source.segments.stack;
    default:
      return 0;
  }
}

inline ByteWriter write_general(ByteWriter out, u64 mask, const RegisterSource& source) {
  if (mask == all_general) return write_all_general(out, source);
  for (const unsigned number : set_bits(mask)) out.put(register_value(source, number));
  return out;
}

/// Of the XMM halves that `mask` names, each run in one piece.
ByteWriter write_xmm(ByteWriter out, u32 mask, std::span<const u64> xmm) {
  while (mask != 0) {
    const auto first = static_cast<unsigned>(std::countr_zero(mask));
    const auto count = static_cast<unsigned>(std::countr_one(mask >> first));
    const auto known = xmm.subspan(std::min<std::size_t>(first, xmm.size()));
    const auto run = known.first(std::min<std::size_t>(count, known.size()));
    out.put_all(run);
    out.put_zeros((count - run.size()) * sizeof(u64));
    mask &= ~static_cast<u32>(low_bits(count) << first);
  }
  return out;
}

u64 vector_word(const RegisterSource& source, unsigned vector, unsigned word) {
  if (!source.extended.vectors.empty())
    return word_or_zero(source.extended.vectors, vector * ExtendedRegisters::words_per_vector + word);
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
    out.put(word_or_zero(source.extended.predicates, predicate));
  return out;
}

}  // namespace

u32 register_bytes(const Attr& attr, RegisterSide side, SimdAbi simd) {
  const RegisterMasks masks = register_masks(attr, side);
  const auto count = [](u64 mask) { return static_cast<u32>(std::popcount(mask)); };
  const u32 general = 8 * count(masks.general);
  if (attr.sample_simd_regs_enabled == 0) return general;
  const u32 counts = simd == SimdAbi::series_v7 ? 4 * sizeof(u16) : 4 * sizeof(u64);
  return general + counts + 8 * count(masks.vectors) * attr.sample_simd_vec_reg_qwords +
         8 * count(masks.predicates) * attr.sample_simd_pred_reg_qwords;
}

namespace {

[[gnu::noinline]] ByteWriter write_with_simd(ByteWriter out, const Event& event, RegisterSide side,
                                             const RegisterSource& source) {
  const RegisterMasks masks = register_masks(event.attr, side);
  out.put(abi_64 | abi_simd);
  return write_simd(write_general(out, masks.general, source), event, masks, source);
}

inline ByteWriter write_registers(ByteWriter out, const Event& event, RegisterSide side,
                                  const RegisterSource& source) {
  if (event.attr.sample_simd_regs_enabled != 0) return write_with_simd(out, event, side, source);
  const u64 mask = register_masks(event.attr, side).general;
  out.put(abi_64);
  out = write_general(out, field(mask, 31, 0), source);
  return write_xmm(out, static_cast<u32>(mask >> first_xmm_bit), source.xmm);
}

}  // namespace

ByteWriter write_user_registers(ByteWriter out, const Sample& s) {
  if (s.environment.user_registers)
    return write_registers(out, s.event, RegisterSide::user,
                           {*s.environment.user_registers, user_segments, {}, s.environment.user_extended});
  out.put(abi_none);
  return out;
}

ByteWriter write_interrupt_registers(ByteWriter out, const Sample& s) {
  return write_registers(
      out, s.event, RegisterSide::interrupt,
      {s.data.registers ? *s.data.registers : s.frame.registers,
       s.frame.cpl == Cpl::user ? user_segments : kernel_segments, s.data.xmm, s.data.extended});
}

}  // namespace pmusim::perf
