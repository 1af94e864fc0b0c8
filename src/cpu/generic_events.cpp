// SPDX-License-Identifier: MIT
#include "cpu/generic_events.h"

#include <algorithm>

#include "cpu/core_facts.h"
#include "pmusim/base/types.h"

namespace pmusim {
namespace {

std::optional<u64> present(u64 config) { return config == 0 ? std::nullopt : std::optional(config); }

/// The upper half of config can name a PMU.
constexpr u64 event_part(u64 config) { return config & low_bits(32); }

}  // namespace

std::optional<u64> generic_event_encoding(Microarchitecture core, GenericEvent event, u32 arch_events) {
  if (const auto rows = core_facts(core).generic_rows; !rows.empty()) {
    const auto row = std::ranges::find(rows, event, &GenericRow::event);
    return row == rows.end() ? std::nullopt : std::optional(row->config);
  }
  const GenericEncodings& own = core_facts(core).generic;
  const auto has = [&](unsigned index) { return (arch_events & bit(index)) != 0; };
  const auto architectural = [&](unsigned index, u64 config) {
    return has(index) ? std::optional<u64>(config) : std::nullopt;
  };
  switch (event) {
    case GenericEvent::cpu_cycles:
      return architectural(0, 0x003C);
    case GenericEvent::instructions:
      return architectural(1, 0x00C0);
    case GenericEvent::bus_cycles:
      return architectural(2, 0x013C);
    case GenericEvent::cache_references:
      return architectural(3, 0x4F2E);
    case GenericEvent::cache_misses:
      return architectural(4, 0x412E);
    case GenericEvent::branch_instructions:
      return architectural(5, 0x00C4);
    case GenericEvent::branch_misses:
      return has(6) ? 0x00C5 : present(own.hidden_mispredicts);
    case GenericEvent::ref_cycles:
      return has(2) ? own.reference_cycles : GenericEncodings::pseudo_event;
    case GenericEvent::stalled_cycles_frontend:
      return present(own.frontend_stalls);
    case GenericEvent::stalled_cycles_backend:
      return present(own.backend_stalls);
    case GenericEvent::count_:
      break;
  }
  return std::nullopt;
}

bool makes_sense(CacheId cache, CacheOperation operation) {
  if (cache == CacheId::l1i) return operation != CacheOperation::write;
  return operation == CacheOperation::read || (cache != CacheId::itlb && cache != CacheId::bpu);
}

namespace {

const LastLevelEvents* last_level_of(const CacheTable& table) {
  for (const LastLevelEvents& row : core_facts(table.core).last_level)
    if ((row.models.empty() || std::ranges::find(row.models, table.model) != row.models.end()) &&
        table.edition >= row.edition)
      return &row;
  return nullptr;
}

CacheEventEncoding encoding_of(const LastLevelEvents& last_level, CacheOperation operation,
                               CacheResult result) {
  using Kind = CacheEventEncoding::Kind;
  if (operation == CacheOperation::prefetch) return {.kind = Kind::none};
  const LastLevelValues& values = last_level.values;
  const bool misses = result == CacheResult::miss;
  const u64 value = operation == CacheOperation::read ? (misses ? values.read_miss : values.read)
                                                      : (misses ? values.write_miss : values.write);
  return {.kind = Kind::valid, .config = last_level.event, .extra = value};
}

}  // namespace

CacheEventEncoding cache_event_encoding(const CacheTable& table, CacheId cache, CacheOperation operation,
                                        CacheResult result) {
  using Kind = CacheEventEncoding::Kind;
  const bool only_read = cache == CacheId::node && core_facts(table.core).node_is_read_only;
  if (!makes_sense(cache, operation) || (only_read && operation != CacheOperation::read))
    return {.kind = Kind::invalid};
  if (cache == CacheId::ll)
    if (const LastLevelEvents* last_level = last_level_of(table))
      return encoding_of(*last_level, operation, result);
  const auto rows = core_facts(table.core).cache_events;
  const auto row = std::find_if(rows.begin(), rows.end(), [&](const CacheEvent& r) {
    return r.cache == cache && r.operation == operation && r.result == result;
  });
  if (row == rows.end()) return {.kind = Kind::none};
  return {.kind = Kind::valid, .config = row->config, .extra = row->extra};
}

Result<EventEncoding, NoEncoding> encode_generic_event(Microarchitecture core, u64 config, u32 arch_events) {
  const u64 id = event_part(config);
  if (id >= static_cast<u64>(GenericEvent::count_)) return Failure(NoEncoding::unknown_event);
  const auto encoding = generic_event_encoding(core, static_cast<GenericEvent>(id), arch_events);
  if (!encoding) return Failure(NoEncoding::absent);
  return EventEncoding{.config = *encoding};
}

Result<EventEncoding, NoEncoding> encode_cache_event(const CacheTable& table, u64 config) {
  const u64 event = event_part(config), cache = event & 0xFF, operation = event >> 8 & 0xFF,
            result = event >> 16;
  if (cache > static_cast<u64>(CacheId::node) || operation > static_cast<u64>(CacheOperation::prefetch) ||
      result > static_cast<u64>(CacheResult::miss))
    return Failure(NoEncoding::unknown_event);
  const CacheEventEncoding encoding =
      cache_event_encoding(table, static_cast<CacheId>(cache), static_cast<CacheOperation>(operation),
                           static_cast<CacheResult>(result));
  if (encoding.kind == CacheEventEncoding::Kind::invalid) return Failure(NoEncoding::senseless);
  if (encoding.kind == CacheEventEncoding::Kind::none) return Failure(NoEncoding::absent);
  return EventEncoding{.config = encoding.config, .extra = encoding.extra};
}

}  // namespace pmusim
