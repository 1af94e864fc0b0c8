// SPDX-License-Identifier: MIT
#ifndef PMUSIM_SRC_DRIVER_INTEL_INTEL_DRIVER_H
#define PMUSIM_SRC_DRIVER_INTEL_INTEL_DRIVER_H

#include <memory>
#include <vector>

#include "driver/intel/counters/counter_bank.h"
#include "driver/intel/debug_store/area.h"
#include "driver/intel/debug_store/bts.h"
#include "driver/intel/debug_store/pebs.h"
#include "driver/intel/extended_registers.h"
#include "driver/intel/lbr/lbr.h"
#include "driver/intel/scheduling/constraint_book.h"
#include "driver/x86/event_data.h"
#include "driver/x86/local_apic.h"
#include "driver/x86/register_access.h"
#include "driver/x86/scheduler.h"
#include "driver/x86/unknown_interrupts.h"
#include "pmusim/driver/drivers.h"

namespace pmusim::driver {

struct CoreTraits;

/// The driver of Intel core PMUs: turns perf events into register contents, gives them counters, and turns
/// PMIs into samples. It knows the hardware only through `Bus`. Holds the parts together and gives each its
/// turn.
class IntelDriver final : public CoreDriver, private PebsHost {
 public:
  /// Asks the CPU behind `bus` what it has, resets its PMU and sets up the PEBS memory. `bus` and
  /// `options.core` must outlive the driver.
  explicit IntelDriver(Bus& bus, DriverOptions options = {});
  ~IntelDriver() override;
  IntelDriver(const IntelDriver&) = delete;
  IntelDriver& operator=(const IntelDriver&) = delete;

  void attach(perf::SampleSink& sink) override { sink_ = &sink; }

  const Enumeration& enumeration() const { return cpu_; }
  bool knows_core() const override { return cpu_.has_tables(); }
  DriverStatistics statistics() const override;
  const DemuxTotals& pebs_totals() const override { return pebs_.totals(); }
  bool holds_records() const override { return pebs_.holds_records(); }
  void forget_code() override { lbr_.forget_code(); }
  /// PEBS counters stand still: a guest's records would go to where the guest has no memory for them.
  std::vector<GuestRegister> guest_registers() const override {
    return counters_.guest_registers(pebs_.enabled());
  }

  perf::PmuCapabilities capabilities() const override;
  Result<Done, KernelError> init(perf::Event& event) override;
  void destroy(perf::Event& event) override;
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
  void read_member(perf::Event& event) override;
  void context_switch(SwitchDirection direction, perf::TaskId task) override;

  void handle_pmi(const InterruptFrame& frame) override;

 private:
  /// One event on the PMU, in the order in which they came.
  struct Placement {
    perf::Event* event = nullptr;
    Constraint constraint{};
    bool constraint_known = false, constraint_dynamic = false;
    bool exclusive = false;   // counted among the core's exclusive events
    bool restart = false;     // was counting before it had to move
    bool preset = false;      // was not, and moves all the same
    bool has_filter = false;  // claimed the branch filter
    u32 extra_register = 0;   // claimed; 0 none
    int counter = -1, next_counter = -1;
  };
  using Placements = std::vector<Placement>;
  enum class ScheduleMode : u8 { commit, dry_run };

  // opening events (event_setup.cpp)
  Result<Done, KernelError> set_config(perf::Event& event);
  Result<Done, KernelError> set_period_at_open(perf::Event& event);
  u64 first_period(const perf::Event& event) const;
  Result<Done, KernelError> set_up_precise(perf::Event& event);
  Result<Done, KernelError> check_registers(const perf::Event& event) const;
  Result<Done, KernelError> check_xmm_of_old(const perf::Attr& attr) const;
  Result<Done, KernelError> set_up_branch_trace(perf::Event& event);
  Result<Done, KernelError> claim_branch_hardware(perf::Event& event);
  Result<Done, KernelError> set_extra_register(perf::Event& event);
  Result<Done, KernelError> check_load_latency(const perf::Event& event) const;
  Result<Done, KernelError> check_group(perf::Event& event);
  Result<Done, KernelError> fix_address_by_branches(perf::Event& event) const;

  // scheduling (placement.cpp)
  bool schedule(Placements& events, std::size_t first_new, SharedRegisters& shared, ScheduleMode mode);
  bool assign(Placements& events, ScheduleMode mode) const;
  bool keep_counters(Placements& events) const;
  void find_constraint(Placement& placement, SharedRegisters& shared, ScheduleMode mode);
  bool claim_extra_register(Placement& placement, u64& config, SharedRegisters& shared, ScheduleMode mode);
  bool claim_branch_filter(Placement& placement, SharedRegisters& shared);
  void put_constraint(Placement& placement, SharedRegisters& shared);
  /// Hyper-threading is on and the core has the erratum.
  bool shares_counters() const;
  void publish_counter_use(const Placements& events);
  u64 usable_beside_sibling(u64 counters, bool exclusive) const;
  bool has_room(const Placements& events, const perf::Event& next) const;
  /// Registers that events share, on early cores with those of the other thread.
  SharedRegisters& shared_registers();
  EventTraits traits_of(const perf::Event& event, u64 config) const;

  // counting (counting.cpp)
  bool set_period(perf::Event& event);
  static void choose_slots_mode(perf::Event& event);
  i64 limit_period(const perf::Event& event, i64 left) const;
  void update(perf::Event& event);
  void update_topdown(perf::Event* asked);
  TopdownReading read_topdown();
  void write_topdown(TopdownReading values);
  bool count_topdown(perf::Event* stopped);
  void begin_topdown(perf::Event& event);
  template <class Visit>
  void for_each_topdown(Visit visit);
  bool other_topdown_counts(const perf::Event& event);
  bool save_and_restart(perf::Event& event);
  void enable_event(perf::Event& event);
  void disable_event(perf::Event& event);
  bool hidden_from_user(const perf::Event& event) const;
  void freeze_counters_in_smm();
  void exercise_counters();
  void program_reload(const perf::Event& event);
  void program_record_config(const perf::Event& event);
  void apply_placements();
  template <class Visit>
  void for_each_group(Visit visit);
  void name_reload_causes();
  u64 recorded_counters() const;
  void claim_counter_from_microcode(u64 claim);
  bool restarts_reloads(const perf::Event& event) const;
  void vacate_moved_counters();
  void take_counter(perf::Event& event, int counter);
  void leave_counter(perf::Event& event);
  u64 max_period() const;
  template <class Look>
  void while_stopped(Look look);
  void drain(DrainTrigger trigger, const InterruptFrame* frame);
  void drain_branch_trace();

  // interrupts (interrupt.cpp)
  void handle_pmi_by_status(const InterruptFrame& frame);
  void handle_pmi_by_counters(const InterruptFrame& frame);
  unsigned service(const InterruptFrame& frame);
  unsigned handle_status(u64 status, const InterruptFrame& frame);
  void handle_overflow(perf::Event& event, const InterruptFrame& frame);
  u64 status_of_recorded_counters() const;
  u64 status_forgotten_behind_a_drain() const;
  void account(unsigned handled, u64 ip);

  // what the PEBS part asks
  perf::SampleSink& sink() override { return *sink_; }
  Interval update_and_restart(perf::Event& event) override {
    return save_and_restart(event) ? Interval::over : Interval::unfinished;
  }
  void restart(perf::Event& event) override { set_period(event); }
  void stop(perf::Event& event) override { stop(event, StopMode::plain); }
  std::span<perf::Event* const> metrics() override { return metrics_; }
  const perf::BranchStack* interrupt_branches(const perf::Event& event) override;
  const perf::ExtendedRegisters* live_registers(const perf::Event& event) override;
  const perf::BranchStack& decode_branches(const perf::Event& event,
                                           std::span<const pebs::LbrRecord> records) override;
  PlainBranches plain_branches(const perf::Event& event) const override;

  RegisterAccess access_;
  DriverOptions options_;
  Enumeration cpu_;
  const std::unique_ptr<const CoreTraits> traits_;
  ConstraintBook constraints_;
  CounterBank counters_;
  LocalApic apic_;
  DebugStoreArea debug_store_;
  PebsDriver pebs_;
  LbrDriver lbr_;
  BtsDriver bts_;
  ExtendedRegisterReader registers_;
  unsigned open_traces_ = 0, open_stacks_ = 0;  // events that claim BTS and LBR, which exclude each other
  perf::SampleSink* sink_ = nullptr;

  SharedRegisters own_registers_;
  Placements placements_;
  std::size_t new_placements_ = 0;     // at the end of `placements_`, not yet programmed
  std::size_t transaction_start_ = 0;  // first placement of the open transaction
  bool in_transaction_ = false;

  EventMap owners_{};                      // by counter; the guest LBR event has none that overflows
  std::array<perf::Event*, 8> metrics_{};  // the same of topdown metrics
  unsigned disable_depth_ = 0;
  bool enabled_ = true;
  bool in_interrupt_ = false;
  u64 gp3_claim_ = 0;  // on the counter that microcode wants for transactions
  bool pebs_usable_ = false;
  DriverStatistics statistics_;
  UnknownInterrupts unknown_;
};

}  // namespace pmusim::driver

#endif
