// SPDX-License-Identifier: MIT
#include "annotate/page.h"

#include <algorithm>
#include <map>
#include <optional>
#include <span>

#include "annotate/report_builder.h"
#include "annotate/resolver.h"
#include "why/report.h"

namespace pmusim::why {

namespace {

using Spaces = std::map<annotate::CodeSpace, annotate::SpaceCounts>;

annotate::SpaceCounts& counts_in(Spaces& spaces, symbols::AddressSpaces::Id space) {
  return spaces[{space, perf::CpuMode::user}];
}

/// What the page shows as events: counts of what the program has.
std::vector<Column> page_columns(const Counts& total) {
  std::vector<Column> shown{Column::cycles};
  for (std::size_t c = first_signal_column; c < columns; ++c)
    if (total[static_cast<Column>(c)] != 0) shown.push_back(static_cast<Column>(c));
  return shown;
}

void add_instructions(Spaces& spaces, const Collection& collection, std::span<const Column> shown) {
  for (const CountedInstruction& counted : collection.instructions) {
    annotate::SpaceCounts& counts = counts_in(spaces, counted.space);
    for (std::size_t event = 0; event < shown.size(); ++event) {
      const u64 value = counted.counts[shown[event]];
      if (value == 0) continue;
      annotate::HitCount& hit = counts.hits(counted.ip, event);
      hit.samples += value;
      hit.period += value;
    }
  }
}

/// The number of a column among those shown; nothing if it is not.
std::optional<std::size_t> event_of(Column column, std::span<const Column> shown) {
  const auto found = std::ranges::find(shown, column);
  if (found == shown.end()) return std::nullopt;
  return static_cast<std::size_t>(found - shown.begin());
}

/// Stacks have cycles and instructions.
void add_stacks(Spaces& spaces, const Collection& collection, std::span<const Column> shown) {
  const auto cycles = event_of(Column::cycles, shown), instructions = event_of(Column::instructions, shown);
  std::vector<annotate::Frame> frames;
  for (const StackCount& stack : collection.stacks) {
    frames.assign(1, {stack.ip, perf::CpuMode::user});
    u64 call = stack.call;
    for (; collection.calls[call].caller != no_caller; call = collection.calls[call].caller)
      frames.push_back({collection.calls[call].site, perf::CpuMode::user});
    std::ranges::reverse(frames);
    annotate::CallStacks& stacks = counts_in(spaces, collection.calls[stack.call].space).stacks;
    if (cycles && stack.cycles != 0) stacks.add(frames, *cycles, {stack.cycles, stack.cycles});
    if (instructions) stacks.add(frames, *instructions, {stack.instructions, stack.instructions});
  }
}

}  // namespace

annotate::Report profile_of(const Collection& collection, std::span<const Column> shown,
                            const annotate::Options& options) {
  annotate::Report profile;
  for (const Column column : shown) {
    const u64 value = collection.total[column];
    profile.events.push_back({std::string(name_of(column)), {value, value}});
  }
  profile.stack_source = annotate::StackSource::callchain;
  Spaces spaces;
  add_instructions(spaces, collection, shown);
  add_stacks(spaces, collection, shown);
  annotate::Resolver resolver(collection.spaces, options);
  annotate::build_report(profile, spaces, resolver, options);
  return profile;
}

std::string html_of(const Collection& collection, const Report& report, const annotate::Options& options) {
  annotate::Report page = profile_of(collection, page_columns(collection.total), options);
  page.input = report.title;
  page.cpu = report.setting.text();
  page.notes.insert(page.notes.begin(), report.notes.begin(), report.notes.end());
  const std::string why = page_json_of(report);
  return annotate::page_of(page, {.why = why});
}

}  // namespace pmusim::why
