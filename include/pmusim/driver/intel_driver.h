#ifndef PMUSIM_DRIVER_INTEL_DRIVER_H
#define PMUSIM_DRIVER_INTEL_DRIVER_H

#include <memory>
#include <vector>

#include "pmusim/driver/bts.h"
#include "pmusim/driver/constraint_book.h"
#include "pmusim/driver/counter_bank.h"
#include "pmusim/driver/extended_registers.h"
#include "pmusim/driver/lbr.h"
#include "pmusim/driver/pebs.h"
#include "pmusim/driver/register_access.h"
#include "pmusim/driver/scheduler.h"
#include "pmusim/driver/shared_registers.h"
#include "pmusim/perf/driver.h"

namespace pmusim::driver {

struct CoreTraits;

/// Bits of HardwareEvent::flags outside the PEBS part's.
namespace driver_flag {
inline constexpr u32 ACR_GROUP = 1u << 0;  ///< of a leader: a member of its group names reload causes
inline constexpr u32 METRIC = 1u << 1;     ///< counted as a share of the slots counter
inline constexpr u32 SLOTS_WITH_METRICS =
    1u << 2;  ///< slots that count from zero, cleared with its metrics at each look
inline constexpr u32 CHECKPOINTED = 1u << 3;     ///< IN_TXCP: an abort takes counts and status bit back
inline constexpr u32 BRANCH_TRACE = 1u << 4;     ///< every branch a sample: no counter, the BTS buffer
inline constexpr u32 BRANCH_HARDWARE = 1u << 5;  ///< claims the LBR or the branch trace store
inline constexpr u32 GUEST_LBR = 1u << 6;        ///< keeps the LBR on for a guest: counts nothing
inline constexpr u32 COUNTERLESS = BRANCH_TRACE | GUEST_LBR;
}  // namespace driver_flag

/// Skylake with TSX microcode: GP 3 works only while every transaction aborts.
enum class TransactionAborts : u8 { allowed, forbidden };

/// sysfs `rdpmc`: whose counters user code may read, where hardware can hide them one by one.
enum class RdpmcSetting : u8 { never, own_task, always };

struct DriverOptions {
  /// Whose behaviour the driver has; it is that of its parts too.
  perf::Kernel kernel = perf::default_kernel;
  PebsOptions pebs;
  LbrOptions lbr;
  BtsOptions bts;
  u64 register_buffer_address = 0xFFFF'8880'0001'0000;  ///< 64-byte aligned; for XSAVES of sampled registers
  /// Shared with the sibling hyper-thread's driver; null where hyper-threading is off.
  CoreResources* core = nullptr;
  unsigned thread = 0;  ///< 0 or 1: which of the two this is
  TransactionAborts transaction_aborts = TransactionAborts::allowed;
  RdpmcSetting rdpmc = RdpmcSetting::own_task;
};

/// What happened that no perf event can tell.
struct DriverStatistics {
  u64 interrupts = 0;            ///< PMIs taken
  u64 unhandled_interrupts = 0;  ///< with nothing to handle: "unknown NMI"
  u64 swallowed_interrupts = 0;  ///< the same, but explained by the one before, which handled two
  u64 stuck_interrupts = 0;      ///< status would not clear: the PMU was reset
  AccessFaults faults;           ///< of the driver's own accesses to registers and memory
};

/// The driver of Intel core PMUs: turns perf events into register contents, gives them counters, and turns
/// PMIs into samples. It knows the hardware only through `Bus`.
///
/// Calls that change what is counted come between `disable()` and `enable()`, as the perf core does it.
class IntelDriver final : public perf::PmuDriver, public PmiHandler, private PebsHost {
 public:
  /// Asks the CPU behind `bus` what it has, resets its PMU and sets up the PEBS memory. `bus` and
  /// `options.core` must outlive the driver.
  explicit IntelDriver(Bus& bus, DriverOptions options = {});
  ~IntelDriver() override;
  IntelDriver(const IntelDriver&) = delete;
  IntelDriver& operator=(const IntelDriver&) = delete;

  /// Where samples go. Before any event is started.
  void attach(perf::SampleSink& sink) { sink_ = &sink; }

  const Enumeration& enumeration() const { return cpu_; }
  DriverStatistics statistics() const;
  const PebsDriver& pebs() const { return pebs_; }
  const LbrDriver& lbr() const { return lbr_; }
  const BtsDriver& bts() const { return bts_; }
  /// Mappings changed: what the driver remembers of the program's code is void.
  void forget_code() { lbr_.forget_code(); }

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
    bool has_filter = false;  // claimed the branch filter
    u32 extra_register = 0;   // claimed; 0 none
    u64 stored_counters = 0;  // see HardwareEvent
    int counter = -1, next_counter = -1;
  };
  using Placements = std::vector<Placement>;
  enum class ScheduleMode : u8 { commit, dry_run };
  /// Registers that events share: those of the core, and the branch filter, which each thread has.
  struct Claims {
    SharedRegisters& core;
    SharedRegisters& thread;
  };

  // opening events (event_setup.cpp)
  Result<Done, KernelError> set_config(perf::Event& event);
  Result<Done, KernelError> set_period_at_open(perf::Event& event);
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
  bool schedule(Placements& events, std::size_t first_new, Claims claims, ScheduleMode mode);
  bool assign(Placements& events, ScheduleMode mode) const;
  bool keep_counters(Placements& events) const;
  void find_constraint(Placement& placement, Claims claims, ScheduleMode mode);
  bool claim_extra_register(Placement& placement, u64& config, SharedRegisters& core, ScheduleMode mode);
  bool claim_branch_filter(Placement& placement, SharedRegisters& thread);
  void put_constraint(Placement& placement, Claims claims);
  /// Hyper-threading is on and the core has the erratum.
  bool shares_counters() const;
  void publish_counter_use(const Placements& events);
  u64 usable_beside_sibling(u64 counters, bool exclusive) const;
  bool has_room(const Placements& events, const perf::Event& next) const;
  Claims claims() {
    return {options_.core != nullptr ? options_.core->registers : own_core_.registers, filter_};
  }
  EventTraits traits_of(const perf::Event& event, u64 config) const;

  // counting (counting.cpp)
  bool set_period(perf::Event& event);
  static void choose_slots_mode(perf::Event& event);
  i64 limit_period(const perf::Event& event, i64 left) const;
  void update(perf::Event& event);
  void update_metrics();
  void restart_metrics(const perf::Event& event);
  bool save_and_restart(perf::Event& event);
  void enable_event(perf::Event& event);
  void disable_event(perf::Event& event);
  bool hidden_from_user(const perf::Event& event) const;
  void freeze_counters_in_smm();
  void program_reload(const perf::Event& event, u64 pebs_config);
  void apply_placements();
  template <class Visit>
  void for_each_group(Visit visit);
  void name_reload_causes();
  void name_stored_counters();
  void claim_counter_from_microcode();
  void vacate_moved_counters();
  void take_counter(perf::Event& event, int counter);
  void leave_counter(perf::Event& event);
  u64 max_period() const;
  void drain(DrainTrigger trigger, const InterruptFrame* frame);
  void drain_branch_trace();

  // interrupts (interrupt.cpp)
  unsigned service(const InterruptFrame& frame);
  unsigned handle_status(u64 status, const InterruptFrame& frame);
  void handle_overflow(perf::Event& event, const InterruptFrame& frame);
  u64 status_of_recorded_counters() const;
  void unmask_interrupt();
  static std::span<const std::byte> apic_entry();
  void account(unsigned handled, u64 ip);

  // what the PEBS part asks
  perf::SampleSink& sink() override { return *sink_; }
  Interval update_and_restart(perf::Event& event) override {
    return save_and_restart(event) ? Interval::over : Interval::unfinished;
  }
  void stop(perf::Event& event) override { stop(event, StopMode::plain); }
  std::span<perf::Event* const> metrics() override { return metrics_; }
  const perf::BranchStack* interrupt_branches(const perf::Event& event) override;
  const perf::ExtendedRegisters* live_registers(const perf::Event& event) override;
  const perf::BranchStack& decode_branches(const perf::Event& event,
                                           std::span<const pebs::LbrRecord> records) override;

  RegisterAccess access_;
  DriverOptions options_;
  Enumeration cpu_;
  const std::unique_ptr<const CoreTraits> traits_;
  ConstraintBook constraints_;
  CounterBank counters_;
  PebsDriver pebs_;
  LbrDriver lbr_;
  BtsDriver bts_;
  ExtendedRegisterReader registers_;
  unsigned open_traces_ = 0, open_stacks_ = 0;  // events that claim BTS and LBR, which exclude each other
  perf::SampleSink* sink_ = nullptr;

  CoreResources own_core_;
  SharedRegisters filter_;
  Placements placements_;
  std::size_t new_placements_ = 0;     // at the end of `placements_`, not yet programmed
  std::size_t transaction_start_ = 0;  // first placement of the open transaction
  bool in_transaction_ = false;

  EventMap owners_{};                      // by counter; the guest LBR event has none that overflows
  std::array<perf::Event*, 8> metrics_{};  // the same of topdown metrics
  unsigned disable_depth_ = 0;
  bool enabled_ = true;
  bool in_interrupt_ = false;
  bool apic_reachable_ = true, apic_in_memory_ = false;
  bool gp3_claimed_ = false;  // from the microcode that wants it for transactions
  bool pebs_usable_ = false;
  DriverStatistics statistics_;
  unsigned handled_before_ = 0;  // by the latest interrupt, at `handled_at_`
  u64 handled_at_ = 0;
};

}  // namespace pmusim::driver

#endif
