// SPDX-License-Identifier: MIT
#ifndef PMUSIM_FORMATS_SURVEY_H
#define PMUSIM_FORMATS_SURVEY_H

#include <unordered_map>
#include <vector>

#include "formats/execution.h"
#include "formats/stand_in.h"

namespace pmusim::formats {

/// How many distinct instructions an import may have: bounds its memory to some hundred MiB.
inline constexpr std::size_t max_distinct_instructions = 1 << 20;

/// Learns from all executions of a trace what each instruction is.
class Survey {
 public:
  /// Errors: more than `max_distinct_instructions`.
  Result<Done, Error> add(const Execution& execution);

  /// Addresses of all instructions, ascending.
  std::vector<u64> addresses() const;
  /// What the instruction at an address that was added is; `room` bytes lie between it and the next one.
  Shape shape(u64 ip, u64 room) const;

 private:
  struct Seen {
    std::optional<BranchKind> kind;
    u8 length = 0, loads = 0, stores = 0, modifications = 0;
    u16 access_bytes = 0;
    bool repeated = false, accessed = false, idle = false;  // idle: without the accesses of other times
    bool fell_through = false, went_back = false;
    u64 target = 0;
    bool several_targets = false;
    bool jumped() const { return target != 0; }
  };
  static BranchKind guess(u64 ip, const Seen& seen);
  static void add_accesses(Seen& seen, const Execution& execution);
  static void add_successor(Seen& seen, const Execution& execution);
  void follow_calls(Seen& seen, const Execution& execution);

  std::unordered_map<u64, Seen> seen_;
  std::vector<u64> calls_;  // that have not returned
};

}  // namespace pmusim::formats

#endif
