#ifndef PMUSIM_EVENTS_REGISTERS_H
#define PMUSIM_EVENTS_REGISTERS_H

#include <string>
#include <string_view>
#include <vector>

#include "pmusim/base/error.h"
#include "pmusim/base/types.h"

namespace pmusim::events {

/// A comma-separated register list in perf's names ("ax,ip,r8,xmm0") as a mask for attr.sample_regs_*: bit n
/// is perf register n; an XMM register is two bits (docs/sampled-registers.md). Errors name near matches.
[[nodiscard]] Result<u64, Error> parse_registers(std::string_view list);

/// Names that parse_registers() knows, in the order of their numbers.
[[nodiscard]] std::vector<std::string> register_names();

/// What a list without names stands for: every general register.
[[nodiscard]] u64 general_registers();

/// The instruction pointer, which is known of every trace.
constexpr u64 pc_register = u64{1} << 8;

}  // namespace pmusim::events

#endif
