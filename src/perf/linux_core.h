// SPDX-License-Identifier: MIT
#ifndef PMUSIM_SRC_PERF_LINUX_CORE_H
#define PMUSIM_SRC_PERF_LINUX_CORE_H

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "perf/attr_check.h"
#include "perf/cgroup.h"
#include "perf/cpu_context.h"
#include "perf/output.h"
#include "perf/records.h"
#include "perf/ring_buffer.h"
#include "pmusim/perf/core.h"

namespace pmusim::perf {

enum class ThrottleScope : u8;

/// Pages of a mapped buffer, by what they are counted as (perf_mmap).
struct LockedPages {
  u32 user = 0, process = 0;  // who mapped it
  u64 of_user = 0;            // within perf_event_mlock_kb, which all of the user's buffers share
  u64 pinned = 0;             // beyond it, within the process's RLIMIT_MEMLOCK
};

/// The perf_event core as Linux does it; what its calls mean stands with PerfCore.
class LinuxCore final : public PerfCore {
 public:
  using SwitchReason = PerfCpu::SwitchReason;
  using Verdict = SampleSink::Verdict;

  explicit LinuxCore(PmuDriver& hardware, CoreOptions options = {});
  explicit LinuxCore(std::span<PmuDriver* const> hardware, CoreOptions options = {});
  ~LinuxCore() override;
  LinuxCore(const LinuxCore&) = delete;
  LinuxCore& operator=(const LinuxCore&) = delete;

  void register_pmu(u32 type, PmuDriver& pmu) override;
  void register_pmu(u32 type, std::span<PmuDriver* const> by_cpu) override;
  CpuContext& cpu(u32 number) override;

  // system calls

  Result<Event*, KernelError> open(const Attr& attr, i32 pid, i32 cpu, Event* group_leader,
                                   u64 flags) override;
  Result<Event*, KernelError> open(std::span<std::byte> user, i32 pid, i32 cpu, Event* group_leader,
                                   u64 flags) override;
  Result<Event*, KernelError> open_in_kernel(const Attr& attr, i32 pid, i32 cpu) override;
  void close(Event& event) override;
  Result<Done, KernelError> add_mediated_guest() override;
  void remove_mediated_guest() override { --mediated_guests_; }

  Result<RingBuffer*, KernelError> mmap(Event& event, std::size_t data_pages, Access access,
                                        std::shared_ptr<std::byte> memory,
                                        const std::optional<Mapper>& mapper) override;
  void munmap(Event& event) override;
  void set_signals(Event& event, Signals signals) override;

  Result<std::vector<u64>, KernelError> read(Event& event) override;
  Result<std::size_t, KernelError> read(Event& event, std::span<std::byte> buffer) override;

  void enable(Event& event, Scope scope) override;
  void disable(Event& event, Scope scope) override;
  void reset(Event& event, Scope scope) override;
  Result<Done, KernelError> refresh(Event& event, i64 overflows) override;
  Result<Done, KernelError> set_period(Event& event, u64 period) override;
  Result<Done, KernelError> set_output(Event& event, Event* to) override;
  Result<Done, KernelError> modify_attributes(Event& event, std::span<std::byte> user) override;
  Result<Done, KernelError> pause_output(Event& event, bool paused) override;

  // what happens to tasks

  void task_started(u32 pid, u32 tid, std::string comm) override;
  void fork(u32 parent_tid, u32 pid, u32 tid) override;
  void exec(u32 tid, std::string comm) override;
  void set_comm(u32 tid, std::string comm) override;
  void mmap_region(u32 tid, const Mapping& mapping) override;
  void exit(u32 tid) override;

  u64 make_cgroup(std::string_view path, std::optional<u64> id = {}) override;
  void move_to_cgroup(u32 tid, u64 number) override;

  void on_overflow(std::function<void(const Event&)> callback) override { overflowed_ = std::move(callback); }
  void on_sigtrap(std::function<void(const Event&, u64 address)> callback) override {
    sigtrap_ = std::move(callback);
  }

  std::vector<Event*> events() const override;

  // what a CPU says that it is

  void set_time(CpuContext& cpu, u64 now);
  void advance(CpuContext& cpu, u64 now, const InterruptFrame& frame);
  u64 next_deadline(const CpuContext& cpu) const;
  void switch_to(CpuContext& cpu, u32 tid, SwitchReason reason);
  void leave(CpuContext& cpu);
  Verdict overflow(CpuContext& cpu, Event& event, const SampleData& data, const InterruptFrame& frame);
  void write_sample(CpuContext& cpu, Event& event, const SampleData& data, const InterruptFrame& frame);
  std::optional<SampleTemplate> sample_template(const CpuContext& cpu, const Event& event,
                                                const InterruptFrame& frame) const;
  void lost_samples(CpuContext& cpu, Event& event, u64 count);
  Verdict account_interrupt(CpuContext& cpu, Event& event);
  void unthrottled(CpuContext& cpu, Event& event);
  u64 time_of_tsc(u64 tsc) const { return options_.clock(tsc); }

 private:
  // CPUs (core.cpp)
  CpuContext& first() { return *cpus_[options_.cpu]; }
  void add_pmu(u32 type, std::span<PmuDriver* const> by_cpu);
  CpuContext* find_cpu(i32 number) const;
  CpuContext& cpu_of(const Task& task);
  CpuContext& cpu_of(const Event& event);
  /// The driver that knows of the event as long as it is open.
  PmuDriver& home_of(const Event& event) const { return pmus_[event.pmu_place].home(); }

  // opening (core_open.cpp)
  Result<Task*, KernelError> find_target(i32 pid, u64 flags);
  Result<Done, KernelError> follow_cgroup(Event& event, i32 cgroup);
  SampleLayout layout_of(const Attr& attr) const;
  Result<Done, KernelError> choose_pmu(Event& event);
  Result<Done, KernelError> try_pmu(Event& event, u32 place);
  Result<Done, KernelError> allocate(Event& event, const Task* task, i32 cpu, i32 cgroup);
  Result<Done, KernelError> check_group(const Event& event, const Event& leader) const;
  Result<Done, KernelError> check_read_size(const Event& event, const Event& leader) const;
  std::unique_ptr<Event> make_event(const Attr& attr, Task* task, i32 cpu, Event* leader);
  Event* keep(std::unique_ptr<Event> event, Event* leader);
  bool can_be_a_guests(const Event& event) const;
  Result<Done, KernelError> check_guests(const Event& event) const;
  void install(Event& event, Event* leader);
  bool owns(const Event* event) const;
  /// Where the event's records go: an inherited one writes to the buffer of the original.
  static RingBuffer* ring_of(const Event& event) { return event.original().ring.get(); }
  void remove(Event& event);
  void dissolve_group(Event& leader);
  void release(Event& event);

  // control (core_control.cpp)
  void set_state(Event& event, EventState state);
  Result<LockedPages, KernelError> lock_pages(u64 pages, const Mapper& mapper) const;
  bool throttles(const Event& event) const;
  void update_page(Event& event);
  template <class F>
  void for_event_and_children(Event& event, Scope scope, F apply);
  void reschedule(Event& changed);

  // reading (core_read.cpp)
  enum class ReadScope : u8 { event, group };
  void update_count(Event& event, ReadScope scope = ReadScope::event);
  u64 total_count(Event& event, ReadScope scope);
  std::vector<u64> read_values(Event& event);
  void sample_read_values(Event& event, std::span<const CountAtSample> recorded, std::vector<u64>& values);

  // tasks (core_tasks.cpp)
  Task* find_task(u32 tid);
  void inherit(Task& parent, Task& child);
  Event* inherit_event(Event& original, Task& child, Event* leader);
  void exit_event(Event& event);
  static bool has_same_events(const Context& one, const Context& other);
  static void exchange_contexts(Task& previous, Task& next);
  static void leave_with_samples(CpuContext& cpu);
  static Moment moment_of(const CpuContext& cpu, const Task* task);
  template <class Record, class Wants>
  void emit(Task& task, const Record& record, Wants wants);
  static void emit_switch(CpuContext& cpu, Task* task, const Task* other, u16 misc);

  // cgroups (core_cgroups.cpp)
  static constexpr u64 root_cgroup = 1;
  void write_cgroup(const Cgroup& cgroup);
  /// Of a task, and of the idle task, which is null.
  const Cgroup& cgroup_of(const Task* task) const {
    return task != nullptr ? *task->cgroup : cgroups_.at(root_cgroup);
  }

  // sampling (core_sampling.cpp)
  u64 max_samples_per_tick() const;
  void throttle(CpuContext& cpu, Event& event);
  void unthrottle(CpuContext& cpu, Event& event);
  void log_throttle(const CpuContext& cpu, Event& event, RecordType type);
  ThrottleScope throttle_scope() const;
  static void write_throttle(const CpuContext& cpu, Event& event, RecordType type);
  void adjust_on_overflow(const CpuContext& cpu, Event& event);

  // ticks (core_ticks.cpp)
  void tick(CpuContext& cpu);
  void tick(CpuContext& cpu, Context& context, u32 place, bool throttled_one);
  void adjust_period(Event& event, u64 ns, u64 count);
  void adjust_on_tick(Event& event);
  void run_deferred(CpuContext& cpu);

  CoreOptions options_;
  std::vector<std::unique_ptr<CpuContext>> cpus_;           // by number; null: has no driver
  std::vector<PmuType> pmus_;                               // by place
  std::map<u64, Cgroup> cgroups_{{root_cgroup, Cgroup{}}};  // by number
  Context gone_{nullptr};                                   // of opened events whose task is gone
  std::map<const Event*, LockedPages> locked_;              // of events that are mapped
  std::set<const Event*> signalling_;
  unsigned mediated_guests_ = 0;
  u64 next_id_ = 1;
  std::vector<std::unique_ptr<Event>> events_;
  std::unordered_map<u32, std::unique_ptr<Task>> tasks_;  // by tid
  std::vector<u64> sample_read_, callchain_;
  std::function<void(const Event&, u64)> sigtrap_;
  std::function<void(const Event&)> overflowed_;
};

}  // namespace pmusim::perf

#endif
