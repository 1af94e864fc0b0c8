// SPDX-License-Identifier: MIT
#include <array>
#include <bit>
#include <cstring>

#include "perf/general_registers.h"
#include "perf/sample_parts.h"
#include "perf/simd_abi.h"

/// REGS_USER and REGS_INTR: an ABI word, the general registers, and with SIMD sampling a block of whole
/// vector and predicate registers (docs/sampled-registers.md).
namespace pmusim::perf {

namespace {

/// Register numbers of sample_regs_user and sample_regs_intr (<asm/perf_regs.h>). From 24 up they mean
/// XMM halves (from 32) or, with SIMD sampling, R16 to R31 and SSP.
enum : unsigned {
  reg_ip = 8,
  reg_flags = 9,
  reg_cs = 10,
  reg_ss = 11,
  reg_r8 = 16,
  reg_r16 = 24,
};
constexpr unsigned first_xmm_bit = 32;
constexpr std::array first_eight = {Gpr::rax, Gpr::rbx, Gpr::rcx, Gpr::rdx,
                                    Gpr::rsi, Gpr::rdi, Gpr::rbp, Gpr::rsp};

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

// Sizes of the pieces of ExtendedRegisters.
constexpr std::size_t xmm_bytes = 16, ymm_high_bytes = 16, zmm_high_bytes = 32, zmm_bytes = 64;
constexpr unsigned low_registers = 16;  // those that have their pieces in three places

/// What a piece reads that is not known.
alignas(64) constexpr std::array<std::byte, low_registers * zmm_bytes> zeros{};

const std::byte* piece_or_zeros(std::span<const std::byte> piece, std::size_t bytes) {
  return piece.size() >= bytes ? piece.data() : zeros.data();
}

template <std::size_t bytes>
void put_piece(ByteWriter& out, const std::byte* file, unsigned number) {
  out.put_all(std::span<const std::byte, bytes>(file + number * bytes, bytes));
}

/// The registers of `mask` of a file that holds `count` of `bytes` bytes each. Usually that is all of them.
template <std::size_t bytes, unsigned count>
ByteWriter write_file(ByteWriter out, std::span<const std::byte> piece, u64 mask) {
  const std::byte* const file = piece_or_zeros(piece, count * bytes);
  if (mask == low_bits(count)) return write_bytes(out, {file, count * bytes});
  for (const unsigned number : set_bits(mask)) put_piece<bytes>(out, file, number);
  return out;
}

inline ByteWriter write_xmm_halves(ByteWriter out, u32 mask, const ExtendedRegisters* extended) {
  return write_file<xmm_bytes / 2, 2 * low_registers>(
      out, extended != nullptr ? extended->xmm : std::span<const std::byte>{}, mask);
}

ByteWriter write_egpr_and_ssp(ByteWriter out, u64 mask, const ExtendedRegisters& extended) {
  out = write_file<sizeof(u64), 16>(out, extended.egpr, (mask & register_mask::EGPR) >> reg_r16);
  if ((mask & register_mask::SSP) != 0) out.put(extended.shadow_stack_pointer);
  return out;
}

constexpr u64 all_low = low_bits(low_registers);

/// `put` for each of the registers 0 to 15 in `mask`, which have their pieces in several files.
template <class Put>
inline void for_each_low(u64 mask, Put put) {
  if (mask == all_low)
    for (unsigned number = 0; number < low_registers; ++number) put(number);
  else
    for (const unsigned number : set_bits(mask)) put(number);
}

/// Registers from 16 up are never narrower than ZMM: they read 0.
ByteWriter write_absent(ByteWriter out, u64 mask, unsigned qwords) {
  if (mask != 0) [[unlikely]]
    out.put_zeros(8 * qwords * static_cast<std::size_t>(std::popcount(mask)));
  return out;
}

ByteWriter write_xmm(ByteWriter out, u64 mask, const ExtendedRegisters& extended) {
  out = write_file<xmm_bytes, low_registers>(out, extended.xmm, mask & all_low);
  return write_absent(out, mask >> low_registers, 2);
}

ByteWriter write_ymm(ByteWriter out, u64 mask, const ExtendedRegisters& extended) {
  const std::byte* const xmm = piece_or_zeros(extended.xmm, low_registers * xmm_bytes);
  const std::byte* const high = piece_or_zeros(extended.ymm_high, low_registers * ymm_high_bytes);
  for_each_low(mask & all_low, [&](unsigned number) {
    put_piece<xmm_bytes>(out, xmm, number);
    put_piece<ymm_high_bytes>(out, high, number);
  });
  return write_absent(out, mask >> low_registers, 4);
}

ByteWriter write_zmm(ByteWriter out, u64 mask, const ExtendedRegisters& extended) {
  const std::byte* const xmm = piece_or_zeros(extended.xmm, low_registers * xmm_bytes);
  const std::byte* const ymm_high = piece_or_zeros(extended.ymm_high, low_registers * ymm_high_bytes);
  const std::byte* const zmm_high = piece_or_zeros(extended.zmm_high, low_registers * zmm_high_bytes);
  for_each_low(mask & all_low, [&](unsigned number) {
    put_piece<xmm_bytes>(out, xmm, number);
    put_piece<ymm_high_bytes>(out, ymm_high, number);
    put_piece<zmm_high_bytes>(out, zmm_high, number);
  });
  return write_file<zmm_bytes, low_registers>(out, extended.hi16_zmm, mask >> low_registers);
}

ByteWriter write_vectors(ByteWriter out, u64 mask, unsigned qwords, const ExtendedRegisters& extended) {
  switch (qwords) {
    case 2:
      return write_xmm(out, mask, extended);
    case 4:
      return write_ymm(out, mask, extended);
    case 8:
      return write_zmm(out, mask, extended);
    default:
      return out;
  }
}

/// Counts and widths follow from the attribute alone: a register that cannot be read is written as zeros.
ByteWriter write_simd(ByteWriter out, const Event& event, RegisterSide side, const RegisterMasks& masks,
                      const ExtendedRegisters& extended) {
  const u16 vector_qwords = event.attr.sample_simd_vec_reg_qwords;
  const u16 predicate_qwords = event.attr.sample_simd_pred_reg_qwords;
  const SimdCounts& registers = event.layout.simd_counts[static_cast<unsigned>(side)];
  const std::array counts = {registers.vectors, vector_qwords, registers.predicates, predicate_qwords};
  if (event.layout.simd == SimdAbi::series_v7)
    out.put(counts);
  else
    for (const u16 count : counts) out.put(u64{count});
  out = write_vectors(out, masks.vectors, vector_qwords, extended);
  return predicate_qwords != 0 ? write_file<sizeof(u64), 8>(out, extended.opmask, masks.predicates) : out;
}

}  // namespace

SimdCounts simd_counts(const Attr& attr, RegisterSide side) {
  const RegisterMasks masks = register_masks(attr, side);
  return {static_cast<u16>(std::popcount(masks.vectors)), static_cast<u16>(std::popcount(masks.predicates))};
}

u32 register_bytes(const Attr& attr, RegisterSide side, SimdAbi simd) {
  const u32 general = 8 * static_cast<u32>(std::popcount(register_masks(attr, side).general));
  if (attr.sample_simd_regs_enabled == 0) return general;
  const SimdCounts count = simd_counts(attr, side);
  const u32 counts = simd == SimdAbi::series_v7 ? 4 * sizeof(u16) : 4 * sizeof(u64);
  return general + counts + 8u * count.vectors * attr.sample_simd_vec_reg_qwords +
         8u * count.predicates * attr.sample_simd_pred_reg_qwords;
}

namespace {

constexpr u64 general_numbers = low_bits(reg_r16);

ByteWriter write_with_simd(ByteWriter out, const Event& event, RegisterSide side, const Registers& registers,
                           const Segments& segments, const ExtendedRegisters* known) {
  static constexpr ExtendedRegisters unknown;
  const ExtendedRegisters& extended = known != nullptr ? *known : unknown;
  const RegisterMasks masks = register_masks(event.attr, side);
  out.put(registers_abi_64 | registers_abi_simd);
  out = write_general(out, masks.general & general_numbers, registers, segments);
  out = write_egpr_and_ssp(out, masks.general & ~general_numbers, extended);
  return write_simd(out, event, side, masks, extended);
}

inline ByteWriter write_without_simd(ByteWriter out, u64 mask, const Registers& registers,
                                     const Segments& segments, const ExtendedRegisters* extended) {
  out.put(registers_abi_64);
  out = write_general(out, mask & general_numbers, registers, segments);
  const auto xmm_halves = static_cast<u32>(mask >> first_xmm_bit);
  return xmm_halves == 0 ? out : write_xmm_halves(out, xmm_halves, extended);
}

}  // namespace

ByteWriter write_user_registers(ByteWriter out, const Event& event, const SampleEnvironment& environment) {
  if (!environment.user_registers) {
    out.put(registers_abi_none);
    return out;
  }
  const Registers& registers = *environment.user_registers;
  const ExtendedRegisters* const extended = environment.user_extended;
  if (event.attr.sample_simd_regs_enabled != 0)
    return write_with_simd(out, event, RegisterSide::user, registers, segments_at(Cpl::user), extended);
  return write_without_simd(out, event.attr.sample_regs_user, registers, segments_at(Cpl::user), extended);
}

ByteWriter write_interrupt_registers(ByteWriter out, const Event& event, const SampleData& data,
                                     const InterruptFrame& frame) {
  if (hides_interrupted_code(event.layout, data, frame)) {
    out.put(registers_abi_none);
    return out;
  }
  const Registers& registers = interrupt_registers(data, frame);
  const Segments segments = sampled_segments(data, frame);
  if (event.attr.sample_simd_regs_enabled != 0)
    return write_with_simd(out, event, RegisterSide::interrupt, registers, segments, data.extended);
  return write_without_simd(out, event.attr.sample_regs_intr, registers, segments, data.extended);
}

}  // namespace pmusim::perf
