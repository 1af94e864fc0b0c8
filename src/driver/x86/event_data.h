// SPDX-License-Identifier: MIT
#ifndef PMUSIM_SRC_DRIVER_X86_EVENT_DATA_H
#define PMUSIM_SRC_DRIVER_X86_EVENT_DATA_H

#include <optional>

#include "driver/x86/topdown_reading.h"
#include "pmusim/perf/driver.h"

namespace pmusim::driver {

/// Bits of EventData::flags outside the PEBS part's.
namespace driver_flag {
inline constexpr u32 ACR_GROUP = 1u << 0;  ///< of a leader: a member of its group names reload causes
inline constexpr u32 METRIC = 1u << 1;     ///< counted as a share of the slots counter
inline constexpr u32 SLOTS_WITH_METRICS =
    1u << 2;  ///< slots that count from zero, cleared with its metrics at each look
inline constexpr u32 TOPDOWN = METRIC | SLOTS_WITH_METRICS;
inline constexpr u32 CHECKPOINTED = 1u << 3;     ///< IN_TXCP: an abort takes counts and status bit back
inline constexpr u32 BRANCH_TRACE = 1u << 4;     ///< every branch a sample: no counter, the BTS buffer
inline constexpr u32 BRANCH_HARDWARE = 1u << 5;  ///< claims the LBR or the branch trace store
inline constexpr u32 GUEST_LBR = 1u << 6;        ///< keeps the LBR on for a guest: counts nothing
inline constexpr u32 METRICS_CLEAR = 1u << 7;    ///< slots of which RDPMC clears PERF_METRICS
inline constexpr u32 PAIR = 1u << 8;             ///< needs two counters as one
inline constexpr u32 COUNTERLESS = BRANCH_TRACE | GUEST_LBR;
}  // namespace driver_flag

/// Bits of EventData::flags that `PebsDriver::init` sets. Bits 15:0 are the rest of the driver's.
namespace pebs_flag {
inline constexpr u32 PRECISE = 1u << 16;            ///< the event uses PEBS
inline constexpr u32 AUTO_RELOAD = 1u << 17;        ///< hardware reloads the period
inline constexpr u32 LARGE = 1u << 18;              ///< many records per interrupt are fine with it
inline constexpr u32 LOAD_LATENCY = 1u << 19;       ///< attr.config1 is the threshold of MSR 3F6
inline constexpr u32 STORE_LATENCY = 1u << 20;      ///< Golden Cove and later
inline constexpr u32 PRECISE_STORE = 1u << 21;      ///< Sandy Bridge, Ivy Bridge
inline constexpr u32 MEMORY_LOAD = 1u << 22;        ///< records carry the address of a load, not where it hit
inline constexpr u32 MEMORY_STORE = 1u << 23;       ///< records carry a store's address and if it hit L1
inline constexpr u32 COUNTERS_RECORDED = 1u << 24;  ///< of a leader: records store its group's counters
inline constexpr u32 EXTENDED_REGISTERS = 1u << 25;  ///< samples registers beyond the general ones
}  // namespace pebs_flag

/// What this driver keeps of an event, beside what every PMU has of it (perf::HardwareEvent).
struct EventData final : perf::DriverData {
  u64 config = 0;          ///< event select as it will be written, without EN
  int index = -1;          ///< counter number (32 + m fixed), -1 not assigned
  int last_index = -1;     ///< where it was before: the scheduler's fast path
  bool up_to_date = true;  ///< stopped, and `count` has what the counter had
  u32 flags = 0;           ///< driver_flag and pebs_flag
  u32 target = 0;          ///< thread that the event was opened for or inherited by; 0: it is the CPU's
  u64 reload_causes = 0;   ///< ACR: counters whose overflow reloads this one
  /// Of slots and metrics: what `count` has of the two registers, which come back to it as slots starts
  /// again.
  std::optional<TopdownReading> topdown;
  u64 dynamic_constraint = ~u64{0};
  u32 extra_register = 0;  ///< MSR number of a shared register, 0 none
  u64 extra_config = 0;
  u64 branch_config = 0;           ///< value of the LBR's filter register
  u64 branch_software_filter = 0;  ///< branch_class; 0: no branches wanted
};

inline const EventData no_data;

/// Of any event of a group. Those of other PMUs have none of it: a software leader gets it with the first
/// flag that is set.
inline EventData& data_of(perf::Event& event) {
  if (event.driver_data == nullptr) event.driver_data = std::make_unique<EventData>();
  return static_cast<EventData&>(*event.driver_data);
}
inline const EventData& data_of(const perf::Event& event) {
  return event.driver_data == nullptr ? no_data : static_cast<const EventData&>(*event.driver_data);
}

/// The counter of an event that has one.
inline unsigned counter_of(const perf::Event& event) { return static_cast<unsigned>(data_of(event).index); }

/// Whether the event's samples need branch records.
inline bool uses_branch_stack(const perf::Event& event) { return data_of(event).branch_software_filter != 0; }

/// Of driver_flag and pebs_flag: whether any of `flags` is set.
inline bool has_flag(const perf::Event& event, u32 flags) { return (data_of(event).flags & flags) != 0; }

}  // namespace pmusim::driver

#endif
