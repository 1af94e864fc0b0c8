// SPDX-License-Identifier: MIT
#include "session/counted_events.h"

#include <fmt/format.h>

#include <algorithm>

#include "session/monitor.h"

namespace pmusim {

namespace {

perf::Attr counting_attr(const events::ParsedEvent& parsed, const CountedTasks& counted) {
  perf::Attr attr = parsed.attr;
  attr.freq = 0;
  attr.sample_period = 0;
  if (parsed.precision_may_fall) attr.precise_ip = 0;  // as perf does where the kernel refuses more
  attr.inherit = counted.pid > 0 ? 1 : 0;
  attr.read_format = perf::read_format::TOTAL_TIME_ENABLED | perf::read_format::TOTAL_TIME_RUNNING;
  return attr;
}

void add_reading(EventTotal& total, Monitor& monitor, perf::Event& event) {
  const Result<std::vector<u64>, KernelError> words = monitor.perf().read(event);
  if (!words.ok() || words->size() != 3) return;
  total.counted += (*words)[0];
  total.enabled_ns += (*words)[1];
  total.running_ns += (*words)[2];
}

}  // namespace

CountedEvents::CountedEvents(Session& session, Fitting fitting, std::optional<std::vector<u32>> cpus)
    : session_(session), fitting_(fitting), cpus_(std::move(cpus)) {
  const Topology* const machine = session.machine();
  if (machine != nullptr && machine->hybrid()) fitting_ = Fitting::multiplex;
}

/// Whom a group's events are opened for: those of one kind of core, on its CPUs.
std::vector<CountedTasks> CountedEvents::counted(const events::EventGroup& group) const {
  const Topology* const machine = session_.machine();
  if (machine == nullptr) return {CountedTasks{}};
  if (!cpus_) return {CountedTasks{.pid = static_cast<i32>(session_.first_thread()), .cpu = -1}};
  std::optional<u32> type;
  for (const events::ParsedEvent& event : group.events)
    if (!type && machine->hybrid()) type = core_type_of(event.attr);
  std::vector<CountedTasks> all;
  for (const u32 cpu : *cpus_)
    if (!type || machine->cpus[cpu].type == *type) all.push_back({.pid = -1, .cpu = static_cast<i32>(cpu)});
  return all;
}

Monitor& CountedEvents::monitor(std::size_t index) {
  if (all_monitors_.empty()) all_monitors_.push_back(&session_.monitor());
  if (index == all_monitors_.size()) all_monitors_.push_back(&session_.add_monitor());
  return *all_monitors_[index];
}

CountedEvents::Opened CountedEvents::open_on(Monitor& monitor, const events::EventGroup& group) const {
  std::vector<Open> opened;
  for (const events::ParsedEvent& parsed : group.events)
    opened.push_back({parsed.name, parsed.scale, &monitor, {}});
  for (const CountedTasks& tasks : counted(group)) {
    perf::Event* leader = nullptr;
    for (std::size_t n = 0; n < opened.size(); ++n) {
      const auto event = monitor.open_event(counting_attr(group.events[n], tasks), leader, tasks);
      if (!event.ok()) {
        close(opened);
        return Failure(Error(fmt::format("event '{}': {}", opened[n].name, event.error().message)));
      }
      if (leader == nullptr) leader = *event;
      opened[n].events.push_back(*event);
    }
  }
  return opened;
}

/// Events are on their counters from the moment they are opened, if there are enough.
bool CountedEvents::all_count(const Monitor& monitor) const {
  return std::ranges::all_of(open_, [&](const Open& o) {
    return o.monitor != &monitor || std::ranges::all_of(o.events, [](const perf::Event* event) {
             return event->state == perf::EventState::active;
           });
  });
}

void CountedEvents::close(const std::vector<Open>& opened) {
  for (auto o = opened.rbegin(); o != opened.rend(); ++o)
    for (perf::Event* const event : o->events) o->monitor->perf().close(*event);
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
  bring_up_idle();
  for (const Open& o : open_)
    for (perf::Event* const event : o.events) o.monitor->perf().enable(*event);
}

void CountedEvents::disable() {
  bring_up_idle();
  for (const Open& o : open_)
    for (perf::Event* const event : o.events) o.monitor->perf().disable(*event);
}

/// What CPUs have counted goes by where their time stands.
void CountedEvents::bring_up_idle() const {
  if (cpus_)
    for (Monitor* const monitor : all_monitors_) monitor->bring_up_idle();
}

std::vector<EventTotal> CountedEvents::read() const {
  bring_up_idle();
  std::vector<EventTotal> totals;
  for (const Open& o : open_) {
    EventTotal& total = totals.emplace_back(o.nothing_yet());
    for (perf::Event* const event : o.events) add_reading(total, *o.monitor, *event);
  }
  return totals;
}

std::vector<CpuTotals> CountedEvents::read_cpus() const {
  std::vector<CpuTotals> all;
  for (const u32 cpu : cpus_.value_or(std::vector<u32>())) {
    CpuTotals& totals = all.emplace_back(CpuTotals{.cpu = cpu, .events = {}});
    for (const Open& o : open_) {
      EventTotal& total = totals.events.emplace_back(o.nothing_yet());
      for (perf::Event* const event : o.events)
        if (event->cpu == static_cast<i32>(cpu)) add_reading(total, *o.monitor, *event);
    }
  }
  return all;
}

}  // namespace pmusim
