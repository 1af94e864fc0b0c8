// SPDX-License-Identifier: MIT
#ifndef PMUSIM_SRC_DRIVER_INTEL_LBR_DECODER_H
#define PMUSIM_SRC_DRIVER_INTEL_LBR_DECODER_H

#include <array>
#include <span>
#include <vector>

#include "pmusim/arch/debug_store.h"
#include "pmusim/perf/abi.h"

namespace pmusim::driver {

struct LbrTraits;

/// What the branches of a record are.
struct DecodedBranches {
  std::size_t count = 0;
  bool typed = true;  ///< each has a type
  bool user = true;   ///< none comes from the kernel or leads there
};

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
  /// The same, with a look at what they are.
  DecodedBranches decode_and_judge(std::span<const pebs::LbrRecord> records, std::byte* out) const;

 private:
  template <class Record, class Look>
  std::size_t translate(std::span<const Record> records, std::byte* out, Look look) const;

  /// Flags of the entry, all bits of its cycle count if INFO has one, and whether the flags lack a type.
  std::array<u64, 256> by_upper_byte_;
};

/// How the branches of an event are made of a record, where that is but a translation.
struct PlainBranches {
  const LbrDecoder* decoder = nullptr;  ///< null: they need more, whatever the record
  bool typed = false, user = false;     ///< they need more, unless the record's are

  bool always() const { return !typed && !user; }
  bool serve(const DecodedBranches& decoded) const {
    return (decoded.typed || !typed) && (decoded.user || !user);
  }
};

}  // namespace pmusim::driver

#endif
