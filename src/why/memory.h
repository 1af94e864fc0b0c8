// SPDX-License-Identifier: MIT
#ifndef PMUSIM_SRC_WHY_MEMORY_H
#define PMUSIM_SRC_WHY_MEMORY_H

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "pmusim/annotate/report.h"
#include "pmusim/cpu/retirement.h"
#include "why/collector.h"
#include "why/data_objects.h"
#include "why/reuse.h"
#include "why/setting.h"

namespace pmusim::why {

inline constexpr std::size_t data_sources = 5;  // of CacheLevel
std::string_view name_of(CacheLevel level);

/// Data accesses, and what loads took: cycles from dispatch to data.
struct AccessCounts {
  std::array<u64, data_sources> loads_from{};  ///< by CacheLevel
  u64 stores = 0, tlb_misses = 0, walks = 0, load_cycles = 0;
  u64 loads() const;
  AccessCounts& operator+=(const AccessCounts& other);
};

/// An instruction that accesses memory.
struct AccessingInstruction {
  symbols::AddressSpaces::Id space = 0;
  u64 ip = 0;
  AccessCounts counts;
  Stride stride;
};

/// A line of memory that threads of a process share.
struct SharedLine {
  struct User {
    u32 tid = 0;
    u64 read_bytes = 0, written_bytes = 0;  ///< a bit for each byte of the line
    u64 accesses = 0;
    u64 ip = 0;  ///< of the instruction with most of them, if one has the majority
    u64 votes = 0;
  };
  u64 address = 0;  ///< of its first byte
  u32 object = 0;   ///< at the first access
  symbols::AddressSpaces::Id space = 0;
  std::vector<User> users;  ///< in the order in which they came
  u64 accesses() const;
  /// One thread writes bytes of it, and another uses other bytes only.
  bool is_shared_falsely() const;
  bool is_written() const;
};

/// What a replay knows of the program's accesses.
struct MemoryCollection {
  symbols::AddressSpaces spaces;
  std::vector<AccessingInstruction> instructions;  ///< by space and address
  AccessCounts total;
  std::array<Distribution, data_sources> latency;  ///< of loads, by CacheLevel
  std::vector<DataObject> objects;
  std::vector<AccessCounts> object_counts;  ///< by number of the object
  std::vector<SharedLine> shared;           ///< lines that several threads used and one wrote; by accesses
  Reuse reuse;                              ///< of lines of 64 bytes, by stretches of `stretch_instructions`
  u64 instructions_retired = 0;
  bool addresses = false;
};
inline constexpr u64 stretch_instructions = 1'000'000, line_bytes = 64;

/// Replays a trace on a model's core, cold or warm, and looks at every access. Errors as collect().
Result<MemoryCollection, Error> collect_memory(trace::Source& source, const CpuModel& model,
                                               const annotate::Options& options,
                                               const OnProgress& on_progress,
                                               StartState start = StartState::cold);

struct MemoryReport {
  struct Row {
    std::string name, module, file;
    u32 line = 0;
    DataKind kind = DataKind::other;
    u64 bytes = 0;   ///< of a variable, or of all blocks
    u64 blocks = 0;  ///< of the heap, that were asked for at this line of this function
    AccessCounts counts;
    Stride stride;
  };
  struct Sharing {
    u64 address = 0;
    std::string object;
    bool falsely = false;
    std::vector<SharedLine::User> users;
    std::vector<std::string> places;  ///< of each user's instruction: "loops.c:12", or a function
    std::string sentence;
  };
  std::string title;
  Setting setting;
  std::vector<Row> functions, lines, objects;  ///< by cycles of loads
  std::vector<Sharing> sharing;
  std::vector<std::string> notes;
};
MemoryReport make_memory_report(const MemoryCollection& collection, const annotate::Options& options);
std::string memory_text_of(const MemoryCollection& collection, const MemoryReport& report);
std::string memory_json_of(const MemoryCollection& collection, const MemoryReport& report);

}  // namespace pmusim::why

#endif
