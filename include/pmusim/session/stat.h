#ifndef PMUSIM_SESSION_STAT_H
#define PMUSIM_SESSION_STAT_H

#include <string>
#include <vector>

#include "pmusim/events/parser.h"
#include "pmusim/session/session.h"

namespace pmusim {

/// One event's count over a whole replay.
struct EventTotal {
  std::string name;
  u64 counted = 0;     ///< while it was on a counter
  u64 enabled_ns = 0;  ///< perf time
  u64 running_ns = 0;  ///< less than enabled if it took turns with others
  bool counted_at_all() const { return running_ns != 0; }
  /// The count, scaled up to the whole time if it took turns.
  u64 value() const;
};

struct StatReport {
  std::vector<EventTotal> events;  ///< in the order asked for
  u64 instructions = 0;            ///< retired by the trace
  u64 elapsed_ns = 0;              ///< perf time
};

/// Counts the events over a replay of the session's trace. Call it once per session.
/// Errors: an event that the kernel would refuse (with its sentence); a damaged trace.
Result<StatReport, Error> stat(Session& session, const std::vector<events::EventGroup>& events);

}  // namespace pmusim

#endif
