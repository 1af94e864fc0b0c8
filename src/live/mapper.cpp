// SPDX-License-Identifier: MIT
#include "live/mapper.h"

#include <linux/capability.h>
#include <sys/resource.h>

#include "live/processes.h"

namespace pmusim::live {
namespace {

u64 memlock_kib(u32 tid) {
  rlimit limit{};
  if (::prlimit(static_cast<pid_t>(tid), RLIMIT_MEMLOCK, nullptr, &limit) != 0) return 0;
  return limit.rlim_cur / 1024;
}

}  // namespace

perf::Mapper mapper_of(u32 tid) {
  const TaskStatus status = status_of(tid);
  return {.user = status.user,
          .process = status.process,
          .ipc_lock_capable = status.has_any(bit(CAP_IPC_LOCK), identity_of("/proc/self/ns/user")),
          .memlock_kib = memlock_kib(tid)};
}

}  // namespace pmusim::live
