// SPDX-License-Identifier: MIT
#ifndef PMUSIM_SRC_SESSION_TRACED_H
#define PMUSIM_SRC_SESSION_TRACED_H

#include "events/resolve.h"
#include "pmusim/trace/trace.h"

namespace pmusim {

/// What a trace has for events, replayed on so much of a core.
inline events::Traced traced(const trace::Contents& contents, CoreLevel core) {
  return {.addresses = contents.addresses ? events::DataAddresses::recorded : events::DataAddresses::missing,
          .code = contents.stand_in_code ? events::TracedCode::stand_in : events::TracedCode::own,
          .time = contents.timing ? events::TimeSource::recorded : events::TimeSource::core_model,
          .core = core};
}

}  // namespace pmusim

#endif
