#ifndef PMUSIM_SRC_PERF_ATTR_REGISTERS_H
#define PMUSIM_SRC_PERF_ATTR_REGISTERS_H

#include "pmusim/base/error.h"
#include "pmusim/perf/simd_abi.h"

namespace pmusim::perf {

/// A9 and A12: the register masks of one side (perf-abi.md section 1.6, xsave-simd.md section 4.3).
Result<Done, KernelError> check_register_mask(const Attr& attr, RegisterSide side, SimdAbi simd);

/// C7: a mask has bits from 32 up. Without SIMD fields Linux tests masks that sample_type does not ask for,
/// too.
bool wants_extended_registers(const Attr& attr);

}  // namespace pmusim::perf

#endif
