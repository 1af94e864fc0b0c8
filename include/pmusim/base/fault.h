// SPDX-License-Identifier: MIT
#ifndef PMUSIM_BASE_FAULT_H
#define PMUSIM_BASE_FAULT_H

#include <string_view>

#include "pmusim/base/result.h"
#include "pmusim/base/types.h"

namespace pmusim {

/// A fault that the CPU raises instead of completing an instruction. A fault changes no state.
enum class Fault : u8 {
  none,
  gp,  ///< general protection, error code 0
  ud,  ///< invalid opcode
  pf,  ///< page fault: an address that is not mapped
  nm,  ///< device not available: CR0.TS, or a component that IA32_XFD disables
};

/// As manuals name it: "#GP"; "no fault" for none.
std::string_view name_of(Fault fault);

template <class T>
using Faulty = Result<T, Fault>;

}  // namespace pmusim

#endif
