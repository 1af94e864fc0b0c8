#include "perf/attr_registers.h"

#include "perf/refusal.h"

namespace pmusim::perf {

namespace {

constexpr u64 general = 0x00ff'0fff;
constexpr u64 xmm_halves = 0xffff'ffff'0000'0000;
constexpr u64 egpr_and_ssp = 0x01ff'ff00'0000;
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

}  // namespace

Result<Done, KernelError> check_register_mask(const Attr& attr, RegisterSide side, SimdAbi simd) {
  const RegisterMasks masks = register_masks(attr, side);
  const u64 mask = masks.general;
  const char* const field = side == RegisterSide::user ? "sample_regs_user" : "sample_regs_intr";
  if (attr.sample_simd_regs_enabled == 0) {
    if (mask == 0) return refuse(EINVAL, "{}: empty", field);
    if (mask & ~(general | xmm_halves))
      return refuse(EINVAL, "{}: no registers have bits {:#x}", field, mask & ~(general | xmm_halves));
    return Done{};
  }
  if (mask & ~(general | egpr_and_ssp))
    return refuse(EINVAL, "{}: no registers have bits {:#x}", field, mask & ~(general | egpr_and_ssp));
  return check_simd(attr, masks, simd);
}

bool wants_extended_registers(const Attr& attr) {
  constexpr u64 extended = bits(63, 32);
  u64 masks = 0;
  if (attr.sample_simd_regs_enabled == 0) {
    masks = attr.sample_regs_user | attr.sample_regs_intr;
  } else {
    if (attr.sample_type & sample::REGS_USER) masks |= attr.sample_regs_user;
    if (attr.sample_type & sample::REGS_INTR) masks |= attr.sample_regs_intr;
  }
  return (masks & extended) != 0;
}

}  // namespace pmusim::perf
