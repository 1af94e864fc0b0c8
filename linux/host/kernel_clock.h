// SPDX-License-Identifier: MIT
#ifndef PMUSIM_LINUX_HOST_KERNEL_CLOCK_H
#define PMUSIM_LINUX_HOST_KERNEL_CLOCK_H

#include <algorithm>

#include "host/machine.h"

namespace pmusim::linux_driver {

/// The kernel's timer: ticks, what is due between them, and what interrupts have left behind.
class KernelClock {
 public:
  /// When the kernel has to be called again, ns.
  u64 next_deadline() const { return std::min<u64>(next_tick_, linux_next_timer()); }
  /// Whatever is due by `now_ns`, in the code of `frame`.
  void run(KernelMachine& machine, u64 now_ns, const kernel_frame& frame) {
    while (next_deadline() <= now_ns) {
      machine.set_time(next_deadline());
      if (next_tick_ <= machine.now()) {
        next_tick_ += tick_ns;
        linux_tick(&frame);
      }
      linux_run_timers(&frame);
      linux_run_deferred(&frame);
    }
    machine.set_time(now_ns);
  }

 private:
  static constexpr u64 tick_ns = 1'000'000;  // CONFIG_HZ=1000
  u64 next_tick_ = tick_ns;
};

}  // namespace pmusim::linux_driver

#endif
