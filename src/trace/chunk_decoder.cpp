// SPDX-License-Identifier: MIT
#include "trace/chunk_decoder.h"

#include <algorithm>
#include <utility>

#include "trace/rings.h"
#include "trace/side_band_codec.h"

namespace pmusim::trace {

void DecoderMemory::begin(const Contents& contents, const CodeTable& table) {
  ++chunk;
  ++stay;
  followers.begin(table.size());
  registers.clear();
  register_masks.assign(contents.registers ? table.contexts() : 0, 0);
}

void DecoderMemory::decoded(const CodedBlock& block, const Contents& contents, const CodeTable& table) {
  if (contents.addresses) operands.resize(table.operands());
  if (contents.registers) register_masks.resize(table.contexts());
  const auto numbers = block.operand_numbers();
  Waypoint& waypoint = followers[block.block.id];
  waypoint.coded = &block;
  waypoint.start = block.block.start();
  waypoint.end = block.block.end();
  waypoint.instructions = static_cast<u16>(block.instructions());
  waypoint.operands = static_cast<u16>(block.block.operands);
  waypoint.reps = static_cast<u16>(block.block.reps);
  waypoint.first_operand = numbers.empty() ? 0 : numbers.front();
  waypoint.operands_in_a_row =
      std::ranges::adjacent_find(numbers, [](u32 a, u32 b) { return b != a + 1; }) == numbers.end();
}

ChunkDecoder::ChunkDecoder(StreamData streams, Contents contents, Facts facts, CodeTable& table,
                           DecoderMemory& memory)
    : data_(std::move(streams.plain)),
      timing_data_(std::move(streams.timing)),
      extended_(std::move(streams.extended)),
      cycles_(timing_data_[0]),
      contents_(contents),
      table_(table),
      memory_(memory),
      tid_(facts.tid),
      instructions_left_(facts.instructions),
      runs_at_a_time_(contents.registers || contents.extended ? 1 : most_runs),
      has_details_(contents != Contents{.stand_in_code = contents.stand_in_code}) {
  std::vector<u8> code = std::exchange(data_[static_cast<std::size_t>(Stream::code)], {});
  for (std::size_t s = 0; s < stream_count; ++s) in_[s] = ByteReader(data_[s]);
  turns_.targets = in(Stream::targets);
  if (const std::string_view problem = table.define(std::move(code)); !problem.empty()) {
    damaged_ = true;
    problem_ = problem;
  }
  memory.begin(contents, table);
}

Items ChunkDecoder::read() {
  if (damaged_) return {};
  if (side_band_left_ == 0 && runs_left_ == 0) {
    if (in(Stream::stretches).at_end()) return end();
    if (!open_stretch()) return damage();
  }
  return side_band_left_ == 0 ? decode_runs() : decode_side_band_record();
}

Items ChunkDecoder::decode_side_band_record() {
  --side_band_left_;
  ++memory_.stay;
  auto record = decode_side_band(in(Stream::side_band));
  if (!record) return damage();
  if (const std::string_view problem = problem_of(*record); !problem.empty()) {
    problem_ = problem;
    return damage();
  }
  if (const auto* to = std::get_if<ThreadSwitch>(&*record)) tid_ = to->tid;
  side_band_ = *std::move(record);
  return {&side_band_, 1};
}

Items ChunkDecoder::damage() {
  damaged_ = true;
  return {};
}

Items ChunkDecoder::end() {
  in(Stream::targets) = turns_.targets;
  const bool all_used =
      std::ranges::all_of(in_, &ByteReader::at_end) && extended_.at_end() && cycles_.at_end();
  constexpr unsigned byte_bits = 8;  // the last byte is filled up
  damaged_ = !all_used || instructions_left_ != 0 || turns_.outcomes_left >= byte_bits;
  return {};
}

bool ChunkDecoder::open_stretch() {
  ByteReader& from = in(Stream::stretches);
  side_band_left_ = from.number();
  runs_left_ = from.number();
  if (runs_left_ != 0) {
    const u64 first = from.number();
    stretch_exit_ = from.difference();
    if (first >= table_.size()) return false;
    next_block_ = static_cast<u32>(first);
    if (!is_decoded(next_block_)) return false;
  }
  return from.ok() && (side_band_left_ != 0 || runs_left_ != 0);
}

// What is damaged is met in its turn: the runs before it are delivered.
Items ChunkDecoder::decode_runs() {
  const std::size_t count = find_way();
  const std::size_t decoded = has_details_ || reps_ahead_ != 0 ? decode_details(count) : count;
  damaged_ = damaged_ || decoded < count;
  return Items(runs_).first(decoded);
}

// Copies of its own stay in registers.
std::size_t ChunkDecoder::find_way() {
  const auto most = static_cast<std::size_t>(std::min<u64>(runs_at_a_time_, runs_left_));
  const bool ends = most == runs_left_;
  const u64 stay = memory_.stay;
  std::size_t count = 0, addresses = 0, reps = 0;
  u32 id = next_block_;
  u32 instructions_left = instructions_left_;
  u64 first = 0;
  Waypoint* waypoint = &memory_.followers[id];
  while (count < most && addresses <= most_addresses && reps <= most_rep_counts) {
    Waypoint& from = *waypoint;
    u64 next_ip = from.end + stretch_exit_;
    damaged_ = from.instructions > instructions_left;
    if (!damaged_ && (!ends || count + 1 != most)) {
      id = successor(id, from);
      damaged_ = id == Followers::none || !is_decoded(id);
      if (!damaged_) next_ip = (waypoint = &memory_.followers[id])->start;
    }
    if (damaged_) break;
    instructions_left -= from.instructions;
    addresses += from.operands;
    reps += from.reps;
    __builtin_prefetch(from.coded);
    if (contents_.addresses) __builtin_prefetch(memory_.operands.data() + from.first_operand);
    BlockRun& run = this->run(count);
    run.block = &from.coded->block;
    run.next_ip = next_ip;
    run.next_ring = Cpl::user;
    run.rep_counts = {};
    way_[count] = &from;
    first |= u64{from.stay != stay} << count;
    from.stay = stay;
    ++count;
  }
  next_block_ = id;
  instructions_left_ = instructions_left;
  runs_left_ -= count;
  first_ = first;
  reps_ahead_ = reps;
  return count;
}

// How many of them decode.
std::size_t ChunkDecoder::decode_details(std::size_t count) {
  if (contents_.addresses) count = addresses(count);
  if (reps_ahead_ != 0) count = rep_counts(count);
  if (contents_.kernel)
    for (std::size_t n = 0; n < count; ++n) run(n).next_ring = ring_behind(*run(n).block, run(n).next_ip);
  if (!contents_.registers && !contents_.timing && !contents_.extended) return count;
  for (std::size_t n = 0; n < count; ++n)
    if (!decode_rare_details(*way_[n]->coded, run(n))) return n;
  return count;
}

bool ChunkDecoder::decode_rare_details(const CodedBlock& block, BlockRun& run) {
  if (contents_.registers && !registers(block, run)) return false;
  if (contents_.timing && !cycles(run)) return false;
  return !contents_.extended || extended_.decode(tid_, block.contexts(), run);
}

bool ChunkDecoder::is_decoded(u32 id) { return memory_.followers[id].coded != nullptr || decode_block(id); }

bool ChunkDecoder::decode_block(u32 id) {
  const CodedBlock* const decoded = table_.decode(id);
  if (decoded != nullptr) memory_.decoded(*decoded, contents_, table_);
  return decoded != nullptr;
}

// Nearly always it is the latest or the one before, which stands in the targets as a byte of 1. That byte is
// looked at before it is known whether it is there for this run, so that nothing here depends on where the
// program goes.
u32 ChunkDecoder::successor(u32 from, Waypoint& waypoint) {
  if (turns_.outcomes_left == 0 && !refill_outcomes()) return Followers::none;
  const auto other = static_cast<unsigned>(turns_.outcomes & 1);
  turns_.outcomes >>= 1;
  --turns_.outcomes_left;
  const unsigned is_rare = turns_.targets.peek() == 1 ? 0 : 1;
  if ((other & is_rare) != 0) return rare_successor(from);
  turns_.targets.skip(other);
  return Followers::follow(waypoint, other);
}

bool ChunkDecoder::refill_outcomes() {
  constexpr std::size_t most_bytes = sizeof turns_.outcomes;
  ByteReader& from = in(Stream::outcomes);
  const auto bytes = from.bytes(std::min(from.left(), most_bytes));
  turns_.outcomes = 0;
  for (std::size_t n = 0; n < bytes.size(); ++n) turns_.outcomes |= u64{bytes[n]} << 8 * n;
  turns_.outcomes_left = static_cast<unsigned>(8 * bytes.size());
  return turns_.outcomes_left != 0;
}

u32 ChunkDecoder::rare_successor(u32 from) {
  ByteReader& targets = turns_.targets;
  const u64 rank = targets.number();
  u32 to = Followers::none;
  if (rank != 0) {
    to = memory_.followers.move_to_front(from, rank);
  } else if (const u64 id = from + targets.difference(); id < table_.size()) {
    to = memory_.followers.add(from, static_cast<u32>(id));
  }
  return targets.ok() ? to : Followers::none;
}

std::size_t ChunkDecoder::addresses(std::size_t count) {
  ByteReader from = in(Stream::addresses);  // copies of its own stay in registers
  DecoderMemory::Operand* const operands = memory_.operands.data();
  const u32 chunk = memory_.chunk;
  const auto next = [&](DecoderMemory::Operand& operand) {
    const bool seen = operand.chunk == chunk;
    const u64 before = seen ? operand.last : 0;
    const u64 address = before + (seen ? operand.stride : 0) + from.difference();
    operand = {address, seen ? address - before : 0, chunk};
    return address;
  };
  u64* to = addresses_.data();
  for (std::size_t n = 0; n < count; ++n) {
    const Waypoint& waypoint = *way_[n];
    const std::size_t accesses = waypoint.operands;
    if (waypoint.operands_in_a_row) {
      for (std::size_t i = 0; i < accesses; ++i) to[i] = next(operands[waypoint.first_operand + i]);
    } else {
      const auto numbers = waypoint.coded->operand_numbers();
      for (std::size_t i = 0; i < accesses; ++i) to[i] = next(operands[numbers[i]]);
    }
    if (!from.ok()) return n;
    run(n).addresses = {to, accesses};
    to += accesses;
  }
  in(Stream::addresses) = from;
  return count;
}

std::size_t ChunkDecoder::rep_counts(std::size_t count) {
  ByteReader& from = in(Stream::rep_counts);
  u32* to = rep_counts_.data();
  for (std::size_t n = 0; n < count; ++n) {
    const std::size_t reps = way_[n]->reps;
    for (std::size_t i = 0; i < reps; ++i) to[i] = static_cast<u32>(from.number());
    if (!from.ok()) return n;
    run(n).rep_counts = {to, reps};
    to += reps;
  }
  return count;
}

bool ChunkDecoder::registers(const CodedBlock& coded, BlockRun& run) {
  registers_.clear();
  Registers& state = memory_.registers[tid_];
  const auto& instructions = coded.block.instructions;
  for (std::size_t n = 0; n < instructions.size(); ++n) {
    u32& expected = memory_.register_masks[coded.contexts()[n]];
    const u64 changed = expected ^ in(Stream::register_masks).number();
    expected = static_cast<u32>(changed);
    for (unsigned r : set_bits(changed & low_bits(16))) {
      state.gpr[r] += in(Stream::register_values).difference();
    }
    if ((changed & flags_changed) != 0) state.rflags ^= in(Stream::flags).number();
    state.rip = n + 1 < instructions.size() ? instructions[n + 1].ip : run.next_ip;
    registers_.push_back(state);
  }
  run.registers = registers_;
  return in(Stream::register_masks).ok() && in(Stream::register_values).ok() && in(Stream::flags).ok();
}

bool ChunkDecoder::cycles(BlockRun& run) {
  const u64 cycles = cycles_.number();
  run.cycles = static_cast<u32>(cycles);
  return cycles_.ok() && cycles <= max_run_cycles;
}

}  // namespace pmusim::trace
