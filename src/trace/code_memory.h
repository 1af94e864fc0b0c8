#ifndef PMUSIM_TRACE_CODE_MEMORY_H
#define PMUSIM_TRACE_CODE_MEMORY_H

#include <array>
#include <bitset>
#include <deque>
#include <map>
#include <optional>
#include <unordered_map>

#include "pmusim/trace/block.h"
#include "pmusim/trace/happening.h"

namespace pmusim::trace {

/// The code bytes that each process of a trace has executed so far.
///
/// A fork shares what its parent has executed by reference, an exec starts with nothing. Where code changed
/// in place, the version that was first executed last stands.
class CodeMemory {
 public:
  void happened(const Happening& happening);
  /// `block` runs in the current thread's process.
  void executed(const Block& block) {
    if (current_ == nullptr) current_ = &space_of(0);
    if (block.id < current_->known.size() && current_->known[block.id]) return;
    add(*current_, block);
  }
  std::vector<std::byte> copy(u32 pid, u64 address, std::size_t bytes) const;

 private:
  static constexpr u64 page_bytes = 4096;
  struct Page {
    std::array<std::byte, page_bytes> bytes{};
    std::bitset<page_bytes> known;
  };
  struct Space {
    const Space* parent = nullptr;
    std::vector<bool> known;  // blocks that are in `pages`, by id
    std::map<u64, Page> pages;
  };

  Space& space_of(u32 pid);
  Space& new_space(u32 pid, const Space* parent);
  static void add(Space& space, const Block& block);
  static std::optional<std::byte> find(const Space* space, u64 address);

  std::deque<Space> spaces_;  // references stay valid
  std::unordered_map<u32, Space*> by_pid_;
  Space* current_ = nullptr;
};

}  // namespace pmusim::trace

#endif
