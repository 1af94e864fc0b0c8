// SPDX-License-Identifier: MIT
#include "host/recording.h"

#include <fmt/format.h>

#include <cstring>

#include "host/kernel_events.h"
#include "host/outcome.h"
#include "session/level_filter.h"

namespace pmusim::linux_driver {

namespace {

Error refusal(const events::ParsedEvent& event, const KernelError& error) {
  return Error(fmt::format("event '{}': the kernel refuses it: {}", event.name, error.message));
}

GroupRole recording_role(const events::ParsedEvent& event, const events::EventGroup& group) {
  if (group.events.size() == 1) return GroupRole::alone;
  return &event == &group.events.front() ? GroupRole::leader : GroupRole::member;
}

perf::Attr with_side_band(perf::Attr attr, const RecordOptions& options) {
  attr.mmap = attr.mmap2 = attr.comm = attr.comm_exec = attr.task = 1;
  attr.mmap_data = options.addresses || options.data_page_sizes ? 1 : 0;
  attr.context_switch = options.switches ? 1 : 0;
  return attr;
}

Result<KernelEvent, KernelError> open_event(const events::ParsedEvent& parsed, perf::Attr attr, int leader) {
  auto asked = KernelEvent::open(attr, leader);
  if (asked.ok() || !parsed.precision_may_fall) return asked;
  while (attr.precise_ip > 0) {
    --attr.precise_ip;
    if (auto opened = KernelEvent::open(attr, leader); opened.ok()) return opened;
  }
  return asked;
}

/// Events with one ring for all, the first one's.
class RecordedEvents {
 public:
  Result<Done, Error> open(const RecordOptions& options, RecordSink& sink);
  std::vector<KernelEvent>& all() { return events_; }

 private:
  Result<Done, Error> open_group(const events::EventGroup& group, const RecordOptions& options,
                                 RecordSink& sink);
  Result<Done, KernelError> give_ring(const KernelEvent& event, const RecordOptions& options) const {
    return events_.empty() ? event.map_ring(options.ring_pages) : event.write_into_ring_of(events_.front());
  }
  std::vector<KernelEvent> events_;
};

Result<Done, Error> RecordedEvents::open(const RecordOptions& options, RecordSink& sink) {
  for (const events::EventGroup& group : options.events)
    if (auto opened = open_group(group, options, sink); !opened.ok()) return opened;
  return Done{};
}

Result<Done, Error> RecordedEvents::open_group(const events::EventGroup& group, const RecordOptions& options,
                                               RecordSink& sink) {
  int leader = -1;
  if (group.events.size() > 1)
    sink.add_group(static_cast<u32>(events_.size()), static_cast<u32>(group.events.size()));
  for (const events::ParsedEvent& parsed : group.events) {
    perf::Attr attr = record_attr(parsed, recording_role(parsed, group), options);
    if (events_.empty()) attr = with_side_band(attr, options);
    filter_levels_in_software(attr, KernelMachine::present().model(), emulated_release());
    auto event = open_event(parsed, attr, leader);
    if (!event.ok()) return Failure(refusal(parsed, event.error()));
    if (leader < 0) leader = event->descriptor();
    if (auto given = give_ring(*event, options); !given.ok()) return Failure(refusal(parsed, given.error()));
    const u64 id = event->id();
    if (auto added = sink.add_event(attr, parsed.name, std::span(&id, 1)); !added.ok())
      return Failure(added.error());
    events_.push_back(std::move(event).value());
  }
  return Done{};
}

class Drain {
 public:
  Drain(KernelRing ring, RecordSink& sink) : ring_(std::move(ring)), sink_(sink) {}

  void operator()() {
    bytes_.clear();
    ring_.drain_into(bytes_);
    if (bytes_.empty()) return;
    count_records();
    keep(sink_.write(bytes_));
  }
  /// The first error stays.
  void keep(const Result<Done, Error>& outcome) {
    if (!outcome.ok() && !error) error = outcome.error();
  }

  std::optional<Error> error;
  RecordSummary summary;

 private:
  void count_records() {
    perf::RecordHeader header;
    for (std::size_t at = 0; at + sizeof header <= bytes_.size(); at += header.size) {
      std::memcpy(&header, &bytes_[at], sizeof header);
      if (static_cast<perf::RecordType>(header.type) == perf::RecordType::sample) ++summary.samples;
    }
  }

  KernelRing ring_;
  RecordSink& sink_;
  std::vector<std::byte> bytes_;
};

}  // namespace

Result<RecordSummary, Error> record_into(RecordSink& sink, KernelMachine& machine, WatchedProgram& program,
                                         const RecordOptions& options) {
  RecordedEvents events;
  if (auto opened = events.open(options, sink); !opened.ok()) return Failure(opened.error());
  if (events.all().empty()) return Failure(Error("no event to record"));
  Drain drain(KernelRing(events.all().front(), options.ring_pages), sink);
  program.on_pause([&] { drain(); });
  program.on_mapping([&](const trace::Mapping& mapping) { drain.keep(sink.add_mapping(mapping)); });
  const auto run = program.run();
  for (const KernelEvent& event : events.all()) event.disable();
  drain();
  program.on_pause([] {});
  program.on_mapping([](const trace::Mapping&) {});
  if (!run.ok()) return Failure(run.error());
  if (drain.error) return Failure(*drain.error);
  drain.summary.elapsed_ns = machine.now();
  return drain.summary;
}

}  // namespace pmusim::linux_driver
