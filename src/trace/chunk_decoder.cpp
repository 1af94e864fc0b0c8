// SPDX-License-Identifier: MIT
#include "trace/chunk_decoder.h"

#include <algorithm>
#include <utility>

#include "trace/happening_codec.h"

namespace pmusim::trace {

void DecoderMemory::begin(const Contents& contents, const CodeTable& table) {
  ++chunk;
  followers.begin(table.size());
  register_masks.clear();
  registers.clear();
  fit(contents, table);
}

void DecoderMemory::fit(const Contents& contents, const CodeTable& table) {
  if (contents.addresses) operands.resize(table.operands());
  if (contents.registers) register_masks.resize(table.contexts());
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
      instructions_left_(facts.instructions) {
  std::vector<u8> code = std::exchange(data_[static_cast<std::size_t>(Stream::code)], {});
  for (std::size_t s = 0; s < stream_count; ++s) in_[s] = ByteReader(data_[s]);
  if (const std::string_view problem = table.define(std::move(code)); !problem.empty()) {
    damaged_ = true;
    problem_ = problem;
  }
  memory.begin(contents, table);
}

NextItem ChunkDecoder::next() {
  if (damaged_) return {};
  if (happenings_left_ == 0 && runs_left_ == 0) {
    if (in(Stream::stretches).at_end()) return end();
    if (!open_stretch()) return damage();
  }
  return happenings_left_ == 0 ? decode_run() : decode_next_happening();
}

NextItem ChunkDecoder::decode_next_happening() {
  --happenings_left_;
  auto happening = decode_happening(in(Stream::happenings));
  if (!happening) return damage();
  if (const std::string_view problem = problem_of(*happening); !problem.empty()) {
    problem_ = problem;
    return damage();
  }
  if (const auto* to = std::get_if<ThreadSwitch>(&*happening)) tid_ = to->tid;
  item_ = *std::move(happening);
  return NextItem(item_);
}

NextItem ChunkDecoder::damage() {
  damaged_ = true;
  return {};
}

NextItem ChunkDecoder::end() {
  const bool all_used =
      std::ranges::all_of(in_, &ByteReader::at_end) && extended_.at_end() && cycles_.at_end();
  constexpr unsigned byte_bits = 8;  // the last byte is filled up
  damaged_ = !all_used || instructions_left_ != 0 || outcomes_left_ >= byte_bits;
  return {};
}

bool ChunkDecoder::open_stretch() {
  ByteReader& from = in(Stream::stretches);
  happenings_left_ = from.number();
  runs_left_ = from.number();
  if (runs_left_ != 0) {
    const u64 first = from.number();
    stretch_exit_ = from.difference();
    if (first >= table_.size()) return false;
    foreseen_[0] = block(first);
    if (foreseen_[0] == nullptr) return false;
    next_foreseen_ = 0;
    foreseen_count_ = 1;
    unforeseen_runs_ = runs_left_ - 1;
  }
  return from.ok() && (happenings_left_ != 0 || runs_left_ != 0);
}

BlockRun& ChunkDecoder::run() {
  if (auto* run = std::get_if<BlockRun>(&item_)) return *run;
  return item_.emplace<BlockRun>();
}

NextItem ChunkDecoder::decode_run() {
  const CodedBlock& coded = *foreseen_[next_foreseen_];
  const Block& block = coded.block;
  if (coded.instructions > instructions_left_) return damage();
  instructions_left_ -= coded.instructions;

  BlockRun& run = this->run();
  run.block = &block;
  run.next_ip = coded.end + stretch_exit_;
  if (--runs_left_ != 0) {
    if (++next_foreseen_ == foreseen_count_) foresee();
    const CodedBlock* const next = foreseen_[next_foreseen_];
    if (next == nullptr) return damage();
    run.next_ip = next->start;
  }
  if (contents_.addresses && !addresses(coded, run)) return damage();
  if (!rep_counts(block.reps, run)) return damage();
  if (contents_.registers && !registers(coded, run)) return damage();
  if (contents_.timing && !cycles(run)) return damage();
  if (contents_.extended && !extended_.decode(tid_, coded.contexts(), run)) return damage();
  return NextItem(item_);
}

// Where the next runs lead, all at once: what one takes is then in the cache before its turn comes.
void ChunkDecoder::foresee() {
  u32 id = foreseen_[foreseen_count_ - 1]->block.id;
  foreseen_count_ = static_cast<std::size_t>(std::min<u64>(foreseen_runs, unforeseen_runs_));
  unforeseen_runs_ -= foreseen_count_;
  next_foreseen_ = 0;
  for (std::size_t n = 0; n < foreseen_count_; ++n) {
    id = successor(id);
    foreseen_[n] = id == Followers::none ? nullptr : block(id);
    if (foreseen_[n] == nullptr) return;
    __builtin_prefetch(foreseen_[n]);
    __builtin_prefetch(&foreseen_[n]->block.operands);
  }
}

const CodedBlock* ChunkDecoder::block(u64 id) {
  if (const CodedBlock* const known = table_.decoded(id)) return known;
  const CodedBlock* const decoded = table_.decode(id);
  memory_.fit(contents_, table_);
  return decoded;
}

// Nearly always it is the latest or the one before, which stands in the targets as a byte of 1. That byte is
// looked at before it is known whether it is there for this run, so that nothing here depends on where the
// program goes.
u32 ChunkDecoder::successor(u32 from) {
  if (outcomes_left_ == 0 && !refill_outcomes()) return Followers::none;
  const auto other = static_cast<unsigned>(outcome_bits_ & 1);
  outcome_bits_ >>= 1;
  --outcomes_left_;
  ByteReader& targets = in(Stream::targets);
  const unsigned is_rare = targets.peek() == 1 ? 0 : 1;
  if ((other & is_rare) != 0) return rare_successor(from);
  targets.skip(other);
  return memory_.followers.follow(from, other);
}

bool ChunkDecoder::refill_outcomes() {
  constexpr std::size_t most_bytes = sizeof outcome_bits_;
  ByteReader& from = in(Stream::outcomes);
  const auto bytes = from.bytes(std::min(from.left(), most_bytes));
  outcome_bits_ = 0;
  for (std::size_t n = 0; n < bytes.size(); ++n) outcome_bits_ |= u64{bytes[n]} << 8 * n;
  outcomes_left_ = static_cast<unsigned>(8 * bytes.size());
  return outcomes_left_ != 0;
}

u32 ChunkDecoder::rare_successor(u32 from) {
  ByteReader& targets = in(Stream::targets);
  const u64 rank = targets.number();
  u32 to = Followers::none;
  if (rank != 0) {
    to = memory_.followers.move_to_front(from, rank);
  } else if (const u64 id = from + targets.difference(); id < table_.size()) {
    to = memory_.followers.add(from, static_cast<u32>(id));
  }
  return targets.ok() ? to : Followers::none;
}

bool ChunkDecoder::addresses(const CodedBlock& coded, BlockRun& run) {
  const std::size_t count = coded.block.operands;
  ByteReader from = in(Stream::addresses);  // copies of its own stay in registers
  DecoderMemory::Operand* const operands = memory_.operands.data();
  const u32 chunk = memory_.chunk;
  const u32* const operand_numbers = coded.operand_numbers();
  for (std::size_t n = 0; n < count; ++n) {
    DecoderMemory::Operand& operand = operands[operand_numbers[n]];
    const bool seen = operand.chunk == chunk;
    const u64 before = seen ? operand.last : 0;
    const u64 address = before + (seen ? operand.stride : 0) + from.difference();
    operand = {address, seen ? address - before : 0, chunk};
    addresses_[n] = address;
  }
  in(Stream::addresses) = from;
  run.addresses = {addresses_.data(), count};
  return from.ok();
}

bool ChunkDecoder::rep_counts(u32 reps, BlockRun& run) {
  run.rep_counts = {rep_counts_.data(), reps};
  if (reps == 0) return true;
  for (u32 n = 0; n < reps; ++n) rep_counts_[n] = static_cast<u32>(in(Stream::rep_counts).number());
  return in(Stream::rep_counts).ok();
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
