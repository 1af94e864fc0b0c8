// SPDX-License-Identifier: MIT
#include "off_core.h"

#include <bitset>

#include "cores/cores.h"
#include "pmusim/base/types.h"

namespace pmusim {
namespace {

struct RequestSignals {
  u64 request;
  Signal all, hit, miss;
};
constexpr RequestSignals requests[] = {
    {bit(0), Signal::load_l2_miss, Signal::load_l3_hit, Signal::load_l3_miss},
    {bit(1), Signal::store_l2_miss, Signal::store_l3_hit, Signal::store_l3_miss},
    {bit(2), Signal::l2i_miss, Signal::l3i_hit, Signal::l3i_miss},
};

using EventCodes = std::bitset<1 << 12>;

/// The event codes of all layouts.
EventCodes event_codes() {
  EventCodes codes;
  for (const CoreFacts* facts : cores::all()) {
    codes.set(facts->off_core.event);
    codes.set(facts->off_core.second.event);
  }
  return codes.reset(0);
}

/// Whether it asks for hits of lines in some states and not in others.
bool chooses_states(const OffCoreLayout& layout, u64 value) {
  return (value & layout.any) == 0 && (value & layout.hits) != 0 &&
         (value & layout.hit_states) != layout.hit_states;
}

}  // namespace

std::optional<unsigned> off_core_register(const CpuModel& model, u16 event, u16 umask) {
  static const EventCodes codes = event_codes();
  if (event >= codes.size() || !codes.test(event)) return std::nullopt;
  return core_facts(model.microarchitecture()).off_core.register_of(event, umask);
}

std::optional<EventRule> off_core_rule(const OffCoreLayout& layout, u64 value) {
  if (chooses_states(layout, value)) return std::nullopt;
  const bool any = (value & layout.any) != 0;
  const bool misses =
      any || ((value & layout.misses) != 0 && (layout.miss_snoops == 0 || (value & layout.miss_snoops) != 0));
  const bool found = layout.hits != 0 && (value & layout.hit_states) == layout.hit_states &&
                     (layout.hit_snoops == 0 || (value & layout.hit_snoops) != 0);
  const bool hits = any || found || (misses && layout.hits == 0);
  if (!hits && !misses) return std::nullopt;
  SignalSet wanted;
  for (const RequestSignals& r : requests)
    if ((value & r.request) != 0) wanted.add(hits && misses ? r.all : hits ? r.hit : r.miss);
  if (wanted.empty()) return std::nullopt;
  return wanted.size() == 1 ? EventRule{.all = wanted} : EventRule{.any = wanted};
}

bool chooses_snoops(const OffCoreLayout& layout, u64 value) {
  return (value & layout.any) == 0 && (value & layout.hits) != 0 &&
         (value & layout.all_snoops) != layout.all_snoops;
}

std::string_view why_not_counted(const OffCoreLayout& layout, u64 value) {
  constexpr u64 demand = bits(2, 0);
  if ((value & layout.prefetches) != 0)
    return "it asks for prefetches, of which the core does not tell what answers them; choose request bits 0 "
           "to 2";
  if ((value & demand) == 0)
    return "it asks for nothing that the core sends; choose among the demand requests, bits 0 to 2";
  if ((value & layout.under_way) != 0)
    return "it asks for the cycles that requests are under way in, of which there is no more than "
           "OFFCORE_REQUESTS_OUTSTANDING";
  if (chooses_states(layout, value))
    return "caches do not tell which lines are modified, exclusive or shared; choose hits in any state";
  if (!off_core_rule(layout, value))
    return "a lone core gets none of these answers; choose those of the local memory or of the last-level "
           "cache, with snoops not needed";
  return {};
}

}  // namespace pmusim
