// SPDX-License-Identifier: MIT
#ifndef PMUSIM_SRC_DRIVER_INTEL_DEBUG_STORE_PEBS_H
#define PMUSIM_SRC_DRIVER_INTEL_DEBUG_STORE_PEBS_H

#include <array>
#include <memory>
#include <span>

#include "driver/intel/debug_store/arch_buffer.h"
#include "driver/intel/debug_store/area.h"
#include "driver/intel/debug_store/pebs_demux.h"
#include "driver/intel/enumeration.h"
#include "driver/intel/lbr/decoder.h"
#include "driver/x86/event_data.h"
#include "driver/x86/register_access.h"
#include "pmusim/arch/debug_store.h"
#include "pmusim/base/bus.h"
#include "pmusim/base/types.h"
#include "pmusim/driver/drivers.h"
#include "pmusim/perf/driver.h"

namespace pmusim::driver {

class PebsSampleBuilder;
class RecordedCounts;
class RunWriter;

/// What of pebs_flag says which registers samples have; for events without PEBS, too.
inline u32 register_flag(const perf::Attr& attr) {
  const bool extended = (perf::needed_registers(attr) & perf::register_set::EXTENDED) != 0;
  return extended ? pebs_flag::EXTENDED_REGISTERS : 0;
}

/// Samples of a precise member of the event's group read the group's counts from their records. Such counts
/// may only be read from the counters when the buffer is empty: they would run backwards.
inline bool counts_from_records(const perf::Event& event) {
  return has_flag(*event.leader, pebs_flag::COUNTERS_RECORDED);
}

/// Which event owns which counter: GP n at n, fixed m at 32 + m; null where none does.
using EventMap = std::array<perf::Event*, pebs_counters>;

/// Whether a counter's period had passed when it was looked at.
enum class Interval : u8 { unfinished, over };

/// What the PEBS part asks of the driver that it is a part of.
class PebsHost {
 public:
  virtual ~PebsHost() = default;
  virtual perf::SampleSink& sink() = 0;
  /// Counters without auto-reload: fold the counter's value into `event.count` and program the next period.
  virtual Interval update_and_restart(perf::Event& event) = 0;
  /// The same of counters whose value a record holds already.
  virtual void restart(perf::Event& event) = 0;
  /// The sink asked to stop the event. Only marks and stops; the event map in use must stay valid.
  virtual void stop(perf::Event& event) = 0;
  /// Events that count shares of the slots counter, by their byte of PERF_METRICS; null where none does.
  virtual std::span<perf::Event* const> metrics() { return {}; }
  /// The LBR as it was read at this interrupt, filtered for `event`: branch stack of the formats without an
  /// LBR group, and IP fix-up of those without EventingIP. Null where LBR is not in use. Valid until the next
  /// call.
  virtual const perf::BranchStack* interrupt_branches(const perf::Event& event) = 0;
  /// The extended registers that a sample of `event` takes, as they are now. Null where no interrupt happens:
  /// the register file may be anybody's then. Valid until the next call.
  virtual const perf::ExtendedRegisters* live_registers(const perf::Event&) { return nullptr; }
  /// Translates and filters the LBR group of one record. Valid until the next call.
  virtual const perf::BranchStack& decode_branches(const perf::Event& event,
                                                   std::span<const pebs::LbrRecord> records) = 0;
  /// When decode_branches() does nothing but translate the LBR group of a record of `event`.
  virtual PlainBranches plain_branches(const perf::Event&) const { return {}; }
};

/// Why a drain happens; an interrupt makes the last record of each event an overflow.
enum class DrainTrigger : u8 { interrupt, context_switch, event_disable, read, reconfigure };

/// The PEBS part of the driver: decides what records hold and when they interrupt, and turns records into
/// samples.
///
/// Order of calls: `set_up` once; `init` per opened event; `add` when an event gets its counter, `enable`
/// when it starts, `disable` when it stops, `remove` when it leaves the counter. `enable_all` and
/// `disable_all` belong to the global enable and disable. Every `drain` needs the PMU disabled.
class PebsDriver {
 public:
  /// `area` is used where the CPU has no architectural PEBS.
  PebsDriver(RegisterAccess& access, DebugStoreArea& area, const Enumeration& enumeration, PebsHost& host,
             PebsOptions options = {});
  ~PebsDriver();

  bool available() const { return enumeration_.pebs_format != Enumeration::no_pebs; }
  /// Largest precise_ip that events may ask for; 0 without PEBS (intel_pmu_hw_config).
  unsigned max_precise() const;
  /// perf::register_set: what records of this CPU can hold.
  u32 recorded_registers() const;

  /// Maps the buffer and announces it to the hardware. Fault::pf where the addresses are taken.
  [[nodiscard]] Fault set_up();

  /// For events with precise_ip: checks what only PEBS can refuse and sets the event's flags. Call it when
  /// its config is final. Errors: EOPNOTSUPP precise_ip too high, EINVAL not a sampling event.
  Result<Done, KernelError> init(perf::Event& event) const;

  /// The event is to count, before any counter is stopped or started for it; it counts no longer. Whether the
  /// buffer may collect records hangs on all that count. Records of adaptive formats hold what it needs from
  /// the next start on, and go on to do so until all precise events have gone and one comes.
  void add(const perf::Event& event);
  void remove(const perf::Event& event);
  /// The same of these counters' values.
  void record_counters(u64 counters) { recorded_counters_ |= counters; }

  /// The counter starts: clear INT in its select, and set the adaptive-record bit (EVENTSEL bit 34,
  /// FIXED_CTR_CTRL bit 32 + 4m) if this returns true. Writes the reset slot. May drain first, because the
  /// record layout changes.
  [[nodiscard]] bool enable(perf::Event& event, const EventMap& events);
  /// arch-PEBS, behind `enable`, of every event that starts: CFG_C of its counter, with the reload value in
  /// 31:0. Without PEBS that is whether other events' records may hold it. Sets the threshold, for which it
  /// may drain first.
  [[nodiscard]] u64 start_records(const perf::Event& event, const EventMap& events);
  /// The counter stops; large events are drained first. INT may be set again.
  void disable(perf::Event& event, const EventMap& events);
  /// PEBS_ENABLE as the enabled events need it. Nothing on arch-PEBS, where CFG_C has the enables.
  void write_enable();
  /// The same / 0, where any event is enabled.
  void enable_all();
  void disable_all();

  /// Counters with an enabled PEBS event: their status bits are never ordinary overflows.
  u64 enabled() const { return enabled_; }
  /// The GLOBAL_STATUS bit that asks for a drain.
  u64 buffer_status() const;
  /// True when every active PEBS event is large: drain at context switches.
  bool all_large() const { return active_ != 0 && active_ == large_; }

  /// Takes every record out of the buffer and delivers it. `frame` is null where no interrupt happens.
  /// `events` is a copy: delivering a sample may stop events.
  void drain(DrainTrigger trigger, EventMap events, const InterruptFrame* frame);
  /// True when a drain would find records, or be unable to look.
  bool holds_records() const;
  /// What became of every record since set_up.
  const DemuxTotals& totals() const { return totals_; }

 private:
  class Delivery;
  bool uses_memory_area() const { return available() && !enumeration_.arch_pebs(); }
  u64 buffer_bytes() const;
  DrainOrder drain_order() const;
  u64 data_config_of(const perf::Event& event) const;
  static u64 cfg_c_beside(const perf::Event& event);
  u64 cfg_c_of(const perf::Event& event) const;
  void program_layout(const EventMap& events);
  void program_threshold();
  u64 arch_threshold() const;
  /// Counters that a drain without records brings up to date.
  u64 reached_by_empty_drains() const;
  void program_arch_threshold(const EventMap& events);
  u64 threshold_offset() const;
  std::span<std::byte> take_records();
  void update_without_records(const EventMap& events);
  void account_reload(perf::Event& event, u64 overflows);
  u64 read_counter(unsigned counter);

  RegisterAccess& access_;
  DebugStoreArea& area_;
  ArchPebsBuffer arch_buffer_;
  Enumeration enumeration_;
  PebsHost& host_;
  PebsOptions options_;
  Demultiplexer demultiplexer_;
  std::unique_ptr<PebsSampleBuilder> samples_;
  std::unique_ptr<RunWriter> runs_;
  std::unique_ptr<RecordedCounts> counts_;
  u64 enabled_ = 0;        // counters
  u64 enable_word_ = 0;    // PEBS_ENABLE: counters, LL_EN, PS_EN
  u64 wanted_config_ = 0;  // union over the active events, but for the counters
  u64 data_config_ = 0;    // as hardware has it
  u32 record_bytes_ = 0;   // of one record in this configuration
  unsigned active_ = 0, large_ = 0;
  u64 recorded_counters_ = 0;  // of snapshot groups that are or were on the PMU
  bool draining_ = false;
  DemuxTotals totals_;
};

}  // namespace pmusim::driver

#endif
