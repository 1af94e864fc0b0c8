#ifndef PMUSIM_TRACE_XSTATE_H
#define PMUSIM_TRACE_XSTATE_H

#include <optional>
#include <vector>

#include "pmusim/arch/xsave.h"

namespace pmusim::trace {

/// Reads the extended registers of stopped threads (ptrace's NT_X86_XSTATE): an XSAVE area in the standard
/// format, whose places are this CPU's.
class XstateReader {
 public:
  XstateReader();
  /// Nothing where the thread is gone, or kernel or CPU have no such registers.
  std::optional<ExtendedState> read(u32 tid);

 private:
  xsave::ComponentTable components_;
  std::vector<std::byte> area_;
};

/// The registers in an area in the standard format.
ExtendedState state_of_area(std::span<const std::byte> area, const xsave::ComponentTable& components);

}  // namespace pmusim::trace

#endif
