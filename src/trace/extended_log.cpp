// SPDX-License-Identifier: MIT
#include "trace/extended_log.h"

#include <algorithm>

namespace pmusim::trace {
namespace {

/// Where the register that qword `n` of a component belongs to ends: registers are recorded whole, so that an
/// instruction changes the same qwords whatever it computes.
std::size_t end_of_register(StateComponent c, std::size_t n) {
  constexpr std::size_t x87_control = 3, tile = 128;
  const auto end_in = [n](std::size_t size, std::size_t start = 0) {
    return start + ((n - start) / size + 1) * size;
  };
  switch (c) {
    case StateComponent::x87:
      return n < x87_control ? x87_control : end_in(2, x87_control);
    case StateComponent::sse:
      return std::min(end_in(2), n < ExtendedState::mxcsr_qword ? ExtendedState::mxcsr_qword : n + 1);
    case StateComponent::avx:
    case StateComponent::bndregs:
      return end_in(2);
    case StateComponent::zmm_hi256:
      return end_in(4);
    case StateComponent::hi16_zmm:
    case StateComponent::tilecfg:
      return end_in(8);
    case StateComponent::tiledata:
      return end_in(tile);
    default:
      return n + 1;
  }
}
std::size_t begin_of_register(StateComponent c, std::size_t n) {
  std::size_t begin = 0;
  while (end_of_register(c, begin) <= n) begin = end_of_register(c, begin);
  return begin;
}

}  // namespace

void ExtendedLog::add(u32 n, const ExtendedState& before, const ExtendedState& after) {
  const std::size_t first = writes_.size();
  for (unsigned c = 0; c < static_cast<unsigned>(StateComponent::count_); ++c)
    add_component(static_cast<StateComponent>(c), before, after);
  if (writes_.size() != first || before.in_use() != after.in_use())
    parts_.push_back({n, after.in_use(), first, writes_.size() - first});
}

// Registers side by side are one write. A component that leaves use needs none.
void ExtendedLog::add_component(StateComponent c, const ExtendedState& before, const ExtendedState& after) {
  const auto old = before.component(c), now = after.component(c);
  if (std::ranges::equal(old, now)) return;
  const bool leaves_use = (before.in_use() & ~after.in_use() & state_bit(c)) != 0;
  std::size_t n = leaves_use && c == StateComponent::sse ? ExtendedState::mxcsr_qword : 0;
  if (leaves_use && c != StateComponent::sse) return;
  while (n < now.size()) {
    if (old[n] == now[n]) {
      ++n;
      continue;
    }
    const std::size_t begin = begin_of_register(c, n);
    std::size_t end = end_of_register(c, n);
    while (end < now.size() && old[end] != now[end]) end = end_of_register(c, end);
    const auto values = now.subspan(begin, end - begin);
    qwords_.insert(qwords_.end(), values.begin(), values.end());
    writes_.push_back({c, static_cast<u16>(begin), values});
    n = end;
  }
}

void ExtendedLog::describe(BlockRun& run) {
  std::span<const u64> qwords(qwords_);
  for (ExtendedWrite& write : writes_) {
    write.values = qwords.first(write.values.size());
    qwords = qwords.subspan(write.values.size());
  }
  changes_.clear();
  for (const Part& part : parts_)
    changes_.push_back(
        {part.instruction, {part.in_use, std::span(writes_).subspan(part.first_write, part.writes)}});
  run.extended = &before_;
  run.extended_changes = changes_;
}

void ExtendedLog::clear() {
  qwords_.clear();
  writes_.clear();
  parts_.clear();
  changes_.clear();
}

}  // namespace pmusim::trace
