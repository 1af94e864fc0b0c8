// SPDX-License-Identifier: MIT
#ifndef PMUSIM_SRC_PERF_CGROUP_H
#define PMUSIM_SRC_PERF_CGROUP_H

#include <string>

#include "perf/stopwatch.h"

namespace pmusim::perf {

/// A named set of tasks, to which those of the cgroups below it belong, too.
struct Cgroup {
  u64 number = 1;
  u64 id = 1;  ///< in records
  std::string path = "/";
  const Cgroup* above = nullptr;

  bool holds(const Cgroup& other) const {
    for (const Cgroup* at = &other; at != nullptr; at = at->above)
      if (at == this) return true;
    return false;
  }
};

/// A cgroup whose events a CPU has. It measures their time, which passes while one of its tasks runs there
/// (Linux: perf_cgroup_info).
struct CgroupOnCpu {
  const Cgroup& cgroup;
  Stopwatch watch;
};

}  // namespace pmusim::perf

#endif
