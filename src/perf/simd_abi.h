// SPDX-License-Identifier: MIT
#ifndef PMUSIM_SRC_PERF_SIMD_ABI_H
#define PMUSIM_SRC_PERF_SIMD_ABI_H

#include "pmusim/perf/abi.h"

namespace pmusim::perf {

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
