// SPDX-License-Identifier: MIT
#include "live/mapper.h"

#include <fmt/format.h>
#include <linux/capability.h>
#include <sys/resource.h>

#include <cstdlib>
#include <string>

#include "live/machine_view.h"
#include "trace/tracee.h"

namespace pmusim::live {
namespace {

/// The first number behind a name in /proc/ID/status.
u64 number_in(const std::string& status, std::string_view name, int base) {
  const std::size_t at = status.find(name);
  return at == std::string::npos ? 0 : std::strtoull(status.c_str() + at + name.size(), nullptr, base);
}

bool is_in_this_namespace(u32 tid) {
  return identity_of(fmt::format("/proc/{}/ns/user", tid)) == identity_of("/proc/self/ns/user");
}

u64 memlock_kib(u32 tid) {
  rlimit limit{};
  if (::prlimit(static_cast<pid_t>(tid), RLIMIT_MEMLOCK, nullptr, &limit) != 0) return 0;
  return limit.rlim_cur / 1024;
}

}  // namespace

perf::Mapper mapper_of(u32 tid) {
  const std::string status = trace::proc_file(tid, "status");
  const u64 capabilities = number_in(status, "\nCapEff:", 16);
  return {.user = static_cast<u32>(number_in(status, "\nUid:", 10)),
          .process = static_cast<u32>(number_in(status, "\nTgid:", 10)),
          .ipc_lock_capable = (capabilities & bit(CAP_IPC_LOCK)) != 0 && is_in_this_namespace(tid),
          .memlock_kib = memlock_kib(tid)};
}

}  // namespace pmusim::live
