// SPDX-License-Identifier: MIT
#ifndef PMUSIM_SRC_SESSION_TASK_FILTER_H
#define PMUSIM_SRC_SESSION_TASK_FILTER_H

#include <cstddef>
#include <vector>

#include "pmusim/base/types.h"

namespace pmusim {

/// Keeps the samples of some processes and threads, and every record that is no sample.
class TaskFilter {
 public:
  /// `sample_type` of all events; it has TID. No ids at all: everything stays.
  TaskFilter(std::vector<u32> processes, std::vector<u32> threads, u64 sample_type);

  /// Takes the others out of whole records.
  void apply(std::vector<std::byte>& records) const;

 private:
  bool keeps(const std::byte* record) const;

  std::vector<u32> processes_, threads_;
  std::size_t ids_offset_;  // of pid and tid in a sample
};

}  // namespace pmusim

#endif
