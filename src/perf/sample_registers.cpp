#include <array>
#include <bit>
#include <cstring>

#include "perf/general_registers.h"
#include "perf/sample_parts.h"

/// REGS_USER and REGS_INTR: an ABI word, the general registers, and with SIMD sampling a block of whole
/// vector and predicate registers (xsave-simd.md section 4.4).
namespace pmusim::perf {

namespace {

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

u64 word_or_zero(std::span<const u64> words, std::size_t n) { return n < words.size() ? words[n] : 0; }

u64 general_register(unsigned number, const Registers& registers, const Segments& segments) {
  if (number < first_eight.size()) return registers[first_eight[number]];
  if (number >= reg_r8) return registers.gpr[number - reg_r8 + 8];
  switch (number) {
    case reg_ip:
      return registers.rip;
    case reg_flags:
      return registers.rflags;
    case reg_cs:
      return segments.code;
    case reg_ss:
      return segments.stack;
    default:
      return 0;
  }
}

inline ByteWriter write_general(ByteWriter out, u64 mask, const Registers& registers,
                                const Segments& segments) {
  if (mask == all_general) return write_all_general(out, registers, segments);
  for (const unsigned number : set_bits(mask)) out.put(general_register(number, registers, segments));
  return out;
}

/// Half `n` of the XMM registers (XMM0 low, high, ...), as far as they are known.
u64 xmm_half(std::span<const std::byte> xmm, std::size_t n) {
  u64 half = 0;
  if ((n + 1) * sizeof half <= xmm.size()) std::memcpy(&half, xmm.data() + n * sizeof half, sizeof half);
  return half;
}

inline ByteWriter write_xmm(ByteWriter out, u32 mask, std::span<const std::byte> xmm) {
  constexpr std::size_t all_bytes = 32 * sizeof(u64);
  if (mask == low_bits(32) && xmm.size() == all_bytes) {
    out.put_all(xmm.first<all_bytes>());
    return out;
  }
  for (const unsigned n : set_bits(mask)) out.put(xmm_half(xmm, n));
  return out;
}

/// What only SIMD sampling reads.
struct SimdSource {
  const ExtendedRegisters& extended;
  const std::span<const std::byte>& xmm;
};

ByteWriter write_egpr_and_ssp(ByteWriter out, u64 mask, const ExtendedRegisters& extended) {
  for (const unsigned number : set_bits(mask))
    out.put(number == reg_ssp ? extended.shadow_stack_pointer
                              : word_or_zero(extended.egpr, number - reg_r16));
  return out;
}

u64 vector_word(const SimdSource& source, unsigned vector, unsigned word) {
  if (!source.extended.vectors.empty())
    return word_or_zero(source.extended.vectors, vector * ExtendedRegisters::words_per_vector + word);
  return word < 2 ? xmm_half(source.xmm, 2 * vector + word) : 0;
}

/// Counts and widths follow from the attribute alone: a register that cannot be read is written as zeros.
ByteWriter write_simd(ByteWriter out, const Event& event, const RegisterMasks& masks,
                      const SimdSource& source) {
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

constexpr u64 general_numbers = low_bits(reg_r16);

ByteWriter write_with_simd(ByteWriter out, const Event& event, RegisterSide side, const Registers& registers,
                           const Segments& segments, const SimdSource& source) {
  const RegisterMasks masks = register_masks(event.attr, side);
  out.put(registers_abi_64 | registers_abi_simd);
  out = write_general(out, masks.general & general_numbers, registers, segments);
  out = write_egpr_and_ssp(out, masks.general & ~general_numbers, source.extended);
  return write_simd(out, event, masks, source);
}

inline ByteWriter write_without_simd(ByteWriter out, u64 mask, const Registers& registers,
                                     const Segments& segments, const std::span<const std::byte>& xmm) {
  out.put(registers_abi_64);
  out = write_general(out, mask & general_numbers, registers, segments);
  const auto xmm_halves = static_cast<u32>(mask >> first_xmm_bit);
  return xmm_halves == 0 ? out : write_xmm(out, xmm_halves, xmm);
}

}  // namespace

ByteWriter write_user_registers(ByteWriter out, const Event& event, const SampleEnvironment& environment) {
  if (!environment.user_registers) {
    out.put(registers_abi_none);
    return out;
  }
  const Registers& registers = *environment.user_registers;
  if (event.attr.sample_simd_regs_enabled != 0)
    return write_with_simd(out, event, RegisterSide::user, registers, segments_at(Cpl::user),
                           {environment.user_extended, {}});
  return write_without_simd(out, event.attr.sample_regs_user, registers, segments_at(Cpl::user), {});
}

ByteWriter write_interrupt_registers(ByteWriter out, const Event& event, const SampleData& data,
                                     const InterruptFrame& frame) {
  const Registers& registers = interrupt_registers(data, frame);
  const Segments& segments = segments_at(frame.cpl);
  if (event.attr.sample_simd_regs_enabled != 0)
    return write_with_simd(out, event, RegisterSide::interrupt, registers, segments,
                           {data.extended, data.xmm});
  return write_without_simd(out, event.attr.sample_regs_intr, registers, segments, data.xmm);
}

}  // namespace pmusim::perf
