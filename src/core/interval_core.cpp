// SPDX-License-Identifier: MIT
#include "core/interval_core.h"

#include <algorithm>
#include <utility>

#include "cpu/memory_signals.h"

namespace pmusim {
Result<IntervalCore, Error> IntervalCore::create(const CpuModel& model, const trace::Contents& contents) {
  auto engine = CoreEngine::create(model);
  if (!engine.ok()) return Failure(engine.error());
  return IntervalCore(std::move(engine).value(), model, contents);
}

IntervalCore::IntervalCore(CoreEngine engine, const CpuModel& model, const trace::Contents& contents)
    : engine_(std::move(engine)), width_(model.core.issue_width) {
  engine_.expect(signals_of_hits(contents.addresses));
}

const LoweredBlock& IntervalCore::lower(const trace::Block& block) {
  if (block.id >= blocks_.size()) blocks_.resize(std::max<std::size_t>(block.id + 1, 2 * blocks_.size()));
  LoweredBlock& lowered = blocks_[block.id];
  if (lowered.instructions.empty()) engine_.lowering().lower(block, lowered);
  return lowered;
}

void IntervalCore::fetch_what_follows(const LoweredBlock& block) {
  constexpr std::size_t most = 4;
  for (const LoweredInstruction& each : block.followed_by.first(std::min(most, block.followed_by.size())))
    __builtin_prefetch(&each);
}

BlockExecution IntervalCore::execute(const trace::BlockRun& run) {
  const LoweredBlock& lowered = lower(*run.block);
  blocks_[std::exchange(previous_, run.block->id)].followed_by = lowered.instructions;
  fetch_what_follows(lowered);
  engine_.begin(run, lowered);
  const u64 since = engine_.cycle();
  engine_.pass_all();
  return passed_execution(run, lowered, since);
}

BlockExecution IntervalCore::execute_in_order(const trace::BlockRun& run, u64 cycle) {
  const LoweredBlock& lowered = lower(*run.block);
  if (ordered_.size() < blocks_.size()) ordered_.resize(blocks_.size());
  OrderedBlock& ordered = ordered_[run.block->id];
  if (!ordered.known()) ordered = in_order(*run.block, lowered);
  engine_.begin(run, lowered);
  const u64 since = engine_.cycle();
  engine_.pass_in_order(ordered, cycle);
  return passed_execution(run, lowered, since);
}

BlockExecution IntervalCore::passed_execution(const trace::BlockRun& run, const LoweredBlock& lowered,
                                              u64 since) const {
  const CoreEngine::Passed& last = engine_.passed().back();
  const LoweredInstruction& branch = lowered.instructions.back();
  return {.run = &run,
          .since = since,
          .kind = run.block->id * outcomes + 2 * static_cast<u32>(last.prediction) + last.taken,
          .instructions = static_cast<u32>(lowered.instructions.size()),
          .cycles = static_cast<u32>(last.cycle - since),
          .branch = branch.branch,
          .branch_length = branch.length,
          .fused_length = lowered.fused_length(lowered.instructions.size() - 1),
          .taken = last.taken,
          .prediction = last.prediction,
          .jumps_within = lowered.branches_within || engine_.transacted(),
          .in_user = is_user(run),
          .branch_ip = branch.ip};
}

SignalSet IntervalCore::differing_signals(u32 instruction) const {
  const LoweredInstruction& lowered = engine_.lowered().instructions[instruction];
  return engine_.passed()[instruction].signals ^ engine_.expected()[lowered.accesses];
}

SignalSet IntervalCore::usual_signals(const BlockExecution& execution, u32 instruction) const {
  const x86::Instruction& code = execution.run->block->instructions[instruction];
  const LoweredInstruction& lowered = engine_.lowered().instructions[instruction];
  SignalSet signals = code.signals | engine_.expected()[lowered.accesses];
  if (lowered.fused) signals.add(Signal::macro_fused);
  if (instruction + 1 != execution.instructions || code.branch == BranchKind::none) return signals;
  return signals | CoreEngine::signals_of_branch(code.branch, execution.taken, execution.prediction);
}

SignalSet IntervalCore::actual_signals(u32 instruction) const { return engine_.signals_of(instruction); }

u32 IntervalCore::first_of_last_cycle(const BlockExecution& execution) const {
  const auto passed = engine_.passed();
  u32 first = execution.instructions - 1;
  while (first != 0 && passed[first - 1].cycle == passed.back().cycle) --first;
  return first;
}

}  // namespace pmusim
