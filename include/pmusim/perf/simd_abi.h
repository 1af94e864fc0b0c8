#ifndef PMUSIM_PERF_SIMD_ABI_H
#define PMUSIM_PERF_SIMD_ABI_H

#include "pmusim/perf/abi.h"

namespace pmusim::perf {

/// The two forms of the SIMD register sampling ABI (xsave-simd.md section 4): revision 7 of the patch series,
/// and what was merged. They differ in three fields of perf_event_attr, in which masks are legal, and in the
/// width of the counts in a sample. `Attr` has the merged layout. Older releases have neither: `none`.
enum class SimdAbi : u8 { none, series_v7, merged };

/// Series v7 keeps `enabled` and `pred_reg_qwords` in one u16 at 144 and `vec_reg_qwords` at 146. These
/// convert between an Attr whose bytes are in that layout and one that can be used.
constexpr Attr from_series_v7(Attr attr) {
  const u16 vector_qwords = attr.sample_simd_pred_reg_qwords;
  attr.reserved_4 = attr.sample_simd_vec_reg_qwords | attr.reserved_4;
  attr.sample_simd_pred_reg_qwords = attr.sample_simd_regs_enabled;
  attr.sample_simd_vec_reg_qwords = vector_qwords;
  return attr;
}
constexpr Attr to_series_v7(Attr attr) {
  attr.sample_simd_pred_reg_qwords = attr.sample_simd_vec_reg_qwords;
  attr.sample_simd_vec_reg_qwords = 0;
  return attr;
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

}  // namespace pmusim::perf

#endif
