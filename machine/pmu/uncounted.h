// SPDX-License-Identifier: MIT
#ifndef PMUSIM_MACHINE_PMU_UNCOUNTED_H
#define PMUSIM_MACHINE_PMU_UNCOUNTED_H

#include <array>
#include <cstddef>
#include <optional>
#include <set>
#include <string>

#include "pmusim/cpu/model.h"
#include "pmusim/msr/register.h"

namespace pmusim::machine {

/// Which events that a guest counts are no counts on its machine, whose core is flat (CoreLevel) and tells
/// uops beside. Nothing reads 0 in silence, and each is named once.
class Uncounted {
 public:
  /// Different events that are looked at; a guest may program any number.
  static constexpr std::size_t most = 4096;

  /// Why the counter of an event that starts to count is no count of it, in a sentence; nothing if it is one,
  /// or was named before.
  std::optional<std::string> remark(const CpuModel& model, const CountedEvent& counted);

 private:
  std::set<std::array<u64, 3>> seen_;  // without the bits that say when it counts
};

}  // namespace pmusim::machine

#endif
