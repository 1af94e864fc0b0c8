#include "pmusim/session/stat.h"

#include <fmt/format.h>

namespace pmusim {

u64 EventTotal::value() const {
  if (running_ns == 0 || running_ns >= enabled_ns) return counted;
  return static_cast<u64>(static_cast<double>(counted) * static_cast<double>(enabled_ns) /
                          static_cast<double>(running_ns));
}

Result<StatReport, Error> stat(Session& session, const std::vector<events::EventGroup>& groups) {
  struct Open {
    std::string name;
    perf::Event* event;
  };
  std::vector<Open> open;
  for (const events::EventGroup& group : groups) {
    perf::Event* leader = nullptr;
    for (const events::ParsedEvent& parsed : group.events) {
      perf::Attr attr = parsed.attr;
      attr.freq = 0;
      attr.sample_period = 0;
      attr.precise_ip = 0;  // counting has no use for it, as in perf stat
      attr.read_format = perf::read_format::TOTAL_TIME_ENABLED | perf::read_format::TOTAL_TIME_RUNNING;
      const Result<perf::Event*, KernelError> event = session.open_event(attr, leader);
      if (!event.ok())
        return Failure(Error(fmt::format("event '{}': {}", parsed.name, event.error().message)));
      if (leader == nullptr) leader = *event;
      open.push_back({parsed.name, *event});
    }
  }

  if (Result<Done, Error> replayed = session.run(); !replayed.ok()) return Failure(replayed.error());
  StatReport report{.instructions = session.instructions(), .elapsed_ns = session.now()};
  for (const Open& o : open) {
    EventTotal total{.name = o.name};
    const Result<std::vector<u64>, KernelError> words = session.perf().read(*o.event);
    if (words.ok() && words->size() == 3) {
      total.counted = (*words)[0];
      total.enabled_ns = (*words)[1];
      total.running_ns = (*words)[2];
    }
    report.events.push_back(total);
  }
  return report;
}

}  // namespace pmusim
