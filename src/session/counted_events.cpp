// SPDX-License-Identifier: MIT
#include "session/counted_events.h"

#include <fmt/format.h>

#include <algorithm>

#include "session/monitor.h"

namespace pmusim {

namespace {

perf::Attr counting_attr(const events::ParsedEvent& parsed) {
  perf::Attr attr = parsed.attr;
  attr.freq = 0;
  attr.sample_period = 0;
  if (parsed.precision_may_fall) attr.precise_ip = 0;  // as perf does where the kernel refuses more
  attr.read_format = perf::read_format::TOTAL_TIME_ENABLED | perf::read_format::TOTAL_TIME_RUNNING;
  return attr;
}

}  // namespace

Monitor& CountedEvents::monitor(std::size_t index) {
  if (all_monitors_.empty()) all_monitors_.push_back(&session_.monitor());
  if (index == all_monitors_.size()) all_monitors_.push_back(&session_.add_monitor());
  return *all_monitors_[index];
}

CountedEvents::Opened CountedEvents::open_on(Monitor& monitor, const events::EventGroup& group) const {
  std::vector<Open> opened;
  for (const events::ParsedEvent& parsed : group.events) {
    perf::Event* const leader = opened.empty() ? nullptr : opened.front().event;
    const Result<perf::Event*, KernelError> event = monitor.open_event(counting_attr(parsed), leader);
    if (!event.ok()) {
      close(opened);
      return Failure(Error(fmt::format("event '{}': {}", parsed.name, event.error().message)));
    }
    opened.push_back({parsed.name, parsed.scale, &monitor, *event});
  }
  return opened;
}

/// Events are on their counters from the moment they are opened, if there are enough.
bool CountedEvents::all_count(const Monitor& monitor) const {
  return std::ranges::all_of(open_, [&](const Open& o) {
    return o.monitor != &monitor || o.event->state == perf::EventState::active;
  });
}

void CountedEvents::close(const std::vector<Open>& opened) {
  for (auto o = opened.rbegin(); o != opened.rend(); ++o) o->monitor->perf().close(*o->event);
}

Result<Done, Error> CountedEvents::open(const events::EventGroup& group) {
  for (std::size_t index = 0;; ++index) {
    const bool fresh = index == monitors_;
    Monitor& place = monitor(index);
    Opened opened = open_on(place, group);
    if (!opened.ok()) return Failure(opened.error());
    open_.insert(open_.end(), opened->begin(), opened->end());
    // What does not fit onto an unused PMU fits nowhere: it stays and is not counted.
    const bool alone = fresh || open_.size() == opened->size();
    if (fitting_ == Fitting::multiplex || alone || all_count(place)) {
      monitors_ = std::max<u64>(monitors_, index + 1);
      return Done{};
    }
    open_.resize(open_.size() - opened->size());
    close(*opened);
  }
}

void CountedEvents::open_if_possible(const std::string& name) {
  const auto groups = events::parse_events(name, session_.model());
  if (!groups.ok() || !open(groups->front()).ok()) open_.push_back({.name = name});
}

void CountedEvents::show_unsupported(const events::EventGroup& group) {
  for (const events::ParsedEvent& event : group.events) open_.push_back({.name = event.name});
}

void CountedEvents::enable() {
  for (const Open& o : open_)
    if (o.event != nullptr) o.monitor->perf().enable(*o.event);
}

void CountedEvents::disable() {
  for (const Open& o : open_)
    if (o.event != nullptr) o.monitor->perf().disable(*o.event);
}

std::vector<EventTotal> CountedEvents::read() const {
  std::vector<EventTotal> totals;
  for (const Open& o : open_) {
    EventTotal& total =
        totals.emplace_back(EventTotal{.name = o.name, .scale = o.scale, .supported = o.event != nullptr});
    if (o.event == nullptr) continue;
    const Result<std::vector<u64>, KernelError> words = o.monitor->perf().read(*o.event);
    if (!words.ok() || words->size() != 3) continue;
    total.counted = (*words)[0];
    total.enabled_ns = (*words)[1];
    total.running_ns = (*words)[2];
  }
  return totals;
}

}  // namespace pmusim
