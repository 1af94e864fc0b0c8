// SPDX-License-Identifier: MIT
#ifndef PMUSIM_SRC_SESSION_REGISTER_SUPPORT_H
#define PMUSIM_SRC_SESSION_REGISTER_SUPPORT_H

#include <string>
#include <vector>

#include "pmusim/cpu/model.h"
#include "pmusim/events/parser.h"
#include "pmusim/perf/abi.h"

namespace pmusim {

/// Whether samples of a CPU can have the registers of a class.
struct RegisterSupport {
  const events::SimdClass& registers;
  std::string refusal, precise_refusal;  ///< the kernel's sentence; empty: they can
};

/// What a tool finds out by opening a disabled event for each class, with precise_ip 0 and 1.
std::vector<RegisterSupport> probe_registers(const CpuModel& model, perf::Kernel kernel);

}  // namespace pmusim

#endif
