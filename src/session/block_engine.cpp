// SPDX-License-Identifier: MIT
#include "session/block_engine.h"

#include <utility>
#include <vector>

#include "core/recorded_instruction.h"

namespace pmusim {

namespace {

Branch branch_of(const BlockExecution& execution, u64 cycles_ahead) {
  const u64 next_ip = execution.run->next_ip;
  const bool calls = execution.branch == BranchKind::direct_call;
  const bool goes_on = next_ip == execution.branch_ip + execution.branch_length;
  return {.from = execution.branch_ip,
          .to = next_ip,
          .cycle = execution.end() + cycles_ahead,
          .kind = execution.branch,
          .mispredicted = execution.prediction == Prediction::wrong,
          .fused_bytes = execution.fused_length,
          // "&": a jump on this would be mispredicted as often as the program's own.
          .zero_length_call = static_cast<bool>(calls & goes_on)};
}

BlockRuns::Execution in_short(const BlockExecution& execution) {
  return {execution.kind, execution.instructions, execution.cycles};
}

// What a core knows of an execution, in the words of BlockRuns.

RunShape shape_of(const BlockCore&) { return {}; }

// Behind windows stands the whole core.
const IntervalCore& timed(const IntervalCore& core) { return core; }
const MemoryCore& timed(const MemoryCore& core) { return core; }

template <class Core>
RunShape shape_of(const Core& core) {
  return {.most_in_cycle = core.most_in_cycle()};
}

bool fits(const BlockCore&, BlockRuns& runs, const BlockExecution& execution) {
  return runs.fits(in_short(execution));
}

template <class Core>
bool fits(const Core& core, BlockRuns& runs, const BlockExecution& execution) {
  if (!runs.fits(in_short(execution))) return false;
  if (!runs.counts_quantities()) return true;
  if (runs.compares_quantities())
    timed(core).retire(execution, [&](const Retirement& retirement) { runs.compare_quantities(retirement); });
  return runs.take_quantities(core.sum(runs.summed_quantities()));
}

void learn(const BlockCore& core, BlockRuns& runs, const BlockExecution& execution) {
  std::vector<Retirement> learnt;
  core.retire(execution, [&](const Retirement& retirement) { learnt.push_back(retirement); });
  runs.learn(execution.kind, learnt, execution.since);
}

template <class Core>
void learn(const Core& core, BlockRuns& runs, const BlockExecution& execution) {
  std::vector<SignalSet> usual;
  for (u32 n = 0; n < execution.instructions; ++n) usual.push_back(core.usual_signals(execution, n));
  runs.learn(execution.kind, usual);
}

void add_what_differs(const BlockCore&, BlockRuns&, const BlockExecution&) {}

template <class Core>
void add_what_differs(const Core& core, BlockRuns& runs, const BlockExecution& execution) {
  for (const u32 n : core.unusual())
    if (runs.counts(core.differing_signals(n)))
      runs.correct(core.usual_signals(execution, n), core.actual_signals(n));
  if (!runs.sums_within_cycles()) return;
  if (execution.cycles != 0) runs.open_cycle();
  for (u32 n = core.first_of_last_cycle(execution); n < execution.instructions; ++n)
    runs.add_to_cycle(core.actual_signals(n));
}

}  // namespace

template <class C>
void BlockEngine<C>::add(MonitoredCpu& cpu, u32 thread) {
  (thread == thread_ ? watchers_ : other_watchers_[thread]).emplace_back(cpu, shape_of(core_));
}

template <class C>
void BlockEngine<C>::resume(u32 thread) {
  settle();
  if (thread != thread_) {
    other_watchers_[thread_] = std::exchange(watchers_, std::exchange(other_watchers_[thread], {}));
    thread_ = thread;
  }
  for (Watcher& watcher : watchers_) watcher.cpu.resume_at(core_.cycle());
}

template <class C>
void BlockEngine<C>::settle(Watcher& watcher) {
  pmu_used_ = true;
  const bool behind = watcher.runs.is_behind();
  watcher.runs.settle(watcher.last_registers());
  if (behind) watcher.cpu.finish_block(watcher.next_ip, watcher.last_registers());
}

template <class C>
void BlockEngine<C>::settle() {
  for (Watcher& watcher : watchers_) {
    settle(watcher);
    if (passes_over(watcher)) stand_still(watcher, core_.cycle());
  }
}

template <class C>
void BlockEngine<C>::finish() {
  settle();
  if constexpr (samples) {
    core_.end_window();
    report_window();
  }
}

/// Whether it does not get what runs now.
template <class C>
inline bool BlockEngine<C>::passes_over(const Watcher& watcher) const {
  if constexpr (samples)
    return watcher.cpu.sight() == Sight::windows && core_.phase() != SampledCore::Phase::counted;
  return false;
}

/// Branches before a window stand in its first branch records.
template <class C>
void BlockEngine<C>::pass_over(Watcher& watcher, const BlockExecution& execution) {
  if (execution.jumps_within) return;
  if (!std::exchange(watcher.follows_branches, true)) watcher.runs.begin_branches();
  if (watcher.runs.records_branches())
    watcher.runs.record(branch_of(execution, watcher.cpu.cycles_ahead()), execution.taken);
}

/// Up to a cycle of the core.
template <class C>
void BlockEngine<C>::stand_still(Watcher& watcher, u64 cycle) {
  watcher.cpu.stand_still_until(cycle);
  if (std::exchange(watcher.follows_branches, false)) watcher.runs.take_in_branches();
}

template <class C>
void BlockEngine<C>::report_window() {
  if constexpr (samples)
    if (const auto window = core_.take_window(); window && on_window_) on_window_(*window);
}

template <class C>
void BlockEngine<C>::begin_phase(const BlockExecution& execution) {
  for (Watcher& watcher : watchers_) {
    if (watcher.cpu.sight() != Sight::windows) continue;
    settle(watcher);
    if (!passes_over(watcher)) stand_still(watcher, execution.since);
  }
  report_window();
}

template <class C>
void BlockEngine<C>::run(const trace::BlockRun& run) {
  const BlockExecution execution = core_.execute(run);
  if constexpr (samples)
    if (core_.phase_begins()) begin_phase(execution);
  for (Watcher& watcher : watchers_) {
    if constexpr (samples)
      if (passes_over(watcher)) {
        if (core_.phase() == SampledCore::Phase::warming) pass_over(watcher, execution);
        continue;
      }
    if (!sum_up(watcher, execution)) retire(watcher, execution);
  }
  // The first monitor's processor is the one that runs.
  if (std::exchange(pmu_used_, false))
    core_.obey_prediction_barriers(watchers_.front().cpu.pmu().prediction_barriers());
}

template <class C>
bool BlockEngine<C>::begin(Watcher& watcher, const BlockExecution& execution) {
  settle(watcher);
  if (stepping_ == Stepping::instructions || !watcher.runs.begin(in_short(execution))) return false;
  const u64 now = watcher.cpu.pmu().now(), deadline = watcher.cpu.deadline_cycle();
  watcher.deadline_cycles = deadline > now ? deadline - now : 0;
  return fits(core_, watcher.runs, execution);
}

/// False: its instructions are to retire one by one.
template <class C>
inline bool BlockEngine<C>::sum_up(Watcher& watcher, const BlockExecution& execution) {
  BlockRuns& runs = watcher.runs;
  if ((execution.jumps_within | !execution.in_user) ||
      (!fits(core_, runs, execution) && !begin(watcher, execution)))
    return false;
  if (!runs.knows(execution.kind)) learn(core_, runs, execution);
  if (!runs.add(in_short(execution))) return false;
  add_what_differs(core_, runs, execution);
  if (runs.records_branches()) runs.record(branch_of(execution, watcher.cpu.cycles_ahead()), execution.taken);
  watcher.next_ip = execution.run->next_ip;
  const Registers* const registers = pmusim::last_registers(*execution.run);
  watcher.registers_known = registers != nullptr;
  if (registers != nullptr) watcher.registers = *registers;
  if (runs.cycles() >= watcher.deadline_cycles) settle(watcher);
  return true;
}

template <class C>
void BlockEngine<C>::retire(Watcher& watcher, const BlockExecution& execution) {
  settle(watcher);
  watcher.cpu.start_block(*execution.run);
  core_.retire(execution, [&](const Retirement& retirement) { watcher.cpu.retire(retirement); });
  watcher.cpu.finish_block(*execution.run);
}

template <class C>
void BlockEngine<C>::enter_handler(const trace::Interrupt& interrupt) {
  const Retirement entry = handler_entry(interrupt, interrupt.ring, core_.enter_handler());
  for (Watcher& watcher : watchers_) {
    if (interrupt.ring == Cpl::user) watcher.cpu.interrupt_user(interrupt.from);
    watcher.cpu.retire(entry);
    watcher.cpu.finish_block(interrupt.handler, nullptr, Cpl::kernel);
  }
}

template class BlockEngine<BlockCore>;
template class BlockEngine<IntervalCore>;
template class BlockEngine<MemoryCore>;
template class BlockEngine<SampledCore>;

}  // namespace pmusim
