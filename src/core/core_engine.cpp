// SPDX-License-Identifier: MIT
#include "core/core_engine.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "core/branch_outcome.h"
#include "core/parameters.h"
#include "pmusim/cpu/retirement.h"

namespace pmusim {
namespace {

InstructionCosts with_elimination(InstructionCosts costs, MoveElimination elimination) {
  const auto eliminate = [&](InstructionForm form) {
    InstructionCost& cost = costs.by_form[static_cast<unsigned>(form)];
    cost.latency_cycles = 0;
    cost.uses = {};
  };
  if (elimination != MoveElimination::none) eliminate(InstructionForm::vector_move);
  if (elimination == MoveElimination::all) eliminate(InstructionForm::move);
  return costs;
}

std::shared_ptr<const InstructionCosts> costs_of(const CoreParameters& p) {
  const InstructionCosts& costs = p.costs == nullptr ? default_instruction_costs() : *p.costs;
  return std::make_shared<const InstructionCosts>(with_elimination(costs, p.move_elimination));
}

// The bits of MSR 1A4, MISC_FEATURE_CONTROL (SDM vol. 4).
CoreParameters with_prefetchers_off(CoreParameters core, u32 off) {
  constexpr unsigned streamer = 0, adjacent_line = 1, stride = 3;
  if ((off & bit(streamer)) != 0) core.l2_stream_pages = 0;
  if ((off & bit(adjacent_line)) != 0) core.adjacent_line_level = 0;
  if ((off & bit(stride)) != 0) core.l1_stride_loads = 0;
  return core;
}

constexpr InstructionCost nothing{.latency_cycles = 0, .uops = 0};  // the second half of a fused pair

}  // namespace

Result<CoreEngine, Error> CoreEngine::create(const CpuModel& model) {
  const CoreParameters core = with_prefetchers_off(model.core, model.policies.prefetchers_off);
  if (auto checked = check_parameters(core); !checked.ok()) return Failure(checked.error());
  auto branches = BranchUnit::create(core);
  if (!branches.ok()) return Failure(branches.error());
  return CoreEngine(core, std::move(branches).value());
}

CoreEngine::CoreEngine(const CoreParameters& p, BranchUnit branches)
    : mispredict_penalty_(p.mispredict_penalty),
      resteer_cycles_(p.resteer_cycles),
      system_call_cycles_(p.system_call_cycles),
      machine_clear_cycles_(p.machine_clear_cycles),
      macro_fusion_(p.macro_fusion),
      issue_order_(p.issue_order),
      address_delay_(p.issue_order == IssueOrder::in_order ? p.l1d.latency_cycles - 1 : 0),
      costs_(costs_of(p)),
      branches_(branches),
      barriers_(std::move(branches)),
      memory_(p),
      pipeline_(p),
      ports_(p.scheduler_uops),
      recorded_time_(p) {}

void CoreEngine::interrupt() {
  pipeline_.refill(pipeline_.retired_cycle() + 1 + mispredict_penalty_, Pipeline::Refill::clear);
}

// The trace has no address for it, as it is no access. Its registers are those before it too.
void CoreEngine::flush_line(const x86::Instruction& instruction, const Registers* registers) {
  const x86::MemoryOperand& line = instruction.flushed_line;
  if (registers == nullptr || line.fs || line.gs) return;
  memory_.hierarchy().flush(x86::effective_address(instruction, line, *registers, 0, 0));
}

void CoreEngine::fetch_line(u64 address) {
  const u64 now = pipeline_.next_dispatch();
  const MemoryHierarchy::Answer answer =
      memory_.hierarchy().fetch(address, now, execution_.retirement.quantities);
  fetched_line_ = memory_.hierarchy().line_of(address);
  if (answer.ready_cycle > now) pipeline_.stall_fetch(answer.ready_cycle);
  if (answer.level != CacheLevel::l1) execution_.retirement.signals.add(Signal::l1i_miss);
  if (answer.level > CacheLevel::l2) execution_.retirement.signals.add(Signal::l2i_miss);
  if (answer.level == CacheLevel::l3) execution_.retirement.signals.add(Signal::l3i_hit);
  if (answer.level == CacheLevel::memory) execution_.retirement.signals.add(Signal::l3i_miss);
  if (answer.tlb != TlbLevel::l1) execution_.retirement.signals.add(Signal::itlb_miss);
  if (answer.tlb == TlbLevel::walk) execution_.retirement.signals.add(Signal::stlb_instruction_miss);
}

void CoreEngine::fetch(const x86::Instruction& instruction) {
  const MemoryHierarchy& hierarchy = memory_.hierarchy();
  if (hierarchy.line_of(instruction.ip) != fetched_line_) fetch_line(instruction.ip);
  const u64 last_byte = instruction.end() - 1;
  if (hierarchy.line_of(last_byte) != fetched_line_) fetch_line(last_byte);
}

DataAccesses CoreEngine::take_accesses(const x86::Instruction& instruction) {
  DataAccesses data{&instruction};
  const std::span<const u64> addresses = cursor_.run->addresses;
  const std::size_t operands = instruction.memory_operands;
  if (cursor_.address <= addresses.size() && operands <= addresses.size() - cursor_.address)
    data.addresses = addresses.subspan(cursor_.address, operands);
  cursor_.address += operands;
  if (instruction.rep && cursor_.repetition < cursor_.run->rep_counts.size())
    data.iterations = cursor_.run->rep_counts[cursor_.repetition++];
  return data;
}

const ExtendedChange* CoreEngine::take_change() {
  const auto changes = cursor_.run->extended_changes;
  if (cursor_.change == changes.size() || changes[cursor_.change].instruction != cursor_.instruction)
    return nullptr;
  return &changes[cursor_.change++].change;
}

CoreEngine::Ready CoreEngine::ready(x86::RegisterMask registers, u64 cycle) const {
  Ready latest{cycle, WaitingFor::execution};
  for (; registers != 0; registers &= registers - 1) {
    const Ready& source = registers_[static_cast<unsigned>(std::countr_zero(registers))];
    if (source.cycle > latest.cycle) latest = source;
  }
  return latest;
}

CoreEngine::MemoryUse CoreEngine::memory_use_of(const x86::Instruction& instruction) {
  MemoryUse use{.addresses = instruction.address_registers};
  for (const x86::MemoryOperand& m : instruction.accesses()) {
    use.loads |= m.load;
    use.stores |= m.store;
  }
  return use;
}

bool CoreEngine::fuses(const x86::Instruction& first, const x86::Instruction& second) const {
  if (second.condition == ConditionGroup::none || first.flag_writer == FlagWriter::none) return false;
  if (macro_fusion_ == MacroFusion::ice_lake && first.memory_operands != 0) return false;
  return pmusim::fuses(macro_fusion_, first.flag_writer, second.condition);
}

// A load or a store shares the slot of the operation beside it; a second access, or both in one, does not.
unsigned CoreEngine::uops_of(const x86::Instruction& instruction, const InstructionCost& cost) const {
  if (instruction.locked) return costs_->of(InstructionForm::locked).uops;
  const bool both =
      instruction.memory_operands == 1 && instruction.memory[0].load && instruction.memory[0].store;
  if (both || instruction.memory_operands == 2)
    return std::max<unsigned>(cost.uops, costs_->read_modify_write_uops);
  return cost.uops;
}

Pipeline::Dispatched CoreEngine::dispatch(const x86::Instruction& instruction, const MemoryUse& use,
                                          const InstructionCost& cost) {
  const bool fused_with_previous = std::exchange(fused_with_next_, false);
  if (fused_with_previous) return pipeline_.dispatch(0);
  if (use.loads) pipeline_.make_room_for_load();
  pipeline_.stall_dispatch(ports_.admit(pipeline_.next_dispatch()));
  return pipeline_.dispatch(uops_of(instruction, cost));
}

// When the first of its uops starts; latencies count from there. A unit must be free then.
u64 CoreEngine::place(const InstructionCost& cost, u64 ready) {
  u64 start = ready;
  for (const PortUse& use : cost.uses) {
    if (use.ports == 0) break;
    if (use.cycles > 1) {
      start = ports_.hold(static_cast<unsigned>(std::countr_zero(use.ports)), use.cycles, start);
      continue;
    }
    start = ports_.place(use.ports, start);
    for (unsigned more = 1; more < use.uops; ++more) ports_.place(use.ports, start);
  }
  return start;
}

CoreEngine::Ready CoreEngine::execute(const DataAccesses& data, const MemoryUse& use,
                                      const InstructionCost& cost, u64 dispatched) {
  const x86::Instruction& instruction = *data.instruction;
  const bool in_order = issue_order_ == IssueOrder::in_order;
  const u64 earliest = in_order ? std::max(dispatched, last_start_) : dispatched;
  Ready result = ready(instruction.registers_read, earliest);
  u64 started = result.cycle;
  const Ready address = use.loads || use.stores ? ready(use.addresses, earliest) : Ready{};
  if (use.loads) {
    const u64 addressed = address.cycle > earliest ? address.cycle + address_delay_ : earliest;
    started = ports_.place(costs_->load_ports, in_order ? std::max(addressed, result.cycle) : addressed);
    LoadStoreUnit::Loaded loaded = memory_.load(data, started, execution_);
    loaded.ready_cycle -= address_delay_;
    if (loaded.ready_cycle > result.cycle) result = {loaded.ready_cycle, loaded.waiting_for};
  }
  const InstructionCost& work = instruction.locked ? costs_->of(InstructionForm::locked) : cost;
  // In order, an instruction that loads has its operation done behind the load.
  const u64 start = in_order && use.loads && !instruction.locked
                        ? result.cycle
                        : place(work, instruction.locked ? std::min(started, result.cycle) : result.cycle);
  if (start > result.cycle) result = {start, WaitingFor::execution};
  result.cycle = std::max(result.cycle, start + work.latency_cycles);
  last_start_ = use.loads ? started : start;
  if (use.stores) {
    const u64 addressed =
        ports_.place(costs_->store_address_ports, in_order || use.loads ? started : address.cycle);
    if (costs_->store_data_ports != 0) ports_.place(costs_->store_data_ports, result.cycle);
    const LoadStoreUnit::Loaded stored =
        memory_.store(data, {.addressed_cycle = addressed, .data_cycle = result.cycle}, execution_);
    if (stored.ready_cycle > result.cycle) result = {stored.ready_cycle, stored.waiting_for};
  }
  if (enters_the_kernel(instruction.branch)) result.cycle += system_call_cycles_;
  for (x86::RegisterMask left = instruction.registers_written; left != 0; left &= left - 1)
    registers_[static_cast<unsigned>(std::countr_zero(left))] = result;
  return result;
}

Prediction CoreEngine::transfer_control(const x86::Instruction& branch) {
  Retirement& retirement = execution_.retirement;
  retirement.taken = is_taken(branch.branch, branch.target, branch.end(), retirement.next_ip);
  Prediction prediction = Prediction::right;
  if (is_near_branch(branch.branch))
    prediction = branches_.resolve(branch, retirement.taken, retirement.next_ip);
  retirement.mispredicted = prediction == Prediction::wrong;
  const BranchOutcome outcome{.taken = retirement.taken, .mispredicted = retirement.mispredicted};
  retirement.signals = retirement.signals | outcome_signals(branch.branch, outcome);
  if (prediction == Prediction::resteer) retirement.signals.add(Signal::front_end_resteer);
  return prediction;
}

void CoreEngine::redirect_fetch(Prediction prediction, u64 resolved) {
  if (prediction == Prediction::wrong)
    pipeline_.refill(resolved + mispredict_penalty_, Pipeline::Refill::mispredict);
  if (prediction == Prediction::resteer) pipeline_.stall_fetch(pipeline_.next_dispatch() + resteer_cycles_);
}

// What is younger was done in vain, and is fetched anew.
void CoreEngine::clear_pipeline() {
  const u64 retired = pipeline_.retired_cycle();
  pipeline_.refill(retired + mispredict_penalty_ + machine_clear_cycles_, Pipeline::Refill::clear);
  fetched_line_ = ~u64{0};
}

u64 CoreEngine::retire(const Pipeline::Dispatched& dispatched, const Ready& result) {
  Quantities& quantities = execution_.retirement.quantities;
  const u64 modelled = pipeline_.retire(dispatched, result.cycle, result.reason, quantities);
  return time_is_recorded_ ? recorded_time_.retire(quantities) : modelled;
}

const Retirement& CoreEngine::step() {
  const std::vector<x86::Instruction>& instructions = cursor_.run->block->instructions;
  const x86::Instruction& instruction = instructions[cursor_.instruction];
  const bool last = cursor_.instruction + 1 == instructions.size();
  const bool serializing = instruction.execution == x86::ExecutionClass::serializing;
  Retirement& retirement = execution_.retirement;
  retirement.ip = instruction.ip;
  retirement.next_ip = last ? cursor_.run->next_ip : instructions[cursor_.instruction + 1].ip;
  retirement.signals = instruction.signals;
  retirement.quantities.fill(0);
  retirement.length = instruction.length;
  retirement.branch = instruction.branch;
  retirement.taken = retirement.mispredicted = false;
  retirement.registers = cursor_.instruction < cursor_.run->registers.size()
                             ? &cursor_.run->registers[cursor_.instruction]
                             : nullptr;
  retirement.extended = take_change();
  execution_.access_count = 0;
  execution_.clears_pipeline = false;

  fetch(instruction);
  if (serializing) pipeline_.drain();
  const bool second_of_pair = fused_with_next_;
  const InstructionCost& own = costs_->of(instruction.form);
  const MemoryUse use = memory_use_of(instruction);
  const Pipeline::Dispatched dispatched = dispatch(instruction, use, own);
  // A pair executes as its branch, where the first of it stands.
  fused_with_next_ = !last && fuses(instruction, instructions[cursor_.instruction + 1]);
  const InstructionCost& cost = second_of_pair     ? nothing
                                : fused_with_next_ ? costs_->of(InstructionForm::conditional_branch)
                                                   : own;
  if (second_of_pair || fused_with_next_) retirement.signals.add(Signal::macro_fused);
  const Ready result = execute(take_accesses(instruction), use, cost, dispatched.last_cycle);
  Prediction prediction = Prediction::right;
  if (instruction.branch != BranchKind::none) prediction = transfer_control(instruction);
  const u64 previous = cycle();
  retirement.cycle = retire(dispatched, result);
  redirect_fetch(prediction, result.cycle);
  if (execution_.clears_pipeline) clear_pipeline();
  if (instruction.flushes_line) flush_line(instruction, retirement.registers);
  if (use.loads) pipeline_.retire_load();
  if (use.stores) memory_.retire_store(pipeline_.retired_cycle());
  if (serializing || enters_the_kernel(instruction.branch)) pipeline_.drain();

  if (instruction.signals.has(Signal::microcoded))
    retirement.quantities[static_cast<unsigned>(Quantity::slots_heavy)] = dispatched.uops;
  retirement.latency_cycles = static_cast<u32>(pipeline_.retired_cycle() - dispatched.first.cycle());
  retirement.retire_latency_cycles = static_cast<u32>(retirement.cycle - previous);
  retirement.memory = std::span(execution_.accesses.data(), execution_.access_count);
  ++cursor_.instruction;
  return retirement;
}

}  // namespace pmusim
