// SPDX-License-Identifier: MIT
#include "core/memory_core.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "core/branch_outcome.h"
#include "core/core_costs.h"
#include "core/core_engine.h"
#include "core/recorded_instruction.h"
#include "cpu/memory_signals.h"
#include "pmusim/cpu/core_parameters.h"

namespace pmusim {
namespace {

constexpr u32 outcomes = 6;  // of a block's last branch: predictions times directions
constexpr u64 uops_of_mark = 8;

void add_to(Quantities& sums, const Quantities& more) {
  for (unsigned which = 0; which < sums.size(); ++which) sums[which] += more[which];
}

void set(Quantities& quantities, Quantity which, u64 value) {
  quantities[static_cast<unsigned>(which)] = static_cast<u32>(value);
}

}  // namespace

Result<MemoryCore, Error> MemoryCore::create(const CpuModel& model, const trace::Contents& contents) {
  const CoreParameters core = core_of(model);
  if (auto checked = check_core_parameters(core); !checked.ok()) return Failure(checked.error());
  auto branches = BranchUnit::create(core);
  if (!branches.ok()) return Failure(branches.error());
  return MemoryCore(core, std::move(branches).value(), contents);
}

MemoryCore::MemoryCore(const CoreParameters& core, BranchUnit branches, const trace::Contents& contents)
    : parameters_(core),
      tsc_(tsc_clock(core)),
      dataflow_(core),
      inverse_width_(~u64{0} / core.issue_width),
      branches_(branches),
      barriers_(std::move(branches)),
      memory_(core),
      front_end_(core),
      hits_(signals_of_hits(contents.addresses)),
      blocks_(core),
      retired_uops_(std::bit_ceil(core.reorder_buffer_uops / uops_of_mark + 2)),
      store_buffer_(core.store_buffer_entries) {
  state_.dispatched = state_.retired = begin_of(1);
}

// slot / width: the quotient by the inverse is right or one too small.
u64 MemoryCore::cycle_of(Slots slot) const {
  __extension__ using u128 = unsigned __int128;
  const u64 whole = static_cast<u64>(slot);
  const u64 cycle = static_cast<u64>(static_cast<u128>(whole) * inverse_width_ >> 64);
  return cycle + (whole - cycle * parameters_.issue_width >= parameters_.issue_width ? 1 : 0);
}

void MemoryCore::begin(const trace::BlockRun& run, const Block& block) {
  run_ = &run;
  block_ = &block;
  since_ = cycle_;
  retired_before_ = state_.retired;
  one_by_one_ = false;
  lines_hit_ = 0;
  execution_.signals = {};
  unusual_.clear();
  unusual_signals_.clear();
  requests_.clear();
  pending_.clear();
}

BlockExecution MemoryCore::execute(const trace::BlockRun& run) {
  const Block& block = blocks_.of(*run.block, front_end_);
  blocks_.fetch_what_follows(block);
  begin(run, block);
  const std::size_t lines = enter_lines(block);
  const bool code_is_there = execution_.signals.empty() && lines == block.lines;
  begun_ = dispatch(block);
  const std::size_t accesses = code_is_there && !block.one_by_one ? access_all(block) : 0;
  if (code_is_there && !block.one_by_one && accesses == block.accesses)
    apply(block);
  else
    pass_from(accesses, lines == block.lines ? nobody : blocks_.lines_of(block)[lines].instruction);
  retire_block(block);
  branch(block);
  return {.run = &run,
          .since = since_,
          .kind = run.block->id * outcomes + 2 * static_cast<u32>(last_.prediction) + last_.taken,
          .instructions = block.instructions,
          .cycles = static_cast<u32>(cycle_ - since_),
          .branch = block.branch,
          .branch_length = static_cast<u8>(block.end - block.branch_ip),
          .fused_length = block.fused_length,
          .taken = last_.taken,
          .prediction = last_.prediction,
          .jumps_within = block.branches_within,
          .in_user = is_user(run),
          .branch_ip = block.branch_ip};
}

// How many of its lines of code have been entered: the first, and those behind it that are there.
std::size_t MemoryCore::enter_lines(const Block& block) {
  MemoryHierarchy& hierarchy = memory_.hierarchy();
  const auto lines = blocks_.lines_of(block);
  std::size_t entered = hierarchy.line_of(lines.front().address) == fetched_line_ ? 1 : 0;
  const std::size_t ahead = block.one_by_one ? 1 : lines.size();
  for (; entered < ahead; ++entered) {
    const u64 address = lines[entered].address;
    if (!hierarchy.fetch_if_there(address)) break;
    fetched_line_ = hierarchy.line_of(address);
    ++lines_hit_;
  }
  if (entered != 0) return entered;
  fetch_line(lines.front().address);
  return 1;
}

void MemoryCore::fetch_line(u64 address) {
  const u64 now = cycle_of(state_.dispatched);
  const MemoryHierarchy::Answer answer = memory_.hierarchy().fetch(address, now, execution_.quantities);
  fetched_line_ = memory_.hierarchy().line_of(address);
  if (answer.level == CacheLevel::l1)
    ++lines_hit_;
  else
    ++execution_.quantities[static_cast<unsigned>(Quantity::l1i_misses)];
  execution_.signals = execution_.signals | fetch_signals(answer.level, answer.tlb);
  if (answer.ready_cycle <= now) return;
  state_.dispatched = begin_of(answer.ready_cycle);
  front_end_.restart(answer.ready_cycle);
}

void MemoryCore::fetch(const LoweredInstruction& instruction) {
  const MemoryHierarchy& hierarchy = memory_.hierarchy();
  for (const u64 address : {instruction.ip, instruction.end() - 1})
    if (hierarchy.line_of(address) != fetched_line_) fetch_line(address);
}

// The slot of its first uop: as soon as uops are delivered, and there is a place for the last in the reorder
// buffer.
Slots MemoryCore::dispatch(const Block& block) {
  const Slots slots = block.slots, width = parameters_.issue_width;
  Slots begin = state_.dispatched + sync_stack(block);
  const u64 last = uops_ + block.slots;
  if (last > parameters_.reorder_buffer_uops) {
    const u64 leaving = std::min(last - parameters_.reorder_buffer_uops, std::max<u64>(uops_, 1));
    begin = std::max(begin, retired_mark(leaving - 1) + width - slots);
  }
  const FrontEnd::Cycles delivered = front_end_.deliver(blocks_.code(*run_->block), cycle_of(begin));
  return std::max({begin, begin_of(delivered.first), begin_of(delivered.last) + 1 - slots});
}

Slots MemoryCore::sync_stack(const Block& block) {
  const bool first = block.uses_stack && stack_moved_bytes_ + block.moved_before != 0;
  stack_moved_bytes_ = block.moved_behind + (block.uses_stack ? 0 : stack_moved_bytes_);
  return block.stack_syncs + (first ? 1 : 0);
}

// Accesses to L1, which take no other time than the summary says: how many, up to the first that is
// elsewhere.
std::size_t MemoryCore::access_all(const Block& block) {
  if (run_->addresses.empty()) return block.accesses;
  if (run_->addresses.size() < run_->block->operands) return 0;
  const u64 cycle = cycle_of(begun_);
  const auto accesses = blocks_.accesses_of(block);
  for (std::size_t number = 0; number < accesses.size(); ++number)
    if (!access_there(accesses[number], cycle)) return number;
  return accesses.size();
}

// False, and nothing has happened: not in L1, a load that waits for a store, or a store that has to wait or
// hits code.
inline bool MemoryCore::access_there(const MemoryBlocks::Access& access, u64 cycle) {
  MemoryHierarchy& hierarchy = memory_.hierarchy();
  const u64 address = run_->addresses[access.address];
  const bool stores = access.kind == AccessKind::store;
  if (hierarchy.line_of(address) != hierarchy.line_of(address + access.bytes - 1)) return false;
  if (stores && (store_buffer_[next_store_] > cycle || hierarchy.has_code(address))) return false;
  if (!stores && forwarded(address) > begun_ + begin_of(hierarchy.hit_latency())) return false;
  const auto found = hierarchy.access_if_there(
      {.address = address, .ip = access.ip, .kind = access.kind, .cycle = cycle}, execution_.quantities);
  if (found == MemoryHierarchy::Found::elsewhere) return false;
  if (found == MemoryHierarchy::Found::there_and_prefetched) note_requests(access.instruction);
  if (!stores) return true;
  next_store_entry() = last_commit_;
  const auto place = address / place_bytes;
  stored_at(address) = {place, not_known};
  pending_.push_back({static_cast<u16>(place % stored_places), access.store});
  return true;
}

// When a load has its data from a store, if the youngest one to its place has them so late.
inline Slots MemoryCore::forwarded(u64 address) {
  const Stored& stored = stored_at(address);
  return stored.place == address / place_bytes ? stored.ready + begin_of(parameters_.forwarding_cycles) : 0;
}

inline void MemoryCore::keep_stores(const Block& block) {
  for (const Pending& each : pending_)
    stored_[each.stored].ready = begun_ + results_[BlockFlow::first_register + block.outputs + each.store];
}

// When the oldest store of the buffer has left it, and, from now on, the youngest.
inline u64& MemoryCore::next_store_entry() {
  u64& entry = store_buffer_[next_store_];
  if (++next_store_ == store_buffer_.size()) next_store_ = 0;
  return entry;
}

// Of what is ready before dispatch nobody waits.
void MemoryCore::apply(const Block& block) {
  constexpr Slots longest = Slots{1} << 30;
  const std::size_t rows = MemoryBlocks::rows_of(block);
  const i32* column = blocks_.delays_of(block);
  std::copy_n(column, rows, results_.begin());
  for (std::size_t n = 0; n < block.inputs; ++n) {
    column += rows;
    const Slots later = state_.registers[block.read[n]] - begun_;
    const auto ready = static_cast<i32>(std::clamp(later, -longest, longest - 1));
    inputs_[n] = ready;
    if (ready > 0) delay(column, ready, rows);
  }
  for (std::size_t n = 0; n < block.outputs; ++n)
    state_.registers[block.written[n]] = begun_ + results_[BlockFlow::first_register + n];
  state_.dispatched = begun_ + block.slots;
  state_.retired = std::max(retired_before_ + block.slots, begun_ + results_[BlockFlow::retired]);
  state_.result = begun_ + results_[BlockFlow::resolved];
  keep_stores(block);
}

inline void MemoryCore::delay(const i32* column, i32 ready, std::size_t rows) {
  constexpr std::size_t rows_at_once = MemoryBlocks::rows_at_once;
  for (std::size_t first = 0; first < rows; first += rows_at_once)
    for (std::size_t row = first; row < first + rows_at_once; ++row)
      results_[row] = std::max(results_[row], ready + column[row]);
}

// Instruction by instruction, of which so many accesses are over, and code up to that one has been entered.
void MemoryCore::pass_from(std::size_t accesses, u32 entered) {
  const std::span<const LoweredInstruction> all = lowered();
  one_by_one_ = true;
  if (retired_.size() < all.size()) retired_.resize(all.size());
  state_.dispatched = begun_;
  recorded_accesses_ = AccessReader(*run_);
  accesses_over_ = accesses;
  entered_ = entered;
  for (u32 n = 0; n < all.size(); ++n) {
    if (n >= entered_ || fetched_line_ == nowhere) fetch(all[n]);
    pass(run_->block->instructions[n], all[n], n);
    note(n);
    execution_.signals = {};
  }
}

void MemoryCore::pass(const x86::Instruction& instruction, const LoweredInstruction& lowered, u32 number) {
  const DataAccesses data = recorded_accesses_.take(lowered);
  const bool accesses = lowered.accesses != 0 && data.iterations != 0;
  Slots late = 0;
  if (accesses && lowered.loads()) late = load(data, dataflow_.addressed(instruction, lowered, state_));
  dataflow_.step(instruction, lowered, late, state_);
  if (accesses && lowered.stores()) store(data);
  if (std::exchange(execution_.clears_pipeline, false)) clear_pipeline(number);
  if (instruction.flushes_line)
    if (const auto line = memory_.flush(instruction, registers_after(*run_, number)); line == fetched_line_)
      fetched_line_ = nowhere;
  retired_[number] = state_.retired;
}

// Whether that access has been made before. All that have been were hits.
bool MemoryCore::is_over(AccessKind kind) {
  if (accesses_over_ == 0) return false;
  --accesses_over_;
  execution_.signals = execution_.signals | hits_[kind == AccessKind::load ? 1 : 2];
  return true;
}

// How much later than from L1D all data are there.
Slots MemoryCore::load(const DataAccesses& data, Slots start) {
  if (data.addresses.empty()) {
    execution_.signals.add(Signal::load_l1_hit);
    return 0;
  }
  const u64 cycle = cycle_of(start), hit = cycle + memory_.hierarchy().hit_latency();
  u64 ready = hit;
  Slots late = 0;
  for (unsigned n = 0; n < data.instruction->operands; ++n) {
    if (!data.instruction->memory[n].load || is_over(AccessKind::load)) continue;
    late = std::max(late, forwarded(data.addresses[n]) - start - begin_of(memory_.hierarchy().hit_latency()));
    ready =
        std::max(ready, memory_.access_in_order(data, n, AccessKind::load, cycle, execution_).ready_cycle);
  }
  return std::max(late, begin_of(ready - hit));
}

// A store leaves the buffer when it is in L1D, in order, and a string store retires then.
void MemoryCore::store(const DataAccesses& data) {
  if (data.addresses.empty()) {
    execution_.signals.add(Signal::store_l1_hit);
    return;
  }
  for (unsigned n = 0; n < data.instruction->operands; ++n) {
    if (!data.instruction->memory[n].store) continue;
    const u64 address = data.addresses[n];
    if (is_over(AccessKind::store)) {
      stored_at(address) = {address / place_bytes, state_.result};
      continue;
    }
    u64& leaves = next_store_entry();
    const u64 cycle = std::max(cycle_of(state_.result), leaves);
    const u64 written = memory_.access_in_order(data, n, AccessKind::store, cycle, execution_).ready_cycle;
    leaves = last_commit_ = std::max(last_commit_, written);
    const u64 done = data.instruction->rep ? last_commit_ : cycle;
    state_.result = std::max(state_.result, begin_of(done));
    state_.retired = std::max(state_.retired, begin_of(done) + 1 - parameters_.issue_width);
    stored_at(address) = {address / place_bytes, state_.result};
  }
}

// What is younger was done in vain, and is fetched anew. Its lines have not been entered yet.
void MemoryCore::clear_pipeline(u32 behind) {
  for (const MemoryBlocks::Line& line : blocks_.lines_of(*block_))
    if (line.instruction > behind && line.instruction < entered_) --lines_hit_;
  entered_ = std::min(entered_, behind + 1);
  const u64 again =
      cycle_of(state_.retired - 1) + parameters_.mispredict_penalty + parameters_.machine_clear_cycles;
  state_.dispatched = std::max(state_.dispatched, begin_of(again));
  front_end_.restart(again);
  fetched_line_ = nowhere;
}

void MemoryCore::note(u32 instruction) {
  note_requests(instruction);
  if ((execution_.signals ^ hits_[lowered()[instruction].accesses]).empty()) return;
  unusual_.push_back(instruction);
  unusual_signals_.push_back(execution_.signals);
}

void MemoryCore::note_requests(u32 instruction) {
  if (!MemoryHierarchy::has_added(execution_.quantities)) return;
  requests_.push_back({instruction, std::exchange(execution_.quantities, {})});
}

void MemoryCore::retire_block(const Block& block) {
  port_free_ = std::max(port_free_, begun_) + block.port_slots;
  state_.retired = std::max(state_.retired, port_free_);
  for (u64 mark = uops_ / uops_of_mark; mark * uops_of_mark < uops_ + block.slots; ++mark)
    retired_uops_[mark & (retired_uops_.size() - 1)] = state_.retired;
  uops_ += block.slots;
  cycle_ = cycle_of(state_.retired - 1);
}

void MemoryCore::branch(const Block& block) {
  if (block.branches_within) {
    within_.clear();
    for (u32 n = 0; n + 1 < block.instructions; ++n) {
      const LoweredInstruction& each = lowered()[n];
      within_.push_back(resolve({each.ip, each.end(), each.branch}, run_->block->instructions[n].target,
                                next_ip_of(*run_, n), false));
    }
  }
  last_ = resolve({block.branch_ip, block.end, block.branch}, block.target, run_->next_ip,
                  is_seen_transfer(block.branch, run_->block->ring, run_->next_ring));
  redirect(last_.prediction);
}

MemoryCore::Branch MemoryCore::resolve(const BranchSite& site, u64 target, u64 next_ip, bool changes_ring) {
  if (site.kind == BranchKind::none) return {};
  Branch made{.taken = changes_ring || is_taken(site.kind, target, site.end, next_ip)};
  if (is_near_branch(site.kind)) made.prediction = branches_.resolve(site, made.taken, next_ip);
  if (made.taken) front_end_.follow(site.ip, next_ip);
  return made;
}

void MemoryCore::redirect(Prediction prediction) {
  if (prediction == Prediction::right) return;
  const u64 again = prediction == Prediction::wrong
                        ? cycle_of(state_.result) + parameters_.mispredict_penalty
                        : cycle_of(state_.dispatched) + parameters_.resteer_cycles;
  state_.dispatched = std::max(state_.dispatched, begin_of(again));
  front_end_.restart(again);
}

void MemoryCore::interrupt() {
  const u64 again = cycle_ + 1 + parameters_.mispredict_penalty;
  state_.dispatched = std::max(state_.dispatched, begin_of(again));
  front_end_.restart(again);
}

void MemoryCore::warm_from(const MemoryCore& before) {
  branches_ = before.branches_;
  front_end_.warm_from(before.front_end_);
  memory_.warm_from(before.memory_);
}

// Its sums and its retirements

SignalSet MemoryCore::raised(u32 instruction) const {
  const auto found = std::ranges::lower_bound(unusual_, instruction);
  if (found != unusual_.end() && *found == instruction)
    return unusual_signals_[static_cast<std::size_t>(found - unusual_.begin())];
  return hits_[lowered()[instruction].accesses];
}

SignalSet MemoryCore::differing_signals(u32 instruction) const {
  return raised(instruction) ^ hits_[lowered()[instruction].accesses];
}

SignalSet MemoryCore::with_code(u32 instruction, SignalSet signals) const {
  const x86::Instruction& code = run_->block->instructions[instruction];
  signals = signals | code.signals;
  if (lowered()[instruction].fused) signals.add(Signal::macro_fused);
  if (code.branch == BranchKind::none) return signals;
  const Branch& went = branch_of(instruction);
  return signals | CoreEngine::signals_of_branch(code.branch, went.taken, went.prediction);
}

const MemoryCore::Branch& MemoryCore::branch_of(u32 instruction) const {
  return instruction + 1 == block_->instructions ? last_ : within_[instruction];
}

SignalSet MemoryCore::usual_signals(const BlockExecution&, u32 instruction) const {
  return with_code(instruction, hits_[lowered()[instruction].accesses]);
}

SignalSet MemoryCore::actual_signals(u32 instruction) const {
  return with_code(instruction, raised(instruction));
}

void MemoryCore::account_time(u64 since, u64 until, Quantities& quantities) const {
  set(quantities, Quantity::cycles, until - since);
  set(quantities, Quantity::reference_cycles, tsc_.ticks(until) - tsc_.ticks(since));
}

Quantities MemoryCore::sum(const QuantitySet& wanted) const {
  Quantities sums{};
  account_time(since_, cycle_, sums);
  set(sums, Quantity::l1i_hits, lines_hit_);
  for (const Requests& reported : requests_)
    wanted.each_index([&](unsigned which) { sums[which] += reported.quantities[which]; });
  return sums;
}

u32 MemoryCore::first_of_last_cycle(const BlockExecution& execution) const {
  u32 number = 0, first_of_cycle = 0;
  u64 cycle = since_;
  retire(execution, [&](const Retirement& retirement) {
    if (retirement.cycle != cycle) first_of_cycle = number;
    cycle = retirement.cycle;
    ++number;
  });
  return first_of_cycle;
}

MemoryCore::Cursor MemoryCore::first() const {
  Cursor cursor{.cycle = since_};
  if (one_by_one_) return cursor;
  cursor.state.dispatched = begun_;
  cursor.state.retired = retired_before_;
  for (std::size_t n = 0; n < block_->inputs; ++n)
    cursor.state.registers[block_->read[n]] = begun_ + inputs_[n];
  return cursor;
}

// As it was when the block passed, or would have been if it had gone instruction by instruction.
u64 MemoryCore::retired_at(Cursor& cursor) const {
  const u32 number = cursor.instruction;
  const std::span<const LoweredInstruction> all = lowered();
  if (number + 1 == all.size()) return cycle_;
  if (one_by_one_) return cycle_of(retired_[number] - 1);
  dataflow_.step(run_->block->instructions[number], all[number], 0, cursor.state);
  return cycle_of(cursor.state.retired - 1);
}

const Retirement& MemoryCore::next(Cursor& cursor) const {
  const u32 number = cursor.instruction;
  const x86::Instruction& instruction = run_->block->instructions[number];
  const u64 previous = cursor.cycle;
  cursor.cycle = std::max(previous, retired_at(cursor));

  Retirement& r = cursor.retirement;
  retire_as_recorded(*run_, number, cursor.change, r);
  r.cycle = cursor.cycle;
  r.signals = actual_signals(number);
  r.quantities.fill(0);
  for (; cursor.request < requests_.size() && requests_[cursor.request].instruction == number;
       ++cursor.request)
    add_to(r.quantities, requests_[cursor.request].quantities);
  account_time(previous, cursor.cycle, r.quantities);
  if (number == 0) set(r.quantities, Quantity::l1i_hits, lines_hit_);
  r.fused_length = blocks_.lowered(*run_->block).fused_length(number);
  r.taken = r.mispredicted = false;
  if (instruction.branch != BranchKind::none) {
    r.taken = branch_of(number).taken;
    r.mispredicted = branch_of(number).prediction == Prediction::wrong;
  }
  r.latency_cycles = r.retire_latency_cycles = static_cast<u32>(cursor.cycle - previous);
  ++cursor.instruction;
  return r;
}

}  // namespace pmusim
