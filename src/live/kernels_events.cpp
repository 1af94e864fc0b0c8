// SPDX-License-Identifier: MIT
#include "live/kernels_events.h"

#include <fmt/format.h>
#include <linux/perf_event.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include <algorithm>

#include "live/descriptor_link.h"
#include "live/user_attribute.h"
#include "trace/tracee.h"

namespace pmusim::live {
namespace {

bool is_perf_event(u32 tid, u64 number) { return descriptor_name(tid, number) == "anon_inode:[perf_event]"; }

bool has_rights_of_this_process(u32 tid) {
  struct stat task {};
  return ::stat(fmt::format("/proc/{}", tid).c_str(), &task) == 0 && task.st_uid == ::geteuid();
}

/// A process's descriptor as one of this process's.
FileDescriptor copy_of(u32 pid, u32 number) {
  const FileDescriptor process(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
  if (!process) return {};
  return FileDescriptor(static_cast<int>(::syscall(SYS_pidfd_getfd, process.number(), number, 0)));
}

}  // namespace

bool counts_cgroup(const CountedTasks& counted) { return (counted.flags & PERF_FLAG_PID_CGROUP) != 0; }

CountedTasks counted_by(const Call& call) {
  CountedTasks counted{.pid = static_cast<i32>(call.arguments[1]),
                       .cpu = static_cast<i32>(call.arguments[2]),
                       .flags = call.arguments[4]};
  if (counted.pid == 0 && !counts_cgroup(counted)) counted.pid = static_cast<i32>(call.tid);
  return counted;
}

bool KernelsEvent::is_sampling() const { return beginning_of(attr).sample_period != 0; }

FileDescriptor KernelsEvents::open(const Call& call, std::span<const std::byte> attr) {
  forget_closed();
  const CountedTasks counted = counted_by(call);
  const auto group = static_cast<i32>(call.arguments[3]);
  const u64 other_flags = counted.flags & ~u64{PERF_FLAG_FD_CLOEXEC};
  if (counted.pid < 0 || other_flags != 0 || !has_rights_of_this_process(call.tid)) return {};
  FileDescriptor leader;
  if (group >= 0) {
    if (const KernelsEvent* known = find(call.tid, call.arguments[3]); known != nullptr)
      leader = copy_of(known->pid, known->number);
    if (!leader) return {};
  }
  return FileDescriptor(static_cast<int>(::syscall(SYS_perf_event_open, attr.data(), counted.pid, counted.cpu,
                                                   leader.number(), PERF_FLAG_FD_CLOEXEC)));
}

void KernelsEvents::add(const Call& call, std::span<const std::byte> attr, u32 number) {
  const auto group = static_cast<i32>(call.arguments[3]);
  events_.push_back({.pid = trace::process_of(call.tid),
                     .opener = call.tid,
                     .number = number,
                     .leader = group < 0 ? std::nullopt : std::optional(static_cast<u32>(group)),
                     .attr = {attr.begin(), attr.end()},
                     .counted = counted_by(call)});
}

std::vector<KernelsEvent> KernelsEvents::take_group(u32 tid, u32 number) {
  forget_closed();
  const KernelsEvent* const leader = find(tid, number);
  if (leader == nullptr || leader->leader) return {};
  const u32 pid = leader->pid;
  const auto belongs = [=](const KernelsEvent& event) {
    return event.pid == pid && (event.number == number || event.leader == number);
  };
  const bool used =
      std::ranges::any_of(events_, [&](const auto& event) { return belongs(event) && event.is_used; });
  if (used) return {};
  std::vector<KernelsEvent> group;
  std::ranges::copy_if(events_, std::back_inserter(group), belongs);  // members are opened after their leader
  std::erase_if(events_, belongs);
  return group;
}

std::vector<u32> KernelsEvents::samplers(u32 tid, u32 counted) const {
  std::vector<u32> numbers;
  for (const KernelsEvent& event : events_)
    if (event.opener == tid && static_cast<u32>(event.counted.pid) == counted && !event.leader &&
        event.is_sampling())
      numbers.push_back(event.number);
  return numbers;
}

void KernelsEvents::note(const Call& call) {
  const bool maps = call.number == SYS_mmap;
  const bool switches = call.number == SYS_ioctl && call.arguments[1] != PERF_EVENT_IOC_ID;
  if (!maps && !switches) return;
  if (KernelsEvent* event = find(call.tid, call.arguments[maps ? 4 : 0])) event->is_used = true;
}

void KernelsEvents::switch_all(u32 tid, unsigned long request) {
  forget_closed();
  for (KernelsEvent& event : events_) {
    if (event.opener != tid) continue;
    event.is_used = true;
    if (const FileDescriptor copy = copy_of(event.pid, event.number)) ::ioctl(copy.number(), request, 0);
  }
}

KernelsEvent* KernelsEvents::find(u32 tid, u64 number) {
  const auto found = std::ranges::find_if(events_, [&](const KernelsEvent& event) {
    return event.number == static_cast<u32>(number) && event.pid == trace::process_of(tid);
  });
  return found == events_.end() ? nullptr : &*found;
}

void KernelsEvents::forget_closed() {
  std::erase_if(events_, [](const KernelsEvent& event) { return !is_perf_event(event.pid, event.number); });
}

}  // namespace pmusim::live
