// SPDX-License-Identifier: MIT
#include "host/script.h"

#include "session/level_filter.h"

namespace pmusim::linux_driver {

namespace {

constexpr u64 tick_ns = 1'000'000;

GroupRole role_of(const events::ParsedEvent& event, const events::EventGroup& group) {
  if (group.events.size() == 1) return GroupRole::alone;
  return &event == &group.events.front() ? GroupRole::leader : GroupRole::member;
}

/// As perf does: a group of the CPU begins to count when it is complete.
perf::Attr attr_of(const events::ParsedEvent& event, const events::EventGroup& group, const Setup& setup,
                   const RecordOptions& options) {
  const GroupRole role = role_of(event, group);
  perf::Attr attr = setup.samples ? record_attr(event, role, options) : event.attr;
  // As perf does: slots that lead a group count, and another member samples.
  constexpr u64 slots = 0x400;
  if (role == GroupRole::leader && attr.config == slots) attr.sample_period = 0;
  attr.disabled = role == GroupRole::leader ? 1 : 0;
  attr.exclude_kernel = attr.exclude_hv = 1;
  attr.inherit = setup.whose == Setup::Whose::task ? 1 : 0;
  attr.read_format = perf::read_format::TOTAL_TIME_ENABLED | perf::read_format::TOTAL_TIME_RUNNING;
  return attr;
}

}  // namespace

void Script::open() {
  if (const auto opened = open_all(); !opened.ok()) outcome_.refusal = opened.error().message;
}

Result<Done, KernelError> Script::open_all() {
  const CountedTask counted =
      setup_.whose == Setup::Whose::task ? CountedTask{.pid = 0, .cpu = 0} : CountedTask{};
  std::vector<std::size_t> leaders;
  for (const events::EventGroup& group : options_.events) {
    std::optional<std::size_t> leader;
    for (const events::ParsedEvent& event : group.events) {
      perf::Attr attr = attr_of(event, group, setup_, options_);
      filter_levels_in_software(attr, model_, emulated_release());
      const auto opened = events_.open(attr, leader, counted);
      if (!opened.ok()) return opened;
      if (!leader) leader = events_.size() - 1;
    }
    if (group.events.size() > 1) leaders.push_back(*leader);
  }
  if (setup_.samples)
    if (auto mapped = events_.map_ring(options_.ring_pages); !mapped.ok()) return mapped;
  for (const std::size_t leader : leaders) events_.enable(leader);
  return Done{};
}

void Script::pause(u64 now_ns) {
  if (outcome_.refusal || events_.size() == 0) return;
  if (setup_.samples) events_.drain_into(outcome_.records);
  if (now_ns < (ticks_ + 1) * tick_ns) return;
  ticks_ = now_ns / tick_ns;
  if (setup_.operated) operate(ticks_);
}

/// One thing in each tick; a recording keeps its first event, which has the ring.
void Script::operate(u64 tick) {
  constexpr u64 first_period = 1499, other_period = 701;
  const std::size_t last = events_.size() - 1;
  switch (tick) {
    case 1:
      return read_all();
    case 2:
      return with(0, [&](std::size_t n) { events_.disable(n); });
    case 3:
      return with(0, [&](std::size_t n) { events_.enable(n); });
    case 4:
      if (setup_.samples) with(0, [&](std::size_t n) { events_.set_period(n, first_period); });
      return with(last, [&](std::size_t n) { events_.disable(n); });
    case 5:
      if (setup_.samples) with(last, [&](std::size_t n) { events_.set_period(n, other_period); });
      return with(0, [&](std::size_t n) { events_.reset(n); });
    case 6:
      return with(last, [&](std::size_t n) { events_.enable(n); });
    case 7:
      if (!setup_.samples) with(0, [&](std::size_t n) { events_.close(n); });
      return;
    case 8:
      return with(1, [&](std::size_t n) { events_.enable(n); });
    default:
      return;
  }
}

void Script::read_all() {
  for (std::size_t n = 0; n < events_.size(); ++n)
    with(n, [&](std::size_t open) { outcome_.counts.push_back(events_.read(open)); });
}

void Script::end() {
  if (outcome_.refusal) return;
  for (std::size_t n = 0; n < events_.size(); ++n) with(n, [&](std::size_t open) { events_.disable(open); });
  if (setup_.samples) events_.drain_into(outcome_.records);
  read_all();
}

}  // namespace pmusim::linux_driver
