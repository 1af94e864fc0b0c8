#include "trace/chunk_decoder.h"

#include "trace/happening_codec.h"

namespace pmusim::trace {

ChunkDecoder::ChunkDecoder(StreamData streams, Contents contents, u32 instructions, u32 tid, CodeTable& table)
    : data_(std::move(streams.plain)),
      extended_(std::move(streams.extended)),
      contents_(contents),
      table_(table),
      tid_(tid),
      instructions_left_(instructions) {
  for (std::size_t s = 0; s < stream_count; ++s) in_[s] = ByteReader(data_[s]);
  u64 previous_end = 0;
  while (!damaged_ && !in(Stream::code).at_end()) {
    const CodedBlock* added = decode_block(in(Stream::code), previous_end, table);
    if (added == nullptr) {
      damaged_ = true;
      if (!table.has_room_for(max_block_instructions))
        problem_ = "more code than a file of this size can hold";
    } else {
      previous_end = added->block.end();
    }
  }
  predicted_.fit(table.size(), table.contexts());
}

std::optional<Item> ChunkDecoder::next() {
  if (damaged_) return std::nullopt;
  if (happenings_left_ == 0 && runs_left_ == 0) {
    if (in(Stream::stretches).at_end()) return end();
    if (!open_stretch()) return damage();
  }
  return happenings_left_ == 0 ? decode_run() : decode_next_happening();
}

std::optional<Item> ChunkDecoder::decode_next_happening() {
  --happenings_left_;
  auto happening = decode_happening(in(Stream::happenings));
  if (!happening) return damage();
  if (const std::string_view problem = problem_of(*happening); !problem.empty()) {
    problem_ = problem;
    return damage();
  }
  if (const auto* to = std::get_if<ThreadSwitch>(&*happening)) tid_ = to->tid;
  return Item(*std::move(happening));
}

std::optional<Item> ChunkDecoder::damage() {
  damaged_ = true;
  return std::nullopt;
}

std::optional<Item> ChunkDecoder::end() {
  const bool all_used = std::ranges::all_of(in_, &ByteReader::at_end) && extended_.at_end();
  damaged_ = !all_used || instructions_left_ != 0;
  return std::nullopt;
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

std::optional<Item> ChunkDecoder::decode_run() {
  const CodedBlock& coded = *upcoming_;
  const Block& block = coded.block;
  if (block.instructions.size() > instructions_left_) return damage();
  instructions_left_ -= static_cast<u32>(block.instructions.size());

  u64 next_ip = block.end() + stretch_exit_;
  if (--runs_left_ != 0) {
    upcoming_ = successor(block.id);
    if (upcoming_ == nullptr) return damage();
    next_ip = upcoming_->block.start();
  }
  if (contents_.addresses) addresses(coded);
  rep_counts(coded);
  if (contents_.registers) registers(coded, next_ip);
  if (!std::ranges::all_of(in_, &ByteReader::ok)) return damage();
  BlockRun run{&block, next_ip, addresses_, rep_counts_, registers_, nullptr, {}};
  if (contents_.extended && !extended_.decode(tid_, coded.contexts, run)) return damage();
  return Item(run);
}

const CodedBlock* ChunkDecoder::successor(u32 from) {
  SuccessorList& known = predicted_.successors[from];
  if (!outcome()) return known.size() != 0 ? &table_[known[0]] : nullptr;
  const u64 rank = in(Stream::targets).number();
  if (rank == 0) {
    const u64 id = from + in(Stream::targets).difference();
    if (id >= table_.size()) return nullptr;
    known.add(static_cast<u32>(id));
  } else {
    if (rank >= known.size()) return nullptr;
    known.move_to_front(static_cast<std::size_t>(rank));
  }
  return &table_[known[0]];
}

bool ChunkDecoder::outcome() {
  if (outcomes_left_ == 0) {
    outcome_bits_ = in(Stream::outcomes).byte();
    outcomes_left_ = 8;
  }
  const bool bit = (outcome_bits_ & 1) != 0;
  outcome_bits_ = static_cast<u8>(outcome_bits_ >> 1);
  --outcomes_left_;
  return bit;
}

void ChunkDecoder::addresses(const CodedBlock& coded) {
  addresses_.clear();
  for (std::size_t n = 0; n < coded.contexts.size(); ++n) {
    for (std::size_t operand = 0; operand < coded.block.instructions[n].memory_operands; ++operand) {
      AddressPredictor& predictor = predicted_.operands[2 * coded.contexts[n] + operand];
      const u64 address = predictor.prediction() + in(Stream::addresses).difference();
      predictor.update(address);
      addresses_.push_back(address);
    }
  }
}

void ChunkDecoder::rep_counts(const CodedBlock& coded) {
  rep_counts_.clear();
  for (u32 n = 0; n < coded.block.reps; ++n) {
    rep_counts_.push_back(static_cast<u32>(in(Stream::rep_counts).number()));
  }
}

void ChunkDecoder::registers(const CodedBlock& coded, u64 next_ip) {
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
    state.rip = n + 1 < instructions.size() ? instructions[n + 1].ip : next_ip;
    registers_.push_back(state);
  }
}

}  // namespace pmusim::trace
