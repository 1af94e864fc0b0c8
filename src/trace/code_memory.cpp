// SPDX-License-Identifier: MIT
#include "trace/code_memory.h"

#include <algorithm>
#include <span>
#include <utility>

#include "pmusim/base/types.h"

namespace pmusim::trace {

void CodeMemory::on_side_band(const SideBandRecord& record) {
  if (ended_) by_pid_.erase(*std::exchange(ended_, std::nullopt));
  if (const auto* start = std::get_if<ProcessStart>(&record)) {
    current_ = by_pid_[start->pid] = std::make_shared<Space>();
  } else if (const auto* thread = std::get_if<ThreadStart>(&record)) {
    if (thread->pid != thread->parent_pid) start_child(thread->pid, thread->parent_pid);
  } else if (const auto* to = std::get_if<ThreadSwitch>(&record)) {
    current_ = space_of(to->pid);
  } else if (const auto* exit = std::get_if<ThreadExit>(&record)) {
    if (exit->tid == exit->pid) ended_ = exit->pid;
  }
}

std::vector<std::byte> CodeMemory::copy(u32 pid, u64 address, std::size_t bytes) const {
  std::vector<std::byte> result;
  const auto found = by_pid_.find(pid);
  const Space& own = found == by_pid_.end() ? kernel_ : *found->second;
  while (result.size() < bytes) {
    auto byte = find(own, address + result.size());
    if (!byte) byte = find(kernel_, address + result.size());
    if (!byte) break;
    result.push_back(*byte);
  }
  return result;
}

const std::shared_ptr<CodeMemory::Space>& CodeMemory::space_of(u32 pid) {
  auto& space = by_pid_[pid];
  if (space == nullptr) space = std::make_shared<Space>();
  return space;
}

void CodeMemory::start_child(u32 pid, u32 parent_pid) {
  const auto parent = space_of(parent_pid);
  auto child = std::make_shared<Space>();
  child->generation = (parent->generation + 1) % generations;
  if (child->generation != 0) child->parent = parent;
  by_pid_[pid] = std::move(child);
}

void CodeMemory::BlockSet::insert(u32 id) {
  const std::size_t part = id / part_bits;
  if (part >= parts_.size()) parts_.resize(part + 1);
  if (parts_[part] == nullptr) parts_[part] = std::make_unique<std::bitset<part_bits>>();
  parts_[part]->set(id % part_bits);
}

void CodeMemory::add(Space& space, const Block& block) {
  space.known.insert(block.id);
  u64 address = block.start();
  for (std::span<const std::byte> rest = block.code; !rest.empty();) {
    const std::size_t offset = address % granule_bytes;
    const std::size_t count = std::min(rest.size(), granule_bytes - offset);
    Granule& granule = space.granules[address / granule_bytes];
    std::ranges::copy(rest.first(count), granule.bytes.begin() + offset);
    granule.known |= low_bits(static_cast<unsigned>(count)) << offset;
    rest = rest.subspan(count);
    address += count;
  }
}

std::optional<std::byte> CodeMemory::find(const Space& space, u64 address) {
  for (const Space* s = &space; s != nullptr; s = s->parent.get()) {
    const auto granule = s->granules.find(address / granule_bytes);
    if (granule != s->granules.end() && (granule->second.known >> address % granule_bytes & 1) != 0)
      return granule->second.bytes[address % granule_bytes];
  }
  return std::nullopt;
}

}  // namespace pmusim::trace
