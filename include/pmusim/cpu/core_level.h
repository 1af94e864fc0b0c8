// SPDX-License-Identifier: MIT
#ifndef PMUSIM_CPU_CORE_LEVEL_H
#define PMUSIM_CPU_CORE_LEVEL_H

#include <span>
#include <string>
#include <string_view>

#include "pmusim/base/bits.h"
#include "pmusim/base/error.h"
#include "pmusim/cpu/model.h"

namespace pmusim {

/// How much of a core a replay has (docs/core-model.md). The less there is, the faster it goes, and the fewer
/// events it can count.
enum class CoreLevel : u8 {
  interval,  ///< the whole model: pipeline, caches, predictors
  sampled,   ///< the same in windows of the program; between them caches and predictors alone
  simple,    ///< latencies within a block and branch predictors; no caches, no account of lost slots
  flat,      ///< an instruction in every cycle, every branch predicted
};

/// "interval", "sampled", "simple", "flat": in the order above.
std::span<const std::string_view> core_level_names();
std::string_view name_of(CoreLevel level);
/// Errors: any other name.
[[nodiscard]] Result<CoreLevel, Error> find_core_level(std::string_view name);

/// The windows of core `sampled`, in instructions: of every `every` of them, `warm` pass through the whole
/// core without being counted, and `detail` behind them are counted. A block belongs to where it begins.
struct CoreWindows {
  u64 detail = 1000, warm = 1000, every = 1'000'000;
  u64 first = 0;  ///< before the first `warm`
  friend bool operator==(const CoreWindows&, const CoreWindows&) = default;
};

/// A level and, of `sampled`, its windows.
struct CoreChoice {
  CoreLevel level = CoreLevel::interval;
  CoreWindows windows;
  friend bool operator==(const CoreChoice&, const CoreChoice&) = default;
};

/// "sampled:1000,1000,1000000,0"; of other levels their name.
std::string text_of(const CoreChoice& choice);
/// A name of find_core_level(), or "sampled:DETAIL,WARM,EVERY" or "sampled:DETAIL,WARM,EVERY,FIRST".
/// Errors: any other name; numbers that make no windows (see check_windows()).
[[nodiscard]] Result<CoreChoice, Error> parse_core(std::string_view text);
/// Errors: no instruction that is counted, or windows longer than what they stand for.
[[nodiscard]] Result<Done, Error> check_windows(const CoreWindows& windows);

/// Whether a core of this level looks at what is in caches, for which it wants addresses.
constexpr bool has_caches(CoreLevel level) {
  return level == CoreLevel::interval || level == CoreLevel::sampled;
}
/// Whether what is counted and sampled has passed through the whole model.
constexpr bool is_whole(CoreLevel level) {
  return level == CoreLevel::interval || level == CoreLevel::sampled;
}

/// Whether a core of this level knows how often an event occurs, counted with these bits of an event select
/// (CMASK, INV, EDGE) and this value of its extra register. A counter of what it does not know stays at 0, as
/// a rule.
bool is_known_at(CoreLevel core, const EventDefinition& event, u64 event_select, u64 extra);

/// Whether an event occurs as often however long everything takes: its count follows from the order of the
/// program alone, by way of predictors and of what fetches and accesses find in L1I and in TLBs. Caches of
/// data are not among it, as whether a prefetch is dropped is a question of time.
bool follows_from_order(const EventDefinition& event, u64 event_select, u64 extra);

/// Whether the event counts what cycles were lost to, or what fell into the same cycle.
bool needs_modelled_time(const EventDefinition& event, u64 event_select, u64 extra);

}  // namespace pmusim

#endif
