#include <algorithm>

#include "architectural_events.h"
#include "event_tables_private.h"
#include "off_core.h"
#include "pmusim/cpu/event_tables.h"
#include "pmusim/cpu/front_end.h"

namespace pmusim {
namespace {

using Rows = std::span<const EventDefinition>;

const EventDefinition* find_row(Rows rows, u8 event, u16 umask, u64 extra) {
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
std::optional<EventDefinition> union_of_bits(Rows rows, u8 event, u16 umask) {
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

/// The off-core events exist twice, one for each OFFCORE_RSP register (reference: accepted value masks).
bool uses_second_register(u8 event, u16 umask) {
  return (umask == 0x01 && (event == 0xBB || event == 0x2B)) || (umask == 0x02 && event == 0xB7);
}

/// FRONTEND_RETIRED by latency: the filter can ask for any number of cycles, and the counter looks at them.
/// The core model stalls fetch for whole cycles only, so it has no answer to filters for narrower bubbles.
std::optional<EventDefinition> find_fetch_latency(const CpuModel& model, u8 event, u16 umask, u64 extra) {
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

/// By name where a row has the very value, else by what its bits ask for.
std::optional<EventDefinition> find_off_core(const CpuModel& model, u8 event, u16 umask, u64 extra) {
  if (const EventDefinition* r = find_row(model.events, event, umask, extra)) return *r;
  const auto rule = off_core_rule(model.microarchitecture(), extra);
  if (!rule) return std::nullopt;
  return EventDefinition{
      .name = "OFFCORE_RESPONSE", .event = event, .umask = umask, .rule = *rule, .extra = extra};
}

}  // namespace

std::optional<EventDefinition> find_event(const CpuModel& model, u8 event, u16 umask, u64 extra) {
  if (event == 0) return std::nullopt;
  if (uses_second_register(event, umask)) return find_event(model, event == 0x2B ? 0x2A : 0xB7, 0x01, extra);
  if (may_be_off_core_event(event) && is_off_core_event(model.microarchitecture(), event, umask))
    return find_off_core(model, event, umask, extra);
  if (const EventDefinition* r = find_row(model.events, event, umask, extra)) return *r;
  if (const EventDefinition* r = find_row(model.events, event, umask, 0)) return *r;
  if (const auto latency = find_fetch_latency(model, event, umask, extra)) return latency;
  if (const auto architectural = find_architectural_event(model, event, umask)) return architectural;
  return umask == 0 ? std::nullopt : union_of_bits(model.events, event, umask);
}

std::optional<EventDefinition> selected_event(const CpuModel& model, u64 event_select, u64 extra) {
  const u64 umask = field(event_select, 15, 8) | field(event_select, 47, 40) << 8;
  return find_event(model, static_cast<u8>(field(event_select, 7, 0)), static_cast<u16>(umask), extra);
}

std::optional<EventDefinition> find_fixed_event(const CpuModel& model, unsigned fixed) {
  const EventDefinition* r = find_row(model.events, 0, static_cast<u16>(fixed + 1), 0);
  return r == nullptr ? find_architectural_fixed_event(model, fixed) : std::optional(*r);
}

std::span<const EventDefinition> event_table(Microarchitecture microarchitecture) {
  using namespace event_rows;
  using enum Microarchitecture;
  switch (microarchitecture) {
    case core2:
      return core2_events();
    case nehalem:
      return nehalem_events();
    case westmere:
      return westmere_events();
    case sandy_bridge:
      return sandy_bridge_events();
    case ivy_bridge:
      return ivy_bridge_events();
    case haswell:
      return haswell_events();
    case broadwell:
      return broadwell_events();
    case skylake:
      return skylake_events();
    case skylake_x:
      return skylake_x_events();
    case ice_lake:
      return ice_lake_events();
    case golden_cove:
      return golden_cove_events();
    case redwood_cove:
      return redwood_cove_events();
    case lion_cove:
    case cougar_cove:
      return lion_cove_events();
    case panther_cove:
    case coyote_cove:
      return panther_cove_events();
    case goldmont:
      return goldmont_events();
    case goldmont_plus:
      return goldmont_plus_events();
    case tremont:
      return tremont_events();
    case gracemont:
      return gracemont_events();
    case crestmont:
      return crestmont_events();
    case skymont:
      return skymont_events();
    case darkmont:
      return darkmont_events();
    case arctic_wolf:
      return arctic_wolf_events();
    case bonnell:
      return bonnell_events();
    case silvermont:
      return silvermont_events();
    case knights_landing:
      return knights_landing_events();
    case unknown:
      break;
  }
  return architectural_event_table();
}

}  // namespace pmusim
