// SPDX-License-Identifier: MIT
#ifndef PMUSIM_SRC_SESSION_COUNTED_EVENTS_H
#define PMUSIM_SRC_SESSION_COUNTED_EVENTS_H

#include "pmusim/session/stat.h"
#include "session/monitor.h"

namespace pmusim {

/// Events that count over one run, on as many PMUs as it takes.
class CountedEvents {
 public:
  /// `cpus`: as StatOptions has them.
  CountedEvents(Session& session, Fitting fitting, std::optional<std::vector<u32>> cpus = {});

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
  /// PMUs in use.
  u64 monitors() const { return monitors_; }

 private:
  struct Open {
    std::string name;
    unsigned scale = 1;
    Monitor* monitor = nullptr;
    std::vector<perf::Event*> events;  // one for each of whom is counted; none: not supported

    EventTotal nothing_yet() const { return {.name = name, .scale = scale, .supported = monitor != nullptr}; }
  };
  using Opened = Result<std::vector<Open>, Error>;

  std::vector<CountedTasks> counted(const events::EventGroup& group) const;
  Opened open_on(Monitor& monitor, const events::EventGroup& group) const;
  bool all_count(const Monitor& monitor) const;
  Monitor& monitor(std::size_t index);
  static void close(const std::vector<Open>& opened);
  void bring_up_idle() const;

  Session& session_;
  Fitting fitting_;
  std::optional<std::vector<u32>> cpus_;
  std::vector<Monitor*> all_monitors_;
  u64 monitors_ = 1;
  std::vector<Open> open_;
};

}  // namespace pmusim

#endif
