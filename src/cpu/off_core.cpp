#include "off_core.h"

#include "pmusim/base/bits.h"

namespace pmusim {
namespace {

using enum Microarchitecture;

/// The response half of the register. Requests are bits 0 to 2 everywhere: data reads, reads for ownership,
/// code reads.
struct OffCoreLayout {
  u8 event = 0;
  u16 umasks = 0x01;  // one bit per register
  u64 any = 0;        // any response: the other response bits do not matter
  u64 hits = 0;       // supplied by the last-level cache; 0: there is none
  u64 misses = 0;     // supplied by memory
  u64 snoops = 0;     // one of these must be set as well; 0: the register has no such field
};

constexpr OffCoreLayout nehalem_layout{.event = 0xB7, .hits = bits(10, 8), .misses = bits(15, 11)};
/// Another core's answers (bits 34 to 36) never come.
constexpr u64 lone_core_snoops = bits(33, 31) | bit(37);
constexpr OffCoreLayout sandy_bridge_layout{
    .event = 0xB7, .any = bit(16), .hits = bits(21, 18), .misses = bits(30, 22), .snoops = lone_core_snoops};
/// No L3; bit 33 is "snoop miss, or none needed".
constexpr OffCoreLayout goldmont_layout{.event = 0xB7, .any = bit(16), .misses = bit(33)};

constexpr OffCoreLayout golden_cove_layout() {
  OffCoreLayout layout = sandy_bridge_layout;
  layout.event = 0x2A;
  return layout;
}

/// Off-module response: the split of bits 55:32 follows from what perf's LL events ask for.
constexpr OffCoreLayout omr_layout(u8 event) {
  return {.event = event, .umasks = 0x0F, .any = bit(62), .hits = bits(35, 32), .misses = bits(55, 36)};
}

OffCoreLayout layout_of(Microarchitecture core) {
  switch (core) {
    case nehalem:
    case westmere:
      return nehalem_layout;
    case golden_cove:
    case redwood_cove:
    case lion_cove:
    case cougar_cove:
      return golden_cove_layout();
    case panther_cove:
    case coyote_cove:
      return omr_layout(0x2A);
    case arctic_wolf:
      return omr_layout(0xB7);
    case goldmont:
    case goldmont_plus:
      return goldmont_layout;
    case unknown:
    case core2:
    case bonnell:
    case silvermont:
    case knights_landing:
      return {};
    default:
      return sandy_bridge_layout;
  }
}

struct RequestSignals {
  u64 request;
  Signal all, hit, miss;
};
constexpr RequestSignals requests[] = {
    {bit(0), Signal::load_l2_miss, Signal::load_l3_hit, Signal::load_l3_miss},
    {bit(1), Signal::store_l2_miss, Signal::store_l3_hit, Signal::store_l3_miss},
    {bit(2), Signal::l2i_miss, Signal::l3i_hit, Signal::l3i_miss},
};

}  // namespace

bool is_off_core_event(Microarchitecture core, u8 event, u16 umask) {
  const OffCoreLayout layout = layout_of(core);
  return event != 0 && event == layout.event && std::has_single_bit(umask) && (umask & layout.umasks) != 0;
}

std::optional<EventRule> off_core_rule(Microarchitecture core, u64 value) {
  const OffCoreLayout layout = layout_of(core);
  const bool any = (value & layout.any) != 0;
  const bool snooped = layout.snoops == 0 || (value & layout.snoops) != 0;
  const bool misses = any || (snooped && (value & layout.misses) != 0);
  const bool hits = any || (snooped && (value & layout.hits) != 0) || (misses && layout.hits == 0);
  if (!hits && !misses) return std::nullopt;
  SignalSet wanted;
  for (const RequestSignals& r : requests)
    if ((value & r.request) != 0) wanted.add(hits && misses ? r.all : hits ? r.hit : r.miss);
  if (wanted.empty()) return std::nullopt;
  return wanted.size() == 1 ? EventRule{.all = wanted} : EventRule{.any = wanted};
}

}  // namespace pmusim
