// SPDX-License-Identifier: MIT
// sched_setaffinity and sched_getaffinity (sched_setaffinity(2)): programs see the CPUs of the emulated
// machine.
#include <sys/syscall.h>

#include <algorithm>
#include <cerrno>
#include <csignal>

#include "live/served_calls.h"
#include "trace/tracee.h"

namespace pmusim::live {
namespace {

constexpr std::size_t word_bytes = sizeof(long);

/// Of the kernel's bitmap of CPUs.
std::size_t mask_bytes(unsigned cpus) { return (cpus + 63) / 64 * word_bytes; }

u32 task_of(const Call& call) {
  const auto tid = static_cast<i32>(call.arguments[0]);
  return tid == 0 ? call.tid : static_cast<u32>(tid);
}

bool exists(u32 tid) {
  return static_cast<i32>(tid) > 0 && (::kill(static_cast<pid_t>(tid), 0) == 0 || errno != ESRCH);
}

}  // namespace

void ServedCalls::change_affinity(const Call& call) {
  ++served_;
  tasks_.flush();
  const i64 result = call.number == SYS_sched_setaffinity ? set_affinity(call) : tell_affinity(call);
  tasks_.follow_events();
  listener_.finish(call, result);
}

/// CPUs that are not there, or not online, do not count among the wanted ones.
i64 ServedCalls::set_affinity(const Call& call) {
  std::vector<std::byte> mask(mask_bytes(machine_.monitor().cpus()));
  const std::size_t given = std::min<std::size_t>(static_cast<u32>(call.arguments[1]), mask.size());
  if (trace::read_memory(call.tid, call.arguments[2], std::span(mask).first(given)) != given) return -EFAULT;
  const u32 tid = task_of(call);
  if (!exists(tid)) return -ESRCH;
  std::vector<u32> cpus;
  for (const u32 cpu : machine_.online())
    if ((mask[cpu / 8] >> cpu % 8 & std::byte{1}) != std::byte{0}) cpus.push_back(cpu);
  if (cpus.empty()) return -EINVAL;
  return -tasks_.restrict_to(tid, cpus, cpus == machine_.online());
}

i64 ServedCalls::tell_affinity(const Call& call) const {
  std::vector<std::byte> mask(mask_bytes(machine_.monitor().cpus()));
  const auto room = static_cast<u32>(call.arguments[1]);
  if (u64{room} * 8 < machine_.monitor().cpus() || room % word_bytes != 0) return -EINVAL;
  const u32 tid = task_of(call);
  if (!exists(tid)) return -ESRCH;
  for (const u32 cpu : machine_.allowed(tid)) mask[cpu / 8] |= std::byte{1} << cpu % 8;
  return trace::write_memory(call.tid, call.arguments[2], mask) ? static_cast<i64>(mask.size()) : -EFAULT;
}

}  // namespace pmusim::live
