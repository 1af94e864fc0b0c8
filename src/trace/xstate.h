// SPDX-License-Identifier: MIT
#ifndef PMUSIM_TRACE_XSTATE_H
#define PMUSIM_TRACE_XSTATE_H

#include <optional>
#include <vector>

#include "pmusim/arch/xsave.h"

namespace pmusim::trace {

/// Reads the extended registers of stopped threads (ptrace's NT_X86_XSTATE): an XSAVE area in the standard
/// format, whose places are this CPU's. The shadow-stack pointer of a thread that has one is beside it
/// (NT_X86_SHSTK, Linux 6.6).
class XstateReader {
 public:
  XstateReader();
  /// Nothing where the thread is gone, or kernel or CPU have no such registers.
  std::optional<ExtendedState> read(u32 tid);

 private:
  xsave::ComponentTable components_;
  bool shadow_stacks_;  // this CPU has them: it is worth asking
  std::vector<std::byte> area_;
};

/// The registers in an area in the standard format.
ExtendedState state_of_area(std::span<const std::byte> area, const xsave::ComponentTable& components);

/// Threads with a shadow stack have CET_U in use: every call and return then moves the pointer.
inline bool has_shadow_stack(const ExtendedState& state) {
  return (state.in_use() & state_bit(StateComponent::cet_u)) != 0;
}
ExtendedState with_shadow_stack(ExtendedState state, u64 pointer);

}  // namespace pmusim::trace

#endif
