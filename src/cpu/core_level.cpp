// SPDX-License-Identifier: MIT
#include "pmusim/cpu/core_level.h"

#include <fmt/format.h>

#include <algorithm>

#include "cpu/front_end.h"
#include "cpu/lost_time.h"
#include "cpu/unmodelled_signals.h"

namespace pmusim {

namespace {

constexpr std::string_view level_names[] = {"interval", "simple", "flat"};

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

SignalSet unknown_signals(CoreLevel core) {
  switch (core) {
    case CoreLevel::interval:
      break;
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
    return Failure(Error(fmt::format("there is no core '{}': 'interval', 'simple' and 'flat' are", name)));
  return static_cast<CoreLevel>(found - level_names);
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
  if (core == CoreLevel::interval) return true;
  if (needs_modelled_time(event, event_select, extra)) return false;
  const EventRule& rule = event.rule;
  if (rule.quantity != Quantity::none)
    return rule.quantity == Quantity::cycles || rule.quantity == Quantity::reference_cycles;
  return !unknown_signals(core).intersects(rule.all | rule.any | rule.none);
}

}  // namespace pmusim
