// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <vector>

#include "cpu/front_end.h"
#include "cpu/lost_time.h"
#include "cpu/quantity_set.h"
#include "cpu/unmodelled_signals.h"
#include "pmusim/cpu/setup.h"

namespace pmusim {

namespace {

constexpr std::string_view level_names[] = {"interval", "sampled", "memory", "simple", "flat"};

// What fetch finds in caches, and what decoders make of it.
constexpr SignalSet fetch_signals{
    Signal::l1i_miss,    Signal::l2i_miss,  Signal::l3i_hit,
    Signal::l3i_miss,    Signal::itlb_miss, Signal::stlb_instruction_miss,
    Signal::macro_fused, Signal::dsb_miss,  Signal::dsb_to_mite,
    Signal::ms_switch,
};

constexpr SignalSet prediction_signals{
    Signal::mispredicted,
    Signal::mispredicted_conditional,
    Signal::mispredicted_conditional_taken,
    Signal::mispredicted_conditional_not_taken,
    Signal::mispredicted_near_taken,
    Signal::mispredicted_indirect,
    Signal::mispredicted_indirect_call,
    Signal::mispredicted_return,
    Signal::front_end_resteer,
};

// Of these two, those that are the same whatever time is.
constexpr SignalSet ordered_signals{
    Signal::split_load,     Signal::split_store,     Signal::load_stlb_hit,         Signal::load_stlb_miss,
    Signal::store_stlb_hit, Signal::store_stlb_miss, Signal::load_dtlb_miss,        Signal::store_dtlb_miss,
    Signal::l1i_miss,       Signal::itlb_miss,       Signal::stlb_instruction_miss, Signal::macro_fused,
};
constexpr SignalSet transaction_signals = abort_signals | SignalSet{Signal::tx_start, Signal::tx_commit};

// What follows from when loads, stores and uops meet.
constexpr SignalSet untimed_signals{
    Signal::load_latency,          Signal::store_latency,
    Signal::store_forward_blocked, Signal::address_alias,
    Signal::machine_clear,         Signal::memory_ordering_clear,
    Signal::self_modifying_clear,  Signal::dsb_miss,
    Signal::dsb_to_mite,           Signal::ms_switch,
};

// What caches and TLBs are asked, and what they have not.
constexpr QuantitySet requests =
    QuantitySet::range(Quantity::page_walks_load, Quantity::page_walks_instruction) |
    QuantitySet::range(Quantity::l2_requests, Quantity::l2_prefetch_misses) |
    QuantitySet{Quantity::l1i_hits, Quantity::l1i_misses, Quantity::all_data_reads};

QuantitySet known_quantities(CoreLevel core) {
  constexpr QuantitySet time{Quantity::cycles, Quantity::reference_cycles};
  return core == CoreLevel::memory ? time | requests : time;
}

SignalSet unknown_signals(CoreLevel core) {
  switch (core) {
    case CoreLevel::interval:
    case CoreLevel::sampled:
      break;
    case CoreLevel::memory:
      return untimed_signals | abort_signals;
    case CoreLevel::simple:
      return address_signals | fetch_signals | abort_signals;
    case CoreLevel::flat:
      return address_signals | fetch_signals | abort_signals | prediction_signals;
  }
  return {};
}

}  // namespace

std::span<const std::string_view> core_level_names() { return level_names; }

std::string_view name_of(CoreLevel level) { return level_names[static_cast<unsigned>(level)]; }

Result<CoreLevel, Error> find_core_level(std::string_view name) {
  const auto* const found = std::ranges::find(level_names, name);
  if (found == std::end(level_names))
    return Failure(Error(fmt::format(
        "there is no core '{}': 'interval', 'sampled', 'memory', 'simple' and 'flat' are", name)));
  return static_cast<CoreLevel>(found - level_names);
}

namespace {

Failure<Error> no_windows(std::string_view text) {
  return Failure(
      Error(fmt::format("core '{}': expected sampled:DETAIL,WARM,EVERY or "
                        "sampled:DETAIL,WARM,EVERY,FIRST, in instructions",
                        text)));
}

/// Numbers with commas between them; empty where they are none.
std::vector<u64> numbers_of(std::string_view text) {
  std::vector<u64> numbers;
  const char *at = text.data(), *const end = at + text.size();
  while (true) {
    u64 number = 0;
    const auto [stopped, error] = std::from_chars(at, end, number);
    if (error != std::errc()) return {};
    numbers.push_back(number);
    if (stopped == end) return numbers;
    if (*stopped != ',') return {};
    at = stopped + 1;
  }
}

}  // namespace

Result<Done, Error> check_windows(const CoreWindows& windows) {
  const auto refuse = [](std::string sentence) { return Failure(Error(std::move(sentence))); };
  if (windows.detail == 0) return refuse("core 'sampled': windows of 0 instructions count nothing");
  if (windows.every < windows.detail || windows.every - windows.detail < windows.warm)
    return refuse(
        fmt::format("core 'sampled': windows of {} instructions, and {} before each, do not fit into "
                    "every {}",
                    windows.detail, windows.warm, windows.every));
  return Done{};
}

std::string text_of(const CoreChoice& choice) {
  const CoreWindows& w = choice.windows;
  if (choice.level != CoreLevel::sampled) return std::string(name_of(choice.level));
  return fmt::format("sampled:{},{},{},{}", w.detail, w.warm, w.every, w.first);
}

Result<CoreChoice, Error> parse_core(std::string_view text) {
  constexpr std::string_view prefix = "sampled:";
  if (!text.starts_with(prefix)) {
    const auto level = find_core_level(text);
    if (!level.ok()) return Failure(level.error());
    return CoreChoice{.level = *level, .windows = {}};
  }
  const std::vector<u64> numbers = numbers_of(text.substr(prefix.size()));
  if (numbers.size() != 3 && numbers.size() != 4) return no_windows(text);
  const CoreWindows windows{.detail = numbers[0],
                            .warm = numbers[1],
                            .every = numbers[2],
                            .first = numbers.size() == 4 ? numbers[3] : 0};
  if (const auto checked = check_windows(windows); !checked.ok()) return Failure(checked.error());
  return CoreChoice{.level = CoreLevel::sampled, .windows = windows};
}

bool needs_modelled_time(const EventDefinition& event, u64 event_select, u64 extra) {
  constexpr u64 compares_cycles = msr::evtsel::CMASK | msr::evtsel::INV | msr::evtsel::EDGE;
  if ((event_select & msr::evtsel::EVENT) == front_end::retired_event && front_end::selects_latency(extra))
    return true;
  const Quantity quantity = event.rule.quantity;
  if (is_lost_time(quantity)) return true;
  const bool is_time =
      quantity == Quantity::cycles || quantity == Quantity::reference_cycles || quantity == Quantity::slots;
  return !is_time && (event_select & compares_cycles) != 0;
}

bool is_known_at(CoreLevel core, const EventDefinition& event, u64 event_select, u64 extra) {
  if (is_whole(core)) return true;
  if (needs_modelled_time(event, event_select, extra)) return false;
  const EventRule& rule = event.rule;
  if (rule.quantity != Quantity::none) return known_quantities(core).contains(quantities_of(rule));
  return !unknown_signals(core).intersects(rule.all | rule.any | rule.none);
}

bool follows_from_order(const EventDefinition& event, u64 event_select, u64 extra) {
  if (needs_modelled_time(event, event_select, extra)) return false;
  const EventRule& rule = event.rule;
  constexpr QuantitySet ordered =
      QuantitySet::range(Quantity::page_walks_load, Quantity::page_walks_instruction);
  if (rule.quantity != Quantity::none) return ordered.contains(quantities_of(rule));
  constexpr SignalSet timed = ((address_signals | fetch_signals) ^ ordered_signals) | transaction_signals;
  return !timed.intersects(rule.all | rule.any | rule.none);
}

}  // namespace pmusim
