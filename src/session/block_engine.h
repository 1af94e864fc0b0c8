// SPDX-License-Identifier: MIT
#ifndef PMUSIM_SRC_SESSION_BLOCK_ENGINE_H
#define PMUSIM_SRC_SESSION_BLOCK_ENGINE_H

#include <concepts>
#include <functional>
#include <map>
#include <vector>

#include "core/block_core.h"
#include "core/interval_core.h"
#include "core/memory_core.h"
#include "core/sampled_core.h"
#include "core/warm_up.h"
#include "pmu/block_runs.h"
#include "session/engine.h"

namespace pmusim {

/// A core that goes by blocks: BlockCore, MemoryCore, IntervalCore or SampledCore. Each monitor gets blocks
/// summed up while nothing can be seen of it, and the instructions of a block where something can: an
/// overflow may come within it, an interrupt or a PEBS record is under way, what counts depends on more than
/// the block, or the block is the kernel's or leads there.
template <class BlocksCore>
class BlockEngine final : public Engine {
 public:
  BlockEngine(BlocksCore core, Stepping stepping) : core_(std::move(core)), stepping_(stepping) {}

  void add(MonitoredCpu& cpu, u32 thread) override;
  void resume(u32 thread) override;
  void run(const trace::BlockRun& run) override;
  void settle() override;
  void finish() override;
  void on_window(std::function<void(u64)> callback) override { on_window_ = std::move(callback); }
  Result<Done, Error> warm_up(trace::Source& program, const std::function<bool()>& go_on) override {
    return pmusim::warm_up(core_, program, go_on);
  }
  void join(MachineCaches& machine, const CorePlace& place) override {
    if constexpr (has_caches) core_.join(machine, place);
  }
  void interrupt() override { core_.interrupt(); }
  void enter_handler(const trace::Interrupt& interrupt) override;

 private:
  /// A monitor with what it has not got yet.
  struct Watcher {
    Watcher(MonitoredCpu& watching, RunShape shape) : cpu(watching), runs(watching.pmu(), shape) {}
    MonitoredCpu& cpu;
    BlockRuns runs;
    u64 deadline_cycles = 0;        // from the begin of `runs` on: when the monitor wants the end of a block
    bool follows_branches = false;  // of what it does not count
    // After the last block of `runs`.
    u64 next_ip = 0;
    bool registers_known = false;
    Registers registers;

    const Registers* last_registers() const { return registers_known ? &registers : nullptr; }
  };
  static constexpr bool has_caches = !std::same_as<BlocksCore, BlockCore>;
  static constexpr bool samples = std::same_as<BlocksCore, SampledCore>;
  void settle(Watcher& watcher);
  bool passes_over(const Watcher& watcher) const;
  void pass_over(Watcher& watcher, const BlockExecution& execution);
  void stand_still(Watcher& watcher, u64 cycle);
  void begin_phase(const BlockExecution& execution);
  void report_window();
  bool sum_up(Watcher& watcher, const BlockExecution& execution);
  bool begin(Watcher& watcher, const BlockExecution& execution);
  void retire(Watcher& watcher, const BlockExecution& execution);

  BlocksCore core_;
  Stepping stepping_;
  std::vector<Watcher> watchers_;                       // of the thread that runs
  std::map<u32, std::vector<Watcher>> other_watchers_;  // by thread
  u32 thread_ = 0;                                      // that runs
  std::function<void(u64)> on_window_;
  bool pmu_used_ = true;  // by others than `runs`, since the last block began
};

extern template class BlockEngine<BlockCore>;
extern template class BlockEngine<IntervalCore>;
extern template class BlockEngine<MemoryCore>;
extern template class BlockEngine<SampledCore>;

}  // namespace pmusim

#endif
