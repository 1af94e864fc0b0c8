// SPDX-License-Identifier: MIT
#ifndef PMUSIM_SRC_DRIVER_AMD_DRIVER_H
#define PMUSIM_SRC_DRIVER_AMD_DRIVER_H

#include <array>
#include <memory>
#include <span>
#include <vector>

#include "driver/amd/branch_records.h"
#include "driver/amd/counters.h"
#include "driver/amd/enumeration.h"
#include "driver/x86/constraint.h"
#include "driver/x86/event_data.h"
#include "driver/x86/local_apic.h"
#include "driver/x86/register_access.h"
#include "driver/x86/unknown_interrupts.h"
#include "pmusim/driver/drivers.h"

namespace pmusim::driver::amd {

/// The driver of AMD's core PMUs, with and without PerfMonV2, and of the last-branch stack beside them
/// (Linux: arch/x86/events/amd/core.c, and x86 events' core.c as far as AMD's PMUs take it). It knows the
/// hardware only through `Bus`.
class Driver final : public CoreDriver {
 public:
  /// Asks the CPU behind `bus` what it has, and resets its PMU. `bus` must outlive the driver.
  explicit Driver(Bus& bus, const DriverOptions& options = {});
  Driver(const Driver&) = delete;
  Driver& operator=(const Driver&) = delete;

  void attach(perf::SampleSink& sink) override { sink_ = &sink; }
  bool knows_core() const override { return cpu_.microarchitecture != Microarchitecture::unknown; }
  DriverStatistics statistics() const override;
  void forget_code() override { branches_->forget_code(); }

  perf::PmuCapabilities capabilities() const override;
  Result<Done, KernelError> init(perf::Event& event) override;
  void destroy(perf::Event& event) override { remove(event); }
  void disable() override;
  void enable() override;
  void begin() override;
  bool commit() override;
  void cancel() override;
  bool add(perf::Event& event) override;
  void remove(perf::Event& event) override;
  void start(perf::Event& event, StartMode mode) override;
  void stop(perf::Event& event, StopMode mode) override;
  void read(perf::Event& event) override;
  void context_switch(SwitchDirection direction, perf::TaskId task) override;

  void handle_pmi(const InterruptFrame& frame) override;
  void explain_interrupt() override;

 private:
  /// One event on the PMU, in the order in which they came.
  struct Placement {
    perf::Event* event = nullptr;
    bool restart = false;  // was counting before it had to move
    int counter = -1;
  };

  // opening events (event_setup.cpp)
  Result<Done, KernelError> forward_to_ibs(perf::Attr& attr) const;
  Result<Done, KernelError> set_config(perf::Event& event) const;
  void set_period_at_open(perf::Event& event) const;
  Result<Done, KernelError> check_group(const perf::Event& event) const;

  Constraint constraint_of(const perf::Event& event) const;
  bool fits(std::span<const Constraint> constraints, std::span<int> counters) const;
  bool schedule();
  bool keep_counters();
  void apply_placements();
  void take_counter(perf::Event& event, int counter);
  void leave_counter(perf::Event& event);

  bool set_period(perf::Event& event);
  void update(perf::Event& event);
  void wait_for_overflow(unsigned counter);
  void stop_counting();

  // interrupts (interrupt.cpp)
  unsigned service_by_counters(const InterruptFrame& frame);
  unsigned service_by_status(const InterruptFrame& frame);
  void sample(perf::Event& event, const InterruptFrame& frame, u64 period);
  void account(unsigned handled, u64 ip);

  RegisterAccess access_;
  Enumeration cpu_;
  Counters counters_;
  LocalApic apic_;
  std::unique_ptr<BranchRecords> branches_;
  u32 ibs_op_type_;  // attr.type; 0: nobody takes precise events
  perf::SampleSink* sink_ = nullptr;

  std::vector<Placement> placements_;
  std::size_t new_placements_ = 0;     // at the end of `placements_`, not yet programmed
  std::size_t transaction_start_ = 0;  // first placement of the open transaction
  bool in_transaction_ = false;
  std::array<perf::Event*, 16> owners_{};  // by counter
  unsigned disable_depth_ = 0;
  bool enabled_ = true;
  bool in_interrupt_ = false;
  DriverStatistics statistics_;
  UnknownInterrupts unknown_;
  bool has_counted_ = false;                          // an event has been on the PMU
  bool found_nothing_ = false, was_unknown_ = false;  // by the latest interrupt
  bool window_open_ = false;  // an NMI has found something, and until then one that does not is a late one
  u64 late_until_ns_ = 0;
};

}  // namespace pmusim::driver::amd

#endif
