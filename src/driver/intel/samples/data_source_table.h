// SPDX-License-Identifier: MIT
#ifndef PMUSIM_SRC_DRIVER_INTEL_SAMPLES_DATA_SOURCE_TABLE_H
#define PMUSIM_SRC_DRIVER_INTEL_SAMPLES_DATA_SOURCE_TABLE_H

#include <array>
#include <bit>

#include "driver/intel/samples/data_source.h"

namespace pmusim::driver {

/// PERF_SAMPLE_DATA_SRC of every data-source word of a kind of event, looked up: what the code stands for,
/// and what the flags beside it change in that.
class DataSourceTable {
 public:
  DataSourceTable() = default;
  /// `source(word)` is what the table shall say; `layout` tells its code from its flags.
  template <class Source>
  DataSourceTable(const DataSourceLayout& layout, Source source) {
    const u64 flags = layout.stlb_miss | layout.locked | layout.data_blocked | layout.address_blocked;
    flags_low_ = flags == 0 ? 0u : static_cast<unsigned>(std::countr_zero(flags));
    flags_mask_ = flags >> flags_low_;
    code_mask_ = (layout.code | layout.l2_miss) & low_bits(code_bits);
    for (u64 code = 0; code < by_code_.size(); ++code) by_code_[code] = source(code & code_mask_);
    for (u64 set = 0; set < by_flags_.size(); ++set)
      by_flags_[set] = source(0) ^ source((set & flags_mask_) << flags_low_);
  }

  u64 operator[](u64 word) const {
    return by_code_[word & code_mask_] ^ by_flags_[word >> flags_low_ & flags_mask_];
  }

 private:
  static constexpr unsigned code_bits = 9;
  unsigned flags_low_ = 0;
  u64 flags_mask_ = 0, code_mask_ = 0;
  std::array<u64, 1u << code_bits> by_code_{};
  std::array<u64, 16> by_flags_{};
};

}  // namespace pmusim::driver

#endif
