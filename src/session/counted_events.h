// SPDX-License-Identifier: MIT
#ifndef PMUSIM_SRC_SESSION_COUNTED_EVENTS_H
#define PMUSIM_SRC_SESSION_COUNTED_EVENTS_H

#include <array>

#include "pmusim/session/stat.h"
#include "session/monitor.h"
#include "session/window_estimate.h"

namespace pmusim {

/// Events that count over one run, on as many PMUs as it takes. At core `sampled` those that need no time
/// have PMUs that see everything, and the others are estimated.
class CountedEvents {
 public:
  /// `cpus`: as StatOptions has them.
  CountedEvents(Session& session, Fitting fitting, std::optional<std::vector<u32>> cpus = {});
  ~CountedEvents();
  CountedEvents(const CountedEvents&) = delete;
  CountedEvents& operator=(const CountedEvents&) = delete;

  /// Errors: the kernel's refusal, with the event's name.
  Result<Done, Error> open(const events::EventGroup& group);
  /// The same, but what cannot be counted is reported as not supported.
  void open_if_possible(const std::string& name);
  /// Reports them as not supported.
  void show_unsupported(const events::EventGroup& group);

  void enable();
  void disable();
  /// Counts so far, in the order of opening.
  std::vector<EventTotal> read() const;
  /// The same by CPU, where CPUs are counted.
  std::vector<CpuTotals> read_cpus() const;
  /// As they were opened, in the order of read().
  std::vector<perf::Attr> attrs() const;
  /// PMUs in use that see the same.
  u64 monitors() const;
  /// Behind the run. Errors: fewer windows than estimates need.
  Result<Done, Error> check_windows() const;

 private:
  struct Open {
    std::string name;
    std::string cgroup = {};
    unsigned scale = 1;
    Monitor* monitor = nullptr;
    std::vector<perf::Event*> events;  // one for each of whom is counted; none: not supported
    Sight sight = Sight::all;
    u64 until_window = 0;  // of an event that is estimated
    WindowEstimate estimate{};

    EventTotal nothing_yet() const {
      return {.name = name, .cgroup = cgroup, .scale = scale, .supported = monitor != nullptr};
    }
    u64 count() const;
  };
  /// Monitors of one sight, in the order in which they were asked for.
  struct Monitors {
    std::vector<Monitor*> all;
    u64 used = 0;
  };
  using Opened = Result<std::vector<Open>, Error>;

  std::vector<CountedTasks> counted(Monitor& monitor, const events::EventGroup& group) const;
  Sight sight_of(const events::ParsedEvent& event) const;
  Opened open_in_sight(const events::EventGroup& group, Sight sight);
  Opened open_on(Monitor& monitor, const events::EventGroup& group) const;
  bool all_count(const Monitor& monitor, const std::vector<Open>& more) const;
  Monitors& monitors_of(Sight sight) { return monitors_[static_cast<std::size_t>(sight)]; }
  Monitor& monitor(Sight sight, std::size_t index);
  static void close(const std::vector<Open>& opened);
  void end_window(u64 instructions);
  void bring_up_idle() const;

  Session& session_;
  Fitting fitting_;
  std::optional<std::vector<u32>> cpus_;
  std::array<Monitors, 2> monitors_;  // by sight
  std::vector<Open> open_;
};

}  // namespace pmusim

#endif
