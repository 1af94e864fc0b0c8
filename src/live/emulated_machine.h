// SPDX-License-Identifier: MIT
#ifndef PMUSIM_SRC_LIVE_EMULATED_MACHINE_H
#define PMUSIM_SRC_LIVE_EMULATED_MACHINE_H

#include <deque>
#include <map>
#include <memory>
#include <vector>

#include "live/page_faults.h"
#include "live/trace_output.h"
#include "session/cores.h"
#include "trace/block_builder.h"

namespace pmusim::live {

/// The machine on which every watched task seems to run: cores, their PMUs, and the drivers and the perf core
/// over them. One task runs at a time. Time passes while instructions retire, and stands still otherwise.
class EmulatedMachine {
 public:
  /// Errors: the model's parameters make no machine.
  static Result<std::unique_ptr<EmulatedMachine>, Error> create(const SessionOptions& options);
  EmulatedMachine(const EmulatedMachine&) = delete;
  EmulatedMachine& operator=(const EmulatedMachine&) = delete;

  perf::PerfCore& perf() { return monitor_.perf(); }
  Monitor& monitor() { return monitor_; }

  /// Writes down all that retires from now on. `output` outlives this.
  void record_to(TraceOutput& output) { output_ = &output; }

  /// Retires what a task has executed, and empties it; the task goes on at `next_ip`.
  void run(trace::OpenBlock& block, u64 next_ip);
  void on_side_band(const trace::SideBandRecord& record);
  /// A task has become another program.
  void execute(const trace::ProcessStart& start);
  /// Page faults of an instruction, which began with these registers.
  void fault(const PageFaults::Count& count, const Registers& before);
  /// Before a system call on events: they are where the PMUs are, idle ones too. What has retired since the
  /// last time took time, though it may be less than a nanosecond: counts that come with none are not counted
  /// for perf.
  void catch_up();

  /// Affinity: see Cores. On a machine of many CPUs.
  void allow(u32 tid, std::vector<u32> cpus);
  const std::vector<u32>& allowed(u32 tid) const { return cores_->allowed(tid); }
  const std::vector<u32>& online() const { return cores_->online(); }

  u64 instructions() const { return instructions_; }

 private:
  perf::PerfCpu& running() { return monitor_.cpu(cores_->cpu()).perf(); }

  static constexpr u64 first_ns = 1;
  static constexpr trace::Contents what_is_stepped{.addresses = true, .registers = true, .extended = true};

  /// Code and memory are read where they are.
  class RunningProgram final : public trace::ProgramView {
   public:
    const trace::Contents& contents() const override { return contents_; }
    std::vector<std::byte> code(u32 pid, u64 address, std::size_t bytes) const override;
    std::vector<std::byte> memory(u32 pid, u64 address, std::size_t bytes) const override;
    /// Programs run in the real machine's memory.
    bool has_page_tables() const override { return true; }
    std::optional<u64> physical_address(u32 pid, u64 address) const override;

   private:
    trace::Contents contents_ = what_is_stepped;
  };

  EmulatedMachine(const SessionOptions& options, std::unique_ptr<Cores> cores);
  const trace::Block& block_of(const trace::OpenBlock& open);

  RunningProgram program_;
  Monitor monitor_;
  std::unique_ptr<Cores> cores_;
  std::map<std::vector<u32>, const trace::Block*> known_blocks_;  // by the ids of their instructions
  std::deque<trace::Block> blocks_;
  std::vector<u32> key_;
  u64 instructions_ = 0;
  u64 caught_up_instructions_ = 0, caught_up_ns_ = 0;
  TraceOutput* output_ = nullptr;
};

}  // namespace pmusim::live

#endif
