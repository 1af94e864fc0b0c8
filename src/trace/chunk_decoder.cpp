// SPDX-License-Identifier: MIT
#include "trace/chunk_decoder.h"

#include "trace/happening_codec.h"

namespace pmusim::trace {

ChunkDecoder::ChunkDecoder(StreamData streams, Contents contents, u32 instructions, u32 tid, CodeTable& table)
    : data_(std::move(streams.plain)),
      timing_data_(std::move(streams.timing)),
      extended_(std::move(streams.extended)),
      cycles_(timing_data_[0]),
      contents_(contents),
      table_(table),
      tid_(tid),
      instructions_left_(instructions) {
  for (std::size_t s = 0; s < stream_count; ++s) in_[s] = ByteReader(data_[s]);
  if (const std::string_view problem = decode_blocks(in(Stream::code), table); !problem.empty()) {
    damaged_ = true;
    problem_ = problem;
  }
  predicted_.fit(table.size(), table.contexts());
  followed_.resize(table.size());
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
  damaged_ = !all_used || instructions_left_ != 0;
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
    upcoming_ = &table_[first];
  }
  return from.ok() && (happenings_left_ != 0 || runs_left_ != 0);
}

BlockRun& ChunkDecoder::run() {
  if (auto* run = std::get_if<BlockRun>(&item_)) return *run;
  return item_.emplace<BlockRun>();
}

NextItem ChunkDecoder::decode_run() {
  const CodedBlock& coded = *upcoming_;
  const Block& block = coded.block;
  if (coded.instructions > instructions_left_) return damage();
  instructions_left_ -= coded.instructions;

  BlockRun& run = this->run();
  run.block = &block;
  run.next_ip = coded.end + stretch_exit_;
  if (--runs_left_ != 0) {
    upcoming_ = successor(block.id);
    if (upcoming_ == nullptr) return damage();
    run.next_ip = upcoming_->start;
  }
  if (contents_.addresses && !addresses(coded, run)) return damage();
  if (!rep_counts(block.reps, run)) return damage();
  if (contents_.registers && !registers(coded, run)) return damage();
  if (contents_.timing && !cycles(run)) return damage();
  if (contents_.extended && !extended_.decode(tid_, coded.contexts, run)) return damage();
  return NextItem(item_);
}

const CodedBlock* ChunkDecoder::successor(u32 from) {
  if (outcomes_left_ == 0 && !refill_outcomes()) return nullptr;
  const bool other = (outcome_bits_ & 1) != 0;
  outcome_bits_ = static_cast<u8>(outcome_bits_ >> 1);
  --outcomes_left_;
  return other ? other_successor(from) : followed_[from];
}

bool ChunkDecoder::refill_outcomes() {
  outcome_bits_ = in(Stream::outcomes).byte();
  outcomes_left_ = 8;
  return in(Stream::outcomes).ok();
}

const CodedBlock* ChunkDecoder::other_successor(u32 from) {
  SuccessorList& known = predicted_.successors[from];
  const u64 rank = in(Stream::targets).number();
  if (rank == 0) {
    const u64 id = from + in(Stream::targets).difference();
    if (id >= table_.size()) return nullptr;
    known.add(static_cast<u32>(id));
  } else {
    if (rank >= known.size()) return nullptr;
    known.move_to_front(static_cast<std::size_t>(rank));
  }
  followed_[from] = &table_[known[0]];
  return in(Stream::targets).ok() ? followed_[from] : nullptr;
}

bool ChunkDecoder::addresses(const CodedBlock& coded, BlockRun& run) {
  ByteReader from = in(Stream::addresses);  // a copy of its own stays in registers
  u64* out = addresses_.data();
  for (const u32 operand : coded.operands) {
    AddressPredictor& predictor = predicted_.operands[operand];
    const u64 address = predictor.prediction() + from.difference();
    predictor.update(address);
    *out++ = address;
  }
  in(Stream::addresses) = from;
  run.addresses = {addresses_.data(), coded.operands.size()};
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
  Registers& state = predicted_.registers[tid_];
  const auto& instructions = coded.block.instructions;
  for (std::size_t n = 0; n < instructions.size(); ++n) {
    u32& expected = predicted_.register_masks[coded.contexts[n]];
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
