// SPDX-License-Identifier: MIT
#include "annotate/difference.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <set>
#include <span>
#include <tuple>
#include <utility>

#include "annotate/call_stacks.h"
#include "annotate/code_counts.h"
#include "annotate/percent.h"
#include "annotate/significance.h"
#include "annotate/stack_list.h"
#include "base/base_name.h"

namespace pmusim::annotate {

namespace {

/// Smaller nodes of the flame graph cannot be seen.
constexpr double least_stack_share = 0.0001;

/// Where an event stands in the reports of both sides.
using EventPair = std::array<std::size_t, 2>;

using SymbolKey = std::pair<std::string, std::string>;  // module and name
using LineKey = std::tuple<u32, std::string, u32>;      // symbol, file, line

SymbolKey key_of(const Report& report, const Symbol& symbol) {
  return {base_name(report.modules[symbol.module].path), symbol.name};
}

/// Two reports as one; weights of event pair n stand at 2n and 2n + 1.
class ReportJoiner {
 public:
  ReportJoiner(std::span<const EventPair> events, std::span<const Report* const, 2> sides)
      : events_(events), sides_(sides) {
    number_symbols();
    for (std::size_t side = 0; side < sides.size(); ++side) add(side);
    if (both_have_stacks()) {
      joined_.stack_source = sides[0]->stack_source;
      joined_.stacks = stack_nodes(stacks_, 2 * events.size(), least_stack_share);
      set_with_callees();
    }
  }

  const std::map<LineKey, Weights>& lines() const { return lines_; }
  Report take() { return std::move(joined_); }
  const Report& joined() const { return joined_; }

 private:
  Weights nothing_yet() const { return Weights(2 * events_.size()); }

  bool both_have_stacks() const {
    return std::ranges::all_of(sides_, [](const Report* r) { return r->stack_source != StackSource::none; });
  }

  void number_symbols() {
    std::set<SymbolKey> keys;
    for (const Report* const report : sides_)
      for (const Symbol& symbol : report->symbols) keys.insert(key_of(*report, symbol));
    std::map<std::string, u32> modules;
    for (const SymbolKey& key : keys) {
      const auto [module, is_new] = modules.try_emplace(key.first, static_cast<u32>(modules.size()));
      if (is_new) joined_.modules.push_back({key.first, "", "", nothing_yet()});
      Symbol symbol;
      symbol.name = key.second;
      symbol.module = module->second;
      symbol.weights = symbol.with_callees = nothing_yet();
      numbers_.emplace(key, static_cast<u32>(joined_.symbols.size()));
      joined_.symbols.push_back(std::move(symbol));
    }
  }

  /// The weights of a side, at their places among those of both.
  Weights placed(const Weights& weights, std::size_t side) const {
    Weights both = nothing_yet();
    for (std::size_t e = 0; e < events_.size(); ++e) both[2 * e + side] = weights[events_[e][side]];
    return both;
  }

  void add(std::size_t side) {
    const Report& report = *sides_[side];
    std::vector<u32> number_of;
    for (const Symbol& symbol : report.symbols) {
      number_of.push_back(numbers_.at(key_of(report, symbol)));
      Symbol& same = joined_.symbols[number_of.back()];
      const Weights weights = placed(symbol.weights, side);
      annotate::add(same.weights, weights);
      annotate::add(same.with_callees, weights);
      annotate::add(joined_.modules[same.module].weights, weights);
    }
    for (const RankedLine& line : report.lines) {
      const LineKey key{number_of[line.symbol], base_name(report.files[line.where.file].path),
                        line.where.line};
      annotate::add(lines_.try_emplace(key, nothing_yet()).first->second, placed(line.weights, side));
    }
    if (both_have_stacks()) add_stacks(report, side, number_of);
  }

  void add_stacks(const Report& report, std::size_t side, std::span<const u32> number_of) {
    std::vector<Frame> frames;
    for (const ListedStack& stack : listed_stacks(report)) {
      frames.clear();
      for (const u32 symbol : stack.symbols) frames.push_back({number_of[symbol], perf::CpuMode::unknown});
      for (std::size_t e = 0; e < events_.size(); ++e)
        if (const Weight weight = stack.weights[events_[e][side]]; weight != Weight{})
          stacks_.add(frames, 2 * e + side, weight);
    }
  }

  void set_with_callees() {
    const auto sums = weights_with_callees(stacks_, joined_.symbols.size(), 2 * events_.size());
    for (std::size_t s = 0; s < sums.size(); ++s) joined_.symbols[s].with_callees = sums[s];
  }

  std::span<const EventPair> events_;
  std::span<const Report* const, 2> sides_;
  std::map<SymbolKey, u32> numbers_;
  std::map<LineKey, Weights> lines_;
  CallStacks stacks_;
  Report joined_;
};

class Comparer {
 public:
  Comparer(const ComparedSide& before, const ComparedSide& after, Counting counting)
      : before_(before), after_(after) {
    result_.before = before.name;
    result_.after = after.name;
    result_.counting = counting;
  }

  Comparison compare() {
    pair_events();
    const std::array<const Report*, 2> sides{&before_.report, &after_.report};
    ReportJoiner joiner(pairs_, sides);
    for (std::size_t e = 0; e < pairs_.size(); ++e) add_event(joiner, e);
    result_.joined = joiner.take();
    describe_joined();
    return std::move(result_);
  }

 private:
  void pair_events() {
    const auto& before = before_.report.events;
    const auto& after = after_.report.events;
    for (std::size_t e = 0; e < before.size(); ++e) {
      const auto same = std::ranges::find(after, before[e].name, &Event::name);
      if (same != after.end())
        pairs_.push_back({e, static_cast<std::size_t>(same - after.begin())});
      else
        note_missing(before[e], before_);
    }
    for (const Event& event : after)
      if (std::ranges::find(before, event.name, &Event::name) == before.end()) note_missing(event, after_);
  }

  void note_missing(const Event& event, const ComparedSide& only) {
    result_.notes.push_back(fmt::format("{}: is in {} only", event.name, only.name));
  }

  static std::vector<double> runs_of(const ComparedSide& side, std::size_t event) {
    return side.runs.empty() ? std::vector<double>{} : side.runs[event];
  }

  void add_event(const ReportJoiner& joiner, std::size_t e) {
    const auto [before, after] = pairs_[e];
    EventChange change{.event = before_.report.events[before].name,
                       .before = before_.report.events[before].total,
                       .after = after_.report.events[after].total,
                       .before_runs = runs_of(before_, before),
                       .after_runs = runs_of(after_, after),
                       .p = {},
                       .symbols = {},
                       .lines = {}};
    change.p = chance_of_difference(change.before_runs, change.after_runs);
    for (u32 s = 0; s < joiner.joined().symbols.size(); ++s)
      add_place(change, change.symbols, joiner, s, joiner.joined().symbols[s].weights, e);
    for (const auto& [key, weights] : joiner.lines()) {
      const auto& [symbol, file, line] = key;
      if (PlaceChange* const place = add_place(change, change.lines, joiner, symbol, weights, e)) {
        place->file = file;
        place->line = line;
      }
    }
    sort(change.symbols);
    sort(change.lines);
    result_.events.push_back(std::move(change));
  }

  /// Nothing if neither side has any of it.
  static PlaceChange* add_place(const EventChange& event, std::vector<PlaceChange>& places,
                                const ReportJoiner& joiner, u32 symbol, const Weights& weights,
                                std::size_t e) {
    const Weight before = weights[2 * e], after = weights[2 * e + 1];
    if (before.samples == 0 && after.samples == 0) return nullptr;
    const Symbol& of = joiner.joined().symbols[symbol];
    PlaceChange place{.module = joiner.joined().modules[of.module].path,
                      .symbol = of.name,
                      .file = {},
                      .number = symbol,
                      .before = before,
                      .after = after,
                      .before_percent = {},
                      .after_percent = {}};
    if (before.samples != 0) place.before_percent = percent_of(before.period, event.before.period);
    if (after.samples != 0) place.after_percent = percent_of(after.period, event.after.period);
    return &places.emplace_back(std::move(place));
  }

  void sort(std::vector<PlaceChange>& places) const {
    const bool by_share = result_.counting == Counting::sampled;
    std::ranges::stable_sort(places, std::greater(), [by_share](const PlaceChange& place) {
      return std::pair(std::abs(by_share ? place.delta() : place.more()), place.before_percent.value_or(0));
    });
  }

  void describe_joined() {
    result_.joined.input = fmt::format("{} → {}", result_.before, result_.after);
    result_.joined.notes = result_.notes;
    for (const EventChange& change : result_.events) {
      result_.joined.events.push_back({change.event + " before", change.before});
      result_.joined.events.push_back({change.event + " after", change.after});
    }
  }

  const ComparedSide& before_;
  const ComparedSide& after_;
  std::vector<EventPair> pairs_;
  Comparison result_;
};

}  // namespace

Comparison compare(const ComparedSide& before, const ComparedSide& after, Counting counting) {
  return Comparer(before, after, counting).compare();
}

}  // namespace pmusim::annotate
