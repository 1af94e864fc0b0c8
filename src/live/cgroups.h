// SPDX-License-Identifier: MIT
#ifndef PMUSIM_SRC_LIVE_CGROUPS_H
#define PMUSIM_SRC_LIVE_CGROUPS_H

#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "pmusim/perf/core.h"

namespace pmusim::live {

/// Text of /proc/PID/cgroup: the task's cgroup in the hierarchy in which a kernel counts perf events, that of
/// controller perf_event or else version 2. "/" where there is neither.
std::string cgroup_in(std::string_view memberships);

/// Where that hierarchy is mounted, as a process sees it.
class CgroupMounts {
 public:
  /// Texts of /proc/PID/cgroup and /proc/PID/mountinfo.
  CgroupMounts(std::string_view memberships, std::string_view mounts);
  /// The cgroup whose directory this is; none: it is no directory of the hierarchy.
  std::optional<std::string> cgroup_at(std::string_view directory) const;
  std::optional<std::string> directory_of(std::string_view cgroup) const;

 private:
  std::map<std::string, std::string> roots_;  // cgroup at the top of a mount, by where it is mounted
};

/// Whether an event, of whomever, tells of its tasks' cgroups.
bool asks_for_cgroups(const perf::Attr& attr);

/// This machine's cgroups as the perf core has them.
class Cgroups {
 public:
  explicit Cgroups(perf::PerfCore& perf);

  /// What PID_CGROUP takes for a caller's descriptor. Errors as a kernel's: EBADF, it is no directory of a
  /// cgroup file system; ENOENT, of one in which perf events are not counted, or it has been removed.
  Result<u64, KernelError> named_by(u32 tid, u64 descriptor);
  /// Where a task is; none: it has ended.
  std::optional<u64> of_task(u32 tid);

 private:
  u64 number_of(const std::string& path);

  perf::PerfCore& perf_;
  CgroupMounts mounts_;
  std::map<std::string, u64> numbers_;  // by path
};

}  // namespace pmusim::live

#endif
