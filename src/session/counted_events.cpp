// SPDX-License-Identifier: MIT
#include "session/counted_events.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "session/event_tasks.h"

namespace pmusim {

namespace {

perf::Attr counting_attr(const events::ParsedEvent& parsed, const CountedTasks& counted) {
  perf::Attr attr = parsed.attr;
  attr.freq = 0;
  attr.sample_period = 0;
  if (parsed.precision_may_fall) attr.precise_ip = 0;  // as perf does where the kernel refuses more
  attr.inherit = counted.is_task() ? 1 : 0;
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
  session_.on_window([this](u64 instructions) { end_window(instructions); });
}

CountedEvents::~CountedEvents() { session_.on_window({}); }

/// Whom a group's events are opened for.
std::vector<CountedTasks> CountedEvents::counted(Monitor& monitor, const events::EventGroup& group) const {
  constexpr i32 everybody = -1, wherever = -1;
  if (session_.machine() != nullptr && !cpus_)
    return {CountedTasks{.pid = static_cast<i32>(session_.first_thread()), .cpu = wherever}};
  return tasks_on(cpus_ ? std::span(*cpus_) : std::span<const u32>(), group, everybody, session_, monitor);
}

Monitor& CountedEvents::monitor(Sight sight, std::size_t index) {
  std::vector<Monitor*>& all = monitors_of(sight).all;
  const bool has_first = session_.monitor().sight() == sight;
  if (all.empty() && has_first) all.push_back(&session_.monitor());
  if (index == all.size()) all.push_back(&session_.add_monitor(sight));
  return *all[index];
}

u64 CountedEvents::monitors() const {
  return std::max({u64{1}, monitors_.front().used, monitors_.back().used});
}

CountedEvents::Opened CountedEvents::open_on(Monitor& monitor, const events::EventGroup& group) const {
  std::vector<Open> opened;
  for (const events::ParsedEvent& parsed : group.events)
    opened.push_back({parsed.name, group.cgroup, parsed.scale, &monitor, {}});
  for (const CountedTasks& tasks : counted(monitor, group)) {
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
bool CountedEvents::all_count(const Monitor& monitor, const std::vector<Open>& more) const {
  const auto counts = [&](const Open& o) {
    return o.monitor != &monitor || std::ranges::all_of(o.events, [](const perf::Event* event) {
             return event->state == perf::EventState::active;
           });
  };
  return std::ranges::all_of(open_, counts) && std::ranges::all_of(more, counts);
}

void CountedEvents::close(const std::vector<Open>& opened) {
  for (auto o = opened.rbegin(); o != opened.rend(); ++o)
    for (perf::Event* const event : o->events) o->monitor->perf().close(*event);
}

CountedEvents::Opened CountedEvents::open_in_sight(const events::EventGroup& group, Sight sight) {
  Monitors& monitors = monitors_of(sight);
  for (std::size_t index = 0;; ++index) {
    const bool fresh = index == monitors.used;
    Monitor& place = monitor(sight, index);
    Opened opened = open_on(place, group);
    if (!opened.ok()) return opened;
    // What does not fit onto an unused PMU fits nowhere: it stays and is not counted.
    if (fitting_ == Fitting::multiplex || fresh || all_count(place, *opened)) {
      monitors.used = std::max<u64>(monitors.used, index + 1);
      for (Open& each : *opened) each.sight = sight;
      return opened;
    }
    close(*opened);
  }
}

Sight CountedEvents::sight_of(const events::ParsedEvent& event) const {
  return session_.monitor().sight_of(event.attr);
}

/// What a group's events tell of each other is that they count the same time. Those of one sight do, and each
/// has a count of the whole program.
Result<Done, Error> CountedEvents::open(const events::EventGroup& group) {
  std::vector<Open> all(group.events.size());
  for (const Sight sight : {Sight::all, Sight::windows}) {
    events::EventGroup part = group;
    std::erase_if(part.events, [&](const auto& event) { return sight_of(event) != sight; });
    if (part.events.empty()) continue;
    Opened opened = open_in_sight(part, sight);
    if (!opened.ok()) {
      close(all);
      return Failure(opened.error());
    }
    std::size_t next = 0;
    for (std::size_t n = 0; n < all.size(); ++n)
      if (sight_of(group.events[n]) == sight) all[n] = std::move((*opened)[next++]);
  }
  std::ranges::move(all, std::back_inserter(open_));
  return Done{};
}

void CountedEvents::open_if_possible(const std::string& name) {
  const auto groups = events::parse_events(name, session_.model());
  if (!groups.ok() || !open(groups->front()).ok()) open_.push_back({.name = name});
}

void CountedEvents::show_unsupported(const events::EventGroup& group) {
  for (const events::ParsedEvent& event : group.events)
    open_.push_back({.name = event.name, .cgroup = group.cgroup});
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
  if (!cpus_) return;
  for (const Monitors& monitors : monitors_)
    for (Monitor* const monitor : monitors.all) monitor->bring_up_idle();
}

u64 CountedEvents::Open::count() const {
  EventTotal total;
  for (perf::Event* const event : events) add_reading(total, *monitor, *event);
  return total.counted;
}

void CountedEvents::end_window(u64 instructions) {
  for (Open& o : open_) {
    if (o.sight != Sight::windows) continue;
    const u64 count = o.count();
    o.estimate.add(instructions, count - std::exchange(o.until_window, count));
  }
}

Result<Done, Error> CountedEvents::check_windows() const {
  for (const Open& o : open_)
    if (o.sight == Sight::windows && o.estimate.windows() < WindowEstimate::fewest_windows)
      return Failure(Error(
          fmt::format("{} instructions have {} windows of core 'sampled', and of less than {} nothing is "
                      "estimated: windows that come more often, or core 'interval', count so little",
                      session_.instructions(), o.estimate.windows(), WindowEstimate::fewest_windows)));
  return Done{};
}

std::vector<EventTotal> CountedEvents::read() const {
  bring_up_idle();
  std::vector<EventTotal> totals;
  for (const Open& o : open_) {
    EventTotal& total = totals.emplace_back(o.nothing_yet());
    for (perf::Event* const event : o.events) add_reading(total, *o.monitor, *event);
    if (o.sight == Sight::windows && o.estimate.windows() >= WindowEstimate::fewest_windows)
      total.estimate = o.estimate.of_program(session_.instructions());
  }
  return totals;
}

std::vector<perf::Attr> CountedEvents::attrs() const {
  std::vector<perf::Attr> all;
  for (const Open& o : open_) all.push_back(o.events.empty() ? perf::Attr{} : o.events.front()->attr);
  return all;
}

std::vector<CpuTotals> CountedEvents::read_cpus() const {
  std::vector<CpuTotals> all;
  for (const u32 cpu : cpus_.value_or(std::vector<u32>())) {
    CpuTotals& totals = all.emplace_back(CpuTotals{.cpu = cpu, .events = {}});
    for (const Open& o : open_) {
      EventTotal& total = totals.events.emplace_back(o.nothing_yet());
      total.elsewhere = total.supported;
      for (perf::Event* const event : o.events)
        if (event->cpu == static_cast<i32>(cpu)) {
          total.elsewhere = false;
          add_reading(total, *o.monitor, *event);
        }
    }
  }
  return all;
}

}  // namespace pmusim
