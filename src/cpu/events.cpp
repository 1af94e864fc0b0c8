// SPDX-License-Identifier: MIT
#include <algorithm>

#include "architectural_events.h"
#include "cpu/core_facts.h"
#include "cpu/front_end.h"
#include "off_core.h"
#include "pmusim/arch/msr.h"

namespace pmusim {
namespace {

using Rows = std::span<const EventDefinition>;

const EventDefinition* find_row(Rows rows, u16 event, u16 umask, u64 extra) {
  const auto fits = [&](const EventDefinition& r) { return r.event == event && r.umask == umask; };
  const auto exact =
      std::find_if(rows.begin(), rows.end(), [&](const auto& r) { return fits(r) && r.extra == extra; });
  return exact == rows.end() ? nullptr : &*exact;
}

bool counts_one_signal(const EventRule& rule) {
  return rule.quantity == Quantity::none && rule.all.size() == 1 && rule.any.empty() && rule.none.empty();
}

/// The union of the rows of the umask's bits, if each has one. MEM_INST_RETIRED and others whose umasks
/// combine differently have no rows of a single bit.
std::optional<EventDefinition> union_of_bits(Rows rows, u16 event, u16 umask) {
  EventDefinition sum{.name = {}, .event = event, .umask = umask};
  for (unsigned i = 0; i < 16; ++i) {
    if ((umask & bit(i)) == 0) continue;
    const EventDefinition* r = find_row(rows, event, static_cast<u16>(bit(i)), 0);
    if (r == nullptr || !counts_one_signal(r->rule)) return std::nullopt;
    sum.rule.any = sum.rule.any | r->rule.all;
    if (sum.name.empty()) sum.name = r->name;
  }
  return sum;
}

/// FRONTEND_RETIRED by latency: the filter can ask for any number of cycles, and the counter looks at them.
/// The core model stalls fetch for whole cycles only, so it has no answer to filters for narrower bubbles.
std::optional<EventDefinition> find_fetch_latency(const CpuModel& model, u16 event, u16 umask, u64 extra) {
  constexpr u64 l1i_miss_filter = 0x12;  // has a row wherever the umask is right
  if (event != front_end::retired_event || !front_end::selects_latency(extra)) return std::nullopt;
  if (front_end::bubbles(extra) < front_end::whole_cycle_bubbles) return std::nullopt;
  if (find_row(model.events, event, umask, l1i_miss_filter) == nullptr) return std::nullopt;
  return EventDefinition{.name = "FRONTEND_RETIRED.LATENCY_GE",
                         .event = event,
                         .umask = umask,
                         .rule = {.all = {Signal::instruction}},
                         .extra = extra};
}

/// Where no row has the very value: what its bits ask for. Rows name the event of the first register; what
/// goes through OFFCORE_RSP_1 is the same event.
std::optional<EventDefinition> find_off_core(const CpuModel& model, u16 event, u16 umask, u64 extra) {
  const OffCoreLayout& layout = core_facts(model.microarchitecture()).off_core;
  if (event == layout.second.event && umask == layout.second.umask)
    return find_event(model, layout.event, 0x01, extra);
  const auto rule = off_core_rule(layout, extra);
  if (!rule) return std::nullopt;
  return EventDefinition{
      .name = "OFFCORE_RESPONSE", .event = event, .umask = umask, .rule = *rule, .extra = extra};
}

}  // namespace

std::optional<EventDefinition> find_event(const CpuModel& model, u16 event, u16 umask, u64 extra) {
  if (event == 0) return std::nullopt;
  if (const EventDefinition* r = find_row(model.events, event, umask, extra)) return *r;
  if (off_core_register(model, event, umask)) return find_off_core(model, event, umask, extra);
  if (const EventDefinition* r = find_row(model.events, event, umask, 0)) return *r;
  if (const auto latency = find_fetch_latency(model, event, umask, extra)) return latency;
  if (const auto architectural = find_architectural_event(model, event, umask)) return architectural;
  return umask == 0 ? std::nullopt : union_of_bits(model.events, event, umask);
}

std::optional<EventDefinition> selected_event(const CpuModel& model, u64 event_select, u64 extra) {
  if (model.select == SelectLayout::wide_events)
    return find_event(model, msr::amd::ctl::event(event_select),
                      static_cast<u16>(field(event_select, 15, 8)));
  const u64 umask = field(event_select, 15, 8) | field(event_select, 47, 40) << 8;
  return find_event(model, static_cast<u16>(field(event_select, 7, 0)), static_cast<u16>(umask), extra);
}

std::optional<EventDefinition> find_fixed_event(const CpuModel& model, unsigned fixed) {
  const EventDefinition* r = find_row(model.events, 0, static_cast<u16>(fixed + 1), 0);
  return r == nullptr ? find_architectural_fixed_event(model, fixed) : std::optional(*r);
}

}  // namespace pmusim
