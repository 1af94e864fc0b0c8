// SPDX-License-Identifier: MIT
#ifndef PMUSIM_LINUX_HOST_SCRIPT_H
#define PMUSIM_LINUX_HOST_SCRIPT_H

#include "host/driver_events.h"
#include "host/outcome.h"

namespace pmusim::linux_driver {

/// What is done with the events of a set-up while the program runs, the same to either driver.
class Script {
 public:
  /// `options` are those of each kind of core.
  Script(DriverEvents& events, const Target& target, const Setup& setup,
         const std::vector<RecordOptions>& options, Outcome& outcome)
      : events_(events), target_(target), setup_(setup), options_(options), outcome_(outcome) {}

  /// Before the program: events of the CPU are opened.
  void begin() {
    if (setup_.whose == Setup::Whose::cpu) open();
  }
  /// The program has begun, and its first task runs: its events are opened. On a machine the task has a
  /// number, 0 is whoever runs on the first CPU.
  void program_began(u32 first_thread) {
    first_thread_ = static_cast<int>(first_thread);
    if (setup_.whose != Setup::Whose::cpu && events_.size() == 0) open();
  }
  /// Between instructions, at least once in every tick.
  void pause(u64 now_ns);
  /// After the program.
  void end();

 private:
  void open();
  Result<Done, KernelError> open_all();
  /// Events of one kind of core, for whom they count.
  struct Counted {
    CountedTask whom;
    u32 type;
  };
  std::vector<Counted> everybody() const;
  bool has_own_ring(const Counted& counted) const;
  Result<Done, KernelError> open_for(const Counted& counted);
  void drain();
  void operate(u64 tick);
  void read_all();
  template <class Operation>
  void with(std::size_t n, Operation operation) {
    if (n < events_.size() && events_.is_open(n)) operation(n);
  }

  DriverEvents& events_;
  const Target& target_;
  const Setup& setup_;
  const std::vector<RecordOptions>& options_;
  Outcome& outcome_;
  std::vector<std::size_t> leaders_;             // of groups
  std::vector<std::vector<std::byte>> records_;  // of each ring
  u64 ticks_ = 0;
  int first_thread_ = 0;
};

}  // namespace pmusim::linux_driver

#endif
