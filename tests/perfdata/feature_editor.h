// SPDX-License-Identifier: MIT
#ifndef PMUSIM_TESTS_PERFDATA_FEATURE_EDITOR_H
#define PMUSIM_TESTS_PERFDATA_FEATURE_EDITOR_H

#include <cstring>
#include <map>
#include <stdexcept>
#include <vector>

#include "pmusim/base/types.h"

namespace pmusim::perfdata {

/// Changes what the features of a perf.data file have, by the format's own description: 256 bits at offset
/// 72, and a row of offset and size for each bit that is set, right behind the data section.
class FeatureEditor {
 public:
  explicit FeatureEditor(std::vector<std::byte> bytes) : bytes_(std::move(bytes)) {
    u64 row = get(40) + get(48);
    for (unsigned number = 0; number < 256; ++number) {
      if ((std::to_integer<unsigned>(bytes_.at(72 + number / 8)) >> number % 8 & 1) == 0) continue;
      rows_[number] = row;
      row += 16;
    }
  }

  std::vector<unsigned> features() const {
    std::vector<unsigned> numbers;
    for (const auto& [number, row] : rows_) numbers.push_back(number);
    return numbers;
  }
  std::vector<std::byte> payload(unsigned feature) const {
    const auto begin = bytes_.begin() + static_cast<std::ptrdiff_t>(get(rows_.at(feature)));
    return {begin, begin + static_cast<std::ptrdiff_t>(get(rows_.at(feature) + 8))};
  }
  /// The new payload goes to the end of the file.
  FeatureEditor& replace(unsigned feature, const std::vector<std::byte>& payload) {
    move(feature, bytes_.size(), payload.size());
    bytes_.insert(bytes_.end(), payload.begin(), payload.end());
    return *this;
  }
  FeatureEditor& move(unsigned feature, u64 offset, u64 size) {
    put(rows_.at(feature), offset);
    put(rows_.at(feature) + 8, size);
    return *this;
  }
  const std::vector<std::byte>& bytes() const { return bytes_; }

 private:
  u64 get(u64 offset) const {
    u64 value;
    if (offset + sizeof value > bytes_.size()) throw std::runtime_error("the file ends early");
    std::memcpy(&value, bytes_.data() + offset, sizeof value);
    return value;
  }
  void put(u64 offset, u64 value) { std::memcpy(bytes_.data() + offset, &value, sizeof value); }

  std::vector<std::byte> bytes_;
  std::map<unsigned, u64> rows_;  // of the table, by feature
};

}  // namespace pmusim::perfdata

#endif
