// SPDX-License-Identifier: MIT
#ifndef PMUSIM_CORE_TAGE_H
#define PMUSIM_CORE_TAGE_H

#include <array>
#include <vector>

#include "core/bimodal.h"
#include "core/loop_predictor.h"

namespace pmusim {

/// Direction predictor "tage": a small TAGE (Seznec and Michaud 2006) with a loop predictor.
///
/// A bimodal table is backed by tagged tables that see ever longer outcome histories; the longest that knows
/// the present history gives the prediction. A misprediction allocates an entry in a longer table. Entries
/// that were right where a shorter history was wrong are `useful` and not replaced until that fades.
///
/// As it is sized by default, correlation between nearby branches is learnt completely, while a random array
/// of a few thousand elements, scanned again and again, is learnt only in part, as on silicon.
class Tage {
 public:
  /// How much of it there is.
  struct Shape {
    unsigned tables = 4;            ///< with tags, at most `most_tables`
    unsigned entries = 512;         ///< of each, a power of two
    unsigned longest_history = 32;  ///< outcomes that the last table sees; the first one sees 4
  };
  static constexpr unsigned most_tables = 8, shortest_history = 4, most_history = 1024;

  explicit Tage(const Shape& shape);

  /// What it predicts for the conditional branch at `ip`; then it learns the outcome.
  bool train(u64 ip, bool taken);

 private:
  static constexpr u64 useful_lifetime = 1u << 18;  // branches between two agings
  struct Entry {
    u16 tag = 0;
    signed char counter = 0;  // -4..3, taken if not negative
    u8 useful = 0;            // 0..3
  };
  struct Table {
    std::vector<Entry> entries;
    unsigned history_length = 0;
    u64 mask = 0;           // which of `recent_` it sees, 0 for a history that is longer
    u64 folded = 0;         // a longer history: a polynomial over it
    u64 oldest_factor = 0;  // what the outcome that leaves it has come to in `folded`
  };
  struct Lookup {
    std::array<Entry*, most_tables> entries;  // of as many tables as there are
    std::array<u16, most_tables> tags;
    int provider = -1, alternate = -1;  // table, -1 the base
  };

  Lookup look_up(u64 ip);
  bool direction(const Lookup& lookup, int table, u64 ip) const;
  static bool is_new(const Entry& entry);
  void learn(const Lookup& lookup, u64 ip, bool taken, bool predicted);
  void allocate(const Lookup& lookup, bool taken);
  void age();
  void remember(bool taken);
  void fold(bool taken);
  static Table make_table(const Shape& shape, unsigned number);

  Bimodal base_;
  std::vector<Table> tagged_;  // longer and longer histories
  unsigned first_folded_ = 0;
  unsigned index_shift_;
  LoopPredictor loops_;
  u64 recent_ = 0;                                 // the last outcomes, the newest in bit 0
  std::array<u64, most_history / 64> outcomes_{};  // a ring of bits, for histories that are folded
  u64 trained_ = 0;
  int trust_new_ = 0;  // -8..7: whether entries just allocated do better than what they replace
};

}  // namespace pmusim

#endif
