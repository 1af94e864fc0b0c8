// SPDX-License-Identifier: MIT
#ifndef PMUSIM_PERF_DRIVER_H
#define PMUSIM_PERF_DRIVER_H

#include <array>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "pmusim/base/bus.h"
#include "pmusim/base/types.h"
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
  /// A sample that hit the kernel has neither IP nor registers of the interrupted code.
  bool hides_kernel = false;
  /// Of `fixed_bytes`, what REGS_INTR does not have in such a sample.
  u32 hidden_in_kernel_bytes = 0;
  SimdAbi simd = SimdAbi::series_v7;
  std::array<SimdCounts, 2> simd_counts{};  ///< by RegisterSide
  u16 branch_entries_limit = 0;             ///< 0: none
  /// `fixed_bytes`, if that is all: one-word fields, at most all general registers, and no wakeup rule. Else
  /// more than any ring has.
  u32 plain_bytes = ~u32{0};
};

struct CgroupOnCpu;

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
  u32 pmu_place = 0;             ///< which of the core's PMUs counts it; 0: the kernel itself
  PmuDriver* pmu = nullptr;      ///< its driver on the CPU where the event is, or has been last
  HardwareEvent hw;
  std::unique_ptr<DriverData> driver_data;  ///< of `pmu`, if it needs any
  u64 count = 0;                            ///< own occurrences
  u64 child_count = 0;                      ///< of exited inherited children, as are the two times
  u64 child_time_enabled = 0, child_time_running = 0;
  u64 lost_samples = 0;
  u64 time_enabled = 0, time_running = 0, time_stamp = 0;
  Context* context = nullptr;
  const CgroupOnCpu* cgroup = nullptr;  ///< whose tasks it counts; null: everybody's
  i32 cpu = -1;                         ///< as opened
  i32 on_cpu = -1;                      ///< where it is active; -1: nowhere
  std::shared_ptr<RingBuffer> ring;
  bool mapped = false;   ///< `ring` is its own mapping, not another event's output
  u32 event_limit = 0;   ///< REFRESH; a 32-bit counter that wraps, as the kernel's
  bool hung_up = false;  ///< poll() says POLLHUP: nothing more will come
  /// Set by its driver at init(): it means nothing without its group. Once its leader is gone it is in error
  /// for good.
  bool member_only = false;
  bool of_kernel = false;  ///< opened by PerfCore::open_in_kernel()

  bool is_sampling() const { return attr.sample_period != 0; }
  bool is_leader() const { return leader == this; }
  /// The event that was opened: the one this was inherited from, or itself.
  Event& original() { return parent != nullptr ? *parent : *this; }
  const Event& original() const { return parent != nullptr ? *parent : *this; }
};

/// What the driver may assume of the PMU it drives; the core checks attributes against it.
struct PmuCapabilities {
  bool interrupts = true;           ///< false: no sampling
  bool extended_registers = false;  ///< XMM in REGS_INTR
  bool simd_registers = false;
  bool auxiliary_output = false;
  /// A guest may have the whole PMU for a time (PerfCpu::load_guest()).
  bool mediated_guests = false;
  /// Takes generic events that name its type in config[63:32].
  bool extended_type = true;
  std::string name = "cpu";
  /// sysfs caps/pmu_name is there, and caps/branches though it may be 0, as Intel's driver has them.
  bool names_core = false;
  unsigned branch_entries = 0, branch_counter_count = 0, branch_counter_width = 0, max_precise = 0;
};

/// A thread and its process, whose threads share an address space; zeros for none.
struct TaskId {
  u32 pid = 0, tid = 0;
};

/// A PMU driver as the perf core sees it: of one CPU, and of several that have the same PMU one each. An
/// event is on one of them at a time; init() and destroy() are called on that of the first such CPU. All
/// calls come between `disable()` and `enable()` where noted; the driver never calls back into these.
///
/// Scheduling: `begin()`, `add()` for each member of a group, then `commit()` or `cancel()`. `add` outside of
/// a transaction schedules at once. After `enable()` the added events count.
class PmuDriver {
 public:
  virtual ~PmuDriver() = default;
  virtual PmuCapabilities capabilities() const = 0;

  /// Validates the attribute for this PMU and fills `event.hw`. `event.leader` is set. Errors as the
  /// kernel's.
  virtual Result<Done, KernelError> init(Event& event) = 0;
  /// Driver state that goes with an event leaves.
  virtual void destroy(Event& event) = 0;

  /// Stops and restarts all counting of this PMU. Calls nest.
  virtual void disable() = 0;
  virtual void enable() = 0;

  virtual void begin() = 0;
  virtual bool commit() = 0;
  virtual void cancel() = 0;
  /// Puts the event on the PMU (not started if `event.hw.stopped` was requested by the core). False: no room.
  virtual bool add(Event& event) = 0;
  virtual void remove(Event& event) = 0;

  enum class StartMode : u8 { keep_period, reload };
  virtual void start(Event& event, StartMode mode) = 0;
  enum class StopMode : u8 { plain, update };
  virtual void stop(Event& event, StopMode mode) = 0;
  /// Brings `event.count` up to date.
  virtual void read(Event& event) = 0;
  /// The same of a member, as its whole group is read: its leader has been read just before.
  virtual void read_member(Event& event) { read(event); }
  /// Whether the event may be given this period (ioctl PERIOD).
  virtual Result<Done, KernelError> check_period(const Event&, u64 /*period*/) const { return Done{}; }
  /// A task leaves or enters the CPU: records that hardware keeps of it go with it.
  enum class SwitchDirection : u8 { out, in };
  virtual void context_switch(SwitchDirection direction, TaskId task) = 0;
};

/// The all-NA data source word: what a sample carries when the PMU knows nothing of the access.
inline constexpr u64 data_source_na = 0x1e05080021;

/// A branch stack as a driver hands it over: newest first. `counters` is empty or one word per entry.
struct BranchStack {
  std::span<const BranchEntry> entries;
  u64 hw_index = ~u64{0};
  std::span<const u64> counters;
};

/// Registers beyond the general ones, in the pieces in which hardware saves them. A piece is whole or empty;
/// an empty one reads 0, be it unknown or in its initial state.
struct ExtendedRegisters {
  std::span<const std::byte> xmm;       ///< XMM0 to XMM15, 16 bytes each
  std::span<const std::byte> ymm_high;  ///< bits 255:128 of YMM0 to YMM15, 16 bytes each
  std::span<const std::byte> zmm_high;  ///< bits 511:256 of ZMM0 to ZMM15, 32 bytes each
  std::span<const std::byte> hi16_zmm;  ///< ZMM16 to ZMM31, 64 bytes each
  std::span<const std::byte> opmask;    ///< k0 to k7, 8 bytes each
  std::span<const std::byte> egpr;      ///< R16 to R31, 8 bytes each
  u64 shadow_stack_pointer = 0;         ///< of user mode
};

/// The count of one event as it was when a sample was taken.
struct CountAtSample {
  const Event* event = nullptr;
  u64 count = 0;
};

/// What a PMU driver knows about one sample. What it leaves empty the core fills with the ABI's default.
/// Spans and pointers are borrowed for the duration of the call that passes the sample.
struct SampleData {
  u64 period = 0;           ///< events since the previous sample
  std::optional<u64> ip;    ///< if it differs from the interrupted one
  std::optional<Cpl> cpl;   ///< of the code at `ip`, if not that of the interrupted code
  bool exact_ip = false;    ///< sets PERF_RECORD_MISC_EXACT_IP
  std::optional<u64> time;  ///< perf time in ns, if the sample was taken earlier than it is delivered
  std::optional<u64> address;
  std::optional<u64> physical_address;
  u64 data_source = data_source_na;
  u64 weight = 0;  ///< WEIGHT or WEIGHT_STRUCT word
  u64 transaction = 0;
  const BranchStack* branches = nullptr;          ///< with none the stack is written empty
  std::optional<std::span<const u64>> callchain;  ///< with context markers
  /// Of the sampled code, if not those of the interrupt: for REGS_INTR and, where that is user code,
  /// REGS_USER.
  const Registers* registers = nullptr;
  const ExtendedRegisters* extended = nullptr;       ///< for REGS_INTR
  const ExtendedRegisters* user_extended = nullptr;  ///< for REGS_USER
  std::span<const std::byte> raw;
  /// For READ: counts that were recorded with the sample. Events that are not in it are read now.
  std::span<const CountAtSample> counts;
};

/// Privilege level of the code that was sampled.
inline Cpl sampled_level(const SampleData& data, const InterruptFrame& frame) {
  return data.cpl.value_or(frame.cpl);
}

/// perf time from the time-stamp counter: ns = zero + tsc * mult / 2^shift, as the control page publishes it.
struct TscToNs {
  u32 mult = 1;
  u16 shift = 0;
  u64 zero = 0;
  u64 operator()(u64 tsc) const {
    const u64 whole = tsc >> shift, rest = tsc - (whole << shift);
    return zero + whole * mult + (rest * mult >> shift);
  }
};

/// Samples of one event at one moment, as far as they are alike, for drivers that write many of them in
/// place. `words` is a sample without branches, up to its registers: what the driver leaves of it has the
/// ABI's default. `Offsets` are bytes from the start of such a sample; behind `branches_end` the entries come
/// in between. 0: samples have no such field.
struct SampleTemplate {
  static constexpr unsigned most_words = 20;
  struct Offsets {
    u32 ip = 0, time = 0, address = 0, branch_count = 0, branches_end = 0, weight = 0, data_source = 0,
        transaction = 0, physical_address = 0;
    u32 registers = 0;      ///< RAX, in the order of perf's numbers (PERF_REG_X86_*) up to R15
    u32 xmm_registers = 0;  ///< XMM0 to XMM15
  };

  RingBuffer* ring = nullptr;
  std::array<u64, most_words> words{};  ///< the first is the header without size, privilege and exact IP
  u32 word_bytes = 0;                   ///< of `words`
  u32 bytes = 0;                        ///< of a sample without branches
  Offsets at;
  bool selectors = false;  ///< CS and SS stand behind RFLAGS
  u64 stack_selector = 0;
  TscToNs clock;
};

/// What the driver needs of the perf core: where its samples and losses go, and what runs now.
class SampleSink {
 public:
  virtual ~SampleSink() = default;

  enum class Verdict : u8 { keep, stop };
  /// A sample that ends an interval: throttling, event limit, wakeups and frequency apply. `stop`: the driver
  /// must stop the event.
  virtual Verdict overflow(Event& event, const SampleData& data, const InterruptFrame& frame) = 0;
  /// A sample from the middle of a drain: output only.
  virtual void output(Event& event, const SampleData& data, const InterruptFrame& frame) = 0;
  /// What output() writes of `event` at this moment, if that is of a fixed form and `event` has a ring:
  /// samples may then be written there in place instead. `event.hw.last_period` is their period.
  virtual std::optional<SampleTemplate> sample_template(const Event&, const InterruptFrame&) const {
    return std::nullopt;
  }
  /// PERF_RECORD_LOST_SAMPLES.
  virtual void lost_samples(Event& event, u64 count) = 0;
  /// Accounts `event` as having interrupted, without a sample. `stop` as above.
  virtual Verdict account_interrupt(Event& event) = 0;

  /// perf clock in ns for a TSC value; the same scale that TIME uses.
  virtual u64 time_of_tsc(u64 tsc) const = 0;
  virtual u64 now() const = 0;
  /// Code of the current task, for the software branch filter: up to `bytes` bytes, fewer where unreadable.
  virtual std::vector<std::byte> read_code(u64 address, std::size_t bytes) const = 0;
};

}  // namespace pmusim::perf

#endif
