// SPDX-License-Identifier: MIT
#include "trace/chunk_encoder.h"

#include <cassert>

#include "trace/side_band_codec.h"

namespace pmusim::trace {

ChunkEncoder::ChunkEncoder(Contents contents, ThreadId thread, const CodeTable& table)
    : contents_(contents), thread_(thread) {
  predicted_.fit(table.size(), table.contexts());
}

void ChunkEncoder::add_block(const Block& block, const CodeTable& table) {
  encode_block(block, previous_block_end_, out(Stream::code));
  previous_block_end_ = block.end();
  predicted_.fit(table.size(), table.contexts());
}

void ChunkEncoder::run(const CodedBlock& coded, const BlockRun& run) {
  const Block& block = coded.block;
  if (stretch_.runs != 0 && stretch_.next_ip != block.start()) end_stretch();
  if (stretch_.runs == 0) {
    stretch_.first = block.id;
  } else {
    successor(stretch_.last->id, block.id);
  }
  ++stretch_.runs;
  stretch_.last = &block;
  stretch_.next_ip = run.next_ip;
  instructions_ += static_cast<u32>(block.instructions.size());

  if (contents_.addresses) addresses(coded, run.addresses);
  assert(run.rep_counts.size() == block.reps);
  for (u32 count : run.rep_counts) out(Stream::rep_counts).number(count);
  if (contents_.registers) registers(coded, run.registers);
  if (contents_.timing) cycles_.number(run.cycles.value_or(0));
  if (contents_.extended) extended_.run(thread_.tid, coded.contexts(), run);
}

void ChunkEncoder::side_band(const SideBandRecord& record) {
  if (stretch_.runs != 0) end_stretch();
  encode(record, out(Stream::side_band));
  ++stretch_.side_band_before;
  if (const auto* to = std::get_if<ThreadSwitch>(&record)) thread_ = {to->pid, to->tid};
}

void ChunkEncoder::finish() {
  if (stretch_.runs != 0 || stretch_.side_band_before != 0) end_stretch();
  if (outcome_count_ != 0) out(Stream::outcomes).byte(outcome_bits_);
}

bool ChunkEncoder::empty() const {
  return instructions_ == 0 && stretch_.side_band_before == 0 && out_[0].size() == 0;
}

bool ChunkEncoder::full() const {
  return instructions_ >= chunk_instructions || extended_.full() || cycles_.size() >= chunk_stream_bytes ||
         std::ranges::any_of(out_, [](const ByteWriter& s) { return s.size() >= chunk_stream_bytes; });
}

void ChunkEncoder::end_stretch() {
  ByteWriter& to = out(Stream::stretches);
  to.number(stretch_.side_band_before);
  to.number(stretch_.runs);
  if (stretch_.runs != 0) {
    to.number(stretch_.first);
    to.difference(stretch_.next_ip - stretch_.last->end());
  }
  stretch_ = {};
}

// The rank in the list of successors, 0 for one that is not there.
void ChunkEncoder::successor(u32 from, u32 to) {
  SuccessorList& known = predicted_.successors[from];
  const std::size_t rank = known.rank(to);
  const bool as_predicted = rank == 0 && known.size() != 0;
  outcome(!as_predicted);
  if (as_predicted) return;
  if (rank == known.size()) {
    out(Stream::targets).number(0);
    out(Stream::targets).difference(u64{to} - from);
    known.add(to);
  } else {
    out(Stream::targets).number(rank);
    known.move_to_front(rank);
  }
}

void ChunkEncoder::outcome(bool other_than_predicted) {
  outcome_bits_ = static_cast<u8>(outcome_bits_ | unsigned{other_than_predicted} << outcome_count_);
  if (++outcome_count_ < 8) return;
  out(Stream::outcomes).byte(outcome_bits_);
  outcome_bits_ = 0;
  outcome_count_ = 0;
}

void ChunkEncoder::addresses(const CodedBlock& coded, std::span<const u64> values) {
  assert(values.size() == coded.block.operands);
  const u64* value = values.data();
  const auto contexts = coded.contexts();
  for (std::size_t n = 0; n < contexts.size(); ++n) {
    for (std::size_t operand = 0; operand < coded.block.instructions[n].memory_operands; ++operand) {
      AddressPredictor& predictor = predicted_.operands[2 * contexts[n] + operand];
      out(Stream::addresses).difference(*value - predictor.prediction());
      predictor.update(*value++);
    }
  }
}

void ChunkEncoder::registers(const CodedBlock& coded, std::span<const Registers> values) {
  assert(values.size() == coded.instructions());
  Registers& state = predicted_.registers[thread_.tid];
  for (std::size_t n = 0; n < values.size(); ++n) {
    const Registers& after = values[n];
    u32 changed = after.rflags != state.rflags ? flags_changed : 0;
    for (unsigned r = 0; r < after.gpr.size(); ++r) {
      if (after.gpr[r] != state.gpr[r]) changed |= 1u << r;
    }
    u32& expected = predicted_.register_masks[coded.contexts()[n]];
    out(Stream::register_masks).number(changed ^ expected);
    expected = changed;
    for (unsigned r : set_bits(changed & ~flags_changed)) {
      out(Stream::register_values).difference(after.gpr[r] - state.gpr[r]);
    }
    if ((changed & flags_changed) != 0) out(Stream::flags).number(after.rflags ^ state.rflags);
    state = after;
  }
}

}  // namespace pmusim::trace
