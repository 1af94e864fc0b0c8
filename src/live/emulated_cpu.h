// SPDX-License-Identifier: MIT
#ifndef PMUSIM_SRC_LIVE_EMULATED_CPU_H
#define PMUSIM_SRC_LIVE_EMULATED_CPU_H

#include <deque>
#include <map>
#include <memory>
#include <vector>

#include "live/page_faults.h"
#include "live/trace_output.h"
#include "session/engine.h"
#include "session/monitor.h"
#include "trace/block_builder.h"

namespace pmusim::live {

/// The one logical processor on which every watched task seems to run: its core, its PMU, and the driver and
/// perf core over it. Its time passes while instructions retire, and stands still otherwise.
class EmulatedCpu {
 public:
  /// Errors: the model's parameters make no machine.
  static Result<std::unique_ptr<EmulatedCpu>, Error> create(const SessionOptions& options);
  EmulatedCpu(const EmulatedCpu&) = delete;
  EmulatedCpu& operator=(const EmulatedCpu&) = delete;

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
  /// Before a system call on events: they are where the PMU is. What has retired since the last time took
  /// time, though it may be less than a nanosecond: counts that come with none are not counted for perf.
  void catch_up();

  u64 instructions() const { return instructions_; }

 private:
  perf::PerfCpu& cpu() { return monitor_.cpu(0).perf(); }

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

  EmulatedCpu(const SessionOptions& options, std::unique_ptr<Engine> engine);
  const trace::Block& block_of(const trace::OpenBlock& open);

  RunningProgram program_;
  Monitor monitor_;
  std::unique_ptr<Engine> engine_;
  std::map<std::vector<u32>, const trace::Block*> known_blocks_;  // by the ids of their instructions
  std::deque<trace::Block> blocks_;
  std::vector<u32> key_;
  u64 instructions_ = 0;
  u64 caught_up_instructions_ = 0, caught_up_ns_ = 0;
  TraceOutput* output_ = nullptr;
};

}  // namespace pmusim::live

#endif
