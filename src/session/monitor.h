// SPDX-License-Identifier: MIT
#ifndef PMUSIM_SRC_SESSION_MONITOR_H
#define PMUSIM_SRC_SESSION_MONITOR_H

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "pmusim/pmu/pmu.h"
#include "session/core_types.h"
#include "session/monitored_cpu.h"

namespace pmusim {

/// Whom an event counts, as perf_event_open takes it.
struct CountedTasks {
  i32 pid = -1, cpu = 0;
  u64 flags = 0;
  /// And not everybody on a CPU, or a cgroup.
  bool is_task() const { return pid > 0 && flags == 0; }
};

/// What watches a running program: the PMUs of a machine's CPUs under their drivers, and one perf_event core.
/// It gets what retires and what happens, and never changes it.
///
/// One thread runs at a time, on one CPU, and the others are halted: their clocks come up to that one's when
/// they are read, at ticks, and when a thread comes. Time is the TSC's, which starts at 0 and is the
/// same on all.
class Monitor {
 public:
  /// `program` must outlive the monitor.
  Monitor(const SessionOptions& options, const trace::ProgramView& program, Sight sight = Sight::all);
  ~Monitor();
  Monitor(const Monitor&) = delete;
  Monitor& operator=(const Monitor&) = delete;

  perf::PerfCore& perf() { return *perf_; }
  unsigned cpus() const { return static_cast<unsigned>(cpus_.size()); }
  MonitoredCpu& cpu(u32 number) const { return *cpus_.at(number); }
  /// Index into Topology::types.
  u32 type_of(u32 cpu) const { return type_of_.at(cpu); }
  bool is_hybrid() const { return types_.size() > 1; }
  /// What it gets of what retires.
  Sight sight() const { return cpus_.front()->sight(); }
  // the first CPU's
  Pmu& pmu() const { return cpus_.front()->pmu(); }
  const driver::CoreDriver& driver() const { return cpus_.front()->driver(); }

  const driver::CoreDriver& driver_of_type(u32 type) const;
  /// What the drivers of all its PMUs met.
  driver::DriverStatistics driver_statistics() const;
  /// Whether a driver has samples that have not come out.
  bool holds_records() const;
  const CpuModel& model() const { return types_.front(); }
  /// How perf time follows from the TSC.
  perf::TscToNs clock() const { return clock_; }
  /// perf time where the program runs, in ns.
  u64 now() const { return running_->now(); }
  /// And its time-stamp counter.
  u64 tsc() const { return running_->pmu().tsc(); }

  /// Whether it counts all of the event's occurrences, or as many as the windows of core `sampled` have.
  Sight sight_of(const perf::Attr& attr) const;

  /// As Session::open_event(), by itself for all of the program.
  Result<perf::Event*, KernelError> open_event(const perf::Attr& attr, perf::Event* leader = nullptr,
                                               CountedTasks counted = {});

  /// Call chains of samples are to come from here. `calls` must outlive the monitor.
  void use_call_stacks(const CallTracker& calls);
  bool uses_call_stacks() const { return cpus_.front()->uses_call_stacks(); }

  /// Between instructions: perf time comes up to the PMU's, and work that an overflow has left behind is
  /// done.
  void catch_up() { running_->catch_up(); }
  /// Idle CPUs come up to the time of the one that runs.
  void bring_up_idle();

  /// Called between instructions, at least once in every tick of perf time: no interrupt is being handled.
  void on_pause(std::function<void()> callback) { on_pause_ = std::move(callback); }
  /// The extended registers have changed otherwise than by instructions: blocks tell what they are.
  void lose_extended() { running_->lose_extended(); }

  /// The first process is there and runs, before its program is: events can be opened on it. Where nobody
  /// calls this its ProcessStart does.
  void start(const trace::ProcessStart& first, u32 cpu);
  /// Who runs from now on, a ThreadSwitch says, runs on `cpu`.
  void on_side_band(const trace::SideBandRecord& record, u32 cpu = 0);
  /// The thread that runs goes on there.
  void migrate(u32 cpu);
  /// What perf_event_open takes for the cgroup.
  CountedTasks tasks_of_cgroup(const std::string& path, i32 cpu);
  /// Those that have tasks, and the root: number and path.
  std::map<u64, std::string> cgroups();
  /// The program is over, and others of the machine are not: its CPUs are idle until then.
  void idle_until(u64 tsc);
  /// The program is over.
  void stop_events();

 private:
  using SwitchReason = perf::PerfCpu::SwitchReason;
  struct OnType {
    u32 type;
    perf::Attr attr;
  };
  OnType on_type(const perf::Attr& attr) const;
  Result<Done, KernelError> check_event(const perf::Attr& attr) const;
  Result<Done, KernelError> check_pmu_event(u32 type, const perf::Attr& attr) const;
  KernelError kernels_word(const KernelError& refusal, perf::Attr attr, perf::Event* leader,
                           CountedTasks counted);
  SharedByDrivers shared_by(u32 cpu, const Topology& machine);
  std::vector<perf::PmuDriver*> drivers_of(u32 type) const;
  void register_sampling_pmus();
  void pause();
  void switch_to(const trace::ThreadSwitch& to, u32 cpu, SwitchReason reason = SwitchReason::blocked);
  void forget_code();
  u64 inode_of(const std::string& path);
  void enter_cgroup(u32 tid, std::string_view command = {});

  const trace::ProgramView& program_;
  perf::Kernel kernel_;
  CoreLevel core_;
  u64 tick_ns_;
  bool throttles_;
  std::vector<CgroupTasks> cgroups_;
  std::vector<CpuModel> types_;
  Machine machine_;
  std::vector<u32> type_of_;                      // by CPU
  std::map<u32, driver::TaskStacks> stacks_;      // by type
  std::map<u32, driver::CoreResources> threads_;  // of cores with two, by the first CPU
  std::vector<std::unique_ptr<MonitoredCpu>> cpus_;
  perf::TscToNs clock_;
  std::unique_ptr<perf::PerfCore> perf_;
  MonitoredCpu* running_ = nullptr;
  u32 pid_ = 0, tid_ = 0;              // running now
  std::map<std::string, u64> inodes_;  // by path, in the order of their first mapping
  bool started_ = false;
  bool branches_sampled_ = false;  // by an event that has been opened
  u64 ticks_ = 0;                  // that have passed where the program runs
  std::function<void()> on_pause_;
};

}  // namespace pmusim

#endif
