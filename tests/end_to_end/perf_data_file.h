// SPDX-License-Identifier: MIT
#ifndef PMUSIM_TESTS_END_TO_END_PERF_DATA_FILE_H
#define PMUSIM_TESTS_END_TO_END_PERF_DATA_FILE_H

#include <cstring>
#include <functional>
#include <stdexcept>
#include <string>

#include "pmusim/perf/abi.h"

namespace pmusim::test {

/// An uncompressed perf.data, read byte by byte: the writer under test has no part in it.
class PerfDataFile {
 public:
  explicit PerfDataFile(const std::string& path);

  template <class T>
  T get(std::size_t offset) const {
    T value;
    if (offset + sizeof value > bytes_.size()) throw std::runtime_error("perf.data ends early");
    std::memcpy(&value, bytes_.data() + offset, sizeof value);
    return value;
  }

  /// Calls `visit(offset, attr)` for every sample record. All of them are taken to be the first event's.
  void for_each_sample(const std::function<void(std::size_t, const perf::Attr&)>& visit) const;

 private:
  std::string bytes_;
  perf::Attr first_;
};

/// Bytes of the fields of a sample that have 8 each and stand in front of READ and the branch stack.
std::size_t bytes_of_single_words(u64 sample_type);

}  // namespace pmusim::test

#endif
