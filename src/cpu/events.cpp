#include <algorithm>

#include "architectural_events.h"
#include "event_tables_private.h"
#include "pmusim/cpu/event_tables.h"

namespace pmusim {
namespace {

using Rows = std::span<const EventDefinition>;

const EventDefinition* find_row(Rows rows, u8 event, u8 umask, u64 extra) {
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
std::optional<EventDefinition> union_of_bits(Rows rows, u8 event, u8 umask) {
  EventDefinition sum{.name = {}, .event = event, .umask = umask};
  for (unsigned i = 0; i < 8; ++i) {
    if ((umask & bit(i)) == 0) continue;
    const EventDefinition* r = find_row(rows, event, static_cast<u8>(bit(i)), 0);
    if (r == nullptr || !counts_one_signal(r->rule)) return std::nullopt;
    sum.rule.any = sum.rule.any | r->rule.all;
    if (sum.name.empty()) sum.name = r->name;
  }
  return sum;
}

}  // namespace

std::optional<EventDefinition> find_event(const CpuModel& model, u8 event, u8 umask, u64 extra) {
  if (event == 0) return std::nullopt;
  if (const EventDefinition* r = find_row(model.events, event, umask, extra)) return *r;
  if (const EventDefinition* r = find_row(model.events, event, umask, 0)) return *r;
  if (const auto architectural = find_architectural_event(model, event, umask)) return architectural;
  return umask == 0 ? std::nullopt : union_of_bits(model.events, event, umask);
}

std::optional<EventDefinition> find_fixed_event(const CpuModel& model, unsigned fixed) {
  const EventDefinition* r = find_row(model.events, 0, static_cast<u8>(fixed + 1), 0);
  return r == nullptr ? find_architectural_fixed_event(model, fixed) : std::optional(*r);
}

std::span<const EventDefinition> event_table(Microarchitecture microarchitecture) {
  using namespace event_rows;
  switch (microarchitecture) {
    case Microarchitecture::ice_lake:
      return ice_lake_events();
    default:
      return {};
  }
}

}  // namespace pmusim
