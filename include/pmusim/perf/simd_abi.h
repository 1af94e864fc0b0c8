#ifndef PMUSIM_PERF_SIMD_ABI_H
#define PMUSIM_PERF_SIMD_ABI_H

#include "pmusim/perf/abi.h"

namespace pmusim::perf {

/// The two forms of the SIMD register sampling ABI (docs/sampled-registers.md): revision 7 of the patch
/// series, and what was merged. They differ in three fields of perf_event_attr, in which masks are legal, and
/// in the width of the counts in a sample. `Attr` has the merged layout. Older releases have neither: `none`.
enum class SimdAbi : u8 { none, series_v7, merged };

/// Series v7 keeps `enabled` and `pred_reg_qwords` in one u16 at 144 and `vec_reg_qwords` at 146. These
/// convert between an Attr whose bytes are in that layout and one that can be used. The reserved word at 148
/// is nobody's: that form of the kernel never looks at it.
constexpr Attr from_series_v7(Attr attr) {
  const u16 vector_qwords = attr.sample_simd_pred_reg_qwords;
  attr.reserved_4 = 0;
  attr.sample_simd_pred_reg_qwords = attr.sample_simd_regs_enabled;
  attr.sample_simd_vec_reg_qwords = vector_qwords;
  return attr;
}
constexpr Attr to_series_v7(Attr attr) {
  attr.sample_simd_pred_reg_qwords = attr.sample_simd_vec_reg_qwords;
  attr.sample_simd_vec_reg_qwords = 0;
  return attr;
}

/// As series v7 sees an attribute that was not read from bytes: the shared field is one value.
constexpr Attr with_shared_field(Attr attr) {
  if (attr.sample_simd_regs_enabled == 0) attr.sample_simd_regs_enabled = attr.sample_simd_pred_reg_qwords;
  attr.sample_simd_pred_reg_qwords = attr.sample_simd_regs_enabled;
  return attr;
}

/// The form in which the bytes of an attribute of 176 bytes are laid out (read as an Attr), from what each
/// form leaves 0 or refuses. Both are the same where no vector and no predicate register is sampled.
constexpr SimdAbi simd_abi_of(const Attr& image) {
  if (image.sample_simd_vec_reg_qwords != 0) return SimdAbi::merged;
  const bool merged_predicates = image.sample_simd_pred_reg_qwords == 1;
  return merged_predicates ? SimdAbi::merged : SimdAbi::series_v7;
}

/// Whose registers: REGS_USER or REGS_INTR.
enum class RegisterSide : u8 { user, interrupt };

/// What an attribute asks of one side.
struct RegisterMasks {
  u64 general = 0;  ///< sample_regs_*
  u64 vectors = 0;
  u32 predicates = 0;
};
constexpr RegisterMasks register_masks(const Attr& attr, RegisterSide side) {
  if (side == RegisterSide::user)
    return {attr.sample_regs_user, attr.sample_simd_vec_reg_user, attr.sample_simd_pred_reg_user};
  return {attr.sample_regs_intr, attr.sample_simd_vec_reg_intr, attr.sample_simd_pred_reg_intr};
}

/// Parts of the register state that a sample can ask for.
namespace register_set {
inline constexpr u32 GENERAL = 1, XMM = 2, YMM_HIGH = 4, ZMM_HIGH = 8, HI16_ZMM = 16, OPMASK = 32, EGPR = 64,
                     SSP = 128;
inline constexpr u32 EXTENDED = XMM | YMM_HIGH | ZMM_HIGH | HI16_ZMM | OPMASK | EGPR | SSP;
}  // namespace register_set

/// Masks of sample_regs_* (<asm/perf_regs.h>): bits 24 to 31 are free without SIMD sampling, and from 32 up
/// are XMM halves; with it there are R16 to R31 and SSP.
namespace register_mask {
inline constexpr u64 GENERAL = 0x00ff'0fff, XMM_HALVES = bits(63, 32), EGPR = bits(39, 24), SSP = bit(40);
/// Of GENERAL, what PEBS records: not CS and SS.
inline constexpr u64 PEBS_GENERAL = 0x00ff'03ff;
}  // namespace register_mask

/// The register sets that one side of the attribute takes values from: none unless sample_type has the side.
/// A vector is as wide as the event's width, and needs every set up to that.
u32 needed_registers(const Attr& attr, RegisterSide side);
inline u32 needed_registers(const Attr& attr) {
  return needed_registers(attr, RegisterSide::user) | needed_registers(attr, RegisterSide::interrupt);
}

}  // namespace pmusim::perf

#endif
