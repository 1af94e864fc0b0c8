// SPDX-License-Identifier: MIT
#ifndef PMUSIM_SRC_DRIVER_LBR_DECODER_H
#define PMUSIM_SRC_DRIVER_LBR_DECODER_H

#include <array>
#include <span>
#include <vector>

#include "pmusim/perf/abi.h"

namespace pmusim::driver {

struct LbrTraits;

/// Turns records in the form of architectural LBR and PEBS into perf's branch entries, 32 of them per sample.
///
/// All that needs a decision (which flags a part has, what its branch types are called) depends on the upper
/// byte of INFO alone, and is decided once for each of its values.
class LbrDecoder {
 public:
  explicit LbrDecoder(const LbrTraits& traits);

  /// The branches of `records` up to the first that is empty: places that hardware had no branch for are
  /// zero. Event counts (BR_CNTR) stand in the reserved bits, as Linux leaves them. `Record` is LbrEntry or
  /// pebs::LbrRecord.
  template <class Record>
  void decode(std::span<const Record> records, std::vector<perf::BranchEntry>& out) const;
  /// The same into `out`, which has room for as many entries. Returns how many there are.
  template <class Record>
  std::size_t decode(std::span<const Record> records, std::byte* out) const;

 private:
  /// Flags of the entry, and where in them the cycle count of INFO goes, if that is one.
  struct Meaning {
    u64 flags = 0, cycles = 0;
  };
  std::array<Meaning, 256> by_upper_byte_;
};

}  // namespace pmusim::driver

#endif
