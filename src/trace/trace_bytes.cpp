// SPDX-License-Identifier: MIT
#include "trace/trace_bytes.h"

#include <fmt/format.h>

namespace pmusim::trace {

Error TraceBytes::damaged(u64 offset, std::string_view what) const {
  return Error(fmt::format("{}: damaged at offset {}: {}", path(), offset, what));
}

}  // namespace pmusim::trace
