// SPDX-License-Identifier: MIT
#ifndef PMUSIM_SRC_CAPI_RETIREMENT_H
#define PMUSIM_SRC_CAPI_RETIREMENT_H

#include <array>

#include "capi/error.h"
#include "pmusim/cpu/retirement.h"

namespace pmusim::capi {

inline constexpr u32 most_accesses = 8;

/// Throws Misuse for what no instruction can be; `number` is its place in the array.
void check(const pmusim_instruction& instruction, std::size_t number);

/// An instruction of C, once checked, as a Retirement that refers to it.
class Converted {
 public:
  /// Where the one before went on, and the cycle after it.
  Converted(const pmusim_instruction& instruction, u64 next_ip, u64 next_cycle);
  Converted(const Converted&) = delete;
  Converted& operator=(const Converted&) = delete;
  ~Converted() = default;
  const Retirement& retirement() const { return retirement_; }

 private:
  void add_accesses(const pmusim_instruction& from);
  void add_branch(const pmusim_instruction& from);
  void add_named(const pmusim_instruction& from);

  Retirement retirement_;
  std::array<MemoryAccess, most_accesses> accesses_{};
  Registers registers_;
};

/// Throws Misuse for what is none.
CacheLevel level_of(int level, CacheLevel otherwise);

}  // namespace pmusim::capi

#endif
