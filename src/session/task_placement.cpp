// SPDX-License-Identifier: MIT
#include "session/task_placement.h"

#include <algorithm>
#include <tuple>

namespace pmusim {

TaskPlacement::TaskPlacement(const Topology& machine, Schedule schedule)
    : machine_(machine), schedule_(schedule), online_(machine.online()), load_(machine.cpus.size()) {}

/// The CPU with the fewest threads; of several one whose core has the fewest, of a core of the first kind,
/// and the lowest number.
u32 TaskPlacement::best() const {
  std::vector<u32> of_core(load_.size());
  for (u32 cpu = 0; cpu < load_.size(); ++cpu) of_core[machine_.first_of_core(cpu)] += load_[cpu];
  return *std::ranges::min_element(online_, {}, [&](u32 cpu) {
    return std::tuple(load_[cpu], of_core[machine_.first_of_core(cpu)], machine_.cpus[cpu].type, cpu);
  });
}

void TaskPlacement::start(u32 tid) {
  exit(tid);
  const u32 cpu = best();
  cpu_of_[tid] = cpu;
  ++load_[cpu];
}

u32 TaskPlacement::place(u32 tid) {
  if (!cpu_of_.contains(tid)) start(tid);
  u32& cpu = cpu_of_[tid];
  const u32 other = best();
  if (load_[cpu] < load_[other] + 2) return cpu;
  --load_[cpu];
  ++load_[other];
  return cpu = other;
}

u32 TaskPlacement::after_tick(u32 tid) {
  u32& cpu = cpu_of_[tid];
  if (schedule_ != Schedule::rotate) return cpu;
  const auto next = std::ranges::upper_bound(online_, cpu);
  --load_[cpu];
  cpu = next == online_.end() ? online_.front() : *next;
  ++load_[cpu];
  return cpu;
}

void TaskPlacement::exit(u32 tid) {
  const auto known = cpu_of_.find(tid);
  if (known == cpu_of_.end()) return;
  --load_[known->second];
  cpu_of_.erase(known);
}

}  // namespace pmusim
