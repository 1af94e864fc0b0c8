// SPDX-License-Identifier: MIT
#include "why/collector.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "why/event_sums.h"
#include "why/processes.h"
#include "why/trace_pass.h"

namespace pmusim::why {

namespace {

constexpr u32 nowhere = ~u32{0};
constexpr std::size_t time_columns = first_signal_column;
constexpr std::size_t signal_columns = columns - first_signal_column;

/// Column by column in two places, as time changes with each execution, and signals seldom.
struct TimeRow {
  std::array<u64, time_columns> values{};
  u64& operator[](Column c) { return values[static_cast<std::size_t>(c)]; }
};
using SignalRow = std::array<u64, signal_columns>;

constexpr SignalSet all_counted() {
  SignalSet all;
  for (const Signal signal : counted_signals) all.add(signal);
  return all;
}

/// Executions of a block that are alike in their signals.
struct Kind {
  u64 executions = 0;
  std::vector<SignalSet> usual;  // by instruction
};

/// A block in one address space; its instructions have the rows from `row` on.
struct BlockRows {
  const trace::Block* block = nullptr;
  u32 row = 0, stride = nowhere, sums = nowhere;
  u64 executions = 0, repeats = 0;  // of these, those that another follows at once
};

struct Space {
  symbols::AddressSpaces::Id id = 0;
  std::vector<BlockRows> blocks;  // by number
  std::vector<Kind> kinds;        // by BlockExecution::kind
};

template <class Item>
Item& grown(std::vector<Item>& items, std::size_t index) {
  if (index >= items.size()) items.resize(std::max(index + 1, 2 * items.size()));
  return items[index];
}

/// Flags are written by most instructions, and waited for by few.
constexpr x86::RegisterMask data_registers = low_bits(57);

Chain chain_of(const BlockRows& rows, std::size_t number) {
  if (2 * rows.repeats <= rows.executions) return {};
  const std::vector<x86::Instruction>& all = rows.block->instructions;
  x86::RegisterMask carried = all[number].registers_written & data_registers;
  Chain chain{.loops = false, .instructions = 1};
  for (std::size_t n = 1; n < all.size(); ++n) {
    const x86::Instruction& next = all[(number + n) % all.size()];
    const bool reads = (next.registers_read & carried) != 0;
    if (reads) carried |= next.registers_written & data_registers;
    if (!reads) carried &= ~next.registers_written;
    chain.instructions += reads ? 1 : 0;
  }
  chain.loops = (all[number].registers_read & carried) != 0;
  return chain;
}

/// What an instruction adds to a running total of lost time.
class LostBetween {
 public:
  explicit LostBetween(const Quantities& before) {
    for (const Quantity part : parts) before_[index(part)] = before[index(part)];
  }
  /// Of one of these parts.
  u64 until(const Quantities& after, Quantity part) const {
    return after[index(part)] - before_[index(part)];
  }

 private:
  static constexpr std::array parts{
      Quantity::recovery_cycles,      Quantity::slots_bad_speculation, Quantity::slots_frontend,
      Quantity::slots_backend,        Quantity::slots_memory,          Quantity::stall_cycles_memory,
      Quantity::stall_cycles_l1_miss, Quantity::stall_cycles_l2_miss,  Quantity::stall_cycles_l3_miss};
  static constexpr std::size_t index(Quantity part) { return static_cast<std::size_t>(part); }
  Quantities before_;  // of the parts alone: the rest would take longer to clear than all else here
};

class Collector {
 public:
  /// `sums`: null if no events are counted.
  Collector(IntervalCore core, const CoreParameters& parameters, bool time_is_recorded,
            std::optional<EventSums> sums)
      : core_(std::move(core)),
        sums_(std::move(sums)),
        width_(parameters.issue_width),
        second_tlb_cycles_(parameters.stlb_latency_cycles),
        time_is_recorded_(time_is_recorded) {}

  /// In which space blocks run from now on.
  void enter(symbols::AddressSpaces::Id id) {
    space_ = static_cast<std::size_t>(std::ranges::find(spaces_, id, &Space::id) - spaces_.begin());
    if (space_ == spaces_.size()) spaces_.push_back({.id = id, .blocks = {}, .kinds = {}});
    flow_.enter(static_cast<u32>(space_));
  }
  void run(const trace::BlockRun& run);
  void take(const trace::SideBandRecord& record) { flow_.take(record); }
  void interrupt() {
    core_.interrupt();
    previous_row_ = nowhere;
  }
  /// By space, in the order in which blocks were seen: an instruction of several blocks comes several times.
  std::vector<CountedInstruction> take();
  /// Behind take().
  std::vector<CountedBlock> take_blocks();
  void take_flow(Collection& collection);

 private:
  BlockRows& rows_of(const trace::Block& block);
  void add_time(u32 row, const BlockExecution& execution);
  void add_lost_time(u32 row, const CoreEngine::Passed& passed);
  void add_signals(const BlockRows& rows, const BlockExecution& execution);
  u64 refill_before(const CoreEngine::Passed& passed) const;
  void add_conditional_cycles(u32 row, const BlockExecution& execution, u32 n, const SignalSet& signals);
  static void correct(SignalRow& row, const SignalSet& usual, const SignalSet& actual);
  void add_usual_signals(const Space& space);
  void add_usual_signals(const BlockRows& rows, const Kind& kind);
  Counts counts_of(u32 row) const;
  void take(const Space& space, const BlockRows& rows, std::vector<CountedInstruction>& all) const;
  void add_addresses(const BlockRows& rows, std::span<const u64> addresses);

  IntervalCore core_;
  std::optional<EventSums> sums_;
  unsigned width_;
  u64 second_tlb_cycles_;
  bool time_is_recorded_;
  ControlFlow flow_;
  std::vector<Space> spaces_;
  std::size_t space_ = 0;
  std::vector<TimeRow> times_;
  std::vector<SignalRow> signals_;
  std::vector<StrideVote> strides_;  // of memory operands
  u32 previous_row_ = nowhere;       // of the instruction before
  RunningTotals so_far_;
};

BlockRows& Collector::rows_of(const trace::Block& block) {
  BlockRows& rows = grown(spaces_[space_].blocks, block.id);
  if (rows.block != nullptr) return rows;
  rows.block = &block;
  rows.row = static_cast<u32>(times_.size());
  rows.stride = static_cast<u32>(strides_.size());
  times_.resize(times_.size() + block.instructions.size());
  signals_.resize(times_.size());
  strides_.resize(strides_.size() + block.operands);
  if (sums_) rows.sums = sums_->add_block(block);
  return rows;
}

void Collector::run(const trace::BlockRun& run) {
  const BlockExecution execution = core_.execute(run);
  BlockRows& rows = rows_of(*run.block);
  ++rows.executions;
  rows.repeats += run.next_ip == run.block->start() ? 1 : 0;
  add_time(rows.row, execution);
  add_signals(rows, execution);
  if (sums_) sums_->add(rows.sums, core_, execution, so_far_);
  add_addresses(rows, run.addresses);
  flow_.run(run, execution.cycles,
            [&](u32 number) { return number == 0 ? execution.since : core_.passed()[number - 1].cycle; });
}

void Collector::add_time(u32 row, const BlockExecution& execution) {
  u64 before = execution.since;
  for (const CoreEngine::Passed& passed : core_.passed()) {
    times_[row][Column::cycles] += passed.cycle - before;
    before = passed.cycle;
    if (passed.passage.first > passed.passage.before && !time_is_recorded_) add_lost_time(row, passed);
    previous_row_ = row++;
  }
}

// What refilled the pipeline is the instruction before: nothing else retired since.
void Collector::add_lost_time(u32 row, const CoreEngine::Passed& passed) {
  const LostBetween before(so_far_.quantities);
  core_.account_lost(passed, so_far_.quantities);
  const auto take = [&](Quantity q) { return before.until(so_far_.quantities, q); };
  TimeRow& own = times_[row];
  const u64 refill = take(Quantity::recovery_cycles);
  own[Column::bad_speculation_slots] += take(Quantity::slots_bad_speculation) - refill * width_;
  own[Column::frontend_slots] += take(Quantity::slots_frontend);
  own[Column::backend_slots] += take(Quantity::slots_backend);
  const u64 memory = take(Quantity::slots_memory);
  own[Column::memory_slots] += memory;
  if (passed.passage.reason == WaitingFor::store_buffer) own[Column::store_buffer_slots] += memory;
  own[Column::load_cycles] += take(Quantity::stall_cycles_memory);
  own[Column::l1_miss_cycles] += take(Quantity::stall_cycles_l1_miss);
  own[Column::l2_miss_cycles] += take(Quantity::stall_cycles_l2_miss);
  own[Column::l3_miss_cycles] += take(Quantity::stall_cycles_l3_miss);
  if (refill == 0) return;
  ++so_far_.refills;
  own[Column::cycles] -= refill;
  TimeRow& cause = previous_row_ == nowhere ? own : times_[previous_row_];
  cause[Column::cycles] += refill;
  cause[Column::bad_speculation_slots] += refill * width_;
  const bool mispredict = passed.passage.refill_reason == Pipeline::Refill::mispredict;
  cause[mispredict ? Column::mispredict_cycles : Column::clear_cycles] += refill;
}

u64 Collector::refill_before(const CoreEngine::Passed& passed) const {
  Quantities lost{};
  core_.account_lost(passed, lost);
  return lost[static_cast<unsigned>(Quantity::recovery_cycles)];
}

void Collector::add_conditional_cycles(u32 row, const BlockExecution& execution, u32 n,
                                       const SignalSet& signals) {
  using enum Signal;
  constexpr SignalSet conditions{store_forward_blocked, address_alias,   split_load,    split_store,
                                 load_stlb_miss,        store_stlb_miss, load_stlb_hit, store_stlb_hit};
  if (!signals.intersects(conditions)) return;
  const auto passed = core_.passed();
  const u64 before = n == 0 ? execution.since : passed[n - 1].cycle;
  const u64 cycles = passed[n].cycle - before - (time_is_recorded_ ? 0 : refill_before(passed[n]));
  TimeRow& time = times_[row + n];
  if (signals.has(store_forward_blocked)) time[Column::blocked_cycles] += cycles;
  if (signals.has(address_alias)) time[Column::alias_cycles] += cycles;
  if (signals.intersects({split_load, split_store})) time[Column::split_cycles] += cycles;
  if (signals.intersects({load_stlb_miss, store_stlb_miss})) time[Column::walk_cycles] += cycles;
  if (signals.intersects({load_stlb_hit, store_stlb_hit}))
    time[Column::tlb_cycles] += std::min(cycles, second_tlb_cycles_);
}

void Collector::correct(SignalRow& row, const SignalSet& usual, const SignalSet& actual) {
  const SignalSet different = usual ^ actual;
  static constexpr SignalSet counted = all_counted();
  if (!different.intersects(counted)) return;
  for (std::size_t c = 0; c < signal_columns; ++c) {
    if (different.has(counted_signals[c])) row[c] += actual.has(counted_signals[c]) ? u64{1} : ~u64{0};
  }
}

void Collector::add_signals(const BlockRows& rows, const BlockExecution& execution) {
  const u32 row = rows.row;
  if (execution.jumps_within) {
    for (u32 n = 0; n < execution.instructions; ++n) {
      const SignalSet actual = core_.actual_signals(n);
      correct(signals_[row + n], {}, actual);
      add_conditional_cycles(row, execution, n, actual);
    }
    return;
  }
  Kind& kind = grown(spaces_[space_].kinds, execution.kind);
  if (kind.executions++ == 0)
    for (u32 n = 0; n < execution.instructions; ++n) kind.usual.push_back(core_.usual_signals(execution, n));
  for (const u32 n : core_.unusual()) {
    const SignalSet actual = core_.actual_signals(n);
    correct(signals_[row + n], kind.usual[n], actual);
    if (sums_) sums_->correct(rows.sums, kind.usual[n], actual);
    add_conditional_cycles(row, execution, n, actual);
  }
}

void Collector::add_addresses(const BlockRows& rows, std::span<const u64> addresses) {
  StrideVote* vote = strides_.data() + rows.stride;
  for (const u64 address : addresses) (vote++)->add(address);
}

void Collector::add_usual_signals(const BlockRows& rows, const Kind& kind) {
  for (std::size_t n = 0; n < kind.usual.size(); ++n) {
    for (std::size_t c = 0; c < signal_columns; ++c)
      if (kind.usual[n].has(counted_signals[c])) signals_[rows.row + n][c] += kind.executions;
    if (sums_) sums_->add_signals(rows.sums, kind.usual[n], kind.executions);
  }
}

void Collector::add_usual_signals(const Space& space) {
  for (std::size_t k = 0; k < space.kinds.size(); ++k)
    if (space.kinds[k].executions != 0)
      add_usual_signals(space.blocks[IntervalCore::block_of(static_cast<u32>(k))], space.kinds[k]);
}

Counts Collector::counts_of(u32 row) const {
  Counts counts;
  for (std::size_t c = 0; c < time_columns; ++c) counts[static_cast<Column>(c)] = times_[row].values[c];
  for (std::size_t c = 0; c < signal_columns; ++c)
    counts[static_cast<Column>(c + first_signal_column)] = signals_[row][c];
  return counts;
}

void Collector::take(const Space& space, const BlockRows& rows, std::vector<CountedInstruction>& all) const {
  u32 stride = rows.stride;
  for (u32 n = 0; n < rows.block->instructions.size(); ++n) {
    const x86::Instruction& instruction = rows.block->instructions[n];
    const auto code = rows.block->code_of(instruction);
    all.push_back({.space = space.id,
                   .ip = instruction.ip,
                   .code = {code.begin(), code.end()},
                   .counts = counts_of(rows.row + n),
                   .stride = instruction.memory_operands != 0 ? strides_[stride].result() : Stride{},
                   .chain = chain_of(rows, n)});
    stride += instruction.memory_operands;
  }
}

std::vector<CountedInstruction> Collector::take() {
  std::vector<CountedInstruction> all;
  for (const Space& space : spaces_) {
    add_usual_signals(space);
    for (const BlockRows& rows : space.blocks)
      if (rows.block != nullptr) take(space, rows, all);
  }
  return all;
}

std::vector<CountedBlock> Collector::take_blocks() {
  std::vector<CountedBlock> all;
  if (!sums_) return all;
  sums_->finish(core_.cycle());
  for (const Space& space : spaces_)
    for (const BlockRows& rows : space.blocks)
      if (rows.block != nullptr) all.push_back({space.id, rows.block->start(), sums_->counts(rows.sums)});
  return all;
}

void Collector::take_flow(Collection& collection) {
  flow_.finish();
  for (u32 n = 0; n < spaces_.size(); ++n) {
    const std::size_t before = collection.loops.size();
    for (CountedLoop& loop : flow_.loops(n)) {
      loop.space = spaces_[n].id;
      if (loop.parent) *loop.parent += before;
      collection.loops.push_back(std::move(loop));
    }
  }
  collection.stacks = flow_.stacks();
  collection.calls = flow_.calls();
  for (Call& call : collection.calls) call.space = spaces_[call.space].id;
}

/// Blocks overlap where one is entered in its middle.
std::vector<CountedInstruction> merged(std::vector<CountedInstruction> all) {
  const auto key = [](const CountedInstruction& i) { return std::tie(i.space, i.ip, i.code); };
  std::ranges::stable_sort(all, [&](const auto& a, const auto& b) { return key(a) < key(b); });
  std::vector<CountedInstruction> once;
  for (CountedInstruction& each : all) {
    if (once.empty() || key(once.back()) != key(each)) {
      once.push_back(std::move(each));
      continue;
    }
    CountedInstruction& known = once.back();
    known.counts += each.counts;
    if (each.stride.accesses > known.stride.accesses) known.stride = each.stride;
    if (!known.chain.loops) known.chain = each.chain;
  }
  return once;
}

std::optional<EventSums> sums_for(const TopdownTree* tree) {
  if (tree == nullptr) return std::nullopt;
  std::vector<events::SummedEvent> events;
  for (const TopdownTree::Event& event : tree->events()) events.push_back(event.sum);
  return EventSums(std::move(events));
}

}  // namespace

Result<Collection, Error> collect(trace::Source& source, const CpuModel& model,
                                  const std::string& jit_directory, const OnProgress& on_progress,
                                  StartState state, const TopdownTree* tree) {
  auto core = core_for(source, model, state, on_progress);
  if (!core.ok()) return Failure(core.error());
  Collection collection;
  collection.width = model.core.issue_width;
  collection.time_is_recorded = source.contents().timing;
  collection.addresses = source.contents().addresses;
  Collector collector(std::move(core).value(), model.core, collection.time_is_recorded, sums_for(tree));
  Processes processes(collection.spaces, jit_directory);
  collector.enter(processes.running());
  const auto passed = pass_on(
      source, on_progress, [&](const trace::BlockRun& run) { collector.run(run); },
      [&](const trace::SideBandRecord& record) {
        if (trace::flushes(record)) collector.interrupt();
        if (const auto* const start = std::get_if<trace::ThreadStart>(&record))
          collection.has_threads |= start->pid == start->parent_pid;
        processes.take(record);
        collector.enter(processes.running());
        collector.take(record);
      });
  if (!passed.ok()) return Failure(passed.error());
  collector.take_flow(collection);
  collection.instructions = merged(collector.take());
  collection.blocks = collector.take_blocks();
  for (const CountedInstruction& each : collection.instructions) collection.total += each.counts;
  return collection;
}

}  // namespace pmusim::why
