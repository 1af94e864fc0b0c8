// SPDX-License-Identifier: MIT
#ifndef PMUSIM_SRC_CORE_CYCLE_MARKS_H
#define PMUSIM_SRC_CORE_CYCLE_MARKS_H

#include <algorithm>
#include <array>

#include "core/cycle_span.h"
#include "pmusim/base/types.h"

namespace pmusim {

/// What is true of which cycles, for a number of things, until it is known what else happened in them
/// (ExecutionPorts). Of what lies beyond a window of cycles only from when until when is known.
template <unsigned things>
class CycleMarks {
 public:
  /// For each thing a bit for each of 64 cycles.
  using Cycles = std::array<u64, things>;

  CycleMarks() = default;

  /// It is true in the cycles of the span. Usually these are few, and near.
  void mark(unsigned thing, const CycleSpan& span) {
    const u64 word = span.begin / 64, shift = span.begin % 64, cycles = span.end - span.begin;
    const bool is_in_word = span.begin < span.end && cycles <= 64 - shift;
    if (is_in_word && word >= first_word_ && word < first_word_ + words) [[likely]]
      near_[word % words][thing] |= low_bits(static_cast<unsigned>(cycles)) << shift;
    else
      mark_several(thing, span);
    end_ = std::max(end_, span.end);
  }
  /// The cycles from 64 * word on, which are over then. Words come in order.
  Cycles take(u64 word) {
    if (word < first_word_) return {};
    first_word_ = word + 1;
    Cycles& place = near_[word % words];
    const Cycles taken = place;
    for (unsigned thing = 0; thing < things; ++thing) place[thing] = far_[thing].in_word(word + words);
    return taken;
  }
  /// All up to this word is over, and nothing was marked there.
  void skip_to(u64 word) { first_word_ = std::max(first_word_, word); }
  /// The first word behind all marks.
  u64 end_word() const { return (end_ + 63) / 64; }
  /// Takes all marks away.
  void clear() { *this = CycleMarks(first_word_); }

 private:
  static constexpr u64 words = 64;
  explicit CycleMarks(u64 first_word) : first_word_(first_word) {}
  u64 window_end() const { return (first_word_ + words) * 64; }
  void mark_several(unsigned thing, const CycleSpan& span) {
    const CycleSpan near{std::max(span.begin, first_word_ * 64), std::min(span.end, window_end())};
    for (u64 word = near.begin / 64; word * 64 < near.end; ++word)
      near_[word % words][thing] |= near.in_word(word);
    if (span.end > window_end()) mark_far(thing, {std::max(span.begin, window_end()), span.end});
  }
  // As one span, what is between two of them included.
  void mark_far(unsigned thing, const CycleSpan& span) {
    CycleSpan& far = far_[thing];
    far = far.end <= window_end() ? span
                                  : CycleSpan{std::min(far.begin, span.begin), std::max(far.end, span.end)};
  }

  std::array<Cycles, words> near_{};     // by the lowest bits of the word
  std::array<CycleSpan, things> far_{};  // beyond these
  u64 first_word_ = 0, end_ = 0;
};

/// Loads that are under way: any, and those that missed L1D, L2 and L3.
enum LoadMissed : unsigned { load_missed_nothing, load_missed_l1d, load_missed_l2, load_missed_l3 };
inline constexpr unsigned load_misses = 4;
using LoadsUnderWay = CycleMarks<load_misses>;

}  // namespace pmusim

#endif
