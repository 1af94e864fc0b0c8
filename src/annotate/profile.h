// SPDX-License-Identifier: MIT
#ifndef PMUSIM_SRC_ANNOTATE_PROFILE_H
#define PMUSIM_SRC_ANNOTATE_PROFILE_H

#include <memory>
#include <span>
#include <string>

#include "annotate/branch_counts.h"
#include "perf/cpu_mode.h"
#include "pmusim/annotate/report.h"
#include "symbols/address_space.h"

namespace pmusim::annotate {

/// What the branch stacks of an event hold.
enum class BranchUse : u8 {
  none,
  every_branch,     ///< straight lines and branches
  chosen_branches,  ///< a filter left some out: what lies between two entries is no straight line
  call_stack,       ///< the calls that have not returned: frames, no history
};

struct SampledEvent {
  std::string name;
  BranchUse branches = BranchUse::none;
  BranchCounterLayout counters = {};
};

struct Sample {
  u32 event = 0;  ///< as add_event() gave it
  u32 pid = 0;
  u64 time = 0;  ///< in the unit of the address spaces' events
  u64 ip = 0;
  perf::CpuMode mode = perf::CpuMode::unknown;  ///< of `ip`
  u64 period = 1;
  std::span<const u64> callchain = {};               ///< innermost first, with perf's context marks
  std::span<const perf::BranchEntry> branches = {};  ///< newest first
  std::span<const u64> branch_counters = {};         ///< a word for each branch, or none
};

/// Sums up samples, and says what they show.
///
///   Profile profile({});
///   const u32 file = profile.address_spaces().add_file({.path = "/bin/ls", .build_id = {}});
///   profile.address_spaces().map(pid, 0, {.start = 0x400000, .end = 0x420000, .file_offset = 0, .file =
///   file}); const u32 cycles = profile.add_event({.name = "cycles", .branches = BranchUse::every_branch});
///   profile.add({.event = cycles, .pid = pid, .ip = ip, .branches = stack});
///   const Report report = profile.report();
///   find_function(report, "main")->instructions;
class Profile {
 public:
  explicit Profile(Options options);
  Profile(Profile&&) noexcept;
  Profile& operator=(Profile&&) noexcept;
  ~Profile();

  /// To be called for all mappings before the first sample.
  symbols::AddressSpaces& address_spaces();
  u32 add_event(SampledEvent event);
  /// Names of what the LBR counts with each branch, in group order.
  void set_branch_counters(std::vector<std::string> names);
  /// False if the sample is in none of the functions asked for, and not counted.
  bool add(const Sample& sample);
  /// A sentence for the reader of the report.
  void add_note(std::string sentence);

  Report report();

 private:
  class State;
  std::unique_ptr<State> state_;
};

}  // namespace pmusim::annotate

#endif
