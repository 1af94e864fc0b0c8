#include "pmusim/session/collisions.h"

#include <fmt/format.h>

#include <cstring>

#include "pmusim/events/parser.h"
#include "pmusim/session/session.h"

namespace pmusim {

const std::vector<CollisionSet>& published_collisions() {
  static const std::vector<CollisionSet> sets{
      {{"cycles:p", "instructions:p"}, 0.0025},
      {{"cycles:p", "instructions:p", "branches:p"}, 0.0030},
      {{"cycles:p", "instructions:p", "branches:p", "mem-stores:p"}, 0.0035},
      {{"cycles:p", "cycles:p"}, 0.9852},
  };
  return sets;
}

Result<CollisionCounts, Error> count_collisions(const std::string& trace, const CpuModel& model,
                                                const std::vector<std::string>& events, u64 period) {
  auto session = Session::open(trace, {.model = model});
  if (!session.ok()) return Failure(session.error());
  for (const std::string& name : events) {
    const auto parsed = events::parse_events(name, model);
    if (!parsed.ok()) return Failure(parsed.error());
    perf::Attr attr = parsed->front().events.front().attr;
    attr.exclude_kernel = attr.exclude_hv = 1;
    attr.sample_period = period;
    attr.sample_type = perf::sample::IP;
    const auto opened = (*session)->open_event(attr);
    if (!opened.ok())
      return Failure(Error(fmt::format("event '{}': {} ({})", name, opened.error().message,
                                       std::strerror(opened.error().error_number))));
  }
  if (const auto replayed = (*session)->run(); !replayed.ok()) return Failure(replayed.error());
  const driver::DemuxTotals& totals = (*session)->driver().pebs().totals();
  return CollisionCounts{.records = totals.records, .collided = totals.collided + totals.shared};
}

}  // namespace pmusim
