// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

#include "perf/linux_core.h"

/// Cgroups, and which tasks are in them.
namespace pmusim::perf {

namespace {

std::string path_above(std::string_view path) {
  return std::string(path.substr(0, std::max<std::size_t>(path.rfind('/'), 1)));
}

}  // namespace

u64 LinuxCore::make_cgroup(std::string_view path, std::optional<u64> id) {
  if (!path.starts_with('/') || (path.size() > 1 && path.ends_with('/')) || path.find("//") != path.npos)
    throw std::invalid_argument(fmt::format("make_cgroup: '{}' is no path from /", path));
  for (const auto& [number, cgroup] : cgroups_)
    if (cgroup.path == path) return number;
  const Cgroup& above = cgroups_.at(make_cgroup(path_above(path)));
  const u64 number = cgroups_.size() + root_cgroup;
  write_cgroup(
      cgroups_.emplace(number, Cgroup{number, id.value_or(number), std::string(path), &above}).first->second);
  return number;
}

/// Linux writes it on the CPU that makes the directory, as of the task that runs there: here the first CPU.
void LinuxCore::write_cgroup(const Cgroup& cgroup) {
  CpuContext& cpu = first();
  const Moment moment = moment_of(cpu, cpu.current);
  for (Context* const context :
       {&cpu.context(), cpu.current != nullptr ? cpu.current->context.get() : nullptr}) {
    if (context == nullptr) continue;
    for (Event* const event : context->newest_first())
      if (RingBuffer* const ring = ring_of(*event);
          ring != nullptr && is_heard(cpu, *event) && event->attr.cgroup)
        output_record(*ring, *event, moment, CgroupRecord{cgroup.id, cgroup.path});
  }
}

/// It has its new cgroup at once, also where it runs (Linux: perf_cgroup_attach).
void LinuxCore::move_to_cgroup(u32 tid, u64 number) {
  const auto to = cgroups_.find(number);
  Task* const task = find_task(tid);
  if (to == cgroups_.end() || task == nullptr)
    throw std::invalid_argument(fmt::format("move_to_cgroup: there is no {} {}",
                                            task == nullptr ? "task" : "cgroup",
                                            task == nullptr ? tid : number));
  task->cgroup = &to->second;
  if (task->on != nullptr) task->on->scheduler.cgroup_comes(to->second);
}

}  // namespace pmusim::perf
