// SPDX-License-Identifier: MIT
#include "session/block_engine.h"

namespace pmusim {

namespace {

Branch branch_of(const BlockExecution& execution) {
  return {.from = execution.branch_ip,
          .to = execution.run->next_ip,
          .cycle = execution.end(),
          .kind = execution.branch,
          .mispredicted = execution.prediction == Prediction::wrong,
          .zero_length_call = execution.branch == BranchKind::direct_call &&
                              execution.run->next_ip == execution.branch_ip + execution.branch_length};
}

}  // namespace

void BlockEngine::Watcher::settle() {
  const bool behind = runs.cycles() != 0;
  runs.settle(last_registers());
  if (behind) monitor.finish_block(next_ip, last_registers());
}

void BlockEngine::settle() {
  for (Watcher& watcher : watchers_) watcher.settle();
}

void BlockEngine::run(const trace::BlockRun& run) {
  const BlockExecution execution = core_.execute(run);
  for (Watcher& watcher : watchers_)
    if (!sum_up(watcher, execution)) retire(watcher, execution);
  // The first monitor's processor is the one that runs.
  core_.obey_prediction_barriers(watchers_.front().monitor.pmu().prediction_barriers());
}

bool BlockEngine::begin(Watcher& watcher, const BlockRuns::Execution& block) const {
  watcher.settle();
  if (stepping_ == Stepping::instructions || !watcher.runs.begin(block)) return false;
  const u64 now = watcher.monitor.pmu().now(), deadline = watcher.monitor.deadline_cycle();
  watcher.deadline_cycles = deadline > now ? deadline - now : 0;
  return true;
}

void BlockEngine::learn(BlockRuns& runs, const BlockExecution& execution) {
  learnt_.clear();
  core_.retire(execution, [&](const Retirement& retirement) { learnt_.push_back(retirement); });
  runs.learn(execution.kind, learnt_, execution.since);
}

/// False: its instructions are to retire one by one.
bool BlockEngine::sum_up(Watcher& watcher, const BlockExecution& execution) {
  const BlockRuns::Execution block{execution.kind, execution.instructions, execution.cycles};
  BlockRuns& runs = watcher.runs;
  if (execution.jumps_within || (!runs.fits(block) && !begin(watcher, block))) return false;
  if (!runs.knows(block.kind)) learn(runs, execution);
  if (!runs.add(block)) return false;
  if (execution.taken && runs.records_branches()) runs.record(branch_of(execution));
  watcher.next_ip = execution.run->next_ip;
  const Registers* const registers = pmusim::last_registers(*execution.run);
  watcher.registers_known = registers != nullptr;
  if (registers != nullptr) watcher.registers = *registers;
  if (runs.cycles() >= watcher.deadline_cycles) watcher.settle();
  return true;
}

void BlockEngine::retire(Watcher& watcher, const BlockExecution& execution) const {
  watcher.settle();
  watcher.monitor.start_block(*execution.run);
  core_.retire(execution, [&](const Retirement& retirement) { watcher.monitor.retire(retirement); });
  watcher.monitor.finish_block(*execution.run);
}

}  // namespace pmusim
