// SPDX-License-Identifier: MIT
#ifndef PMUSIM_SRC_LIVE_PROCESSES_H
#define PMUSIM_SRC_LIVE_PROCESSES_H

#include <set>
#include <string>
#include <vector>

#include "live/machine_view.h"
#include "pmusim/base/types.h"

/// Who is there, as /proc tells it at the moment.
namespace pmusim::live {

/// The children of a process, theirs, and so on.
std::set<u32> descendants_of(u32 ancestor);
/// Whether a process is one of them.
bool descends_from(u32 pid, u32 ancestor);

/// Empty: the process is gone.
std::vector<u32> threads_of(u32 pid);

/// Of /proc/ID/status (proc(5)).
struct TaskStatus {
  u32 process = 0, parent = 0;
  u32 tracer = 0;  ///< 0: nobody
  u32 user = 0;
  u64 capabilities = 0;  ///< effective ones, bits by CAP_*
  FileIdentity user_namespace;
  bool has_ended = true;

  /// One of these capabilities, as root of that namespace has them.
  bool has_any(u64 wanted, const FileIdentity& in) const {
    return (capabilities & wanted) != 0 && user_namespace == in;
  }
};
TaskStatus status_of(u32 tid);

/// Of the text of /proc/ID/status, all but the namespace; what it does not say is 0.
TaskStatus status_in(const std::string& text);
/// The parent in the text of /proc/ID/stat; 0: it says none.
u32 parent_in(const std::string& stat);

}  // namespace pmusim::live

#endif
