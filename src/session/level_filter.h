// SPDX-License-Identifier: MIT
#ifndef PMUSIM_SRC_SESSION_LEVEL_FILTER_H
#define PMUSIM_SRC_SESSION_LEVEL_FILTER_H

#include "pmusim/cpu/model.h"
#include "pmusim/perf/abi.h"

namespace pmusim {

/// Sampling units cannot tell levels apart. Kernels that drop samples by level are asked to (swfilt), and
/// others, which refuse to be asked, are not. Events that no unit samples stay as they are.
void filter_levels_in_software(perf::Attr& attr, const CpuModel& model, perf::Kernel kernel);

}  // namespace pmusim

#endif
