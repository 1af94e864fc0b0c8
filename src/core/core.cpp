#include "pmusim/core/core.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

namespace pmusim {
namespace {

// The limits keep every quantity of one retirement within 32 bits, whatever a REP instruction does.
constexpr unsigned longest_latency = 2000, widest = 16;

struct Limit {
  std::string_view name;
  unsigned value, least, most;
};

Result<Done, Error> check_limits(const CoreParameters& p) {
  constexpr unsigned many = 1u << 20;
  const ExecutionLatencies& l = p.latencies;
  const Limit limits[] = {
      {"retire_width", p.retire_width, 1, widest},
      {"mispredict_penalty", p.mispredict_penalty, 0, longest_latency},
      {"taken_branch_bubble", p.taken_branch_bubble, 0, longest_latency},
      {"l1i_miss_penalty", p.l1i_miss_penalty, 0, longest_latency},
      {"memory_latency_cycles", p.memory_latency_cycles, 1, longest_latency},
      {"stlb_latency_cycles", p.stlb_latency_cycles, 0, longest_latency},
      {"page_walk_cycles", p.page_walk_cycles, 0, longest_latency},
      {"outstanding_misses", p.outstanding_misses, 1, many},
      {"reorder_buffer_uops", p.reorder_buffer_uops, 1, many},
      {"store_buffer_entries", p.store_buffer_entries, 1, many},
      {"return_stack_entries", p.return_stack_entries, 1, many},
      {"latencies.simple", l.simple, 0, longest_latency},
      {"latencies.multiply", l.multiply, 0, longest_latency},
      {"latencies.divide", l.divide, 0, longest_latency},
      {"latencies.fp_add", l.fp_add, 0, longest_latency},
      {"latencies.fp_multiply", l.fp_multiply, 0, longest_latency},
      {"latencies.fp_divide", l.fp_divide, 0, longest_latency},
      {"latencies.vector", l.vector, 0, longest_latency},
      {"latencies.branch", l.branch, 0, longest_latency},
      {"latencies.serializing", l.serializing, 0, longest_latency},
      {"latencies.microcoded", l.microcoded, 0, longest_latency},
      {"latencies.locked", l.locked, 0, longest_latency},
      {"tsc_per_core_cycle_denominator", p.tsc_per_core_cycle_denominator, 1, ~0u},
  };
  for (const Limit& limit : limits) {
    if (limit.value < limit.least || limit.value > limit.most)
      return Failure(Error(fmt::format("core parameter {} is {}; it must be {} to {}", limit.name,
                                       limit.value, limit.least, limit.most)));
  }
  return Done{};
}

Result<Done, Error> check_tables(const CoreParameters& p) {
  struct Table {
    std::string_view name;
    unsigned entries, ways;
  };
  const Table tables[] = {{"dtlb_entries", p.dtlb_entries, p.dtlb_ways},
                          {"itlb_entries", p.itlb_entries, p.itlb_ways},
                          {"stlb_entries", p.stlb_entries, p.stlb_ways},
                          {"btb_entries", p.btb_entries, 4}};
  for (const Table& table : tables) {
    if (table.ways == 0 || table.entries == 0 || table.entries % table.ways != 0)
      return Failure(Error(fmt::format("core parameter {} is {}; it must be a positive multiple of {} ways",
                                       table.name, table.entries, table.ways)));
  }
  return Done{};
}

Result<Done, Error> check_caches(const CoreParameters& p) {
  struct Cache {
    std::string_view name;
    const CacheGeometry& geometry;
  };
  const Cache caches[] = {{"l1i", p.l1i}, {"l1d", p.l1d}, {"l2", p.l2}, {"l3", p.l3}};
  for (const auto& [name, cache] : caches) {
    const u64 set_bytes = u64{cache.ways} * cache.line_bytes;
    if (set_bytes == 0 || cache.bytes == 0 || cache.bytes % set_bytes != 0)
      return Failure(Error(fmt::format("cache {}: {} bytes are no multiple of {} ways of {}-byte lines", name,
                                       cache.bytes, cache.ways, cache.line_bytes)));
    if (cache.line_bytes != p.l1d.line_bytes || !std::has_single_bit(cache.line_bytes) ||
        cache.line_bytes < 16)
      return Failure(
          Error(fmt::format("cache {}: lines of {} bytes; all caches must have lines of one size, "
                            "a power of two from 16 bytes on",
                            name, cache.line_bytes)));
    if (cache.latency_cycles < 1 || cache.latency_cycles > longest_latency)
      return Failure(Error(fmt::format("cache {}: a latency of {} cycles; it must be 1 to {}", name,
                                       cache.latency_cycles, longest_latency)));
  }
  return Done{};
}

// Cycles by x86::ExecutionClass; pure loads and stores take what memory takes.
std::array<unsigned, 13> by_class(const ExecutionLatencies& l) {
  std::array<unsigned, 13> latencies{};
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

void add_outcome(BranchKind kind, bool taken, SignalSet& signals) {
  if (kind == BranchKind::conditional)
    signals.add(taken ? Signal::conditional_taken : Signal::conditional_not_taken);
  if (taken && is_near_branch(kind)) signals.add(Signal::near_taken);
}

void add_mispredict(BranchKind kind, bool taken, SignalSet& signals) {
  signals.add(Signal::mispredicted);
  if (taken) signals.add(Signal::mispredicted_near_taken);
  if (kind == BranchKind::conditional) {
    signals.add(Signal::mispredicted_conditional);
    signals.add(taken ? Signal::mispredicted_conditional_taken : Signal::mispredicted_conditional_not_taken);
  }
  if (kind == BranchKind::near_return) signals.add(Signal::mispredicted_return);
  if (kind == BranchKind::indirect_call) signals.add(Signal::mispredicted_indirect_call);
  if (kind == BranchKind::indirect_call || kind == BranchKind::indirect_jump)
    signals.add(Signal::mispredicted_indirect);
}

}  // namespace

Result<Core, Error> Core::create(const CpuModel& model, const trace::Contents& contents) {
  for (const auto check : {check_limits, check_tables, check_caches})
    if (auto checked = check(model.core); !checked.ok()) return Failure(checked.error());
  auto branches = BranchUnit::create(model.core);
  if (!branches.ok()) return Failure(branches.error());
  return Core(model.core, std::move(branches).value(), contents.addresses);
}

Core::Core(const CoreParameters& p, BranchUnit branches, bool knows_memory)
    : knows_memory_(knows_memory),
      mispredict_penalty_(p.mispredict_penalty),
      taken_branch_bubble_(p.taken_branch_bubble),
      locked_latency_(p.latencies.locked),
      latencies_(by_class(p.latencies)),
      branches_(std::move(branches)),
      memory_(p),
      pipeline_(p) {}

void Core::interrupt() {
  pipeline_.refill(pipeline_.retired_cycle() + 1 + mispredict_penalty_, Pipeline::Refill::clear);
}

void Core::fetch_line(u64 address, MemoryReport& report) {
  const u64 now = pipeline_.next_dispatch();
  const MemoryHierarchy::Answer answer = memory_.hierarchy().fetch(address, now, report.quantities);
  fetched_line_ = memory_.hierarchy().line_of(address);
  if (answer.ready_cycle > now) pipeline_.stall_fetch(answer.ready_cycle);
  if (answer.level != CacheLevel::l1) report.signals.add(Signal::l1i_miss);
  if (answer.level > CacheLevel::l2) report.signals.add(Signal::l2i_miss);
  if (answer.tlb != TlbLevel::l1) report.signals.add(Signal::itlb_miss);
  if (answer.tlb == TlbLevel::walk) report.signals.add(Signal::stlb_instruction_miss);
}

void Core::fetch(const x86::Instruction& instruction, MemoryReport& report) {
  const MemoryHierarchy& hierarchy = memory_.hierarchy();
  if (hierarchy.line_of(instruction.ip) != fetched_line_) fetch_line(instruction.ip, report);
  const u64 last_byte = instruction.end() - 1;
  if (hierarchy.line_of(last_byte) != fetched_line_) fetch_line(last_byte, report);
}

DataAccesses Core::take_accesses(const x86::Instruction& instruction, Cursor& cursor) const {
  DataAccesses data{&instruction};
  const std::span<const u64> addresses = cursor.run->addresses;
  const std::size_t operands = instruction.memory_operands;
  if (operands <= addresses.size() - std::min(cursor.address, addresses.size()))
    data.addresses = addresses.subspan(cursor.address, operands);
  cursor.address += operands;
  if (instruction.rep && cursor.repetition < cursor.run->rep_counts.size())
    data.iterations = cursor.run->rep_counts[cursor.repetition++];
  return data;
}

Core::Ready Core::operands_ready(const x86::Instruction& instruction, u64 cycle) const {
  Ready latest{cycle, WaitingFor::execution};
  for (x86::RegisterMask left = instruction.registers_read; left != 0; left &= left - 1) {
    const Ready& source = registers_[static_cast<unsigned>(std::countr_zero(left))];
    if (source.cycle > latest.cycle) latest = source;
  }
  return latest;
}

Core::Ready Core::execute(const DataAccesses& data, u64 dispatched, MemoryReport& report) {
  const x86::Instruction& instruction = *data.instruction;
  Ready result = operands_ready(instruction, dispatched);
  if (uses_divider(instruction.execution) && divider_free_ > result.cycle)
    result = {divider_free_, WaitingFor::execution};
  const bool touches_memory = instruction.memory_operands != 0;
  if (touches_memory) {
    const LoadStoreUnit::Loaded loaded = memory_.load(data, result.cycle, report);
    if (loaded.ready_cycle > result.cycle) result = {loaded.ready_cycle, loaded.waiting_for};
  }
  result.cycle += latencies_[static_cast<unsigned>(instruction.execution)];
  if (instruction.locked) result.cycle += locked_latency_;
  if (uses_divider(instruction.execution)) divider_free_ = result.cycle;
  if (touches_memory) {
    const LoadStoreUnit::Loaded stored = memory_.store(data, result.cycle, report);
    if (stored.ready_cycle > result.cycle) result = {stored.ready_cycle, stored.waiting_for};
  }
  for (x86::RegisterMask left = instruction.registers_written; left != 0; left &= left - 1)
    registers_[static_cast<unsigned>(std::countr_zero(left))] = result;
  return result;
}

Prediction Core::transfer_control(Retirement& retirement, const x86::Instruction& branch) {
  retirement.taken = is_taken(branch, retirement.next_ip);
  add_outcome(branch.branch, retirement.taken, retirement.signals);
  if (!is_near_branch(branch.branch)) return Prediction::right;
  const Prediction prediction = branches_.resolve(branch, retirement.taken, retirement.next_ip);
  retirement.mispredicted = prediction == Prediction::wrong;
  if (prediction == Prediction::wrong) add_mispredict(branch.branch, retirement.taken, retirement.signals);
  if (prediction == Prediction::resteer) retirement.signals.add(Signal::front_end_resteer);
  return prediction;
}

void Core::redirect_fetch(Prediction prediction, u64 resolved) {
  if (prediction == Prediction::wrong)
    pipeline_.refill(resolved + mispredict_penalty_, Pipeline::Refill::mispredict);
  if (prediction == Prediction::resteer)
    pipeline_.stall_fetch(pipeline_.next_dispatch() + taken_branch_bubble_);
}

Retirement Core::step(Cursor& cursor, MemoryReport& report) {
  const std::vector<x86::Instruction>& instructions = cursor.run->block->instructions;
  const x86::Instruction& instruction = instructions[cursor.instruction];
  const bool last = cursor.instruction + 1 == instructions.size();
  report.count = 0;
  report.signals = instruction.signals;
  report.quantities = {};

  fetch(instruction, report);
  const bool serializing = instruction.execution == x86::ExecutionClass::serializing;
  if (serializing) pipeline_.drain();
  const Pipeline::Dispatched dispatched = pipeline_.dispatch(std::max<unsigned>(instruction.uops, 1));
  const DataAccesses data = take_accesses(instruction, cursor);
  const Ready result = execute(data, dispatched.last_cycle, report);

  Retirement retirement;
  retirement.ip = instruction.ip;
  retirement.next_ip = last ? cursor.run->next_ip : instructions[cursor.instruction + 1].ip;
  retirement.signals = report.signals;
  retirement.length = instruction.length;
  retirement.branch = instruction.branch;
  Prediction prediction = Prediction::right;
  if (instruction.branch != BranchKind::none) prediction = transfer_control(retirement, instruction);

  const u64 previous = pipeline_.retired_cycle();
  retirement.cycle = pipeline_.retire(dispatched, result.cycle, result.reason, report.quantities);
  redirect_fetch(prediction, result.cycle);
  if (serializing) pipeline_.drain();
  if (instruction.execution == x86::ExecutionClass::microcoded)
    report.quantities[static_cast<unsigned>(Quantity::slots_heavy)] = dispatched.uops;
  retirement.quantities = report.quantities;
  retirement.latency_cycles = static_cast<u32>(retirement.cycle - dispatched.first.cycle);
  retirement.retire_latency_cycles = static_cast<u32>(retirement.cycle - previous);
  retirement.memory = std::span(report.accesses.data(), report.count);
  if (cursor.instruction < cursor.run->registers.size())
    retirement.registers = &cursor.run->registers[cursor.instruction];
  return retirement;
}

}  // namespace pmusim
