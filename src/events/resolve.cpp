// SPDX-License-Identifier: MIT
#include "events/resolve.h"

#include <fmt/format.h>

#include <algorithm>

#include "cpu/core_facts.h"
#include "cpu/cycle_views.h"
#include "cpu/lost_time.h"
#include "cpu/off_core.h"
#include "cpu/unmodelled_signals.h"
#include "events/event_code.h"
#include "events/refusals.h"
#include "events/vendor.h"
#include "pmusim/arch/msr.h"

namespace pmusim::events {
namespace {

using perf::EventType;

constexpr u64 event_mask = 0xFF;
/// Of a raw config; AMD's driver drops the rest.
constexpr u64 wide_event_bits =
    event_code_bits(SelectLayout::wide_events) | msr::evtsel::EDGE | msr::evtsel::INV | msr::evtsel::CMASK;

Failure<Error> refuse(std::string text) { return Failure(Error(std::move(text))); }

constexpr std::string_view generic_names[] = {
    "cpu-cycles",
    "instructions",
    "cache-references",
    "cache-misses",
    "branch-instructions",
    "branch-misses",
    "bus-cycles",
    "stalled-cycles-frontend",
    "stalled-cycles-backend",
    "ref-cycles",
};

std::string cache_event_name(u64 config) {
  constexpr std::string_view caches[] = {"L1-dcache", "L1-icache", "LLC", "dTLB", "iTLB", "branch", "node"};
  constexpr std::string_view operations[] = {"load", "store", "prefetch"};
  const u64 operation = config >> 8 & 0xFF;
  const bool misses = (config >> 16 & 0xFF) != 0;
  return fmt::format("{}-{}{}", caches[config & 0xFF], operations[operation],
                     misses           ? "-misses"
                     : operation == 2 ? "es"
                                      : "s");
}

Result<EventEncoding, NoEncoding> generic_encoding(const CpuModel& model, u64 id) {
  return encode_generic_event(model.microarchitecture(), id, model.arch_events);
}

Result<EventEncoding, NoEncoding> cache_encoding(const CpuModel& model, u64 config) {
  return encode_cache_event({.core = model.microarchitecture(), .model = model.model}, config);
}

Result<EventEncoding, Error> select_generic(const CpuModel& model, u64 id) {
  const auto encoding = generic_encoding(model, id);
  if (encoding.ok()) return *encoding;
  if (encoding.error() == NoEncoding::unknown_event)
    return refuse(fmt::format("there is no hardware event number {}", id));
  return refuse(fmt::format("{} has no event for '{}'", model.title, generic_names[id & 0xFF]));
}

Result<EventEncoding, Error> select_cache(const CpuModel& model, u64 config) {
  const auto encoding = cache_encoding(model, config);
  if (encoding.ok()) return *encoding;
  if (encoding.error() == NoEncoding::unknown_event)
    return refuse(fmt::format("there is no hardware-cache event {:#x}", config));
  if (encoding.error() == NoEncoding::senseless)
    return refuse(fmt::format("'{}' makes no sense on any CPU", cache_event_name(config)));
  return refuse(fmt::format("{} has no event for '{}'", model.title, cache_event_name(config)));
}

Result<EventEncoding, Error> select(const CpuModel& model, const perf::Attr& attr) {
  switch (static_cast<EventType>(attr.type)) {
    case EventType::hardware:
      return select_generic(model, attr.config);
    case EventType::hw_cache:
      return select_cache(model, attr.config);
    case EventType::raw:
      if (model.select == SelectLayout::wide_events) return EventEncoding{attr.config & wide_event_bits, 0};
      return EventEncoding{attr.config, attr.config1};
    default:
      return refuse(fmt::format("events of type {} are not events of the PMU", attr.type));
  }
}

/// Whether drivers give event 00 with this umask a fixed counter (FIXED_EVENT_CONSTRAINT).
bool has_fixed_code(const CpuModel& model, u64 umask) {
  constexpr u64 reference_cycles = 3, last = 16;
  if (model.perfmon_version < 2 || umask == 0 || umask > last ||
      (model.fixed_counters & bit(static_cast<unsigned>(umask - 1))) == 0)
    return false;
  if (umask == reference_cycles) return true;
  const u32 codes = core_facts(model.microarchitecture()).fixed_codes;
  return model.perfmon_version >= 5 && (codes & bit(static_cast<unsigned>(umask))) != 0;
}

/// Event 00: fixed counters by number, and the bytes of PERF_METRICS from umask 80 on.
std::optional<EventDefinition> find_pseudo_event(const CpuModel& model, u64 umask) {
  constexpr std::pair<std::string_view, Quantity> metrics[] = {
      {"PERF_METRICS.RETIRING", Quantity::uops},
      {"PERF_METRICS.BAD_SPECULATION", Quantity::slots_bad_speculation},
      {"PERF_METRICS.FRONTEND_BOUND", Quantity::slots_frontend},
      {"PERF_METRICS.BACKEND_BOUND", Quantity::slots_backend},
      {"PERF_METRICS.HEAVY_OPERATIONS", Quantity::slots_heavy},
      {"PERF_METRICS.BRANCH_MISPREDICTS", Quantity::slots_branch_mispredict},
      {"PERF_METRICS.FETCH_LATENCY", Quantity::slots_fetch_latency},
      {"PERF_METRICS.MEMORY_BOUND", Quantity::slots_memory},
  };
  constexpr u64 first_metric = 0x80;
  if (has_fixed_code(model, umask)) return find_fixed_event(model, static_cast<unsigned>(umask - 1));
  if (umask < first_metric || umask - first_metric >= 4 * model.metrics_levels) return std::nullopt;
  const auto& [name, quantity] = metrics[umask - first_metric];
  return EventDefinition{.name = name, .umask = static_cast<u16>(umask), .rule = {.quantity = quantity}};
}

std::optional<EventDefinition> find_definition(const CpuModel& model, const EventEncoding& selection) {
  const EventCode code = event_code(model.select, selection.config);
  if (code.event == 0 && model.select == SelectLayout::modifiers)
    return find_pseudo_event(model, selection.config >> 8 & 0xFF);
  return find_event(model, code.event, code.umask, selection.extra);
}

/// Several names share an event select and differ in what they make of it.
void take_exact_name(const CpuModel& model, const EventEncoding& selection, EventDefinition& definition) {
  const u64 named_bits = event_code_bits(model.select) | 0xFF84'0000;
  const auto row = std::ranges::find_if(model.events, [&](const EventDefinition& r) {
    return r.event == definition.event && event_select_bits(r) == (selection.config & named_bits) &&
           r.rule == definition.rule && r.extra == definition.extra;
  });
  if (row != model.events.end()) definition.name = row->name;
}

/// Why not all can be counted that an off-core event's register asks for.
std::optional<std::string> off_core_refusal(const CpuModel& model, const EventEncoding& selection) {
  const auto umask = static_cast<u16>(selection.config >> 8 & 0xFF);
  if (!off_core_register(model, static_cast<u16>(selection.config & event_mask), umask)) return std::nullopt;
  const OffCoreLayout& layout = core_facts(model.microarchitecture()).off_core;
  const std::string_view reason = model.has_neighbours && chooses_snoops(layout, selection.extra)
                                      ? "beside other cores its answers by snoops are not told apart; choose "
                                        "all of them, or MEM_LOAD_*.XSNP_*"
                                      : why_not_counted(layout, selection.extra);
  if (reason.empty()) return std::nullopt;
  return fmt::format("OFFCORE_RESPONSE with {:#x} exists on {}, but {}", selection.extra, model.title,
                     reason);
}

Failure<Error> refuse_unknown(const CpuModel& model, const EventEncoding& selection) {
  constexpr u64 last_fixed_umask = 16;
  const u64 umask = selection.config >> 8 & 0xFF, selects_event = event_code_bits(model.select);
  if (model.select == SelectLayout::modifiers && (selection.config & event_mask) == 0 &&
      umask <= last_fixed_umask)
    return refuse(
        fmt::format("event 0x00 with umask {:#04x} stands for no fixed counter of {}, and general "
                    "counters count nothing for it",
                    umask, model.title));
  if (auto refusal = off_core_refusal(model, selection)) return refuse(std::move(*refusal));
  std::vector<VendorEvent> named = listed_events(model);
  std::ranges::move(library_events(model), std::back_inserter(named));
  for (const VendorEvent& event : named)
    if ((event.config & selects_event) == (selection.config & selects_event) &&
        (event.config1 == 0 || event.config1 == selection.extra))
      return refuse(refusal_of_unmodelled(model, event.name));
  return refuse(fmt::format(
      "the core model has no event with event {:#04x} and umask {:#04x}{} on {}",
      event_code(model.select, selection.config).event, event_code(model.select, selection.config).umask,
      selection.extra == 0 ? "" : fmt::format(" and config1 {:#x}", selection.extra), model.title));
}

// What code does beside branching, loading and storing; how wide its accesses are; how branches leave user
// mode.
constexpr SignalSet own_code_signals{
    Signal::tx_start,
    Signal::tx_commit,
    Signal::tx_abort,
    Signal::dsb_miss,
    Signal::dsb_to_mite,
    Signal::ms_switch,
    Signal::nop,
    Signal::prefetch,
    Signal::locked,
    Signal::serializing,
    Signal::fp_scalar_single,
    Signal::fp_scalar_double,
    Signal::fp_packed_128_single,
    Signal::fp_packed_128_double,
    Signal::fp_packed_256_single,
    Signal::fp_packed_256_double,
    Signal::fp_packed_512_single,
    Signal::fp_packed_512_double,
    Signal::x87,
    Signal::divide,
    Signal::rep_string,
    Signal::macro_fused,
    Signal::microcoded,
    Signal::pause,
    Signal::far_branch,
    Signal::split_load,
    Signal::split_store,
    Signal::fp_scalar_half,
    Signal::fp_packed_128_half,
    Signal::fp_packed_256_half,
    Signal::fp_packed_512_half,
    Signal::fp_complex_half,
    Signal::multiply,
    Signal::slow_lea,
    Signal::load_fence,
    Signal::vector_integer_64,
    Signal::vector_integer_128,
    Signal::vector_integer_256,
    Signal::vector_integer_512,
    Signal::vector_arithmetic,
    Signal::vector_logical,
    Signal::vector_shift,
    Signal::vector_multiply,
    Signal::vector_dot_product,
    Signal::vector_pack,
    Signal::vector_unpack,
    Signal::vector_shuffle,
    Signal::register_move,
    Signal::vector_register_move,
    Signal::prefetch_nta,
    Signal::prefetch_t0,
    Signal::prefetch_t1_t2,
    Signal::prefetch_write,
};

/// Of a core that does not know the event, the fastest that does.
CoreLevel level_that_knows(const ResolvedEvent& event) {
  for (const CoreLevel level : {CoreLevel::simple, CoreLevel::memory})
    if (is_known_at(level, event)) return level;
  return CoreLevel::interval;
}

}  // namespace

bool is_known_at(CoreLevel core, const ResolvedEvent& event) {
  return !(event.in_transactions && !is_whole(core)) &&
         pmusim::is_known_at(core, event.definition, event.config, event.extra);
}

bool follows_from_order(const ResolvedEvent& event) {
  return !event.in_transactions && pmusim::follows_from_order(event.definition, event.config, event.extra);
}

bool is_pmu_event(const perf::Attr& attr) {
  const auto type = static_cast<EventType>(attr.type);
  return type == EventType::hardware || type == EventType::hw_cache || type == EventType::raw;
}

bool needs_data_addresses(const EventRule& rule) {
  switch (rule.quantity) {
    case Quantity::none:
      return address_signals.intersects(rule.all | rule.any | rule.none);
    case Quantity::slots_memory:
    case Quantity::stall_cycles_memory:
    case Quantity::stall_cycles_l1_miss:
    case Quantity::stall_cycles_l2_miss:
    case Quantity::stall_cycles_l3_miss:
    case Quantity::page_walks_load:
    case Quantity::page_walks_store:
    case Quantity::page_walk_cycles:
    case Quantity::l2_requests:
    case Quantity::l2_misses:
    case Quantity::l2_data_reads:
    case Quantity::l2_data_read_misses:
    case Quantity::l2_ownership_reads:
    case Quantity::l2_ownership_read_misses:
    case Quantity::llc_references:
    case Quantity::llc_misses:
    case Quantity::l1d_replacements:
    case Quantity::l2_lines_in:
    case Quantity::l2_prefetches:
    case Quantity::l2_prefetch_misses:
    case Quantity::page_walk_cycles_load:
    case Quantity::page_walk_cycles_store:
    case Quantity::store_buffer_full_cycles:
      return true;
    default:
      return rule.quantity >= Quantity::cycles_loads && rule.quantity <= Quantity::fill_buffers_full_periods;
  }
}

bool needs_own_code(const EventRule& rule) {
  switch (rule.quantity) {
    case Quantity::none:
      return own_code_signals.intersects(rule.all | rule.any | rule.none);
    case Quantity::uops:
    case Quantity::uops_dsb:
    case Quantity::uops_mite:
    case Quantity::uops_first_decoder:
    case Quantity::instructions_decoded:
    case Quantity::mite_cycles_two_decoders:
    case Quantity::mite_cycles_four_uops:
    case Quantity::uops_x87:
    case Quantity::uops_ms:
    case Quantity::uops_lsd:
    case Quantity::dsb_cycles_any:
    case Quantity::dsb_cycles_ok:
    case Quantity::mite_cycles_any:
    case Quantity::mite_cycles_ok:
    case Quantity::ms_cycles:
    case Quantity::lsd_cycles_any:
    case Quantity::lsd_cycles_ok:
    case Quantity::dsb_to_mite_cycles:
    case Quantity::length_stall_cycles:
    case Quantity::slots_heavy:
    case Quantity::divider_cycles_integer:
    case Quantity::divider_cycles_fp:
    case Quantity::flops_add:
    case Quantity::flops_multiply:
    case Quantity::flops_divide:
    case Quantity::flops_multiply_add:
      return true;
    default:
      return rule.quantity >= Quantity::uops_issued && rule.quantity <= Quantity::scheduler_empty_periods;
  }
}

namespace {

bool compares_cycles(const ResolvedEvent& event) {
  return (event.config & (msr::evtsel::CMASK | msr::evtsel::INV | msr::evtsel::EDGE)) != 0;
}

/// What a counter programmed with this event counts where its CMASK asks for cycles that the core tells.
std::optional<EventRule> rule_within_cycles(const CpuModel& model, const ResolvedEvent& event) {
  if ((event.config & msr::evtsel::EQ) != 0) return std::nullopt;
  return cycles_with(event.definition.rule, cycle_condition(event.config, model.core.issue_width));
}

}  // namespace

std::optional<std::string> replay_refusal(const CpuModel& model, const ResolvedEvent& event) {
  const EventRule rule = rule_within_cycles(model, event).value_or(event.definition.rule);
  if (const std::string_view reason = why_never_reported(rule, model); !reason.empty())
    return fmt::format("{} exists on {}, but {}", event.definition.name, model.title, reason);
  // UOPS_EXECUTED.CORE_CYCLES_NONE from Sandy Bridge to Broadwell, as vendors list it.
  constexpr u64 comparison = msr::evtsel::CMASK | msr::evtsel::INV;
  if ((event.config & comparison) == msr::evtsel::INV && differs_from_cycles(event.definition.rule))
    return fmt::format("{} exists on {}, but with INV and no CMASK, so that counters ignore INV",
                       event.definition.name, model.title);
  if (compares_cycles(event) && differs_from_cycles(event.definition.rule) &&
      !rule_within_cycles(model, event))
    return fmt::format(
        "{} with this CMASK, INV or EDGE compares how many there are within a cycle, of which the core model "
        "knows less",
        event.definition.name);
  return off_core_refusal(model, {event.config, event.extra});
}

bool is_absent(const CpuModel& model, const perf::Attr& attr) {
  const auto type = static_cast<EventType>(attr.type);
  if (type != EventType::hardware && type != EventType::hw_cache) return false;
  const auto encoding =
      type == EventType::hardware ? generic_encoding(model, attr.config) : cache_encoding(model, attr.config);
  return !encoding.ok() && encoding.error() == NoEncoding::absent;
}

Result<ResolvedEvent, Error> identify(const CpuModel& model, const perf::Attr& attr) {
  const auto selection = select(model, attr);
  if (!selection.ok()) return Failure(selection.error());
  auto definition = find_definition(model, *selection);
  if (!definition) return refuse_unknown(model, *selection);
  take_exact_name(model, *selection, *definition);
  constexpr u64 transactions = msr::evtsel::IN_TX | msr::evtsel::IN_TXCP;
  return ResolvedEvent{
      .definition = *definition,
      .config = selection->config,
      .extra = selection->extra,
      .in_transactions = model.select == SelectLayout::modifiers && (selection->config & transactions) != 0};
}

bool needs_modelled_time(const ResolvedEvent& event) {
  return pmusim::needs_modelled_time(event.definition, event.config, event.extra);
}

Result<ResolvedEvent, Error> resolve(const CpuModel& model, const perf::Attr& attr, const Traced& traced) {
  auto event = identify(model, attr);
  if (!event.ok()) return event;
  if (auto refusal = replay_refusal(model, *event)) return refuse(std::move(*refusal));
  if (traced.addresses == DataAddresses::missing && needs_data_addresses(event->definition.rule))
    return refuse(fmt::format("{} needs the addresses of data accesses, which this trace does not have",
                              event->definition.name));
  if (traced.code == TracedCode::stand_in && needs_own_code(event->definition.rule))
    return refuse(fmt::format(
        "{} needs the program's own code, which this trace does not have: its source records branches, "
        "loads and stores only",
        event->definition.name));
  if (traced.time == TimeSource::recorded && needs_modelled_time(*event))
    return refuse(
        fmt::format("{} needs to know what each cycle was lost to, and this trace goes by recorded time, "
                    "which says how long instructions took and no more",
                    event->definition.name));
  if (!is_known_at(traced.core, *event) && !model.has_timing_model)
    return refuse(fmt::format("{} is more than core '{}' knows, and there is no timing model of {}",
                              event->definition.name, name_of(traced.core), model.title));
  if (!is_known_at(traced.core, *event))
    return refuse(fmt::format("{} is more than core '{}' knows: core '{}' counts it", event->definition.name,
                              name_of(traced.core), name_of(level_that_knows(*event))));
  return event;
}

}  // namespace pmusim::events
