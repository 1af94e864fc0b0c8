// SPDX-License-Identifier: MIT
#include "pmusim/cpu/core_parameters.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <iterator>
#include <optional>

#include "base/suggest.h"
#include "cpu/parameter_values.h"
#include "pmusim/cpu/model.h"

namespace pmusim {

namespace parameter_rows {

namespace {

using enum ParameterUnit;
using enum ParameterShape;
using P = CoreParameters;

// The limits keep every quantity of one retirement within 32 bits, whatever a REP instruction does.
constexpr u64 longest_latency = 2000, widest = 16, many = 1u << 20, largest_cache = u64{1} << 30;

template <auto member>
u64 get(const P& core) {
  return static_cast<u64>(core.*member);
}
template <auto member>
void set(P& core, u64 value) {
  using Value = std::remove_reference_t<decltype(core.*member)>;
  core.*member = static_cast<Value>(value);
}

template <auto cache, auto member>
u64 get_of_cache(const P& core) {
  return core.*cache.*member;
}
template <auto cache, auto member>
void set_of_cache(P& core, u64 value) {
  core.*cache.*member = static_cast<u32>(value);
}

u64 get_line_bytes(const P& core) { return core.l1d.line_bytes; }
void set_line_bytes(P& core, u64 value) {
  for (CacheGeometry* const cache : {&core.l1i, &core.l1d, &core.l2, &core.l3})
    cache->line_bytes = static_cast<u32>(value);
}

constexpr std::string_view predictors[] = {"bimodal", "gshare", "tage"};

/// Of a name that is none: the number behind them all.
u64 get_predictor(const P& core) {
  return static_cast<u64>(std::ranges::find(predictors, core.predictor) - std::begin(predictors));
}
void set_predictor(P& core, u64 value) { core.predictor = predictors[value]; }

template <auto member>
constexpr CoreParameter row(std::string_view name, std::string_view short_name, ParameterUnit unit, u64 least,
                            u64 most, std::string_view meaning, ParameterShape shape = any) {
  return {.name = name,
          .short_name = short_name,
          .unit = unit,
          .least = least,
          .most = most,
          .shape = shape,
          .meaning = meaning,
          .listed_as = name,
          .unlisted = unit == hertz ? FactSource::published : FactSource::inferred,
          .get = &get<member>,
          .set = &set<member>};
}

template <auto cache, auto member>
constexpr CoreParameter cache_row(std::string_view name, std::string_view short_name, ParameterUnit unit,
                                  u64 least, u64 most, std::string_view meaning) {
  return {.name = name,
          .short_name = short_name,
          .unit = unit,
          .least = least,
          .most = most,
          .meaning = meaning,
          .listed_as = name.substr(0, name.find('_')),
          .get = &get_of_cache<cache, member>,
          .set = &set_of_cache<cache, member>};
}

template <auto member>
constexpr CoreParameter choice(std::string_view name, std::span<const std::string_view> names,
                               FactSource unlisted, std::string_view meaning) {
  return {.name = name,
          .unit = ParameterUnit::named,
          .most = names.size() - 1,
          .names = names,
          .meaning = meaning,
          .listed_as = name,
          .unlisted = unlisted,
          .get = &get<member>,
          .set = &set<member>};
}

constexpr std::string_view issue_orders[] = {"out_of_order", "in_order"};
constexpr std::string_view fusions[] = {"none", "nehalem", "sandy_bridge", "ice_lake"};
constexpr std::string_view eliminations[] = {"none", "vector", "all"};

constexpr CoreParameter all[] = {
    row<&P::issue_width>("issue_width", "width", uops, 1, widest, "renamed per cycle: the pipeline's slots"),
    row<&P::retire_width>("retire_width", "", uops, 1, widest, "retired per cycle"),
    choice<&P::issue_order>("issue_order", issue_orders, FactSource::published,
                            "in which order instructions start"),
    row<&P::reorder_buffer_uops>("reorder_buffer_uops", "rob", uops, 1, many, "in flight"),
    row<&P::scheduler_uops>("scheduler_uops", "scheduler", uops, 1, many, "that wait for operands or ports"),
    row<&P::load_buffer_entries>("load_buffer_entries", "load_buffer", entries, 1, many,
                                 "loads between rename and retirement"),
    row<&P::store_buffer_entries>("store_buffer_entries", "store_buffer", entries, 1, many,
                                  "stores between rename and L1D"),
    row<&P::mispredict_penalty>("mispredict_penalty", "", cycles, 0, longest_latency,
                                "from the branch that has executed to the first uop of the right path"),
    row<&P::resteer_cycles>("resteer_cycles", "", cycles, 0, longest_latency,
                            "after a taken branch whose target the front end did not know"),
    // where uops come from
    row<&P::uop_queue_entries>("uop_queue_entries", "uop_queue", entries, 1, many,
                               "between the sources of uops and rename"),
    row<&P::uop_cache_lines>("uop_cache_lines", "uop_cache", lines, 0, many, "of the uop cache; 0: none"),
    row<&P::uop_cache_ways>("uop_cache_ways", "", plain, 1, many, "of the uop cache"),
    row<&P::uop_cache_line_uops>("uop_cache_line_uops", "", uops, 4, many, "in a line of it"),
    row<&P::uop_cache_window_bytes>("uop_cache_window_bytes", "", bytes, 16, 4096,
                                    "aligned code of which a line of it holds uops", power_of_two),
    row<&P::uop_cache_window_lines>("uop_cache_window_lines", "", lines, 1, most_uop_cache_window_lines,
                                    "code with more uops than these hold is not in it"),
    row<&P::uop_cache_uops_per_cycle>("uop_cache_uops_per_cycle", "", uops, 1, many, "from it"),
    row<&P::loop_buffer_uops>("loop_buffer_uops", "loop_buffer", uops, 0, many,
                              "of the longest loop that the queue repeats; 0: none"),
    row<&P::loop_buffer_unrolls>("loop_buffer_unrolls", "", rule, 0, 1,
                                 "1: iterations of such a loop share cycles"),
    row<&P::decoders>("decoders", "", plain, 1, widest, "instructions decoded per cycle"),
    row<&P::fetch_bytes>("fetch_bytes", "", bytes, 1, many, "of code per cycle for the decoders"),
    row<&P::decoder_switch_cycles>("decoder_switch_cycles", "", cycles, 0, longest_latency,
                                   "from the uop cache to the decoders"),
    row<&P::microcode_switch_cycles>("microcode_switch_cycles", "", cycles, 0, longest_latency,
                                     "to the microcode sequencer"),
    row<&P::length_change_cycles>("length_change_cycles", "", cycles, 0, longest_latency,
                                  "of an operand-size prefix that makes a constant shorter"),
    choice<&P::macro_fusion>("macro_fusion", fusions, FactSource::published,
                             "pairs that become one uop, as from that core on"),
    choice<&P::move_elimination>("move_elimination", eliminations, FactSource::measured,
                                 "registers whose moves are renamed away"),
    row<&P::move_slots>("move_slots", "", entries, 0, 64,
                        "values that moves have given several names; a move beyond is executed; 0: no limit"),
    row<&P::move_slot_cycles>("move_slot_cycles", "", cycles, 1, 3,
                              "until rename knows of a slot that is free again"),
    row<&P::last_name_keeps_slot>("last_name_keeps_slot", "", rule, 0, 1,
                                  "1: until the last name of a general register's value is written, too"),
    // branches
    {.name = "predictor",
     .unit = ParameterUnit::named,
     .most = std::size(predictors) - 1,
     .names = predictors,
     .meaning = "of the direction of conditional branches",
     .listed_as = "predictor",
     .get = get_predictor,
     .set = set_predictor},
    row<&P::predictor_tables>("predictor_tables", "", plain, 1, 8, "that tage has beside its base"),
    row<&P::predictor_entries>("predictor_entries", "", entries, 16, many, "of each of them", power_of_two),
    row<&P::predictor_history>("predictor_history", "", plain, 4, 1024,
                               "outcomes of branches that the last of them sees; the first one sees 4"),
    row<&P::btb_entries>("btb_entries", "btb", entries, 4, many, "targets of branches, in 4 ways"),
    row<&P::return_stack_entries>("return_stack_entries", "return_stack", entries, 1, many,
                                  "return addresses"),
    // caches and memory
    {.name = "line_bytes",
     .unit = bytes,
     .least = 16,
     .most = 4096,
     .shape = power_of_two,
     .meaning = "of a line of every cache",
     .listed_as = "line_bytes",
     .unlisted = FactSource::cpuid,
     .get = get_line_bytes,
     .set = set_line_bytes},
    cache_row<&P::l1i, &CacheGeometry::bytes>("l1i_bytes", "l1i", bytes, 1, largest_cache,
                                              "first-level cache of code"),
    cache_row<&P::l1i, &CacheGeometry::ways>("l1i_ways", "", plain, 1, many, "of it"),
    row<&P::l1i_miss_penalty>("l1i_miss_penalty", "", cycles, 0, longest_latency,
                              "that fetch waits for code from L2"),
    cache_row<&P::l1d, &CacheGeometry::bytes>("l1d_bytes", "l1d", bytes, 1, largest_cache,
                                              "first-level cache of data"),
    cache_row<&P::l1d, &CacheGeometry::ways>("l1d_ways", "", plain, 1, many, "of it"),
    cache_row<&P::l1d, &CacheGeometry::latency_cycles>("l1d_latency_cycles", "l1d_latency", cycles, 1,
                                                       longest_latency, "of a load that hits it"),
    cache_row<&P::l2, &CacheGeometry::bytes>("l2_bytes", "l2", bytes, 1, largest_cache, "second-level cache"),
    cache_row<&P::l2, &CacheGeometry::ways>("l2_ways", "", plain, 1, many, "of it"),
    cache_row<&P::l2, &CacheGeometry::latency_cycles>("l2_latency_cycles", "l2_latency", cycles, 1,
                                                      longest_latency, "of a load that hits it"),
    row<&P::l2_cores>("l2_cores", "", plain, 1, many, "of a module, which have it together"),
    row<&P::l2_transfers>("l2_transfers", "", plain, 0, 1,
                          "1: it sends a line that one of them has modified to another; 0: L3 does"),
    cache_row<&P::l3, &CacheGeometry::bytes>("l3_bytes", "l3", bytes, 0, largest_cache,
                                             "third-level cache; 0: none"),
    cache_row<&P::l3, &CacheGeometry::ways>("l3_ways", "", plain, 0, many, "of it"),
    cache_row<&P::l3, &CacheGeometry::latency_cycles>("l3_latency_cycles", "l3_latency", cycles, 0,
                                                      longest_latency, "of a load that hits it"),
    row<&P::memory_latency_cycles>("memory_latency_cycles", "memory_latency", cycles, 1, longest_latency,
                                   "of a load from memory"),
    row<&P::snoop_cycles>("snoop_cycles", "", cycles, 0, longest_latency,
                          "beyond a hit in L3 where another core was asked that has no newer copy"),
    row<&P::modified_snoop_cycles>("modified_snoop_cycles", "", cycles, 0, longest_latency,
                                   "the same of a line that another core had modified"),
    row<&P::remote_cycles>("remote_cycles", "", cycles, 0, longest_latency,
                           "the same of a line in the caches of another package"),
    row<&P::outstanding_misses>("outstanding_misses", "fill_buffers", entries, 1, many,
                                "lines on their way to L1D"),
    // TLBs
    row<&P::itlb_entries>("itlb_entries", "itlb", entries, 1, many, "pages of code"),
    row<&P::itlb_ways>("itlb_ways", "", plain, 1, many, "of that TLB"),
    row<&P::dtlb_entries>("dtlb_entries", "dtlb", entries, 1, many, "pages of data"),
    row<&P::dtlb_ways>("dtlb_ways", "", plain, 1, many, "of that TLB"),
    row<&P::stlb_entries>("stlb_entries", "stlb", entries, 0, many, "pages of both; 0: no second TLB"),
    row<&P::stlb_ways>("stlb_ways", "", plain, 0, many, "of that TLB"),
    row<&P::stlb_latency_cycles>("stlb_latency_cycles", "", cycles, 0, longest_latency,
                                 "to ask the second TLB"),
    row<&P::page_walk_cycles>("page_walk_cycles", "", cycles, 0, longest_latency,
                              "of a page walk beside what it reads"),
    row<&P::page_walk_loads>("page_walk_loads", "", rule, 0, 1,
                             "1: a walk reads its last entry through the caches"),
    // prefetchers
    row<&P::l1_stride_loads>("l1_stride_loads", "", entries, 0, many,
                             "loads that the L1 stride prefetcher knows; 0: none", power_of_two),
    row<&P::l2_stream_pages>("l2_stream_pages", "", entries, 0, many,
                             "pages that the L2 streamer watches; 0: none", multiple_of_4),
    row<&P::l2_stream_gap_lines>("l2_stream_gap_lines", "", lines, 1, 4096,
                                 "the farthest step that continues a stream"),
    row<&P::l2_stream_burst_lines>("l2_stream_burst_lines", "", lines, 1, 4096,
                                   "prefetched at each request of a stream"),
    row<&P::l2_stream_ahead_lines>("l2_stream_ahead_lines", "", lines, 1, 4096, "and how far before it"),
    row<&P::l2_prefetches_outstanding>("l2_prefetches_outstanding", "", entries, 1, many,
                                       "prefetched lines on their way to L2"),
    row<&P::next_page_prefetch>("next_page_prefetch", "", rule, 0, 1,
                                "1: a stream at the end of its page goes on in the next one"),
    row<&P::adjacent_line_level>("adjacent_line_level", "", plain, 0, 3,
                                 "the cache that gets the other line of a missed pair: 2 or 3; 0: none"),
    // loads and older stores
    row<&P::forwarding_cycles>("forwarding_cycles", "", cycles, 0, longest_latency,
                               "from a store's data to a load of it"),
    row<&P::blocked_forward_cycles>("blocked_forward_cycles", "", cycles, 0, longest_latency,
                                    "beyond that where a store cannot be forwarded"),
    row<&P::address_alias_cycles>("address_alias_cycles", "", cycles, 0, longest_latency,
                                  "of a load and a store whose addresses are the same within 4 KiB"),
    row<&P::one_physical_page>("one_physical_page", "", rule, 0, 1,
                               "1: all pages are the same memory, so that such a load waits for the store"),
    row<&P::disambiguation_loads>("disambiguation_loads", "", entries, 0, many,
                                  "loads that may pass older stores; 0: none does", power_of_two),
    row<&P::machine_clear_cycles>("machine_clear_cycles", "", cycles, 0, longest_latency,
                                  "of a machine clear beyond mispredict_penalty"),
    row<&P::system_call_cycles>("system_call_cycles", "", cycles, 0, longest_latency,
                                "of SYSCALL and SYSRET themselves"),
    // rules of decoders and renamers; 0 switches each off
    row<&P::predecode_instructions>("predecode_instructions", "", rule, 0, widest,
                                    "instructions found per cycle in a fetch block; 0: all"),
    row<&P::last_decoder_leaves_pairs>("last_decoder_leaves_pairs", "", rule, 0, 1,
                                       "1: the last decoder takes none that could fuse with the next"),
    row<&P::pop_r12_decoding>("pop_r12_decoding", "", rule, 0, 2,
                              "POP of R12 or RSP: 1 by the first decoder alone, 2 with nothing behind it"),
    row<&P::stack_sync_uops>("stack_sync_uops", "", rule, 0, 1,
                             "1: RSP is brought up to date behind pushes and pops when it is named"),
    row<&P::merges_partial_registers>("merges_partial_registers", "", rule, 0, 16,
                                      "8 or 16: writes of so many bits, and of 16, keep the rest"),
    row<&P::high_byte_merge_uops>("high_byte_merge_uops", "", rule, 0, 1,
                                  "1: reading the whole register behind a write of AH to DH takes a uop"),
    row<&P::waits_for_old_destination>("waits_for_old_destination", "", rule, 0, 7,
                                       "sum of 1 (POPCNT), 2 (LZCNT, TZCNT) and 4 (BSF, BSR)"),
    row<&P::splits_indexed_operands>("splits_indexed_operands", "", rule, 0, 2,
                                     "uops with an index part at rename: 1 all, 2 unless the destination is "
                                     "a source"),
    row<&P::splits_constants_at_rip>("splits_constants_at_rip", "", rule, 0, 1,
                                     "1: a constant and an address relative to RIP share no slot"),
    row<&P::slow_address_cycles>("slow_address_cycles", "", rule, 0, longest_latency,
                                 "more for a load of general registers whose address is not simple"),
    row<&P::l1d_bank_bytes>("l1d_bank_bytes", "", rule, 0, 64,
                            "of which one is read per cycle, in one line; 0: no banks", power_of_two),
    row<&P::jump_border_erratum>("jump_border_erratum", "", rule, 0, 1,
                                 "1: no line of the uop cache for a jump at a 32-byte border"),
    // clocks
    row<&P::tsc_hz>("tsc_hz", "tsc", hertz, 1, 100'000'000'000, "of the time-stamp counter"),
    row<&P::bus_hz>("bus_hz", "", hertz, 1, 100'000'000'000,
                    "what event 3C.01 counts before Golden Cove and Gracemont"),
    row<&P::tsc_per_core_cycle_numerator>(
        "tsc_per_core_cycle_numerator", "", plain, 0, ~u32{0},
        "ticks of the time-stamp counter in tsc_per_core_cycle_denominator core cycles"),
    row<&P::tsc_per_core_cycle_denominator>("tsc_per_core_cycle_denominator", "", plain, 1, ~u32{0},
                                            "core cycles in which it makes so many ticks"),
};

}  // namespace

}  // namespace parameter_rows

namespace {

bool same_letters(std::string_view a, std::string_view b) {
  const auto small = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; };
  return std::ranges::equal(a, b, {}, small, small);
}

constexpr u64 kib = 1024;

/// What the unit behind a number stands for; nothing for a unit that is none.
std::optional<u64> factor(std::string_view suffix, ParameterUnit unit) {
  using enum ParameterUnit;
  if (suffix.empty()) return 1;
  if (unit != bytes && unit != hertz) return std::nullopt;
  const u64 thousand = unit == ParameterUnit::bytes ? kib : 1000;
  const std::string_view rest = suffix.substr(1);
  const bool known = unit == ParameterUnit::bytes
                         ? rest.empty() || same_letters(rest, "B") || same_letters(rest, "iB")
                         : rest.empty() || same_letters(rest, "Hz");
  if (!known) return std::nullopt;
  switch (suffix.front()) {
    case 'k':
    case 'K':
      return thousand;
    case 'm':
    case 'M':
      return thousand * thousand;
    case 'g':
    case 'G':
      return thousand * thousand * thousand;
    default:
      return std::nullopt;
  }
}

std::string_view name_of(ParameterShape shape) {
  constexpr std::string_view names[] = {"", ", a power of two", ", a multiple of 4"};
  return names[static_cast<unsigned>(shape)];
}

bool takes(const CoreParameter& parameter, u64 value) {
  if (value < parameter.least || value > parameter.most) return false;
  if (value == 0 || parameter.shape == ParameterShape::any) return true;
  return parameter.shape == ParameterShape::power_of_two ? std::has_single_bit(value) : value % 4 == 0;
}

Error out_of_range(const CoreParameter& parameter, std::string_view value) {
  return Error(
      fmt::format("core parameter {} is {}; it must be {}", parameter.name, value, range_text(parameter)));
}

}  // namespace

std::optional<u64> number_of(std::string_view text, ParameterUnit unit) {
  u64 value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc()) return std::nullopt;
  const auto times = factor(text.substr(static_cast<std::size_t>(end - text.data())), unit);
  u64 product = 0;
  if (!times || __builtin_mul_overflow(value, *times, &product)) return std::nullopt;
  return product;
}

std::optional<u64> value_of(const CoreParameter& parameter, std::string_view text) {
  if (parameter.names.empty()) {
    const std::optional<u64> number = number_of(text, parameter.unit);
    return number && takes(parameter, *number) ? number : std::nullopt;
  }
  const auto found =
      std::ranges::find_if(parameter.names, [&](auto name) { return same_letters(name, text); });
  if (found == parameter.names.end()) return std::nullopt;
  return static_cast<u64>(found - parameter.names.begin());
}

namespace {

Result<Done, Error> set_one(CoreParameters& core, std::string_view assignment) {
  const std::size_t equals = assignment.find('=');
  if (equals == assignment.npos)
    return Failure(Error(fmt::format("'{}': expected NAME=VALUE, as rob=512", assignment)));
  const auto parameter = find_core_parameter(assignment.substr(0, equals));
  if (!parameter.ok()) return Failure(parameter.error());
  const std::string_view text = assignment.substr(equals + 1);
  const std::optional<u64> value = value_of(**parameter, text);
  if (!value) return Failure(out_of_range(**parameter, fmt::format("'{}'", text)));
  (*parameter)->set(core, *value);
  return Done{};
}

Result<Done, Error> check_ranges(const CoreParameters& core) {
  for (const CoreParameter& parameter : parameter_rows::all) {
    const u64 value = parameter.get(core);
    if (takes(parameter, value)) continue;
    const bool named = !parameter.names.empty();
    return Failure(
        out_of_range(parameter, named ? fmt::format("'{}'", core.predictor) : fmt::to_string(value)));
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
    if (cache.line_bytes != p.l1d.line_bytes || !std::has_single_bit(cache.line_bytes))
      return Failure(Error(
          fmt::format("cache {}: lines of {} bytes; all caches must have lines of one size, a power of two",
                      name, cache.line_bytes)));
    if (cache.latency_cycles < 1 || cache.latency_cycles > parameter_rows::longest_latency)
      return Failure(Error(fmt::format("cache {}: a latency of {} cycles; it must be 1 to {}", name,
                                       cache.latency_cycles, parameter_rows::longest_latency)));
  }
  return Done{};
}

}  // namespace

std::string_view name_of(ParameterUnit unit) {
  constexpr std::string_view names[] = {"", "uops", "entries", "cycles", "bytes", "lines", "Hz", "", ""};
  return names[static_cast<unsigned>(unit)];
}

std::span<const CoreParameter> core_parameters() { return parameter_rows::all; }

Result<const CoreParameter*, Error> find_core_parameter(std::string_view name) {
  std::vector<std::string_view> all;
  for (const CoreParameter& parameter : parameter_rows::all) {
    if (same_letters(name, parameter.name) || (!name.empty() && same_letters(name, parameter.short_name)))
      return &parameter;
    all.push_back(parameter.name);
    if (!parameter.short_name.empty()) all.push_back(parameter.short_name);
  }
  return Failure(Error(fmt::format("there is no core parameter '{}'{}", name, did_you_mean(name, all, 3))));
}

std::string value_text(const CoreParameter& parameter, u64 value) {
  if (!parameter.names.empty())
    return value < parameter.names.size() ? std::string(parameter.names[value]) : fmt::format("{}", value);
  if (parameter.unit == ParameterUnit::bytes && value >= kib) {
    if (value % (kib * kib * kib) == 0) return fmt::format("{}GiB", value / kib / kib / kib);
    if (value % (kib * kib) == 0) return fmt::format("{}MiB", value / kib / kib);
    if (value % kib == 0) return fmt::format("{}KiB", value / kib);
  }
  return fmt::format("{}", value);
}

std::string range_text(const CoreParameter& parameter) {
  if (parameter.names.empty()) {
    const std::string_view unit =
        parameter.unit == ParameterUnit::bytes ? std::string_view() : name_of(parameter.unit);
    return fmt::format("{} to {}{}{}{}", value_text(parameter, parameter.least),
                       value_text(parameter, parameter.most), unit.empty() ? "" : " ", unit,
                       name_of(parameter.shape));
  }
  std::string words(parameter.names.front());
  for (std::size_t n = 1; n < parameter.names.size(); ++n)
    words.append(n + 1 < parameter.names.size() ? ", " : " or ").append(parameter.names[n]);
  return words;
}

std::vector<CoreNumber> core_numbers(const CpuModel& model) {
  std::vector<CoreNumber> numbers;
  std::ranges::copy_if(model.core.numbers, std::back_inserter(numbers),
                       [](const CoreNumber& number) { return number.source != FactSource::none; });
  return numbers;
}

FactSource source_of(const CpuModel& model, const CoreParameter& parameter) {
  const std::vector<CoreNumber> numbers = core_numbers(model);
  const auto found = std::ranges::find(numbers, parameter.listed_as, &CoreNumber::name);
  return found == numbers.end() ? parameter.unlisted : found->source;
}

Result<Done, Error> set_core_parameters(CoreParameters& core, std::string_view list) {
  CoreParameters chosen = core;
  for (std::size_t at = 0; at <= list.size();) {
    const std::string_view one = list.substr(at, list.find(',', at) - at);
    if (auto done = set_one(chosen, one); !done.ok()) return done;
    at += one.size() + 1;
  }
  if (auto checked = check_core_parameters(chosen); !checked.ok()) return checked;
  core = std::move(chosen);
  return Done{};
}

std::string chosen_core_parameters(const CpuModel& model) {
  const auto preset = find_cpu_model(model.name);
  if (!preset.ok()) return {};
  std::string chosen;
  for (const CoreParameter& parameter : parameter_rows::all)
    if (const u64 value = parameter.get(model.core); value != parameter.get(preset->core))
      chosen +=
          fmt::format("{}{}={}", chosen.empty() ? "" : ",", parameter.name, value_text(parameter, value));
  return chosen;
}

Result<Done, Error> check_core_parameters(const CoreParameters& core) {
  for (const auto check : {check_ranges, check_tables, check_caches}) {
    auto checked = check(core);
    if (!checked.ok()) return checked;
  }
  return Done{};
}

}  // namespace pmusim
