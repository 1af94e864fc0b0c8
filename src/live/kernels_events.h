// SPDX-License-Identifier: MIT
#ifndef PMUSIM_SRC_LIVE_KERNELS_EVENTS_H
#define PMUSIM_SRC_LIVE_KERNELS_EVENTS_H

#include <optional>
#include <vector>

#include "live/listener.h"
#include "pmusim/perf/abi.h"
#include "session/monitor.h"

namespace pmusim::live {

/// Whom perf_event_open is to count; pid: of a task, not 0; or the descriptor of a cgroup.
CountedTasks counted_by(const Call& call);
bool counts_cgroup(const CountedTasks& counted);

/// A software event of the real kernel's under a number that the supervisor has chosen.
struct KernelsEvent {
  u32 pid = 0, opener = 0;  ///< process and thread that have opened it
  u32 number = 0;
  std::optional<u32> leader;  ///< number of its group's; none: it leads
  std::vector<std::byte> attr;
  CountedTasks counted;  ///< pid: of a task, not 0
  bool is_used = false;  ///< switched or mapped: what it has counted is the kernel's alone

  bool is_sampling() const;
};

/// The kernel's own clocks and page faults that programs have opened: untouched, until a hardware event joins
/// their group or their buffer, which a kernel makes one of the PMU then. Here they become emulated ones, and
/// for that it must be known what they are: so the supervisor opens them in the program's place.
class KernelsEvents {
 public:
  /// Opens what the call asks for; none where the kernel is to answer the caller itself: it refuses, or the
  /// caller's rights are not this process's.
  FileDescriptor open(const Call& call, std::span<const std::byte> attr);
  /// The call has given its caller this number for it.
  void add(const Call& call, std::span<const std::byte> attr, u32 number);
  /// Takes those out that a hardware event which joins this leader's group takes with it, the leader first.
  /// None where there is no such leader, or one of them has been used already.
  std::vector<KernelsEvent> take_group(u32 tid, u32 number);
  /// Numbers of leaders that sample the task and were opened by this one.
  std::vector<u32> samplers(u32 tid, u32 counted) const;

  /// A call on a descriptor that is not an emulated event's.
  void note(const Call& call);
  /// As prctl(PR_TASK_PERF_EVENTS_ENABLE or _DISABLE) does with what the caller has opened.
  void switch_all(u32 tid, unsigned long request);

 private:
  KernelsEvent* find(u32 tid, u64 number);
  void forget_closed();

  std::vector<KernelsEvent> events_;
};

}  // namespace pmusim::live

#endif
