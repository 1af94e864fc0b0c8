// SPDX-License-Identifier: MIT
#include "core/parameters.h"

#include <fmt/format.h>

#include <bit>
#include <string_view>

#include "core/uop_cache.h"

namespace pmusim {
namespace {

// The limits keep every quantity of one retirement within 32 bits, whatever a REP instruction does.
constexpr unsigned longest_latency = 2000, widest = 16;

struct Limit {
  std::string_view name;
  unsigned value, least, most;
};

Result<Done, Error> check_limits(const CoreParameters& p) {
  constexpr unsigned many = 1u << 20;
  const Limit limits[] = {
      {"issue_width", p.issue_width, 1, widest},
      {"retire_width", p.retire_width, 1, widest},
      {"scheduler_uops", p.scheduler_uops, 1, many},
      {"load_buffer_entries", p.load_buffer_entries, 1, many},
      {"forwarding_cycles", p.forwarding_cycles, 0, longest_latency},
      {"system_call_cycles", p.system_call_cycles, 0, longest_latency},
      {"mispredict_penalty", p.mispredict_penalty, 0, longest_latency},
      {"resteer_cycles", p.resteer_cycles, 0, longest_latency},
      {"l1i_miss_penalty", p.l1i_miss_penalty, 0, longest_latency},
      {"memory_latency_cycles", p.memory_latency_cycles, 1, longest_latency},
      {"stlb_latency_cycles", p.stlb_latency_cycles, 0, longest_latency},
      {"page_walk_cycles", p.page_walk_cycles, 0, longest_latency},
      {"outstanding_misses", p.outstanding_misses, 1, many},
      {"page_walk_loads", p.page_walk_loads, 0, 1},
      {"l2_stream_pages", p.l2_stream_pages, 0, many},
      {"l2_stream_gap_lines", p.l2_stream_gap_lines, 1, 4096},
      {"l2_stream_burst_lines", p.l2_stream_burst_lines, 1, 4096},
      {"l2_stream_ahead_lines", p.l2_stream_ahead_lines, 1, 4096},
      {"l2_prefetches_outstanding", p.l2_prefetches_outstanding, 1, many},
      {"next_page_prefetch", p.next_page_prefetch, 0, 1},
      {"adjacent_line_level", p.adjacent_line_level, 0, 3},
      {"blocked_forward_cycles", p.blocked_forward_cycles, 0, longest_latency},
      {"address_alias_cycles", p.address_alias_cycles, 0, longest_latency},
      {"machine_clear_cycles", p.machine_clear_cycles, 0, longest_latency},
      {"reorder_buffer_uops", p.reorder_buffer_uops, 1, many},
      {"store_buffer_entries", p.store_buffer_entries, 1, many},
      {"return_stack_entries", p.return_stack_entries, 1, many},
      {"uop_queue_entries", p.uop_queue_entries, 1, many},
      {"uop_cache_line_uops", p.uop_cache_line_uops, 4, many},
      {"uop_cache_window_lines", p.uop_cache_window_lines, 1, UopCache::most_window_lines},
      {"uop_cache_uops_per_cycle", p.uop_cache_uops_per_cycle, 1, many},
      {"loop_buffer_uops", p.loop_buffer_uops, 0, many},
      {"loop_buffer_unrolls", p.loop_buffer_unrolls, 0, 1},
      {"decoders", p.decoders, 1, widest},
      {"fetch_bytes", p.fetch_bytes, 1, many},
      {"decoder_switch_cycles", p.decoder_switch_cycles, 0, longest_latency},
      {"microcode_switch_cycles", p.microcode_switch_cycles, 0, longest_latency},
      {"length_change_cycles", p.length_change_cycles, 0, longest_latency},
      {"predecode_instructions", p.predecode_instructions, 0, widest},
      {"last_decoder_leaves_pairs", p.last_decoder_leaves_pairs, 0, 1},
      {"stack_sync_uops", p.stack_sync_uops, 0, 1},
      {"merges_partial_registers", p.merges_partial_registers, 0, 16},
      {"high_byte_merge_uops", p.high_byte_merge_uops, 0, 1},
      {"waits_for_old_destination", p.waits_for_old_destination, 0, 7},
      {"splits_indexed_operands", p.splits_indexed_operands, 0, 2},
      {"splits_constants_at_rip", p.splits_constants_at_rip, 0, 1},
      {"slow_address_cycles", p.slow_address_cycles, 0, longest_latency},
      {"l1d_bank_bytes", p.l1d_bank_bytes, 0, 64},
      {"jump_border_erratum", p.jump_border_erratum, 0, 1},
      {"tsc_per_core_cycle_denominator", p.tsc_per_core_cycle_denominator, 1, ~0u},
  };
  for (const Limit& limit : limits) {
    if (limit.value < limit.least || limit.value > limit.most)
      return Failure(Error(fmt::format("core parameter {} is {}; it must be {} to {}", limit.name,
                                       limit.value, limit.least, limit.most)));
  }
  return Done{};
}

Result<Done, Error> check_tables(const CoreParameters& p) {
  struct Table {
    std::string_view name;
    unsigned entries, ways;
    bool may_be_missing = false;
  };
  const Table tables[] = {{"dtlb_entries", p.dtlb_entries, p.dtlb_ways},
                          {"itlb_entries", p.itlb_entries, p.itlb_ways},
                          {"stlb_entries", p.stlb_entries, p.stlb_ways, true},  // early cores have one level
                          {"uop_cache_lines", p.uop_cache_lines, p.uop_cache_ways, true},
                          {"btb_entries", p.btb_entries, 4}};
  for (const Table& table : tables) {
    if (table.may_be_missing && table.entries == 0) continue;
    if (table.ways == 0 || table.entries == 0 || table.entries % table.ways != 0)
      return Failure(Error(fmt::format("core parameter {} is {}; it must be a positive multiple of {} ways",
                                       table.name, table.entries, table.ways)));
  }
  return Done{};
}

Result<Done, Error> check_predictors(const CoreParameters& p) {
  struct Table {
    std::string_view name;
    unsigned places;
  };
  const Table tables[] = {{"l1_stride_loads", p.l1_stride_loads},
                          {"disambiguation_loads", p.disambiguation_loads}};
  for (const Table& table : tables) {
    if ((table.places & (table.places - 1)) != 0 || table.places > 1u << 20)
      return Failure(Error(fmt::format("core parameter {} is {}; it must be 0 or a power of two up to 2^20",
                                       table.name, table.places)));
  }
  if (p.l2_stream_pages % 4 != 0)
    return Failure(Error(
        fmt::format("core parameter l2_stream_pages is {}; it must be a multiple of 4", p.l2_stream_pages)));
  return Done{};
}

Result<Done, Error> check_windows(const CoreParameters& p) {
  const unsigned bytes = p.uop_cache_window_bytes;
  if (std::has_single_bit(bytes) && bytes >= 16 && bytes <= 4096) return Done{};
  return Failure(Error(fmt::format(
      "core parameter uop_cache_window_bytes is {}; it must be a power of two from 16 to 4096", bytes)));
}

Result<Done, Error> check_caches(const CoreParameters& p) {
  struct Cache {
    std::string_view name;
    const CacheGeometry& geometry;
  };
  const Cache caches[] = {{"l1i", p.l1i}, {"l1d", p.l1d}, {"l2", p.l2}, {"l3", p.l3}};
  for (const auto& [name, cache] : caches) {
    if (&cache == &p.l3 && cache.bytes == 0) continue;  // not every core has one
    const u64 set_bytes = u64{cache.ways} * cache.line_bytes;
    if (set_bytes == 0 || cache.bytes == 0 || cache.bytes % set_bytes != 0)
      return Failure(Error(fmt::format("cache {}: {} bytes are no multiple of {} ways of {}-byte lines", name,
                                       cache.bytes, cache.ways, cache.line_bytes)));
    if (cache.line_bytes != p.l1d.line_bytes || !std::has_single_bit(cache.line_bytes) ||
        cache.line_bytes < 16 || cache.line_bytes > 4096)
      return Failure(
          Error(fmt::format("cache {}: lines of {} bytes; all caches must have lines of one size, "
                            "a power of two from 16 to 4096 bytes",
                            name, cache.line_bytes)));
    if (cache.latency_cycles < 1 || cache.latency_cycles > longest_latency)
      return Failure(Error(fmt::format("cache {}: a latency of {} cycles; it must be 1 to {}", name,
                                       cache.latency_cycles, longest_latency)));
  }
  return Done{};
}

}  // namespace

Result<Done, Error> check_parameters(const CoreParameters& parameters) {
  for (const auto check : {check_limits, check_tables, check_predictors, check_windows, check_caches}) {
    auto checked = check(parameters);
    if (!checked.ok()) return checked;
  }
  return Done{};
}

}  // namespace pmusim
