// SPDX-License-Identifier: MIT
#ifndef PMUSIM_EVENTS_PARSER_H
#define PMUSIM_EVENTS_PARSER_H

#include <string>
#include <string_view>
#include <vector>

#include "pmusim/base/error.h"
#include "pmusim/cpu/model.h"
#include "pmusim/perf/abi.h"

/// From the names that people give to events to the attributes that perf_event_open takes:
/// @code
/// const CpuModel model = *find_cpu_model("skylake");
/// const auto groups = events::parse_events("{cycles,instructions}:u,r00c4", model);
/// if (!groups) std::cerr << groups.error().message << '\n';
/// @endcode
namespace pmusim::events {

/// One event as a person asked for it.
struct ParsedEvent {
  std::string name;  ///< what perf would show: the name with its modifiers, or the value of `name=`
  /// type, config, config1, config2, precise_ip, exclude_*, pinned, exclusive and, if given, the period.
  perf::Attr attr;
  bool sample_read = false;         ///< modifier S: the leader samples, the others are read
  bool precision_may_fall = false;  ///< modifier P: precise_ip is the highest there is, less will do
  bool weak_group = false;          ///< modifier W: fall back to single events if the group does not fit
};

/// Events that are scheduled together. A lone event is a group of one; the first leads.
struct EventGroup {
  std::vector<ParsedEvent> events;
};

/// Reads an event list in perf's syntax, for example `cycles:pp,{branch-misses/period=2000/u,r00c4}:D`:
///
/// - names: perf's generic, hardware-cache and software events, `mem-loads`, `mem-stores`, `topdown-*`,
/// vendor
///   names in any case with `.` or `:` between event and umask, `rNNNN` for a raw event select
/// - `cpu/term,term=value/`, and a term list directly behind a name
/// - modifiers `u k h p pp ppp P G H I S D W e X` behind `:` or behind the closing slash
/// - `{a,b}:modifiers` for a group
///
/// Errors are one sentence: where in the list, what is wrong, and names that come near.
[[nodiscard]] Result<std::vector<EventGroup>, Error> parse_events(std::string_view list,
                                                                  const CpuModel& model);

/// attr.branch_sample_type of a list of filter names as `perf record -j` takes it: "any_call,u". A list of
/// privilege levels alone means any branch at them. Errors: an empty or unknown name, with near matches.
[[nodiscard]] Result<u64, Error> parse_branch_filter(std::string_view list);

/// The highest precise_ip that the model's PEBS gives (intel_pmu_hw_config); 0 without PEBS.
unsigned max_precise_level(const CpuModel& model);

}  // namespace pmusim::events

#endif
