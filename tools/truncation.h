// SPDX-License-Identifier: MIT
#ifndef PMUSIM_TOOLS_TRUNCATION_H
#define PMUSIM_TOOLS_TRUNCATION_H

#include <fmt/format.h>

#include "pmusim/trace/trace.h"

namespace pmusim::tools {

/// Says on standard error that a trace ends before its recording did; the command goes on with what is there.
inline void warn_if_truncated(const trace::Source& trace) {
  if (trace.truncation()) fmt::print(stderr, "pmusim: {}\n", *trace.truncation());
}

}  // namespace pmusim::tools

#endif
