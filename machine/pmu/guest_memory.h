// SPDX-License-Identifier: MIT
#ifndef PMUSIM_MACHINE_PMU_GUEST_MEMORY_H
#define PMUSIM_MACHINE_PMU_GUEST_MEMORY_H

#include <optional>
#include <vector>

#include "pmusim/pmu/pmu.h"

namespace pmusim::machine {

/// The guest's memory as its PMU reaches it: by linear addresses the DS area with its two buffers, by
/// physical ones all of it.
///
/// Linear addresses are those of the guest's page tables. They are looked up when IA32_DS_AREA or what
/// enables one of the buffers is written, and again, before anything is written to memory, after translations
/// may have changed.
class GuestMemory {
 public:
  GuestMemory(unsigned cpu, Pmu& pmu);

  void translations_changed() { stale_ = true; }
  bool is_stale() const { return stale_; }
  void refresh();

 private:
  struct Piece {
    u64 linear = 0;
    std::span<std::byte> bytes;
  };
  std::optional<u64> word(u64 linear) const;
  void add_pieces(std::vector<Piece>& pieces, u64 from, u64 to) const;

  unsigned cpu_;
  Pmu& pmu_;
  std::vector<Piece> pieces_;
  bool stale_ = false;
};

}  // namespace pmusim::machine

#endif
