// SPDX-License-Identifier: MIT
#include "perf/attr_registers.h"

#include "perf/refusal.h"
#include "perf/simd_abi.h"

namespace pmusim::perf {

namespace {

constexpr unsigned vector_registers = 32;
constexpr u64 predicate_registers = 0xff;

/// Series v7 takes any part of a register file, the merged form all of it or nothing.
bool is_acceptable(u64 mask, u64 whole_file, SimdAbi simd) {
  return simd == SimdAbi::series_v7 || mask == 0 || (mask & whole_file) == whole_file;
}

Result<Done, KernelError> check_vectors(const Attr& attr, u64 mask, SimdAbi simd) {
  const unsigned qwords = attr.sample_simd_vec_reg_qwords;
  if (qwords == 0) return Done{};
  if (qwords != 2 && qwords != 4 && qwords != 8)
    return refuse(EINVAL, "sample_simd_vec_reg_qwords: {} is none of 2, 4, 8", qwords);
  if (mask >> vector_registers)
    return refuse(EINVAL, "sample_simd_vec_reg: {:#x} names registers above 31", mask);
  const u64 whole_file = low_bits(qwords == 8 ? 32 : 16);
  if (!is_acceptable(mask, whole_file, simd))
    return refuse(EINVAL, "sample_simd_vec_reg: {:#x} is not the whole register file {:#x}", mask,
                  whole_file);
  return Done{};
}

Result<Done, KernelError> check_predicates(const Attr& attr, u64 mask, SimdAbi simd) {
  const unsigned qwords = attr.sample_simd_pred_reg_qwords;
  if (qwords == 0) return Done{};
  if (qwords != 1) return refuse(EINVAL, "sample_simd_pred_reg_qwords: {} is not 1", qwords);
  if ((mask & ~predicate_registers) || !is_acceptable(mask, predicate_registers, simd))
    return refuse(EINVAL, "sample_simd_pred_reg: {:#x} is not the register file 0xff", mask);
  return Done{};
}

Result<Done, KernelError> check_simd(const Attr& attr, const RegisterMasks& masks, SimdAbi simd) {
  if (attr.sample_simd_vec_reg_qwords == 0 && attr.sample_simd_pred_reg_qwords == 0 &&
      (masks.vectors | masks.predicates) != 0)
    return refuse(EINVAL, "sample_simd_vec_reg, sample_simd_pred_reg: masks without a register width");
  if (auto valid = check_vectors(attr, masks.vectors, simd); !valid) return valid;
  return check_predicates(attr, masks.predicates, simd);
}

/// What kernels of other architectures say of fields that they have no code for.
Result<Done, KernelError> check_simd_without_code(const Attr& attr, const RegisterMasks& masks,
                                                  SimdAbi simd) {
  const bool any_field = attr.sample_simd_regs_enabled != 0 || attr.sample_simd_vec_reg_qwords != 0 ||
                         (masks.vectors | masks.predicates) != 0;
  if (simd == SimdAbi::series_v7 && any_field)
    return refuse(ENOSYS, "sample_simd_*: this architecture has no SIMD sampling");
  if (simd == SimdAbi::merged && attr.sample_simd_regs_enabled != 0)
    return refuse(EINVAL, "sample_simd_regs_enabled: this architecture has no SIMD sampling");
  return Done{};
}

/// The merged form looks at its fields where they are enabled only.
Result<Done, KernelError> check_simd_fields(const Attr& attr, const RegisterMasks& masks,
                                            const Limits& limits) {
  if (limits.register_sampling != RegisterSampling::simd)
    return check_simd_without_code(attr, masks, limits.simd());
  if (limits.simd() == SimdAbi::merged && attr.sample_simd_regs_enabled == 0) return Done{};
  return check_simd(attr, masks, limits.simd());
}

}  // namespace

Result<Done, KernelError> check_register_mask(const Attr& attr, RegisterSide side, const Limits& limits) {
  using namespace register_mask;
  const RegisterMasks masks = register_masks(attr, side);
  const u64 mask = masks.general;
  const char* const field = side == RegisterSide::user ? "sample_regs_user" : "sample_regs_intr";
  const bool with_simd =
      attr.sample_simd_regs_enabled != 0 && limits.register_sampling == RegisterSampling::simd;
  if (limits.register_sampling == RegisterSampling::none) {
    if (mask != 0) return refuse(ENOSYS, "{}: this architecture samples no registers", field);
  } else if (!with_simd && mask == 0) {
    return refuse(EINVAL, "{}: empty", field);
  } else if (const u64 unknown = mask & ~(GENERAL | (with_simd ? EGPR | SSP : XMM_HALVES)); unknown != 0) {
    return refuse(EINVAL, "{}: no registers have bits {:#x}", field, unknown);
  }
  return check_simd_fields(attr, masks, limits);
}

bool wants_simd_registers(const Attr& attr, SimdAbi simd) {
  const bool sampled = (attr.sample_type & (sample::REGS_USER | sample::REGS_INTR)) != 0;
  return attr.sample_simd_regs_enabled != 0 && (sampled || simd == SimdAbi::series_v7);
}

bool wants_extended_registers(const Attr& attr, SimdAbi simd) {
  const bool whatever_is_sampled = simd != SimdAbi::merged && attr.sample_simd_regs_enabled == 0;
  u64 masks = 0;
  if (whatever_is_sampled || (attr.sample_type & sample::REGS_USER)) masks |= attr.sample_regs_user;
  if (whatever_is_sampled || (attr.sample_type & sample::REGS_INTR)) masks |= attr.sample_regs_intr;
  return masks >> 32 != 0;
}

namespace {

u32 needed_of(const Attr& attr, const RegisterMasks& masks) {
  using namespace register_set;
  u32 sets = (masks.general & register_mask::GENERAL) != 0 ? GENERAL : 0;
  if (attr.sample_simd_regs_enabled == 0)
    return sets | ((masks.general & register_mask::XMM_HALVES) != 0 ? XMM : 0);
  const unsigned qwords = masks.vectors != 0 ? attr.sample_simd_vec_reg_qwords : 0;
  if (qwords >= 2) sets |= XMM;
  if (qwords >= 4) sets |= YMM_HIGH;
  if (qwords >= 8) sets |= ZMM_HIGH | (masks.vectors >> 16 != 0 ? HI16_ZMM : 0);
  if (attr.sample_simd_pred_reg_qwords == 1 && masks.predicates != 0) sets |= OPMASK;
  if ((masks.general & register_mask::EGPR) != 0) sets |= EGPR;
  if ((masks.general & register_mask::SSP) != 0) sets |= SSP;
  return sets;
}

}  // namespace

u32 needed_registers(const Attr& attr, RegisterSide side) {
  const u64 type = side == RegisterSide::user ? sample::REGS_USER : sample::REGS_INTR;
  return (attr.sample_type & type) != 0 ? needed_of(attr, register_masks(attr, side)) : 0;
}

}  // namespace pmusim::perf
