// SPDX-License-Identifier: MIT
#include "host/script.h"

#include "session/core_types.h"
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
  // What the kernel does is no code of the program, and its own events are of nothing else.
  const bool counts_code = event.attr.type != static_cast<u32>(perf::EventType::software);
  if (counts_code) attr.exclude_kernel = attr.exclude_hv = 1;
  attr.inherit = setup.whose == Setup::Whose::task || setup.whose == Setup::Whose::task_by_cpu ? 1 : 0;
  attr.context_switch = setup.switches ? 1 : 0;
  attr.read_format = perf::read_format::TOTAL_TIME_ENABLED | perf::read_format::TOTAL_TIME_RUNNING;
  return attr;
}

}  // namespace

void Script::open() {
  if (const auto opened = open_all(); !opened.ok()) outcome_.refusal = opened.error().message;
}

/// As perf does on a machine: what samples is opened on every CPU, what a task counts for every kind of core.
std::vector<Script::Counted> Script::everybody() const {
  const bool of_cpus = setup_.whose == Setup::Whose::cpu;
  const int pid = of_cpus ? -1 : first_thread_;
  if (!target_.machine) return {{{.pid = pid, .cpu = 0}, 0}};
  std::vector<Counted> all;
  if (of_cpus || setup_.whose == Setup::Whose::task_by_cpu ||
      (setup_.whose == Setup::Whose::task && setup_.samples)) {
    for (const u32 cpu : target_.machine->online())
      all.push_back({{.pid = pid, .cpu = static_cast<int>(cpu)}, target_.machine->cpus[cpu].type});
  } else {
    for (u32 type = 0; type < target_.machine->types.size(); ++type)
      all.push_back({{.pid = pid, .cpu = -1}, type});
  }
  return all;
}

/// Events of several kinds of core for a task on every CPU have one.
bool Script::has_own_ring(const Counted& counted) const {
  return setup_.samples && (counted.whom.cpu >= 0 || counted.type == 0);
}

Result<Done, KernelError> Script::open_all() {
  std::size_t ring = 0;
  const std::vector<Counted> all = everybody();
  for (std::size_t n = 0; n < all.size(); ++n) {
    if (has_own_ring(all[n])) ring = events_.size();
    if (auto opened = open_for(all[n]); !opened.ok()) return opened;
    const bool last = n + 1 == all.size() || has_own_ring(all[n + 1]);
    if (setup_.samples && last)
      if (auto mapped = events_.map_ring(options_.front().ring_pages, ring); !mapped.ok()) return mapped;
  }
  for (const std::size_t leader : leaders_) events_.enable(leader);
  return Done{};
}

Result<Done, KernelError> Script::open_for(const Counted& counted) {
  const RecordOptions& options = options_[counted.type];
  const CpuModel& model = target_.machine ? target_.machine->types[counted.type] : target_.model;
  for (const events::EventGroup& group : options.events) {
    std::optional<std::size_t> leader;
    for (const events::ParsedEvent& event : group.events) {
      perf::Attr attr = attr_of(event, group, setup_, options);
      filter_levels_in_software(attr, model, emulated_release());
      if (target_.machine && target_.machine->hybrid()) attr = of_core_type(attr, counted.type);
      const auto opened = events_.open(attr, leader, counted.whom);
      if (!opened.ok()) return opened;
      if (!leader) leader = events_.size() - 1;
    }
    if (group.events.size() > 1) leaders_.push_back(*leader);
  }
  return Done{};
}

void Script::drain() {
  records_.resize(events_.rings());
  for (std::size_t ring = 0; ring < records_.size(); ++ring) events_.drain_ring(ring, records_[ring]);
}

void Script::pause(u64 now_ns) {
  if (outcome_.refusal || events_.size() == 0) return;
  if (setup_.samples) drain();
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
  if (setup_.samples) drain();
  for (const auto& ring : records_) outcome_.records.insert(outcome_.records.end(), ring.begin(), ring.end());
  read_all();
}

}  // namespace pmusim::linux_driver
