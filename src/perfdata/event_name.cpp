// SPDX-License-Identifier: MIT
#include "perfdata/event_name.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

namespace pmusim::perfdata {

namespace {

using perf::Attr;
using perf::EventType;

constexpr std::array<std::string_view, 10> hardware_names = {
    "cycles",        "instructions", "cache-references",        "cache-misses",           "branches",
    "branch-misses", "bus-cycles",   "stalled-cycles-frontend", "stalled-cycles-backend", "ref-cycles"};
static_assert(hardware_names.size() == static_cast<std::size_t>(perf::HardwareId::count_));

constexpr std::array<std::string_view, 12> software_names = {
    "cpu-clock",        "task-clock",   "page-faults",  "context-switches",
    "cpu-migrations",   "minor-faults", "major-faults", "alignment-faults",
    "emulation-faults", "dummy",        "bpf-output",   "cgroup-switches"};
static_assert(software_names.size() == static_cast<std::size_t>(perf::SoftwareId::count_));

template <std::size_t n>
std::string name_at(const std::array<std::string_view, n>& names, u64 number, std::string_view unknown) {
  return std::string(number < n ? names[number] : unknown);
}

/// A row of PERF_TYPE_HW_CACHE, and which of load, store and prefetch it has.
struct CacheRow {
  std::string_view name;
  u8 operations;
};
constexpr std::array<CacheRow, 7> cache_names = {{{"L1-dcache", 0b111},
                                                  {"L1-icache", 0b101},
                                                  {"LLC", 0b111},
                                                  {"dTLB", 0b111},
                                                  {"iTLB", 0b001},
                                                  {"branch", 0b001},
                                                  {"node", 0b111}}};
constexpr std::array<std::string_view, 3> operations = {"load", "store", "prefetch"},
                                          accesses = {"loads", "stores", "prefetches"};

std::string cache_name(u64 config) {
  const u64 cache = field(config, 7, 0), operation = field(config, 15, 8), result = field(config, 23, 16);
  if (cache >= cache_names.size()) return "unknown-ext-hardware-cache-type";
  if (operation >= operations.size()) return "unknown-ext-hardware-cache-op";
  if (result > 1) return "unknown-ext-hardware-cache-result";
  const CacheRow& row = cache_names[cache];
  if ((row.operations >> operation & 1) == 0) return "invalid-cache";
  if (result == 0) return fmt::format("{}-{}", row.name, accesses[operation]);
  return fmt::format("{}-{}-misses", row.name, operations[operation]);
}

std::string breakpoint_name(const Attr& attr) {
  constexpr std::array<std::string_view, 3> letters = {"r", "w", "x"};
  std::string name = fmt::format("mem:{:#x}:", attr.config1);
  for (unsigned n = 0; n < letters.size(); ++n)
    if ((attr.bp_type >> n & 1) != 0) name += letters[n];
  return name;
}

std::string modifiers(const Attr& attr) {
  std::string text;
  const bool some_levels = attr.exclude_kernel || attr.exclude_user || attr.exclude_hv;
  const auto add = [&](bool excluded, char letter) {
    if (!excluded) text += letter;
  };
  if (some_levels) {
    add(attr.exclude_kernel, 'k');
    add(attr.exclude_user, 'u');
    add(attr.exclude_hv, 'h');
  }
  text.append(attr.precise_ip, 'p');
  // Host alone is what perf takes for granted, unless levels or precision are given: then host and guest.
  const bool guest_excluded_by_default = !some_levels && attr.precise_ip == 0;
  if (attr.exclude_host || (attr.exclude_guest != 0) != guest_excluded_by_default) {
    add(attr.exclude_host, 'H');
    add(attr.exclude_guest, 'G');
  }
  return text.empty() ? text : ":" + text;
}

}  // namespace

std::string event_name(const Attr& attr) {
  constexpr u64 event_bits = 0xFFFF'FFFF;  // above them is the kind of core, of a hybrid machine
  switch (static_cast<EventType>(attr.type)) {
    case EventType::hardware:
      return name_at(hardware_names, attr.config & event_bits, "unknown-hardware") + modifiers(attr);
    case EventType::software:
      return name_at(software_names, attr.config, "unknown-software") + modifiers(attr);
    case EventType::tracepoint:
      return "unknown tracepoint";
    case EventType::hw_cache:
      return cache_name(attr.config & event_bits) + modifiers(attr);
    case EventType::raw:
      return fmt::format("raw {:#x}{}", attr.config, modifiers(attr));
    case EventType::breakpoint:
      return breakpoint_name(attr) + modifiers(attr);
  }
  return fmt::format("unknown attr type: {}", attr.type);
}

}  // namespace pmusim::perfdata
