// SPDX-License-Identifier: MIT
#ifndef PMUSIM_SRC_SESSION_MACHINE_PART_H
#define PMUSIM_SRC_SESSION_MACHINE_PART_H

#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "core/machine_caches.h"
#include "pmusim/session/session.h"

namespace pmusim {

/// Caches of cores on which several programs run. Processes of different programs are different ones,
/// whatever their ids.
class CommonCaches {
 public:
  explicit CommonCaches(StartState start) : caches_(start) {}
  MachineCaches& caches() { return caches_; }
  /// The process that runs from now on.
  void enter(u32 program, u32 pid) {
    const auto next = static_cast<u32>(spaces_.size() + 1);
    caches_.enter(spaces_.try_emplace({program, pid}, next).first->second);
  }

 private:
  MachineCaches caches_;
  std::map<std::pair<u32, u32>, u32> spaces_;
};

/// The cores of a machine that one of several programs has for itself.
struct MachinePart {
  u32 program = 0;                       ///< number among them
  std::vector<u32> cpus;                 ///< by its CPUs: their numbers in the whole machine
  std::vector<CorePlace> places;         ///< and where they are there
  std::shared_ptr<CommonCaches> caches;  ///< with all programs that have cores of its packages
};

/// Divides the cores evenly, in the order of their numbers: machines of those of each program. Errors: fewer
/// cores than programs; two kinds of core.
struct PartOfMachine {
  Topology machine;
  MachinePart part;
};
Result<std::vector<PartOfMachine>, Error> divide(const Topology& machine, std::size_t programs,
                                                 StartState start);

}  // namespace pmusim

#endif
