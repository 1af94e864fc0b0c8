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
/// The tables are sized so that correlation between nearby branches is learnt completely, while a random
/// array of a few thousand elements, scanned again and again, is learnt only in part, as on silicon.
class Tage {
 public:
  /// What it predicts for the conditional branch at `ip`; then it learns the outcome.
  bool train(u64 ip, bool taken);

 private:
  static constexpr unsigned tables = 4;
  static constexpr std::array<unsigned, tables> history_lengths{4, 8, 16, 32};
  static constexpr unsigned index_bits = 9;
  static constexpr u64 useful_lifetime = 1u << 18;  // branches between two agings
  struct Entry {
    u16 tag = 0;
    signed char counter = 0;  // -4..3, taken if not negative
    u8 useful = 0;            // 0..3
  };
  struct Lookup {
    std::array<Entry*, tables> entries{};
    std::array<u16, tables> tags{};
    int provider = -1, alternate = -1;  // table, -1 the base
  };

  Lookup look_up(u64 ip);
  bool direction(const Lookup& lookup, int table, u64 ip) const;
  static bool is_new(const Entry& entry);
  void learn(const Lookup& lookup, u64 ip, bool taken, bool predicted);
  void allocate(const Lookup& lookup, bool taken);
  void age();

  Bimodal base_;
  std::array<std::vector<Entry>, tables> tagged_ = make_tables();
  static std::array<std::vector<Entry>, tables> make_tables();
  LoopPredictor loops_;
  u64 history_ = 0, trained_ = 0;
  int trust_new_ = 0;  // -8..7: whether entries just allocated do better than what they replace
};

}  // namespace pmusim

#endif
