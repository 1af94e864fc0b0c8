// SPDX-License-Identifier: MIT
#ifndef PMUSIM_TRACE_CODE_MEMORY_H
#define PMUSIM_TRACE_CODE_MEMORY_H

#include <array>
#include <bitset>
#include <map>
#include <memory>
#include <optional>
#include <unordered_map>

#include "pmusim/trace/trace.h"

namespace pmusim::trace {

/// The code bytes that each process of a trace has executed so far.
///
/// A fork shares what its parent has executed by reference, an exec starts with nothing. Where code changed
/// in place, the version that was first executed last stands.
///
/// What a file asks for stays in proportion to its size: bytes are kept in granules that a small instruction
/// does not make large, ended processes are forgotten with the side-band record after their end (samples that
/// hardware holds until then still look at their code), and every eighth generation of forks starts with
/// nothing but what it executes itself.
class CodeMemory {
 public:
  void on_side_band(const SideBandRecord& record);
  /// `block` runs in the current thread's process.
  void executed(const Block& block) {
    if (current_ == nullptr) current_ = space_of(0);
    Space& space = block.ring == Cpl::kernel ? kernel_ : *current_;
    if (!space.known.contains(block.id)) add(space, block);
  }
  std::vector<std::byte> copy(u32 pid, u64 address, std::size_t bytes) const;

 private:
  static constexpr u64 granule_bytes = 64;
  static constexpr unsigned generations = 8;

  struct Granule {
    std::array<std::byte, granule_bytes> bytes{};
    u64 known = 0;  // a bit per byte
  };

  /// Which blocks are in a space, by id. Ids are dense in a trace, but not in a process.
  class BlockSet {
   public:
    bool contains(u32 id) const {
      const std::size_t part = id / part_bits;
      return part < parts_.size() && parts_[part] != nullptr && parts_[part]->test(id % part_bits);
    }
    void insert(u32 id);

   private:
    static constexpr std::size_t part_bits = 4096;
    std::vector<std::unique_ptr<std::bitset<part_bits>>> parts_;
  };

  struct Space {
    std::shared_ptr<const Space> parent;
    unsigned generation = 0;
    BlockSet known;
    std::map<u64, Granule> granules;  // by address / granule_bytes
  };

  const std::shared_ptr<Space>& space_of(u32 pid);
  void start_child(u32 pid, u32 parent_pid);
  static void add(Space& space, const Block& block);
  static std::optional<std::byte> find(const Space& space, u64 address);

  std::unordered_map<u32, std::shared_ptr<Space>> by_pid_;
  std::shared_ptr<Space> current_;
  Space kernel_;              // code at ring 0, which every process sees
  std::optional<u32> ended_;  // pid
};

}  // namespace pmusim::trace

#endif
