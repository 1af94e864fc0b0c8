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
#include "perf/context.h"
#include "perf/output.h"
#include "perf/pmus.h"
#include "perf/records.h"
#include "perf/ring_buffer.h"
#include "perf/software_pmu.h"
#include "pmusim/perf/core.h"

namespace pmusim::perf {

class Scheduler;
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
  explicit LinuxCore(PmuDriver& hardware, CoreOptions options = {});
  ~LinuxCore() override;
  LinuxCore(const LinuxCore&) = delete;
  LinuxCore& operator=(const LinuxCore&) = delete;

  void register_pmu(u32 type, PmuDriver& pmu) override;
  void set_target(const Target& target) override { target_ = &target; }

  // time

  void set_time(u64 now) override;
  void advance(u64 now, const InterruptFrame& frame) override;
  u64 next_deadline() const override;

  // system calls

  Result<Event*, KernelError> open(const Attr& attr, i32 pid, i32 cpu, Event* group_leader,
                                   u64 flags) override;
  Result<Event*, KernelError> open(std::span<std::byte> user, i32 pid, i32 cpu, Event* group_leader,
                                   u64 flags) override;
  void close(Event& event) override;

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

  // what happens on the CPU

  void task_started(u32 pid, u32 tid, std::string comm) override;
  void fork(u32 parent_tid, u32 pid, u32 tid) override;
  void exec(u32 tid, std::string comm) override;
  void set_comm(u32 tid, std::string comm) override;
  void mmap_region(u32 tid, const Mapping& mapping) override;
  void exit(u32 tid) override;
  void switch_to(u32 tid, SwitchReason reason) override;
  u32 current_tid() const override;

  void count_software(SoftwareId id, u64 n, u64 address, const InterruptFrame& frame) override;

  void on_overflow(std::function<void(const Event&)> callback) override { overflowed_ = std::move(callback); }
  void on_sigtrap(std::function<void(const Event&, u64 address)> callback) override {
    sigtrap_ = std::move(callback);
  }

  std::vector<Event*> events() const override;

  // SampleSink

  Verdict overflow(Event& event, const SampleData& data, const InterruptFrame& frame) override;
  void output(Event& event, const SampleData& data, const InterruptFrame& frame) override;
  std::optional<SampleTemplate> sample_template(const Event& event,
                                                const InterruptFrame& frame) const override;
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
  void leave_with_samples();
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
  void tick(Context& context);
  void adjust_period(Event& event, u64 ns, u64 count);
  void adjust_on_tick(Event& event);
  void run_deferred();

  CoreOptions options_;
  Pmus pmus_;
  SoftwarePmu software_;
  std::unique_ptr<Scheduler> scheduler_;
  const Target* target_;
  u64 now_ = 0;
  u64 ticks_ = 0;
  bool throttled_since_tick_ = false;
  std::map<const Event*, LockedPages> locked_;  // of events that are mapped
  std::set<const Event*> signalling_;
  u64 next_id_ = 1;
  std::vector<std::unique_ptr<Event>> events_;
  std::unordered_map<u32, std::unique_ptr<Task>> tasks_;  // by tid
  Task* current_ = nullptr;
  std::vector<Event*> to_disable_;  ///< reached their event limit in an interrupt
  std::vector<u64> sample_read_, callchain_;
  std::function<void(const Event&, u64)> sigtrap_;
  std::function<void(const Event&)> overflowed_;
};

}  // namespace pmusim::perf

#endif
