// SPDX-License-Identifier: MIT
#ifndef PMUSIM_PERF_EVENT_H
#define PMUSIM_PERF_EVENT_H

#include <array>
#include <memory>
#include <vector>

#include "pmusim/perf/abi.h"

/// An opened event as the perf core and the PMU's driver share it.
namespace pmusim::perf {

class RingBuffer;
class Context;
class PmuDriver;

enum class EventState : i32 { dead = -4, exit = -3, error = -2, off = -1, inactive = 0, active = 1 };

/// What every PMU has of an event: its period, and whether it counts.
struct HardwareEvent {
  u64 sample_period = 0, last_period = 0;
  i64 period_left = 0;
  u64 previous_count = 0;  ///< raw counter value at the last update
  bool stopped = true;
  // throttling and frequency mode
  u64 interrupts = 0, interrupts_sequence = 0;
  u64 frequency_time_stamp = 0, frequency_count_stamp = 0;
};

/// What one PMU's driver keeps of an event for itself. Each driver has its own kind.
struct DriverData {
  DriverData() = default;
  virtual ~DriverData() = default;
  DriverData(const DriverData&) = default;
  DriverData& operator=(const DriverData&) = default;
};

/// Registers of a SIMD block.
struct SimdCounts {
  u16 vectors = 0, predicates = 0;
};

/// What all samples of an event have in common; follows from the attribute (make_sample_layout).
struct SampleLayout {
  u64 sample_type = 0;              ///< what this was made for
  u32 fixed_bytes = 8;              ///< header and all fields whose size the attribute decides
  u32 user_register_bytes = 0;      ///< REGS_USER without its ABI word, if there are any
  u32 samples_between_wakeups = 0;  ///< 0: no such rule
  /// Of `fixed_bytes`, what REGS_INTR does not have in a sample that hit the kernel.
  u32 hidden_in_kernel_bytes = 0;
  SimdAbi simd = SimdAbi::series_v7;
  std::array<SimdCounts, 2> simd_counts{};  ///< by RegisterSide
  u16 branch_entries_limit = 0;             ///< 0: none
  /// `fixed_bytes`, if that is all: one-word fields, at most all general registers, and no wakeup rule. Else
  /// more than any ring has.
  u32 plain_bytes = ~u32{0};
};

/// One opened perf event (perf_event_open returns one). Owned by the core; siblings are owned by it too and
/// point at their leader.
struct Event {
  Attr attr;
  SampleLayout layout;  ///< of `attr`
  u64 id = 0;           ///< its own; readers know it by its original()'s
  EventState state = EventState::off;
  Event* leader = nullptr;       ///< itself if it leads
  std::vector<Event*> siblings;  ///< of a leader, in creation order
  Event* parent = nullptr;       ///< the event this one was inherited from
  std::vector<Event*> children;  ///< inherited from this one and still alive
  PmuDriver* pmu = nullptr;      ///< who counts it
  HardwareEvent hw;
  std::unique_ptr<DriverData> driver_data;  ///< of `pmu`, if it needs any
  u64 count = 0;                            ///< own occurrences
  u64 child_count = 0;                      ///< of exited inherited children, as are the two times
  u64 child_time_enabled = 0, child_time_running = 0;
  u64 lost_samples = 0;
  u64 time_enabled = 0, time_running = 0, time_stamp = 0;
  Context* context = nullptr;
  i32 cpu = -1;  ///< as opened
  std::shared_ptr<RingBuffer> ring;
  bool mapped = false;   ///< `ring` is its own mapping, not another event's output
  u32 event_limit = 0;   ///< REFRESH; a 32-bit counter that wraps, as the kernel's
  bool hung_up = false;  ///< poll() says POLLHUP: nothing more will come

  bool is_sampling() const { return attr.sample_period != 0; }
  bool is_leader() const { return leader == this; }
  /// The event that was opened: the one this was inherited from, or itself.
  Event& original() { return parent != nullptr ? *parent : *this; }
  const Event& original() const { return parent != nullptr ? *parent : *this; }
};

}  // namespace pmusim::perf

#endif
