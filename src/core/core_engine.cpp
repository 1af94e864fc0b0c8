// SPDX-License-Identifier: MIT
#include "core/core_engine.h"

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <utility>

#include "core/branch_outcome.h"
#include "core/core_costs.h"
#include "core/recorded_instruction.h"
#include "cpu/memory_signals.h"
#include "pmusim/cpu/core_parameters.h"
#include "pmusim/cpu/retirement.h"

namespace pmusim {
namespace {

// All that an account can hold.
constexpr QuantitySet everything =
    QuantitySet::range(Quantity::none, static_cast<Quantity>(static_cast<unsigned>(Quantity::count_) - 1));

// Whether a page was walked for.
bool walks(const Quantities& quantities) {
  const auto at = [&](Quantity which) { return quantities[static_cast<unsigned>(which)]; };
  return (at(Quantity::page_walks_load) | at(Quantity::page_walks_store) |
          at(Quantity::page_walks_instruction)) != 0;
}

}  // namespace

SignalSet CoreEngine::signals_of_branch(BranchKind kind, bool taken, Prediction prediction) {
  SignalSet signals =
      outcome_signals(kind, {.taken = taken, .mispredicted = prediction == Prediction::wrong});
  if (prediction == Prediction::resteer) signals.add(Signal::front_end_resteer);
  return signals;
}

Result<CoreEngine, Error> CoreEngine::create(const CpuModel& model) {
  const CoreParameters core = core_of(model);
  if (auto checked = check_core_parameters(core); !checked.ok()) return Failure(checked.error());
  auto branches = BranchUnit::create(core);
  if (!branches.ok()) return Failure(branches.error());
  return CoreEngine(model, core, std::move(branches).value());
}

CoreEngine::CoreEngine(const CpuModel& model, const CoreParameters& p, BranchUnit branches)
    : parameters_(p),
      issue_order_(p.issue_order),
      tracks_loads_(p.slow_address_cycles != 0),
      address_delay_(p.issue_order == IssueOrder::in_order ? p.l1d.latency_cycles - 1 : 0),
      costs_(costs_of(p)),
      branches_(branches),
      barriers_(std::move(branches)),
      memory_(p),
      pipeline_(p),
      front_end_(p),
      ports_(p),
      general_moves_(p.move_slots, p.move_slot_cycles, p.last_name_keeps_slot != 0),
      vector_moves_(p.move_slots, p.move_slot_cycles, false),
      general_move_ports_(move_ports(p, InstructionForm::move)),
      vector_move_ports_(move_ports(p, InstructionForm::vector_move)),
      recorded_time_(p),
      transactions_(model) {}

void CoreEngine::begin_lowered(const trace::BlockRun& block_run, const LoweredBlock* lowered) {
  run_ = &block_run;
  lowered_ = lowered;
  if (block_run.cycles) recorded_time_.begin(block_run);
  time_is_recorded_ = block_run.cycles.has_value();
  begin_cycle_ = cycle();
  const LoweredInstruction& last = this->lowered().instructions.back();
  left_by_branch_ = is_taken(last.branch, this->lowered().target, last.end(), block_run.next_ip) ||
                    is_seen_transfer(last.branch, block_run.block->ring, block_run.next_ring);
  // One that is taken starts where jumps do.
  const auto form = left_by_branch_ ? InstructionForm::branch : InstructionForm::conditional_branch;
  last_branch_ports_ = costs_->of(form).uses[0].ports;
  accesses_ = AccessReader(block_run);
  cursor_.instruction = cursor_.change = cursor_.request = cursor_.transacted = 0;
  count_ = sync_uops_ = 0;
  if (passed_.size() < block_run.block->instructions.size())
    passed_.resize(block_run.block->instructions.size());
  execution_.accesses.clear();
  requests_.clear();
  transacted_.clear();
  unusual_.clear();
}

void CoreEngine::warm_from(const CoreEngine& before) {
  branches_ = before.branches_;
  front_end_.warm_from(before.front_end_);
  memory_.warm_from(before.memory_);
}

void CoreEngine::interrupt() {
  const u64 again = pipeline_.retired_cycle() + 1 + parameters_.mispredict_penalty;
  pipeline_.refill(again, Pipeline::Refill::clear);
  front_end_.restart(again);
  transactions_.interrupt();
}

// Of the line that is being executed fetch asks again.
void CoreEngine::flush_line(const x86::Instruction& instruction, const Registers* registers) {
  if (const auto line = memory_.flush(instruction, registers); line == fetched_line_) fetched_line_ = nowhere;
}

// The cycle in which the line is there.
[[gnu::always_inline]] inline u64 CoreEngine::find_line(u64 address, u64 now) {
  const MemoryHierarchy::Answer answer = memory_.hierarchy().fetch(address, now, execution_.quantities);
  fetched_line_ = memory_.hierarchy().line_of(address);
  const bool hit = answer.level == CacheLevel::l1;
  ++execution_.quantities[static_cast<unsigned>(hit ? Quantity::l1i_hits : Quantity::l1i_misses)];
  execution_.signals = execution_.signals | fetch_signals(answer.level, answer.tlb);
  return answer.ready_cycle;
}

void CoreEngine::fetch_line(u64 address) {
  const u64 now = pipeline_.next_dispatch(), ready = find_line(address, now);
  if (ready <= now) return;
  pipeline_.stall_fetch(ready);
  front_end_.restart(ready);
}

void CoreEngine::fetch(const LoweredInstruction& instruction) {
  const MemoryHierarchy& hierarchy = memory_.hierarchy();
  if (hierarchy.line_of(instruction.ip) != fetched_line_) fetch_line(instruction.ip);
  const u64 last_byte = instruction.ip + instruction.length - 1;
  if (hierarchy.line_of(last_byte) != fetched_line_) fetch_line(last_byte);
}

template <std::size_t size>
CoreEngine::Ready CoreEngine::ready(const std::array<u8, size>& registers, u64 cycle) const {
  Ready latest{cycle, WaitingFor::execution};
  for (const u8 each : registers) latest = latest.later(registers_[each]);
  return latest;
}

CoreEngine::Ready CoreEngine::ready(x86::RegisterMask registers, u64 cycle) const {
  Ready latest{cycle, WaitingFor::execution};
  for (; registers != 0; registers &= registers - 1)
    latest = latest.later(registers_[static_cast<unsigned>(std::countr_zero(registers))]);
  return latest;
}

[[gnu::always_inline]] inline void CoreEngine::deliver(const LoweredInstruction& instruction,
                                                       FrontEnd::Delivery& delivery) {
  const u64 wanted = pipeline_.next_dispatch();
  const u64 delivered =
      front_end_.deliver(FrontEnd::Code::of(instruction), wanted, execution_.signals, delivery);
  if (delivered > wanted) pipeline_.stall_fetch(delivered);
}

// The second of a pair came with the first.
[[gnu::always_inline]] inline Pipeline::Dispatched CoreEngine::dispatch(const LoweredInstruction& instruction,
                                                                        Passed& passed) {
  Quantities& reported = execution_.quantities;
  FrontEnd::Delivery& delivery = passed.delivery;
  passed.sync_uops = 0;
  if (instruction.second_of_pair) {
    delivery = {};
    return pipeline_.dispatch(0, reported);
  }
  if (instruction.loads()) pipeline_.make_room_for_load(reported);
  pipeline_.stall_dispatch(
      ports_.admit(pipeline_.next_dispatch(), memory_.hierarchy().loads_under_way(), reported), reported);
  deliver(instruction, delivery);
  if (instruction.parts) pipeline_.keep_together();
  if (instruction.merges) pipeline_.begin_alone();
  if (instruction.stack != x86::StackUse::none) passed.sync_uops = static_cast<u8>(sync_stack(instruction));
  sync_uops_ += passed.sync_uops;
  const unsigned added = instruction.added_slots + passed.sync_uops;
  delivery.uops = static_cast<u16>(delivery.uops + added);  // as its source counts what it gave
  const Pipeline::Dispatched dispatched = pipeline_.dispatch(instruction.uops + added, reported);
  if (instruction.accesses != 0 || instruction.work.uses[0].ports != 0)
    ports_.enter(dispatched.first.cycle(), reported);
  return dispatched;
}

// RSP itself is what it was before pushes and pops, which the stack engine adds up at decode, until an
// instruction needs it: a uop then brings it up to date, and so it does when the sum has no more room. The
// number of uops.
unsigned CoreEngine::sync_stack(const LoweredInstruction& lowered) {
  using x86::StackUse;
  constexpr int most_bytes = 127;
  unsigned uops = 0;
  const bool uses = lowered.stack == StackUse::uses || lowered.stack == StackUse::uses_and_moves;
  if (stack_moved_bytes_ != 0 && (uses || std::abs(stack_moved_bytes_) > most_bytes)) {
    stack_moved_bytes_ = 0;
    uops = 1;
    Ready& rsp = registers_[static_cast<unsigned>(Gpr::rsp)];
    const u64 from = std::max(rsp.cycle(), pipeline_.next_dispatch());
    rsp = {ports_.place(costs_->of(InstructionForm::alu).uses[0].ports, from) + 1, WaitingFor::execution};
  }
  if (lowered.stack == StackUse::uses) return uops;
  constexpr int bytes = 8;
  stack_moved_bytes_ += lowered.stores() ? -bytes : bytes;
  return uops;
}

// Until Skylake a load of which the base was loaded, and is not far from there, has its data a cycle sooner
// (uops.info; Intel's optimization manual, 2.4.5.2 of the edition for Haswell).
bool CoreEngine::is_slow(const LoweredInstruction& load) const {
  return load.may_be_slow && (load.always_slow || !is_loaded_[load.address_sources[0]]);
}

// Two loads of a cycle cannot have one bank in different lines: the later one has had its port for nothing
// and comes again (Intel's optimization manual, on bank conflicts of Sandy Bridge).
u64 CoreEngine::free_bank(u64 address, u64 cycle) {
  const u64 line = address / parameters_.l1d.line_bytes;
  const u64 bank = address % parameters_.l1d.line_bytes / parameters_.l1d_bank_bytes;
  for (;; ++cycle) {
    cycle = ports_.place_for(costs_->load_ports, cycle);
    BankRead& read = bank_reads_[cycle % bank_reads_.size()];
    if (read.cycle != cycle) {
      read = {cycle, line, bank};
      return cycle;
    }
    if (read.bank != bank || read.line == line) return cycle;
    ports_.place(costs_->load_ports, cycle);
  }
}

// What it reads beside its destination is needed earlier than that.
CoreEngine::Ready CoreEngine::late_ready(const LoweredInstruction& lowered, u64 cycle) const {
  Ready latest{cycle, WaitingFor::execution};
  for (const u8 each : lowered.sources) {
    const bool own = std::ranges::find(lowered.results, each) != lowered.results.end();
    const Ready& source = registers_[each];
    latest = latest.later(own ? source : Ready{source.cycle() + lowered.work.early_cycles, source.reason()});
  }
  return latest;
}

// When the first of its uops starts; latencies count from there. A unit must be free then.
inline u64 CoreEngine::place(const LoweredInstruction& lowered, u64 ready) {
  if (lowered.one_uop)
    return ports_.place(lowered.may_leave ? last_branch_ports_ : lowered.work.uses[0].ports, ready);
  return place_all(lowered.work, ready);
}

u64 CoreEngine::place_all(const InstructionCost& cost, u64 ready) {
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

// One that the renamer has no slot for is a uop like any other.
CoreEngine::Ready CoreEngine::move(const LoweredInstruction& lowered, Ready source, u64 dispatched) {
  const bool general = lowered.move == RenamedMove::general;
  MoveSlots& moves = general ? general_moves_ : vector_moves_;
  const unsigned to = lowered.results[0];
  if (moves.eliminate(lowered.sources[0], to, dispatched)) return source;
  moves.write(to, dispatched);
  const u64 start = ports_.place(general ? general_move_ports_ : vector_move_ports_, source.cycle());
  return {start + 1, WaitingFor::execution};
}

// What it writes is no other name of a value any more. Seldom is any, so that a look comes first.
[[gnu::always_inline]] inline void CoreEngine::name_anew(const LoweredInstruction& lowered,
                                                         const x86::Instruction& instruction,
                                                         u64 dispatched) {
  const x86::RegisterMask names = general_moves_.names() | vector_moves_.names();
  if (names == 0) return;
  x86::RegisterMask named = 0;
  for (const u8 each : lowered.results)
    if (each < LoweredInstruction::no_source) named |= names & bit(each);
  if (lowered.masked) named = names & instruction.registers_written;
  if (named != 0) [[unlikely]]
    forget_names(named, dispatched);
}

void CoreEngine::forget_names(x86::RegisterMask named, u64 dispatched) {
  for (; named != 0; named &= named - 1) {
    const auto name = static_cast<unsigned>(std::countr_zero(named));
    general_moves_.write(name, dispatched);
    vector_moves_.write(name, dispatched);
  }
}

template <IssueOrder order>
[[gnu::always_inline]] inline CoreEngine::Ready CoreEngine::execute(const x86::Instruction& instruction,
                                                                    const LoweredInstruction& lowered,
                                                                    u64 dispatched) {
  DataAccesses data{&lowered, {}};
  if (lowered.operands != 0 || lowered.rep) data = accesses_.take(lowered);
  constexpr bool in_order = order == IssueOrder::in_order;
  const u64 earliest = in_order ? std::max(dispatched, last_start_) : dispatched;
  Ready result = lowered.masked                   ? ready(instruction.registers_read, earliest)
                 : lowered.work.early_cycles != 0 ? late_ready(lowered, earliest)
                                                  : ready(lowered.sources, earliest);
  u64 started = result.cycle(), addressed = 0;
  if (lowered.accesses != 0)
    addressed = (lowered.masked ? ready(instruction.address_registers, earliest)
                                : ready(lowered.address_sources, earliest))
                    .cycle();
  if (lowered.stack != x86::StackUse::none)
    addressed = std::max(addressed, registers_[static_cast<unsigned>(Gpr::rsp)].cycle());
  if (lowered.loads()) {
    const u64 from = addressed > earliest ? addressed + address_delay_ : earliest;
    started = in_order ? std::max(from, result.cycle()) : from;
    if (parameters_.l1d_bank_bytes != 0 && !data.addresses.empty())
      started = free_bank(data.addresses[0], started);
    started = ports_.place(costs_->load_ports, started);
    if (is_slow(lowered)) data.slow_cycles = parameters_.slow_address_cycles;
    const LoadStoreUnit::Loaded loaded = memory_.load(data, started, execution_);
    result =
        result.later({loaded.ready_cycle - address_delay_ + lowered.work.early_cycles, loaded.waiting_for});
  }
  // In order, an instruction that loads has its operation done behind the load.
  const u64 start = in_order && lowered.loads() && !lowered.locked
                        ? result.cycle()
                        : place(lowered, lowered.locked ? std::min(started, result.cycle()) : result.cycle());
  result = result.later({start, WaitingFor::execution});
  result = {std::max(result.cycle(), start + lowered.work.latency_cycles), result.reason()};
  last_start_ = lowered.loads() ? started : start;
  if (lowered.stores()) {
    const u64 at =
        ports_.place(costs_->store_address_ports, in_order || lowered.loads() ? started : addressed);
    if (costs_->store_data_ports != 0) ports_.place(costs_->store_data_ports, result.cycle());
    const LoadStoreUnit::Loaded stored =
        memory_.store(data, {.addressed_cycle = at, .data_cycle = result.cycle()}, execution_);
    result = result.later({stored.ready_cycle, stored.waiting_for});
  }
  if (lowered.move != RenamedMove::none)
    result = move(lowered, result, dispatched);
  else
    name_anew(lowered, instruction, dispatched);
  if (lowered.enters_kernel) result = {result.cycle() + parameters_.system_call_cycles, result.reason()};
  write(lowered, instruction, result);
  return result;
}

void CoreEngine::write(const LoweredInstruction& lowered, const x86::Instruction& instruction, Ready result) {
  for (const u8 each : lowered.results) registers_[each] = result;
  if (tracks_loads_) {
    const bool load = lowered.loads() && lowered.work.latency_cycles == 0;
    for (const u8 each : lowered.results) is_loaded_[each] = load;
  }
  if (!lowered.masked) return;
  for (x86::RegisterMask left = instruction.registers_written; left != 0; left &= left - 1)
    registers_[static_cast<unsigned>(std::countr_zero(left))] = result;
}

void CoreEngine::transfer_control(const LoweredInstruction& branch, Passed& passed) {
  const LoweredBlock& block = lowered();
  const bool last = count_ == block.instructions.size();
  const u64 next = last ? run_->next_ip : block.instructions[count_].ip;
  passed.taken =
      last ? left_by_branch_
           : is_taken(branch.branch, run_->block->instructions[count_ - 1].target, branch.end(), next);
  if (is_near_branch(branch.branch))
    passed.prediction =
        branches_.resolve(BranchSite{branch.ip, branch.end(), branch.branch}, passed.taken, next);
  if (passed.taken) front_end_.follow(branch.ip, next);
}

void CoreEngine::redirect_fetch(Prediction prediction, u64 resolved) {
  if (prediction == Prediction::right) return;
  const bool wrong = prediction == Prediction::wrong;
  const u64 again = wrong ? resolved + parameters_.mispredict_penalty
                          : pipeline_.next_dispatch() + parameters_.resteer_cycles;
  if (wrong)
    pipeline_.refill(again, Pipeline::Refill::mispredict);
  else
    pipeline_.stall_fetch(again);
  front_end_.restart(again);
}

// What is younger was done in vain, and is fetched anew.
void CoreEngine::clear_pipeline() {
  const u64 refilled =
      pipeline_.retired_cycle() + parameters_.mispredict_penalty + parameters_.machine_clear_cycles;
  pipeline_.refill(refilled, Pipeline::Refill::clear);
  front_end_.restart(refilled);
  fetched_line_ = nowhere;
}

// With all that it calls for every instruction in one function: calls took a tenth of a replay.
template <IssueOrder order>
[[gnu::always_inline]] inline void CoreEngine::pass(const x86::Instruction& instruction,
                                                    const LoweredInstruction& lowered) {
  const std::size_t number = count_++;
  Passed& passed = passed_[number];
  execution_.signals = {};

  if (!lowered.stays_in_line || fetched_line_ == nowhere) fetch(lowered);
  if (lowered.serializing) pipeline_.serialize(execution_.quantities);
  const Pipeline::Dispatched dispatched = dispatch(lowered, passed);
  const Ready result = execute<order>(instruction, lowered, dispatched.last_cycle);
  passed.taken = false;
  passed.prediction = Prediction::right;
  if (lowered.branch != BranchKind::none) transfer_control(lowered, passed);
  pipeline_.retire(dispatched, result.cycle(), result.reason(), passed.passage);
  passed.cycle = time_is_recorded_ ? recorded_time_.retire() : pipeline_.retired_cycle();
  redirect_fetch(passed.prediction, result.cycle());
  if (std::exchange(execution_.clears_pipeline, false)) clear_pipeline();
  if (lowered.loads()) pipeline_.retire_load();
  if (lowered.stores()) memory_.retire_store(pipeline_.retired_cycle());
  if (lowered.rare) finish_rare(instruction, registers_after(*run_, number));
  if (!transactions_.ignores(lowered.transaction)) transact(instruction, number);

  passed.signals = execution_.signals;
  if (!(execution_.signals ^ hits_[lowered.accesses]).empty()) unusual_.push_back(static_cast<u32>(number));
  passed.accesses = static_cast<u32>(execution_.accesses.size());
  // What happens all the time is reported now and then, with what is rare.
  if (ports_.take_reported() || MemoryHierarchy::has_added(execution_.quantities))
    requests_.push_back({number, std::exchange(execution_.quantities, {})});
}

void CoreEngine::transact(const x86::Instruction& instruction, std::size_t number) {
  const std::size_t first = number == 0 ? 0 : passed_[number - 1].accesses;
  const Transactions::Passed passed =
      transactions_.pass({.instruction = instruction,
                          .next_ip = next_ip_of(*run_, number),
                          .taken = passed_[number].taken,
                          .accesses = std::span(execution_.accesses).subspan(first)});
  transacted_.push_back({number, passed});
  if (passed.reason != Signal::count_) clear_pipeline();
}

template <IssueOrder order>
void CoreEngine::pass_all() {
  const std::span<const LoweredInstruction> lowered = this->lowered().instructions;
  const x86::Instruction* instruction = run_->block->instructions.data() + count_;
  for (const LoweredInstruction& each : lowered.subspan(count_)) pass<order>(*instruction++, each);
}

void CoreEngine::pass() {
  const x86::Instruction& instruction = run_->block->instructions[count_];
  const LoweredInstruction& lowered = this->lowered().instructions[count_];
  if (issue_order_ == IssueOrder::in_order) return pass<IssueOrder::in_order>(instruction, lowered);
  return pass<IssueOrder::out_of_order>(instruction, lowered);
}

void CoreEngine::pass_all() {
  if (issue_order_ == IssueOrder::in_order) return pass_all<IssueOrder::in_order>();
  return pass_all<IssueOrder::out_of_order>();
}

void CoreEngine::finish_rare(const x86::Instruction& instruction, const Registers* registers) {
  if (instruction.flushes_line) flush_line(instruction, registers);
  if (instruction.execution == x86::ExecutionClass::serializing)
    pipeline_.serialize(execution_.quantities);
  else if (enters_the_kernel(instruction.branch))
    pipeline_.drain();
}

void CoreEngine::fetch_in_order(const LoweredInstruction& instruction) {
  const MemoryHierarchy& hierarchy = memory_.hierarchy();
  if (hierarchy.line_of(instruction.ip) != fetched_line_) find_line(instruction.ip, begin_cycle_);
  const u64 last_byte = instruction.ip + instruction.length - 1;
  if (hierarchy.line_of(last_byte) != fetched_line_) find_line(last_byte, begin_cycle_);
}

void CoreEngine::step_in_order(std::size_t number) {
  const LoweredInstruction& lowered = this->lowered().instructions[number];
  execution_.signals = {};
  if (!lowered.stays_in_line || fetched_line_ == nowhere) fetch_in_order(lowered);
  if (lowered.accesses != 0 || lowered.operands != 0 || lowered.rep)
    memory_.access_in_order(accesses_.take(lowered), begin_cycle_, execution_);
  if (std::exchange(execution_.clears_pipeline, false)) fetched_line_ = nowhere;
  if (lowered.rare && run_->block->instructions[number].flushes_line)
    flush_line(run_->block->instructions[number], registers_after(*run_, number));
  if (!(execution_.signals ^ hits_[lowered.accesses]).empty()) {
    passed_[number].signals = execution_.signals;
    unusual_.push_back(static_cast<u32>(number));
    if (walks(execution_.quantities)) requests_.push_back({number, std::exchange(execution_.quantities, {})});
  }
}

void CoreEngine::pass_in_order(const OrderedBlock& ordered, u64 cycle) {
  const LoweredBlock& block = lowered();
  const std::size_t all = block.instructions.size();
  for (auto step = ordered.steps.begin(); step != ordered.steps.end(); ++step) {
    step_in_order(*step);
    // The line that was left: whatever comes next asks for its own.
    const std::size_t next = *step + std::size_t{1};
    const bool is_step = step + 1 != ordered.steps.end() && step[1] == next;
    if (fetched_line_ == nowhere && next != all && !is_step) step_in_order(next);
  }
  for (const OrderedBlock::Code& code : ordered.code)
    front_end_.pass_in_order(run_->block->start() + code.offset, code.uops);
  for (count_ = block.branches_within ? 1 : all; count_ <= all; ++count_) {
    Passed& passed = passed_[count_ - 1];
    passed.taken = false;
    passed.prediction = Prediction::right;
    const LoweredInstruction& branch = block.instructions[count_ - 1];
    if (branch.branch != BranchKind::none) transfer_control(branch, passed);
  }
  count_ = all;
  pipeline_.stand_until(cycle);
  passed_[all - 1].cycle = cycle;
}

void CoreEngine::write_down_in_order() {
  const u64 cycles = cycle() - begin_cycle_;
  auto different = unusual_.begin();
  for (std::size_t n = 0; n < count_; ++n) {
    const LoweredInstruction& lowered = this->lowered().instructions[n];
    Passed& passed = passed_[n];
    const bool is_unusual = different != unusual_.end() && *different == n;
    const bool resolved =
        lowered.branch != BranchKind::none && (n + 1 == count_ || this->lowered().branches_within);
    passed = {.passage = {},
              .cycle = begin_cycle_ + cycles * (n + 1) / count_,
              .signals = is_unusual ? passed.signals : hits_[lowered.accesses],
              .delivery = {},
              .taken = resolved && passed.taken,
              .prediction = resolved ? passed.prediction : Prediction::right};
    passed.passage.cycle = passed.passage.dispatched.cycle();
    if (is_unusual) ++different;
  }
}

void CoreEngine::resume() {
  front_end_.restart(pipeline_.next_dispatch());
  memory_.hierarchy().loads_under_way().clear();
  execution_.quantities = {};
  transactions_.leave();
}

SignalSet CoreEngine::signals_of(std::size_t number) const {
  const x86::Instruction& instruction = run_->block->instructions[number];
  const Passed& passed = passed_[number];
  SignalSet signals = instruction.signals | passed.signals;
  if (lowered().instructions[number].fused) signals.add(Signal::macro_fused);
  if (instruction.branch == BranchKind::none) return signals;
  return signals | signals_of_branch(instruction.branch, passed.taken, passed.prediction);
}

u64 CoreEngine::cycle_before(std::size_t instruction) const {
  return instruction == 0 ? begin_cycle_ : passed_[instruction - 1].cycle;
}

// What it was waited for, and how its uops came.
inline void CoreEngine::account(const Passed& passed, const QuantitySet& wanted,
                                Quantities& quantities) const {
  if (wanted.intersects(Pipeline::lost)) pipeline_.account_lost(passed.passage, quantities);
  if (wanted.intersects(FrontEnd::delivered)) FrontEnd::account(passed.delivery, quantities);
  if (passed.prediction == Prediction::resteer)
    quantities[static_cast<unsigned>(Quantity::resteer_cycles)] += parameters_.resteer_cycles;
}

void CoreEngine::add_uops(unsigned uops, Quantities& quantities) {
  quantities[static_cast<unsigned>(Quantity::uops)] += uops;
  quantities[static_cast<unsigned>(Quantity::uops_issued)] += uops;
}

void CoreEngine::add_sum(const QuantitySet& wanted, Quantities& sums) const {
  constexpr QuantitySet of_code{Quantity::uops, Quantity::uops_issued, Quantity::slots_heavy};
  constexpr QuantitySet of_time{Quantity::cycles, Quantity::slots, Quantity::reference_cycles};
  constexpr QuantitySet by_instruction =
      Pipeline::lost | FrontEnd::delivered | QuantitySet{Quantity::resteer_cycles};
  lowered().quantities.add_to(sums);
  add_uops(sync_uops_, sums);
  if (wanted.intersects(of_time)) pipeline_.account_time(begin_cycle_, cycle(), sums);
  if (!(of_code | of_time | by_instruction).contains(wanted))
    for (const Requests& reported : requests_)
      wanted.each_index([&](unsigned which) { sums[which] += reported.quantities[which]; });
  if (!wanted.intersects(by_instruction)) return;
  for (const Passed& each : passed()) account(each, wanted, sums);
}

const Retirement& CoreEngine::retire(Cursor& cursor) const {
  const std::size_t number = cursor.instruction++;
  const x86::Instruction& instruction = run_->block->instructions[number];
  const Passed& passed = passed_[number];
  const u64 previous = cycle_before(number);
  const u32 first_access = number == 0 ? 0 : passed_[number - 1].accesses;

  Retirement& r = cursor.retirement;
  retire_as_recorded(*run_, number, cursor.change, r);
  r.cycle = passed.cycle;
  r.signals = signals_of(number);
  r.quantities.fill(0);
  if (cursor.request < requests_.size() && requests_[cursor.request].instruction == number)
    r.quantities = requests_[cursor.request++].quantities;
  pipeline_.account_time(previous, passed.cycle, r.quantities);
  account(passed, everything, r.quantities);
  add_uops(passed.sync_uops, r.quantities);
  CodeQuantities::of(instruction, lowered().instructions[number]).add_to(r.quantities);
  if (time_is_recorded_) recorded_time_.account(previous, passed.cycle, r.quantities);
  r.fused_length = lowered().fused_length(number);
  r.taken = passed.taken;
  r.mispredicted = passed.prediction == Prediction::wrong;
  r.latency_cycles = static_cast<u32>(passed.passage.cycle - passed.passage.dispatched.cycle());
  r.retire_latency_cycles = static_cast<u32>(passed.cycle - previous);
  r.memory = std::span(execution_.accesses).subspan(first_access, passed.accesses - first_access);
  r.tx = TxState::none;
  if (cursor.transacted < transacted_.size() && transacted_[cursor.transacted].instruction == number)
    Transactions::tell(transacted_[cursor.transacted++].passed, r);
  return r;
}

const Retirement* CoreEngine::abort_behind(Cursor& cursor) const {
  if (cursor.transacted == 0) return nullptr;
  const Transacted& last = transacted_[cursor.transacted - 1];
  if (last.instruction + 1 != cursor.instruction || last.passed.reason == Signal::count_) return nullptr;
  cursor.abort = Transactions::abort_behind(last.passed, cursor.retirement);
  return &*cursor.abort;
}

}  // namespace pmusim
