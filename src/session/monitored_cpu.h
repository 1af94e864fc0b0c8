// SPDX-License-Identifier: MIT
#ifndef PMUSIM_SRC_SESSION_MONITORED_CPU_H
#define PMUSIM_SRC_SESSION_MONITORED_CPU_H

#include <functional>
#include <memory>
#include <vector>

#include "cpu/clocks.h"
#include "pmusim/driver/drivers.h"
#include "pmusim/pmu/pmu.h"
#include "pmusim/session/session.h"
#include "pmusim/trace/trace.h"

namespace pmusim {

class CallTracker;

/// After the last instruction of a block; null if the trace has none.
inline const Registers* last_registers(const trace::BlockRun& run) {
  return run.registers.empty() ? nullptr : &run.registers.back();
}

/// What the driver of a CPU has in common with others.
struct SharedByDrivers {
  driver::TaskStacks* task_stacks = nullptr;  ///< of CPUs of one kind; null: there is one CPU
  driver::CoreResources* core = nullptr;      ///< of the two threads of a core
  unsigned thread = 0;                        ///< which of them this is
};

/// What of a core that samples the program a monitor gets.
enum class Sight : u8 {
  all,      ///< everything; what depends on time is not known between windows
  windows,  ///< what the windows count; between them the processor stands still, as if it were halted
};

/// One logical processor under the eyes of a Monitor: its PMU with the drivers, and the perf core's side of
/// it. It gets what retires there.
class MonitoredCpu final : private PmiHandler, private perf::Target {
 public:
  /// `pmu` and `program` must outlive it.
  MonitoredCpu(Pmu& pmu, const SessionOptions& options, const trace::ProgramView& program,
               Sight sight = Sight::all, const SharedByDrivers& shared = {});
  ~MonitoredCpu() override;
  MonitoredCpu(const MonitoredCpu&) = delete;
  MonitoredCpu& operator=(const MonitoredCpu&) = delete;

  /// Samples go to the perf core from here on. Before anything else.
  void attach(perf::PerfCpu& perf, perf::TscToNs clock);
  /// Its cycles are not those of the core that runs: where it has been halted it is ahead of it.
  void expect_halts() { shifts_time_ = true; }

  Pmu& pmu() const { return pmu_; }
  driver::CoreDriver& driver() const { return *driver_; }
  driver::IbsDriver* ibs(u32 type) const;
  perf::PerfCpu& perf() const { return *perf_; }
  driver::DriverStatistics driver_statistics() const;
  const CpuModel& model() const { return pmu_.model(); }
  /// perf time, in ns.
  u64 now() const { return clock_(pmu_.tsc()); }

  void use_call_stacks(const CallTracker& calls);
  bool uses_call_stacks() const { return calls_ != nullptr; }

  /// Called between instructions, at least once in every tick of perf time: no interrupt is being handled.
  void on_due_work(std::function<void()> callback) { on_due_work_ = std::move(callback); }
  /// Between instructions: perf time comes up to the PMU's, and work that an overflow has left behind is
  /// done.
  void catch_up();

  /// Before the first retirement of a block.
  void start_block(const trace::BlockRun& run) {
    if (extended_stale_ && run.extended != nullptr) take_extended(*run.extended);
    if (run.block->ring == Cpl::user && run.next_ring == Cpl::kernel) leave_user(run);
  }
  /// The program is interrupted, and is to go on at `ip`.
  void interrupt_user(u64 ip);
  /// As the core has it: the time that PMIs and PEBS assists took, and that the CPU was halted, is added
  /// here.
  void retire(const Retirement& retirement) {
    if (calls_ != nullptr) note_retirement(retirement);
    if (!shifts_time_) return pmu_.retire(retirement);
    Retirement later = retirement;
    later.cycle += cycles_ahead_;
    pmu_.retire(later);
    cycles_ahead_ += pmu_.now() - later.cycle;
  }
  /// How much further its clock is than the core's.
  u64 cycles_ahead() const { return cycles_ahead_; }
  /// What runs from now on begins in this cycle of the core's clock.
  void resume_at(u64 core_cycle) { cycles_ahead_ = pmu_.now() - core_cycle; }
  /// The extended registers have changed otherwise than by instructions: blocks tell what they are.
  void lose_extended() { extended_stale_ = true; }
  /// After the last retirement of a block: where the program stands, with its registers if they are known.
  void finish_block(u64 next_ip, const Registers* registers, Cpl ring = Cpl::user);
  void finish_block(const trace::BlockRun& run) {
    finish_block(run.next_ip, last_registers(run), run.next_ring);
  }
  /// From this cycle on, the end of a block is awaited.
  u64 deadline_cycle() const { return deadline_cycle_; }

  Sight sight() const { return sight_; }
  /// Nothing counts until this cycle of the core's clock, from where the program stands.
  void stand_still_until(u64 core_cycle);
  /// Another thread, or nobody, runs from now on: interrupts that are on their way come before.
  void leave();
  /// Idle until the time-stamp counter shows so much, ticks included.
  void halt_until(u64 tsc);
  void enter_signal_handler(u64 address) { (in_kernel_ ? user_ : frame_).registers.rip = address; }
  /// Of whose process code and memory are read.
  void set_process(u32 pid) { pid_ = pid; }
  /// The last tick: perf time comes up to the PMU's.
  void finish() { perf_->advance(now(), frame_); }

 private:
  void add_sampling_pmus(const driver::DriverOptions& options);
  void run_due_work();
  void take_extended(const ExtendedState& state);
  void leave_user(const trace::BlockRun& run);
  const InterruptFrame& user_frame() const { return in_kernel_ ? user_ : frame_; }

  void handle_pmi(const InterruptFrame& frame) override;
  void run_handler(InterruptFrame frame);
  std::vector<std::byte> read_code(u64 address, std::size_t bytes) const override;
  std::vector<std::byte> read_memory(u64 address, std::size_t bytes) const override;
  const Registers* user_registers() const override;
  std::optional<u64> user_ip() const override { return user_frame().registers.rip; }
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

  const trace::ProgramView& program_;
  Pmu& pmu_;
  std::unique_ptr<driver::CoreDriver> driver_;
  std::vector<std::pair<u32, std::unique_ptr<driver::IbsDriver>>> ibs_;  // by attr.type
  perf::TscToNs clock_;
  perf::PerfCpu* perf_ = nullptr;
  Sight sight_;
  u32 pid_ = 0;                 // running now
  bool extended_stale_ = true;  // another thread, or the kernel, has brought its own registers
  u64 deadline_cycle_ = 0;      // when the perf core wants to be called again
  bool sampling_takes_time_;    // by policy
  bool shifts_time_;
  u64 cycles_ahead_ = 0;
  InterruptFrame frame_;  // where the program stands
  bool in_kernel_ = false;
  InterruptFrame user_;  // where it stands in user mode, if it does not
  std::function<void()> on_due_work_;
  const CallTracker* calls_ = nullptr;
  std::vector<Retired> retired_;  // the newest ones, in turn
  u64 retirements_ = 0;           // that were in it
};

}  // namespace pmusim

#endif
