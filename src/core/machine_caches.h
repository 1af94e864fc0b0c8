// SPDX-License-Identifier: MIT
#ifndef PMUSIM_SRC_CORE_MACHINE_CACHES_H
#define PMUSIM_SRC_CORE_MACHINE_CACHES_H

#include <bitset>
#include <map>
#include <optional>
#include <unordered_map>
#include <vector>

#include "core/module_cache.h"
#include "core/set_associative.h"
#include "pmusim/cpu/retirement.h"
#include "pmusim/cpu/setup.h"

namespace pmusim {

class MemoryHierarchy;

/// Where a core of a machine is: in which package, whose L3 it has, and in which module, whose L2. Modules
/// are numbered through all packages.
struct CorePlace {
  u32 package = 0, module = 0;
};

/// What the cores of a machine share of their caches: an L3 for each package, an L2 for each module of
/// several cores, and a directory that keeps the caches of the cores coherent (MESIF).
///
/// A line has one module that writes or many cores that read it. Of a module that has it alone, a store takes
/// it from the L1 of the others; a line that one has modified in its L1 is sent to another by L2 where that
/// can, else by way of the last level, where all then have a clean copy. The directory knows of each line who
/// got it; caches drop lines without telling, as on silicon, so a core that is asked may no longer have it. A
/// modified line that was dropped has been written back to the L3 of its package. Of those who read a line,
/// the last one forwards it.
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
  /// Behind a warm start cores are taken to hold any line that nobody has asked for here, clean.
  explicit MachineCaches(StartState start) : start_(start) {}

  struct Shared {
    CacheGeometry l2, l3;  ///< no bytes of L3: there is none
    bool l2_transfers = false;
  };
  /// A core, which must stay where it is. The first of a package brings its L3, and the second of a module
  /// finds itself with the first one's L2.
  u32 join(MemoryHierarchy& core, const CorePlace& place, const Shared& shared);
  /// The process that runs from now on.
  void enter(u32 pid) { space_ = u64{pid} << space_shift; }

  /// A core fetches a line that none of its caches has, or brings it nearer.
  Answer read(u32 core, u64 line);
  /// A core finds a line in the L2 of its module. Nothing: L2 has what is to be read; else another core of
  /// the module has sent it.
  std::optional<Answer> share(u32 core, u64 line);
  /// A core that holds a line writes to it. Nothing: it was the only one to have it.
  std::optional<Answer> own(u32 core, u64 line);
  /// L3 of a core's package takes a line in that no core asked for: where it came from.
  Answer prefetch(u32 core, u64 line);
  bool last_level_has(u32 core, u64 line) const;
  /// CLFLUSH: no cache has it any more.
  void flush(u64 line);

  /// That of its module, if the core has the line.
  State state(u32 core, u64 line) const;
  /// What a line of the process that runs is called where there are those of others.
  u64 key(u64 line) const { return line ^ space_; }
  std::size_t directory_lines() const { return directory_.size(); }

 private:
  static constexpr unsigned space_shift = 41;  // lines of 64 bytes in the lower half of 48-bit addresses
  static constexpr u32 nobody = ~u32{0};
  struct Present {};
  enum class Kind : u8 { shared, exclusive, modified };
  /// Who got a line.
  struct Copies {
    std::bitset<Topology::most_cpus> cores;
    u32 owner = nobody;   // who, or whose module, has it alone; or who forwards it
    u32 writer = nobody;  // whose L1 has what no other cache has
    Kind kind = Kind::shared;
    u64 space = 0;
  };
  struct Module {
    std::vector<u32> cores;
    bool transfers = false;
    std::optional<ModuleCache> l2;  // of several cores
  };
  struct Core {
    MemoryHierarchy* caches;
    CorePlace place;
    Module* module;
  };
  struct Package {
    std::optional<SetAssociative<Present>> l3;
  };
  Copies& copies_of(u64 line);
  Module& module_of(u32 core) const { return *cores_[core].module; }
  bool are_of_a_module(u32 a, u32 b) const { return cores_[a].module == cores_[b].module; }
  u32 package_of(u32 core) const { return cores_[core].place.package; }
  bool holds(const Copies& copies, u32 core, u64 line) const {
    return copies.cores[core] && has_anywhere(core, line, key(line));
  }
  bool has_anywhere(u32 core, u64 line, u64 key) const;
  bool is_alone(const Copies& copies, u32 core) const {
    return copies.kind != Kind::shared && are_of_a_module(copies.owner, core);
  }
  u32 holder_of(const Copies& copies) const;
  bool is_dirty(const Copies& copies, u64 line) const;
  bool take_from_module(Copies& copies, u32 core, u64 line);
  void take_from_others(const Copies& copies, u32 core, u64 line, Answer& answer);
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

  StartState start_;
  u64 space_ = 0;
  std::vector<Core> cores_;
  std::map<u32, Package> packages_;
  std::map<u32, Module> modules_;
  std::unordered_map<u64, Copies> directory_;  // by key(); its order is never looked at
  std::size_t cached_lines_ = 0;               // that fit into all caches
};

}  // namespace pmusim

#endif
