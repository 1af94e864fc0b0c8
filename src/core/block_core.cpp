// SPDX-License-Identifier: MIT
#include "core/block_core.h"

#include <algorithm>
#include <utility>

#include "core/branch_outcome.h"
#include "core/recorded_instruction.h"
#include "pmusim/cpu/core_parameters.h"

namespace pmusim {
namespace {

constexpr unsigned predictions = 3;

void set(Quantities& quantities, Quantity which, u64 value) {
  quantities[static_cast<unsigned>(which)] = static_cast<u32>(value);
}

bool is_taken(const x86::Instruction& instruction, u64 next_ip) {
  return is_taken(instruction.branch, instruction.target, instruction.end(), next_ip);
}

bool jumps_within(const trace::Block& block) {
  const auto last = block.instructions.end() - 1;
  return std::any_of(block.instructions.begin(), last,
                     [](const x86::Instruction& i) { return is_taken(i, i.end()); });
}

}  // namespace

Result<BlockCore, Error> BlockCore::simple(const CpuModel& model) {
  if (auto checked = check_core_parameters(model.core); !checked.ok()) return Failure(checked.error());
  auto branches = BranchUnit::create(model.core);
  if (!branches.ok()) return Failure(branches.error());
  return BlockCore(model.core, schedule_simple, std::move(branches).value());
}

Result<BlockCore, Error> BlockCore::flat(const CpuModel& model) {
  if (auto checked = check_core_parameters(model.core); !checked.ok()) return Failure(checked.error());
  return BlockCore(model.core, schedule_flat, std::nullopt);
}

BlockCore::BlockCore(const CoreParameters& parameters, Scheduler scheduler,
                     std::optional<BranchUnit> branches)
    : parameters_(parameters),
      tsc_(tsc_clock(parameters)),
      scheduler_(scheduler),
      outcomes_(branches ? 2 * predictions : 2),
      branches_(std::move(branches)) {
  if (branches_) barriers_.emplace(*branches_);
}

const BlockCore::Lowered& BlockCore::lower(const trace::Block& block) {
  if (block.id >= blocks_.size()) blocks_.resize(std::max<std::size_t>(block.id + 1, 2 * blocks_.size()));
  Lowered& lowered = blocks_[block.id];
  if (lowered.instructions != 0) return lowered;
  const x86::Instruction& last = block.instructions.back();
  const bool conditional = last.branch == BranchKind::conditional;
  const BlockSchedule schedule = scheduler_(block, parameters_);
  lowered = {.branch_ip = last.ip,
             .cycles = schedule.back(),
             .schedule = static_cast<u32>(schedules_.size()),
             .distance = conditional ? static_cast<i32>(last.target - last.end()) : 0,
             .instructions = static_cast<u16>(schedule.size()),
             .branch = last.branch,
             .branch_length = last.length,
             .always_taken = !conditional && is_taken(last, last.target),
             .jumps_within = jumps_within(block),
             .may_leave_user = block.ring == Cpl::kernel || enters_the_kernel(last.branch)};
  schedules_.insert(schedules_.end(), schedule.begin(), schedule.end());
  return lowered;
}

Prediction BlockCore::predict(const Lowered& block, bool taken, u64 next_ip) {
  if (!is_near_branch(block.branch)) return Prediction::right;
  const BranchSite site{block.branch_ip, block.end(), block.branch};
  const Prediction prediction = branches_->resolve(site, taken, next_ip);
  delay_cycles_ = delay_after(prediction);
  return prediction;
}

unsigned BlockCore::delay_after(Prediction prediction) const {
  switch (prediction) {
    case Prediction::right:
      break;
    case Prediction::resteer:
      return parameters_.resteer_cycles;
    case Prediction::wrong:
      return parameters_.mispredict_penalty;
  }
  return 0;
}

void BlockCore::interrupt() {
  if (branches_) delay_cycles_ = std::max(delay_cycles_, delay_after(Prediction::wrong));
}

void BlockCore::obey_prediction_barriers(u64 asked_for) {
  if (branches_) barriers_->obey(asked_for, *branches_);
}

const Retirement& BlockCore::next(const BlockExecution& execution, Cursor& cursor) const {
  const trace::BlockRun& run = *execution.run;
  const Lowered& block = blocks_[run.block->id];
  const x86::Instruction& instruction = run.block->instructions[cursor.instruction];
  const bool last = cursor.instruction + 1 == execution.instructions;
  const u64 previous = cursor.cycle;
  cursor.cycle = execution.end() - block.cycles + schedules_[block.schedule + cursor.instruction];

  Retirement& r = cursor.retirement;
  retire_as_recorded(run, cursor.instruction, cursor.change, r);
  r.cycle = cursor.cycle;
  r.signals = instruction.signals;
  r.latency_cycles = r.retire_latency_cycles = static_cast<u32>(cursor.cycle - previous);
  set(r.quantities, Quantity::cycles, cursor.cycle - previous);
  set(r.quantities, Quantity::reference_cycles, tsc_.ticks(cursor.cycle) - tsc_.ticks(previous));
  if (instruction.branch != BranchKind::none) {
    r.taken = last ? execution.taken : is_taken(instruction, r.next_ip);
    r.mispredicted = last && execution.prediction == Prediction::wrong;
    const BranchOutcome outcome{.taken = r.taken, .mispredicted = r.mispredicted};
    r.signals = r.signals | outcome_signals(instruction.branch, outcome);
    if (last && execution.prediction == Prediction::resteer) r.signals.add(Signal::front_end_resteer);
  }
  ++cursor.instruction;
  return r;
}

}  // namespace pmusim
