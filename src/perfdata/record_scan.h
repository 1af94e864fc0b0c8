// SPDX-License-Identifier: MIT
#ifndef PMUSIM_SRC_PERFDATA_RECORD_SCAN_H
#define PMUSIM_SRC_PERFDATA_RECORD_SCAN_H

#include <array>
#include <optional>
#include <span>
#include <utility>

#include "pmusim/perf/abi.h"

namespace pmusim::perfdata {

/// Follows the records of a stream that arrives in arbitrary pieces, and notes the first and last sample
/// time.
class RecordScan {
 public:
  /// All events of a file place the time alike; `sample_type` is that of any of them.
  explicit RecordScan(u64 sample_type);

  /// False when a record's size field cannot be one; the stream is then unusable.
  bool feed(std::span<const std::byte> bytes);
  bool between_records() const { return known_ == 0; }
  u64 records() const { return records_; }
  std::optional<std::pair<u64, u64>> sample_times() const { return times_; }

 private:
  void finish_record();
  void note(const std::byte* record);

  std::size_t time_offset_ = 0;        ///< 0: samples carry no time
  std::array<std::byte, 64> start_{};  ///< of the record that the last piece cut
  std::size_t known_ = 0;              ///< bytes of that record seen so far
  u64 records_ = 0;
  std::optional<std::pair<u64, u64>> times_;
};

}  // namespace pmusim::perfdata

#endif
