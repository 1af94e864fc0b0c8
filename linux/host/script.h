// SPDX-License-Identifier: MIT
#ifndef PMUSIM_LINUX_HOST_SCRIPT_H
#define PMUSIM_LINUX_HOST_SCRIPT_H

#include "host/driver_events.h"
#include "host/outcome.h"

namespace pmusim::linux_driver {

/// What is done with the events of a set-up while the program runs, the same to either driver.
class Script {
 public:
  Script(DriverEvents& events, const CpuModel& model, const Setup& setup, const RecordOptions& options,
         Outcome& outcome)
      : events_(events), model_(model), setup_(setup), options_(options), outcome_(outcome) {}

  /// Before the program: events of the CPU are opened.
  void begin() {
    if (setup_.whose == Setup::Whose::cpu) open();
  }
  /// The program has begun, and its first task runs: its events are opened.
  void program_began() {
    if (setup_.whose == Setup::Whose::task && events_.size() == 0) open();
  }
  /// Between instructions, at least once in every tick.
  void pause(u64 now_ns);
  /// After the program.
  void end();

 private:
  void open();
  Result<Done, KernelError> open_all();
  void operate(u64 tick);
  void read_all();
  template <class Operation>
  void with(std::size_t n, Operation operation) {
    if (n < events_.size() && events_.is_open(n)) operation(n);
  }

  DriverEvents& events_;
  const CpuModel& model_;
  const Setup& setup_;
  const RecordOptions& options_;
  Outcome& outcome_;
  u64 ticks_ = 0;
};

}  // namespace pmusim::linux_driver

#endif
