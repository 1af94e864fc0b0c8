// SPDX-License-Identifier: MIT
#ifndef PMUSIM_SRC_DRIVER_INTEL_DEBUG_STORE_BTS_H
#define PMUSIM_SRC_DRIVER_INTEL_DEBUG_STORE_BTS_H

#include "driver/intel/debug_store/area.h"
#include "driver/intel/enumeration.h"
#include "driver/x86/register_access.h"
#include "pmusim/driver/drivers.h"
#include "pmusim/perf/driver.h"

namespace pmusim::driver {

/// The branch trace store as a sampling source: an event that wants a sample of every branch instruction
/// needs no counter and no interrupt per branch. Hardware stores each taken branch into a buffer and
/// interrupts when it is nearly full (SDM vol. 3, BTS); each record becomes a sample with the branch as IP
/// and its target as ADDR.
///
/// One event at a time. Every `drain` needs the store stopped.
class BtsDriver {
 public:
  BtsDriver(RegisterAccess& access, DebugStoreArea& area, const Enumeration& enumeration,
            BtsOptions options = {});

  /// A fixed period of 1 of the generic branch event, and no branch stack: the LBR is off meanwhile. Such an
  /// event is traced or refused.
  bool wants_trace(const perf::Event& event) const;

  /// Maps and announces the buffer; does nothing the second time. Fault::pf where the addresses are taken.
  [[nodiscard]] Fault set_up();

  /// The event that gets the records from now on.
  void enable(perf::Event& event);
  void disable() { event_ = nullptr; }
  bool active() const { return event_ != nullptr; }

  /// Part of the PMU's global enable and disable: lets hardware store, if there is an event.
  void start();
  void stop();

  /// Takes every record out of the buffer; returns how many there were. `frame` is null where no interrupt
  /// happens.
  u64 drain(perf::SampleSink& sink, const InterruptFrame* frame);

 private:
  void write_control(u64 bits_on);

  RegisterAccess& access_;
  DebugStoreArea& area_;
  const Enumeration& enumeration_;
  BtsOptions options_;
  perf::Event* event_ = nullptr;
  bool ready_ = false;  // the buffer is announced
  bool storing_ = false;
};

}  // namespace pmusim::driver

#endif
