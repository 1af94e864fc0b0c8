// SPDX-License-Identifier: MIT
#ifndef PMUSIM_SRC_SESSION_TIME_SPANS_H
#define PMUSIM_SRC_SESSION_TIME_SPANS_H

#include <string_view>
#include <vector>

#include "pmusim/base/types.h"
#include "pmusim/session/session.h"

namespace pmusim {

/// What `-D` takes, in ms: "10" (from there to the end) or "10-20,30-40". Errors name the part that is no
/// number, an empty span, or spans out of order.
Result<std::vector<TimeSpan>, Error> parse_time_spans(std::string_view text);

/// Whether `ns` lies in one of the spans; no span at all means always.
bool is_measured(const std::vector<TimeSpan>& spans, u64 ns);

}  // namespace pmusim

#endif
