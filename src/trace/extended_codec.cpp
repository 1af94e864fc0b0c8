// SPDX-License-Identifier: MIT
#include "trace/extended_codec.h"

#include <algorithm>
#include <boost/endian/conversion.hpp>

namespace pmusim::trace {
namespace {

constexpr u64 max_ranges = 64;  // of one shape; more than any instruction changes
constexpr u64 components = low_bits(static_cast<unsigned>(StateComponent::count_));

bool is_legal(const ExtendedRange& range) {
  return range.count != 0 && range.first + range.count <= ExtendedState::size_of(range.component);
}

ExtendedShape shape_of(const ExtendedChange& change, u64 in_use_before) {
  ExtendedShape shape{change.in_use ^ in_use_before, {}};
  for (const ExtendedWrite& write : change.writes)
    shape.ranges.push_back({write.component, write.first, static_cast<u16>(write.values.size())});
  return shape;
}

/// Qwords of a component from the first that is not initial to the last.
ExtendedRange used_range(const ExtendedState& state, StateComponent c) {
  static const ExtendedState initial;
  const auto values = state.component(c), zeros = initial.component(c);
  std::size_t begin = 0, end = values.size();
  while (begin < end && values[begin] == zeros[begin]) ++begin;
  while (begin < end && values[end - 1] == zeros[end - 1]) --end;
  return {c, static_cast<u16>(begin), static_cast<u16>(end - begin)};
}

/// A state against the initial one.
ExtendedShape shape_of(const ExtendedState& state) {
  ExtendedShape shape{state.in_use(), {}};
  for (unsigned c = 0; c < static_cast<unsigned>(StateComponent::count_); ++c) {
    const ExtendedRange range = used_range(state, static_cast<StateComponent>(c));
    if (range.count != 0) shape.ranges.push_back(range);
  }
  return shape;
}

}  // namespace

void ExtendedEncoder::run(u32 tid, std::span<const u32> contexts, const BlockRun& run) {
  const auto [entry, is_new] = states_.try_emplace(tid);
  ExtendedState& known = entry->second;
  const bool restated = is_new || known != *run.extended;
  shapes().byte(restated ? 1 : 0);
  if (restated) {
    known = *run.extended;
    state(known);
  }
  auto change = run.extended_changes.begin();
  for (u32 n = 0; n < contexts.size(); ++n) {
    const bool changes = change != run.extended_changes.end() && change->instruction == n;
    const ExtendedShape now = changes ? shape_of(change->change, known.in_use()) : ExtendedShape{};
    ExtendedShape& expected = expected_shapes_[contexts[n]];
    shapes().byte(now == expected ? 0 : 1);
    if (now != expected) shape(expected = now);
    if (!changes) continue;
    for (const ExtendedWrite& write : change->change.writes) value(write.values);
    change->change.apply_to(known);
    ++change;
  }
}

bool ExtendedEncoder::full() const {
  return states_.size() >= max_extended_threads ||
         std::ranges::any_of(out_, [](const ByteWriter& s) { return s.size() >= chunk_stream_bytes; });
}

void ExtendedEncoder::state(const ExtendedState& state) {
  const ExtendedShape whole = shape_of(state);
  shape(whole);
  for (const ExtendedRange& range : whole.ranges)
    value(state.component(range.component).subspan(range.first, range.count));
}

void ExtendedEncoder::shape(const ExtendedShape& shape) {
  shapes().number(shape.in_use_toggled);
  shapes().number(shape.ranges.size());
  for (const ExtendedRange& range : shape.ranges) {
    shapes().byte(static_cast<u8>(range.component));
    shapes().number(range.first);
    shapes().number(range.count);
  }
}

void ExtendedEncoder::value(std::span<const u64> qwords) {
  for (const u64 qword : qwords)
    for (unsigned shift = 0; shift < 64; shift += 8) values().byte(static_cast<u8>(qword >> shift));
}

ExtendedDecoder::ExtendedDecoder(Data data) : data_(std::move(data)) {
  for (std::size_t s = 0; s < extended_stream_count; ++s) in_[s] = ByteReader(data_[s]);
}

bool ExtendedDecoder::at_end() const { return std::ranges::all_of(in_, &ByteReader::at_end); }

// Until then the run's state is the one before it.
void ExtendedDecoder::finish_last_run() {
  for (const InstructionChange& change : changes_) change.change.apply_to(*current_);
  qwords_.clear();
  ranges_.clear();
  parts_.clear();
  writes_.clear();
  changes_.clear();
}

bool ExtendedDecoder::decode(u32 tid, std::span<const u32> contexts, BlockRun& run) {
  finish_last_run();
  const bool restated = shapes().byte() != 0;
  const auto known = states_.find(tid);
  if (known == states_.end() && (!restated || states_.size() >= max_extended_threads)) return false;
  current_ = known != states_.end() ? &known->second : &states_[tid];
  if (restated && !decode_state(*current_)) return false;

  u64 in_use = current_->in_use();
  for (u32 n = 0; n < contexts.size(); ++n) {
    if (contexts[n] >= expected_shapes_.size()) expected_shapes_.resize(contexts[n] + 1);
    ExtendedShape& shape = expected_shapes_[contexts[n]];
    if (shapes().byte() != 0 && !decode_shape(shape)) return false;
    if (shape == ExtendedShape{}) continue;
    in_use ^= shape.in_use_toggled;
    parts_.push_back({n, in_use, ranges_.size(), shape.ranges.size()});
    if (!decode_values(shape)) return false;
  }
  publish(run);
  return true;
}

bool ExtendedDecoder::decode_state(ExtendedState& state) {
  ExtendedShape shape;
  if (!decode_shape(shape) || !decode_values(shape)) return false;
  state = ExtendedState{};
  std::span<const u64> values(qwords_);
  for (const ExtendedRange& range : ranges_) {
    state.write(range.component, range.first, values.first(range.count));
    values = values.subspan(range.count);
  }
  const bool consistent = (state.in_use() & ~shape.in_use_toggled) == 0;
  state.set_in_use(shape.in_use_toggled);
  qwords_.clear();
  ranges_.clear();
  return consistent;
}

bool ExtendedDecoder::decode_shape(ExtendedShape& shape) {
  shape.in_use_toggled = shapes().number();
  const u64 count = shapes().number();
  if ((shape.in_use_toggled & ~components) != 0 || count > max_ranges) return false;
  shape.ranges.clear();
  for (u64 n = 0; n < count; ++n) {
    const u8 component = shapes().byte();
    const u64 first = shapes().number(), qwords = shapes().number();
    if (component >= static_cast<u8>(StateComponent::count_) || first > 0xFFFF || qwords > 0xFFFF)
      return false;
    shape.ranges.push_back(
        {static_cast<StateComponent>(component), static_cast<u16>(first), static_cast<u16>(qwords)});
    if (!is_legal(shape.ranges.back())) return false;
  }
  return shapes().ok();
}

bool ExtendedDecoder::decode_values(const ExtendedShape& shape) {
  for (const ExtendedRange& range : shape.ranges) {
    const std::span<const u8> bytes = values().bytes(8u * range.count);
    if (bytes.size() != 8u * range.count) return false;
    for (std::size_t n = 0; n < bytes.size(); n += 8)
      qwords_.push_back(boost::endian::load_little_u64(bytes.data() + n));
    ranges_.push_back(range);
  }
  return true;
}

void ExtendedDecoder::publish(BlockRun& run) {
  std::span<const u64> values(qwords_);
  for (const ExtendedRange& range : ranges_) {
    writes_.push_back({range.component, range.first, values.first(range.count)});
    values = values.subspan(range.count);
  }
  for (const Part& part : parts_)
    changes_.push_back(
        {part.instruction, {part.in_use, std::span(writes_).subspan(part.first_write, part.writes)}});
  run.extended = current_;
  run.extended_changes = changes_;
}

}  // namespace pmusim::trace
