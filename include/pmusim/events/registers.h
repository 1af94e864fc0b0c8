#ifndef PMUSIM_EVENTS_REGISTERS_H
#define PMUSIM_EVENTS_REGISTERS_H

#include <string_view>

#include "pmusim/base/error.h"
#include "pmusim/base/types.h"

namespace pmusim::events {

/// A comma-separated register list in perf's names ("ax,ip,r8,xmm0") as a mask for attr.sample_regs_*: bit n
/// is perf register n; an XMM register is two bits (perf-abi.md section 1.6). Errors name near matches.
[[nodiscard]] Result<u64, Error> parse_registers(std::string_view list);

}  // namespace pmusim::events

#endif
