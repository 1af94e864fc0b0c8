// SPDX-License-Identifier: MIT
#ifndef PMUSIM_SRC_SESSION_FIRST_BRANCH_H
#define PMUSIM_SRC_SESSION_FIRST_BRANCH_H

#include <cstddef>
#include <span>
#include <vector>

#include "pmusim/perf/abi.h"

namespace pmusim {

/// Takes out the samples that come before the program's first branch: their branch stacks are empty, and
/// llvm-profgen judges a whole file by its first sample. On silicon the kernel's return into the program
/// stands there.
class FirstBranch {
 public:
  /// `attr` of the samples. Those without a stack of all branches stay.
  explicit FirstBranch(const perf::Attr& attr);

  /// From whole records, in the order of time.
  void apply(std::vector<std::byte>& records);

 private:
  bool has_stack(std::span<const std::byte> record) const;

  perf::Attr attr_;
  bool waiting_;
};

}  // namespace pmusim

#endif
