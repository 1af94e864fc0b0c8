// SPDX-License-Identifier: MIT
#ifndef PMUSIM_SRC_SESSION_MONITOR_H
#define PMUSIM_SRC_SESSION_MONITOR_H

#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "pmusim/driver/core_driver.h"
#include "pmusim/driver/ibs_driver.h"
#include "pmusim/pmu/pmu.h"
#include "pmusim/session/session.h"
#include "pmusim/trace/source.h"

namespace pmusim {

class CallTracker;

/// Whom an event counts, as perf_event_open takes it.
struct CountedTasks {
  i32 pid = -1, cpu = 0;
  u64 flags = 0;
};

/// After the last instruction of a block; null if the trace has none.
inline const Registers* last_registers(const trace::BlockRun& run) {
  return run.registers.empty() ? nullptr : &run.registers.back();
}

/// What watches a running program: the PMU of one logical processor under its driver and perf_event core. It
/// gets what retires and what happens, and never changes it.
///
/// The program has the one CPU to itself, CPU 0. Its time is the TSC's, which starts at 0.
class Monitor final : private PmiHandler, private perf::Target {
 public:
  /// `program` must outlive the monitor.
  Monitor(const SessionOptions& options, const trace::Program& program);
  ~Monitor() override;
  Monitor(const Monitor&) = delete;
  Monitor& operator=(const Monitor&) = delete;

  perf::PerfCore& perf() { return *perf_; }
  Pmu& pmu() { return pmu_; }
  const driver::CoreDriver& driver() const { return *driver_; }
  /// What the drivers of all its PMUs met.
  driver::DriverStatistics driver_statistics() const;
  const CpuModel& model() const { return pmu_.model(); }
  /// How perf time follows from the TSC.
  perf::TscToNs clock() const { return clock_; }
  /// perf time, in ns.
  u64 now() const { return clock_(pmu_.tsc()); }

  /// As Session::open_event(), by itself for all of the program.
  Result<perf::Event*, KernelError> open_event(const perf::Attr& attr, perf::Event* leader = nullptr,
                                               CountedTasks counted = {});

  /// Call chains of samples are to come from here. `calls` must outlive the monitor.
  void use_call_stacks(const CallTracker& calls);
  bool uses_call_stacks() const { return calls_ != nullptr; }

  /// Between instructions: perf time comes up to the PMU's, and work that an overflow has left behind is
  /// done.
  void catch_up() { run_due_work(); }

  /// Called between instructions, at least once in every tick of perf time: no interrupt is being handled.
  void on_pause(std::function<void()> callback) { on_pause_ = std::move(callback); }

  /// Before the first retirement of a block.
  void start_block(const trace::BlockRun& run) {
    if (extended_stale_ && run.extended != nullptr) take_extended(*run.extended);
  }
  /// As the core has it: the time that PMIs and PEBS assists took is added here.
  void retire(const Retirement& retirement) {
    if (calls_ != nullptr) note_retirement(retirement);
    if (!sampling_takes_time_) return pmu_.retire(retirement);
    Retirement later = retirement;
    later.cycle += sampling_cycles_;
    pmu_.retire(later);
    sampling_cycles_ += pmu_.now() - later.cycle;
  }
  /// The extended registers have changed otherwise than by instructions: blocks tell what they are.
  void lose_extended() { extended_stale_ = true; }
  /// After the last retirement of a block: where the program stands, with its registers if they are known.
  void finish_block(u64 next_ip, const Registers* registers);
  void finish_block(const trace::BlockRun& run) { finish_block(run.next_ip, last_registers(run)); }
  /// From this cycle on, the end of a block is awaited.
  u64 deadline_cycle() const { return deadline_cycle_; }
  void on_side_band(const trace::SideBandRecord& record);
  /// The program is over.
  void stop_events();

 private:
  Result<Done, KernelError> check_event(const perf::Attr& attr) const;
  Result<Done, KernelError> check_pmu_event(const perf::Attr& attr) const;
  void register_sampling_pmus(const driver::DriverOptions& options);
  KernelError kernels_word(const KernelError& refusal, perf::Attr attr, perf::Event* leader,
                           CountedTasks counted);
  void run_due_work();
  void take_extended(const ExtendedState& state);

  void handle_pmi(const InterruptFrame& frame) override;
  void run_handler(InterruptFrame frame);
  std::vector<std::byte> read_code(u64 address, std::size_t bytes) const override;
  std::vector<std::byte> read_memory(u64 address, std::size_t bytes) const override;
  const Registers* user_registers() const override;
  std::optional<std::vector<u64>> callers(const perf::SampledPlace& place, std::size_t limit) const override;
  u64 page_size(u64 address) const override;
  bool has_page_tables() const override { return program_.has_page_tables(); }
  std::optional<u64> physical_address(u64 address) const override {
    return program_.physical_address(pid_, address);
  }

  /// An instruction that retired by itself, with the stack that it ran on.
  struct Retired {
    u64 ip = 0, cycle = 0, stack = 0;
  };
  void note_retirement(const Retirement& retirement);
  const Retired* retired_at(u64 ip, std::optional<u64> time) const;

  const trace::Program& program_;
  perf::Kernel kernel_;
  CoreLevel core_;
  Pmu pmu_;
  std::unique_ptr<driver::CoreDriver> driver_;
  std::vector<std::unique_ptr<driver::IbsDriver>> ibs_;
  perf::TscToNs clock_;
  std::unique_ptr<perf::PerfCore> perf_;
  u32 pid_ = 0, tid_ = 0;  // running now
  bool started_ = false;
  bool branches_sampled_ = false;  // by an event that has been opened
  bool extended_stale_ = true;     // another thread, or the kernel, has brought its own registers
  u64 deadline_cycle_ = 0;         // when the perf core wants to be called again
  bool sampling_takes_time_;       // by policy
  u64 sampling_cycles_ = 0;        // that PMIs and PEBS assists took so far
  InterruptFrame frame_;           // where the program stands
  std::function<void()> on_pause_;
  const CallTracker* calls_ = nullptr;
  std::vector<Retired> retired_;  // the newest ones, in turn
  u64 retirements_ = 0;           // that were in it
};

}  // namespace pmusim

#endif
