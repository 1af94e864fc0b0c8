// SPDX-License-Identifier: MIT
#ifndef PMUSIM_SRC_CORE_MACHINE_CACHES_H
#define PMUSIM_SRC_CORE_MACHINE_CACHES_H

#include <bitset>
#include <map>
#include <optional>
#include <unordered_map>
#include <vector>

#include "core/set_associative.h"
#include "pmusim/cpu/retirement.h"
#include "pmusim/cpu/setup.h"

namespace pmusim {

class MemoryHierarchy;

/// What the cores of a machine share of their caches: an L3 for each package, and a directory that keeps the
/// caches of the cores coherent (MESIF).
///
/// A line has one writer or many readers. The directory knows of each line who got it; caches drop lines
/// without telling, as on silicon, so a core that is asked may no longer have it. A modified line that was
/// dropped has been written back to the L3 of its package. Of those who read a line, the last one forwards
/// it.
///
/// Goes by nothing but the order of calls. Lines of different address spaces are different lines, also where
/// they are one in physical memory.
class MachineCaches {
 public:
  enum class State : u8 { invalid, shared, forward, exclusive, modified };
  /// What a request beyond L2 was answered by.
  struct Answer {
    CacheLevel level = CacheLevel::memory;
    Snoop snoop = Snoop::none;
    bool remote = false;
  };
  /// What cores hold that nobody has asked for here: nothing, or (after a warm start) any line, clean.
  enum class Start : u8 { empty, warm };

  explicit MachineCaches(Start start) : start_(start) {}

  /// A core, which must stay where it is. The first of a package brings its L3, if it has one (null: none).
  u32 join(MemoryHierarchy& core, u32 package, const CacheGeometry& l3);
  /// The process that runs from now on.
  void enter(u32 pid) { space_ = u64{pid} << space_shift; }

  /// A core fetches a line that none of its caches has, or brings it nearer.
  Answer read(u32 core, u64 line);
  /// A core that holds a line writes to it. Nothing: it was the only one to have it.
  std::optional<Answer> own(u32 core, u64 line);
  /// L3 of a core's package takes a line in that no core asked for: where it came from.
  Answer prefetch(u32 core, u64 line);
  bool last_level_has(u32 core, u64 line) const;
  /// CLFLUSH: no cache has it any more.
  void flush(u64 line);

  State state(u32 core, u64 line) const;
  std::size_t directory_lines() const { return directory_.size(); }

 private:
  static constexpr unsigned space_shift = 41;  // lines of 64 bytes in the lower half of 48-bit addresses
  static constexpr u32 nobody = ~u32{0};
  struct Present {};
  enum class Kind : u8 { shared, exclusive, modified };
  /// Who got a line.
  struct Copies {
    std::bitset<Topology::most_cpus> cores;
    u32 owner = nobody;  // who alone has it, or forwards it
    Kind kind = Kind::shared;
    u64 space = 0;
  };
  struct Core {
    MemoryHierarchy* caches;
    u32 package;
  };
  struct Package {
    std::optional<SetAssociative<Present>> l3;
  };
  u64 key(u64 line) const { return line ^ space_; }
  Copies& copies_of(u64 line);
  bool holds(const Copies& copies, u32 core, u64 line) const;
  void forget_dropped(Copies& copies, u64 line) const;
  CacheLevel last_level(const Package& package) const {
    return package.l3 ? CacheLevel::l3 : CacheLevel::memory;
  }
  bool find(Package& package, u64 line);
  void fill(u32 package, u64 line);
  Answer from_core(u32 owner, u32 reader, Snoop snoop) const;
  Answer from_sharers(const Copies& copies, u32 reader, u64 line);
  Answer from_last_level(u32 reader, u64 line, Snoop elsewhere);
  Answer supply(Copies& copies, u32 reader, u64 line);
  void forget_unused();
  bool is_anywhere(const Copies& copies, u64 key) const;

  Start start_;
  u64 space_ = 0;
  std::vector<Core> cores_;
  std::map<u32, Package> packages_;
  std::unordered_map<u64, Copies> directory_;  // by key(); its order is never looked at
  std::size_t cached_lines_ = 0;               // that fit into all caches
};

}  // namespace pmusim

#endif
