// SPDX-License-Identifier: MIT
#include "session/task_placement.h"

#include <algorithm>
#include <tuple>
#include <utility>

namespace pmusim {

TaskPlacement::TaskPlacement(const Topology& machine, Schedule schedule)
    : machine_(machine), schedule_(schedule), online_(machine.online()), load_(machine.cpus.size()) {}

/// Of the CPUs that it may run on the one with the fewest threads; of several one whose core has the fewest,
/// of a core of the first kind, and the lowest number.
u32 TaskPlacement::best(u32 tid) const {
  std::vector<u32> of_core(load_.size());
  for (u32 cpu = 0; cpu < load_.size(); ++cpu) of_core[machine_.first_of_core(cpu)] += load_[cpu];
  return *std::ranges::min_element(allowed(tid), {}, [&](u32 cpu) {
    return std::tuple(load_[cpu], of_core[machine_.first_of_core(cpu)], machine_.cpus[cpu].type, cpu);
  });
}

void TaskPlacement::start(u32 tid, u32 parent_tid) {
  exit(tid);
  if (const auto parent = allowed_.find(parent_tid); parent != allowed_.end()) allowed_[tid] = parent->second;
  cpu_of(tid);
}

/// Whoever is not known begins.
u32& TaskPlacement::cpu_of(u32 tid) {
  if (const auto known = cpu_of_.find(tid); known != cpu_of_.end()) return known->second;
  const u32 cpu = best(tid);
  ++load_[cpu];
  return cpu_of_[tid] = cpu;
}

void TaskPlacement::move(u32 tid, u32 to) {
  u32& cpu = cpu_of(tid);
  --load_[cpu];
  ++load_[to];
  cpu = to;
}

u32 TaskPlacement::place(u32 tid) {
  const u32 cpu = cpu_of(tid), other = best(tid);
  if (!std::ranges::binary_search(allowed(tid), cpu) || load_[cpu] >= load_[other] + 2) move(tid, other);
  return cpu_of(tid);
}

u32 TaskPlacement::after_tick(u32 tid) {
  const u32 cpu = cpu_of(tid);
  if (schedule_ != Schedule::rotate) return cpu;
  const std::vector<u32>& cpus = allowed(tid);
  const auto next = std::ranges::upper_bound(cpus, cpu);
  move(tid, next == cpus.end() ? cpus.front() : *next);
  return cpu_of(tid);
}

void TaskPlacement::exit(u32 tid) {
  allowed_.erase(tid);
  const auto known = cpu_of_.find(tid);
  if (known == cpu_of_.end()) return;
  --load_[known->second];
  cpu_of_.erase(known);
}

void TaskPlacement::allow(u32 tid, std::vector<u32> cpus) { allowed_[tid] = std::move(cpus); }

const std::vector<u32>& TaskPlacement::allowed(u32 tid) const {
  const auto restricted = allowed_.find(tid);
  return restricted == allowed_.end() ? online_ : restricted->second;
}

}  // namespace pmusim
