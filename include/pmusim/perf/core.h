#ifndef PMUSIM_PERF_CORE_H
#define PMUSIM_PERF_CORE_H

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "pmusim/base/error.h"
#include "pmusim/perf/attr_check.h"
#include "pmusim/perf/context.h"
#include "pmusim/perf/driver.h"
#include "pmusim/perf/output.h"
#include "pmusim/perf/records.h"
#include "pmusim/perf/ring_buffer.h"
#include "pmusim/perf/software_pmu.h"
#include "pmusim/perf/target.h"

namespace pmusim::perf {

class Scheduler;
enum class ThrottleScope : u8;

/// perf time from the time-stamp counter: ns = zero + tsc * mult / 2^shift, as the control page publishes it.
struct TscToNs {
  u32 mult = 1;
  u16 shift = 0;
  u64 zero = 0;
  u64 operator()(u64 tsc) const;
};

/// Whether events that interrupt too often are stopped until the next tick, alone or with their group. A
/// replay has no machine to protect and must not lose samples; an experiment may want the kernel's behaviour.
enum class Throttling : u8 { off, on };

struct CoreOptions {
  Limits limits;
  u32 cpu = 0;   ///< the emulated CPU
  u32 cpus = 1;  ///< CPUs of the system; events on others are refused with ENODEV
  u32 pmu_type = static_cast<u32>(EventType::raw);  ///< attr.type of the PMU behind the driver
  u64 tick_ns = 1'000'000;
  u64 rotation_ticks = 1;  ///< ticks between two turns of events that do not fit together
  Throttling throttling = Throttling::off;
  TscToNs clock;
};

/// A mapping of a file (or of nothing) into a task, as MMAP records tell it.
struct Mapping {
  u64 address = 0, length = 0, page_offset = 0;
  u32 protection = 5, flags = 2;  ///< PROT_*, MAP_*
  u32 major = 0, minor = 0;
  u64 inode = 0, inode_generation = 0;
  std::string_view name;
  std::span<const std::byte> build_id;
};

/// The perf_event subsystem of one emulated CPU: events, their scheduling, samples and side band.
///
/// Calls that mean a system call return the kernel's errno with a sentence. Time is the session's: set_time()
/// before anything that asks for it, advance() to let ticks, timers and deferred work happen. Nothing here
/// looks at a real clock.
///
/// Lifetime: `hardware` outlives the core; events live until close() or the core's end.
class PerfCore final : public SampleSink {
 public:
  explicit PerfCore(PmuDriver& hardware, CoreOptions options = {});
  ~PerfCore() override;
  PerfCore(const PerfCore&) = delete;
  PerfCore& operator=(const PerfCore&) = delete;

  /// What the samples of the replayed program can be filled with. `target` outlives the core.
  void set_target(const Target& target) { target_ = &target; }

  // --- time
  // ---------------------------------------------------------------------------------------------------

  /// Moves perf time (ns) forward and does nothing else: before handle_pmi() of the driver.
  void set_time(u64 now);
  /// Moves perf time forward and does what is due: ticks (frequency, rotation, unthrottling), software
  /// timers, work that an overflow left behind. `frame` is what was interrupted. Outside of handle_pmi()
  /// only.
  void advance(u64 now, const InterruptFrame& frame);
  /// The latest time at which advance() must be called.
  u64 next_deadline() const;

  // --- system calls
  // -------------------------------------------------------------------------------------------

  /// perf_event_open. `pid`: a task, 0 the current one, -1 everyone on `cpu`. `cpu`: -1 wherever the task is.
  Result<Event*, KernelError> open(const Attr& attr, i32 pid, i32 cpu, Event* group_leader = nullptr,
                                   u64 flags = 0);
  /// The same from bytes of any attribute version; attr.size in `user` is corrected on E2BIG.
  Result<Event*, KernelError> open(std::span<std::byte> user, i32 pid, i32 cpu, Event* group_leader = nullptr,
                                   u64 flags = 0);
  void close(Event& event);

  enum class Access : u8 { read_write, read_only };  ///< PROT_READ alone makes the buffer overwrite itself
  /// mmap of the event: control page and `data_pages` pages. The page's times are those of the latest
  /// tick, read or change of state, its offset the count as it was read last; its index stays 0: a replayed
  /// program has no rdpmc.
  Result<RingBuffer*, KernelError> mmap(Event& event, std::size_t data_pages,
                                        Access access = Access::read_write);

  /// read(): words as attr.read_format lays them out; empty for an event in error state. ECHILD: a group
  /// read, and a task that inherited the group has other members.
  Result<std::vector<u64>, KernelError> read(Event& event);
  /// The same into memory of the caller; the number of bytes. ENOSPC: they do not fit.
  Result<std::size_t, KernelError> read(Event& event, std::span<std::byte> buffer);

  enum class Scope : u8 { event, group };  ///< PERF_IOC_FLAG_GROUP
  void enable(Event& event, Scope scope = Scope::event);
  void disable(Event& event, Scope scope = Scope::event);
  void reset(Event& event, Scope scope = Scope::event);
  Result<Done, KernelError> refresh(Event& event, i64 overflows);
  Result<Done, KernelError> set_period(Event& event, u64 period);
  Result<Done, KernelError> set_output(Event& event, Event* to);
  /// MODIFY_ATTRIBUTES with an attribute of any version: only breakpoints can, and no PMU here has them.
  Result<Done, KernelError> modify_attributes(Event& event, std::span<std::byte> user);
  Result<Done, KernelError> pause_output(Event& event, bool paused);
  static u64 id(const Event& event) { return primary_id(event); }

  // --- what happens on the CPU
  // --------------------------------------------------------------------------------

  /// A task that exists from now on without FORK: the first one. `tid` unique.
  void task_started(u32 pid, u32 tid, std::string comm);
  void fork(u32 parent_tid, u32 pid, u32 tid);
  void exec(u32 tid, std::string comm);
  void set_comm(u32 tid, std::string comm);
  void mmap_region(u32 tid, const Mapping& mapping);
  void exit(u32 tid);
  enum class SwitchReason : u8 { blocked, preempted };
  /// `tid` runs from now on; 0: idle.
  void switch_to(u32 tid, SwitchReason reason = SwitchReason::blocked);
  u32 current_tid() const;

  /// Software events other than the clocks and switches: page faults a trace has recorded.
  void count_software(SoftwareId id, u64 n, u64 address, const InterruptFrame& frame);

  /// Side band that has no task of its own (KSYMBOL, CGROUP, NAMESPACES, ITRACE_START): to every event that
  /// `wants` says yes to.
  template <class Record>
  void broadcast(const Record& record, bool (*wants)(const Attr&));

  /// sigtrap: an overflow of such an event calls this instead of sending SIGTRAP.
  void on_sigtrap(std::function<void(const Event&, u64 address)> callback) { sigtrap_ = std::move(callback); }

  /// Every open event, inherited ones included, in order of opening.
  std::vector<Event*> events() const;

  // --- SampleSink
  // ---------------------------------------------------------------------------------------------

  Verdict overflow(Event& event, const SampleData& data, const InterruptFrame& frame) override;
  void output(Event& event, const SampleData& data, const InterruptFrame& frame) override;
  void lost_samples(Event& event, u64 count) override;
  Verdict account_interrupt(Event& event) override;
  u64 time_of_tsc(u64 tsc) const override { return options_.clock(tsc); }
  u64 now() const override { return now_; }
  std::vector<std::byte> read_code(u64 address, std::size_t bytes) const override;

 private:
  // opening (core_open.cpp)
  Result<Task*, KernelError> find_target(i32 pid, u64 flags);
  SampleLayout layout_of(const Attr& attr) const;
  Result<Done, KernelError> choose_pmu(Event& event);
  Result<Done, KernelError> allocate(Event& event, const Task* task, i32 cpu);
  Result<Done, KernelError> check_group(const Event& event, const Event& leader) const;
  Result<Done, KernelError> check_read_size(const Event& event, const Event& leader) const;
  void install(Event& event, Event* leader);
  bool owns(const Event* event) const;
  /// Where the event's records go: an inherited one writes to the buffer of the original.
  static RingBuffer* ring_of(const Event& event) {
    return (event.parent ? event.parent : &event)->ring.get();
  }
  void remove(Event& event);
  void release(Event& event);

  // control (core_control.cpp)
  void set_state(Event& event, EventState state);
  Result<Done, KernelError> check_locked_memory(std::size_t pages) const;
  void update_page(Event& event);
  template <class F>
  void for_event_and_children(Event& event, Scope scope, F apply);
  void reschedule();

  // reading (core_read.cpp)
  void update_count(Event& event);
  u64 total_count(Event& event);
  std::vector<u64> read_values(Event& event);
  void sample_read_values(Event& event, std::span<const CountAtSample> recorded, std::vector<u64>& values);

  // tasks (core_tasks.cpp)
  Task* find_task(u32 tid);
  void inherit(Task& parent, Task& child);
  Event* inherit_event(Event& original, Task& child, Event* leader);
  void exit_event(Event& event);
  void flush_samples();
  Moment moment_of(const Task* task) const;
  template <class Record, class Wants>
  void emit(Task* task, const Record& record, Wants wants);
  void emit_switch(Task& task, const Task* other, u16 misc);

  // sampling (core_sampling.cpp)
  void write_sample(Event& event, const SampleData& data, const InterruptFrame& frame);
  const Registers* user_registers(const Attr& attr, const SampleData& data,
                                  const InterruptFrame& frame) const;
  u64 max_samples_per_tick() const;
  void throttle(Event& event);
  void unthrottle(Event& event);
  void log_throttle(Event& event, RecordType type);
  ThrottleScope throttle_scope() const;
  void write_throttle(Event& event, RecordType type);
  void adjust_on_overflow(Event& event);

  // ticks (core_ticks.cpp)
  void tick();
  void adjust_period(Event& event, u64 ns, u64 count);
  void adjust_on_tick(Event& event);
  void run_deferred();

  PmuDriver& hardware_;
  SoftwarePmu software_;
  CoreOptions options_;
  std::unique_ptr<Scheduler> scheduler_;
  const Target* target_;
  u64 now_ = 0;
  u64 ticks_ = 0;
  u64 next_id_ = 1;
  std::vector<std::unique_ptr<Event>> events_;
  std::unordered_map<u32, std::unique_ptr<Task>> tasks_;  // by tid
  Task* current_ = nullptr;
  std::vector<Event*> to_disable_;  ///< reached their event limit in an interrupt
  std::vector<u64> sample_read_, callchain_;
  std::function<void(const Event&, u64)> sigtrap_;
};

template <class Record>
void PerfCore::broadcast(const Record& record, bool (*wants)(const Attr&)) {
  const Moment moment = moment_of(current_);
  for (const auto& event : events_) {
    RingBuffer* ring = ring_of(*event);
    if (event->state >= EventState::inactive && ring && wants(event->attr))
      output_record(*ring, *event, moment, record);
  }
}

}  // namespace pmusim::perf

#endif
