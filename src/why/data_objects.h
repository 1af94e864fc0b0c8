// SPDX-License-Identifier: MIT
#ifndef PMUSIM_SRC_WHY_DATA_OBJECTS_H
#define PMUSIM_SRC_WHY_DATA_OBJECTS_H

#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "pmusim/trace/trace.h"
#include "symbols/module.h"
#include "why/heap_blocks.h"

namespace pmusim::why {

enum class DataKind : u8 { global, file, heap, stack, other };
std::string_view name_of(DataKind kind);

/// What data is part of: a variable of a file, the rest of a file's data, blocks of the heap that one place
/// of the code asked for, the rest of the heap (between the first and the last program break), stacks, or
/// what nothing is known of.
struct DataObject {
  DataKind kind = DataKind::other;
  std::string name;    ///< demangled name of a variable; path of a file; else empty
  std::string module;  ///< of a variable
  u64 bytes = 0;       ///< of a variable; of all blocks
  u64 blocks = 0;      ///< that were asked for at `site`, a return address of this space
  symbols::AddressSpaces::Id space = 0;
  u64 site = 0;
};

/// Addresses that are the same object's.
struct ObjectRange {
  u64 start = 0, end = 0;
  u32 object = 0;
  bool contains(u64 address) const { return address >= start && address < end; }
};

/// Names data of the processes of a trace, as its records change them.
class DataObjects {
 public:
  explicit DataObjects(std::filesystem::path debug_directory);
  void take(const trace::SideBandRecord& record);
  /// The execution of code of this space. True if blocks of the heap came or went.
  bool run(const trace::BlockRun& run, symbols::AddressSpaces::Id space);
  /// Of the process that runs. Stacks are not known here: nobody has mapped them.
  ObjectRange find(u64 address) const;
  u32 running() const { return pid_; }
  /// The first are one of each kind that has no names, by kind.
  const std::vector<DataObject>& objects() const { return objects_; }
  static constexpr u32 nameless(DataKind kind) { return static_cast<u32>(kind); }

 private:
  struct Process {
    std::map<u64, ObjectRange> ranges;            // by start; none overlap
    std::set<std::pair<std::string, u64>> files;  // whose variables are there, and how far they were moved
    u64 first_break = 0, last_break = 0;
  };
  void map(u32 pid, const trace::Mapping& mapping);
  void add(Process& process, ObjectRange range);
  u32 number(DataObject object);
  u32 number_of_site(symbols::AddressSpaces::Id space, u64 site);

  std::filesystem::path debug_directory_;
  std::vector<DataObject> objects_;
  std::map<std::pair<std::string, std::string>, u32> number_;  // by module and name
  std::map<std::pair<symbols::AddressSpaces::Id, u64>, u32> number_of_site_;
  std::map<u32, Process> processes_;
  HeapBlocks heap_;
  u32 pid_ = 0;
};

}  // namespace pmusim::why

#endif
