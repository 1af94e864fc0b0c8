#include "trace/code_memory.h"

namespace pmusim::trace {

void CodeMemory::happened(const Happening& happening) {
  if (const auto* start = std::get_if<ProcessStart>(&happening)) {
    current_ = &new_space(start->pid, nullptr);
  } else if (const auto* thread = std::get_if<ThreadStart>(&happening)) {
    if (thread->pid != thread->parent_pid) new_space(thread->pid, &space_of(thread->parent_pid));
  } else if (const auto* to = std::get_if<ThreadSwitch>(&happening)) {
    current_ = &space_of(to->pid);
  }
}

std::vector<std::byte> CodeMemory::copy(u32 pid, u64 address, std::size_t bytes) const {
  std::vector<std::byte> result;
  const auto found = by_pid_.find(pid);
  if (found == by_pid_.end()) return result;
  while (result.size() < bytes) {
    const auto byte = find(found->second, address + result.size());
    if (!byte) break;
    result.push_back(*byte);
  }
  return result;
}

CodeMemory::Space& CodeMemory::space_of(u32 pid) {
  const auto found = by_pid_.find(pid);
  return found != by_pid_.end() ? *found->second : new_space(pid, nullptr);
}

CodeMemory::Space& CodeMemory::new_space(u32 pid, const Space* parent) {
  Space& space = spaces_.emplace_back();
  space.parent = parent;
  by_pid_[pid] = &space;
  return space;
}

void CodeMemory::add(Space& space, const Block& block) {
  if (block.id >= space.known.size()) space.known.resize(block.id + 1);
  space.known[block.id] = true;
  u64 address = block.start();
  for (std::byte byte : block.code) {
    Page& page = space.pages[address / page_bytes];
    page.bytes[address % page_bytes] = byte;
    page.known.set(address % page_bytes);
    ++address;
  }
}

std::optional<std::byte> CodeMemory::find(const Space* space, u64 address) {
  for (; space != nullptr; space = space->parent) {
    const auto page = space->pages.find(address / page_bytes);
    if (page != space->pages.end() && page->second.known[address % page_bytes]) {
      return page->second.bytes[address % page_bytes];
    }
  }
  return std::nullopt;
}

}  // namespace pmusim::trace
