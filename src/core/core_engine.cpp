// SPDX-License-Identifier: MIT
#include "core/core_engine.h"

#include <algorithm>
#include <bit>

#include "core/parameters.h"
#include "pmusim/cpu/retirement.h"

namespace pmusim {
namespace {

bool uses_divider(x86::ExecutionClass kind) {
  return kind == x86::ExecutionClass::divide || kind == x86::ExecutionClass::fp_divide;
}

// A block's last branch is taken if execution did not fall through. A trace of user mode sees the other side
// of a far transfer to the kernel only as the next instruction.
bool is_taken(const x86::Instruction& instruction, u64 next_ip) {
  switch (instruction.branch) {
    case BranchKind::none:
    case BranchKind::syscall:
    case BranchKind::sysret:
    case BranchKind::software_interrupt:
    case BranchKind::interrupt:
    case BranchKind::tsx_abort:
      return false;
    case BranchKind::conditional:
      return next_ip == instruction.target && next_ip != instruction.end();
    default:
      return true;
  }
}

}  // namespace

Result<CoreEngine, Error> CoreEngine::create(const CpuModel& model) {
  if (auto checked = check_parameters(model.core); !checked.ok()) return Failure(checked.error());
  auto branches = BranchUnit::create(model.core);
  if (!branches.ok()) return Failure(branches.error());
  return CoreEngine(model.core, std::move(branches).value());
}

// A pure load takes what memory takes.
CoreEngine::Latencies CoreEngine::by_class(const ExecutionLatencies& l) {
  Latencies latencies{};
  const auto set = [&](x86::ExecutionClass kind, unsigned cycles) {
    latencies[static_cast<unsigned>(kind)] = cycles;
  };
  set(x86::ExecutionClass::simple, l.simple);
  set(x86::ExecutionClass::multiply, l.multiply);
  set(x86::ExecutionClass::divide, l.divide);
  set(x86::ExecutionClass::fp_add, l.fp_add);
  set(x86::ExecutionClass::fp_multiply, l.fp_multiply);
  set(x86::ExecutionClass::fp_divide, l.fp_divide);
  set(x86::ExecutionClass::vector, l.vector);
  set(x86::ExecutionClass::load_only, 0);
  set(x86::ExecutionClass::store_only, 1);
  set(x86::ExecutionClass::branch, l.branch);
  set(x86::ExecutionClass::nop, 0);
  set(x86::ExecutionClass::serializing, l.serializing);
  set(x86::ExecutionClass::microcoded, l.microcoded);
  return latencies;
}

CoreEngine::CoreEngine(const CoreParameters& p, BranchUnit branches)
    : mispredict_penalty_(p.mispredict_penalty),
      taken_branch_bubble_(p.taken_branch_bubble),
      locked_latency_(p.latencies.locked),
      latencies_(by_class(p.latencies)),
      branches_(branches),
      fresh_branches_(std::move(branches)),
      memory_(p),
      pipeline_(p),
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

CoreEngine::Ready CoreEngine::operands_ready(const x86::Instruction& instruction, u64 cycle) const {
  Ready latest{cycle, WaitingFor::execution};
  for (x86::RegisterMask left = instruction.registers_read; left != 0; left &= left - 1) {
    const Ready& source = registers_[static_cast<unsigned>(std::countr_zero(left))];
    if (source.cycle > latest.cycle) latest = source;
  }
  return latest;
}

CoreEngine::Ready CoreEngine::execute(const DataAccesses& data, u64 dispatched) {
  const x86::Instruction& instruction = *data.instruction;
  Ready result = operands_ready(instruction, dispatched);
  if (uses_divider(instruction.execution) && divider_free_ > result.cycle)
    result = {divider_free_, WaitingFor::execution};
  const bool touches_memory = instruction.memory_operands != 0;
  if (touches_memory) {
    const LoadStoreUnit::Loaded loaded = memory_.load(data, result.cycle, execution_);
    if (loaded.ready_cycle > result.cycle) result = {loaded.ready_cycle, loaded.waiting_for};
  }
  result.cycle += latencies_[static_cast<unsigned>(instruction.execution)];
  if (instruction.locked) result.cycle += locked_latency_;
  if (uses_divider(instruction.execution)) divider_free_ = result.cycle;
  if (touches_memory) {
    const LoadStoreUnit::Loaded stored = memory_.store(data, result.cycle, execution_);
    if (stored.ready_cycle > result.cycle) result = {stored.ready_cycle, stored.waiting_for};
  }
  for (x86::RegisterMask left = instruction.registers_written; left != 0; left &= left - 1)
    registers_[static_cast<unsigned>(std::countr_zero(left))] = result;
  return result;
}

Prediction CoreEngine::transfer_control(const x86::Instruction& branch) {
  Retirement& retirement = execution_.retirement;
  retirement.taken = is_taken(branch, retirement.next_ip);
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
  if (prediction == Prediction::resteer)
    pipeline_.stall_fetch(pipeline_.next_dispatch() + taken_branch_bubble_);
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

  fetch(instruction);
  if (serializing) pipeline_.drain();
  const Pipeline::Dispatched dispatched = pipeline_.dispatch(std::max<unsigned>(instruction.uops, 1));
  const Ready result = execute(take_accesses(instruction), dispatched.last_cycle);
  Prediction prediction = Prediction::right;
  if (instruction.branch != BranchKind::none) prediction = transfer_control(instruction);
  const u64 previous = cycle();
  retirement.cycle = retire(dispatched, result);
  redirect_fetch(prediction, result.cycle);
  if (instruction.flushes_line) flush_line(instruction, retirement.registers);
  if (serializing) pipeline_.drain();

  if (instruction.signals.has(Signal::microcoded))
    retirement.quantities[static_cast<unsigned>(Quantity::slots_heavy)] = dispatched.uops;
  retirement.latency_cycles = static_cast<u32>(pipeline_.retired_cycle() - dispatched.first.cycle);
  retirement.retire_latency_cycles = static_cast<u32>(retirement.cycle - previous);
  retirement.memory = std::span(execution_.accesses.data(), execution_.access_count);
  ++cursor_.instruction;
  return retirement;
}

}  // namespace pmusim
