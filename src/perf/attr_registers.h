// SPDX-License-Identifier: MIT
#ifndef PMUSIM_SRC_PERF_ATTR_REGISTERS_H
#define PMUSIM_SRC_PERF_ATTR_REGISTERS_H

#include "perf/attr_check.h"

namespace pmusim::perf {

/// A9 and A12: the register masks of one side (docs/sampled-registers.md).
Result<Done, KernelError> check_register_mask(const Attr& attr, RegisterSide side, const Limits& limits);

/// C6: the attribute asks for SIMD sampling. Series v7 does not look whether any registers are sampled.
bool wants_simd_registers(const Attr& attr, SimdAbi simd);

/// C7: a mask has bits from 32 up. Without SIMD fields series v7, as Linux before it, tests masks that
/// sample_type does not ask for, too.
bool wants_extended_registers(const Attr& attr, SimdAbi simd);

}  // namespace pmusim::perf

#endif
