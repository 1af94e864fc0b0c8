// SPDX-License-Identifier: MIT
#include "names.h"

#include <algorithm>
#include <array>

#include "cpu/core_facts.h"
#include "text.h"

namespace pmusim::events {
namespace {

using perf::EventType;

struct Name {
  std::string_view name;
  u64 id;
};

constexpr Name hardware(std::string_view name, perf::HardwareId id) { return {name, static_cast<u64>(id)}; }
constexpr Name software(std::string_view name, perf::SoftwareId id) { return {name, static_cast<u64>(id)}; }

constexpr std::array hardware_names{
    hardware("cpu-cycles", perf::HardwareId::cpu_cycles),
    hardware("cycles", perf::HardwareId::cpu_cycles),
    hardware("instructions", perf::HardwareId::instructions),
    hardware("cache-references", perf::HardwareId::cache_references),
    hardware("cache-misses", perf::HardwareId::cache_misses),
    hardware("branch-instructions", perf::HardwareId::branch_instructions),
    hardware("branches", perf::HardwareId::branch_instructions),
    hardware("branch-misses", perf::HardwareId::branch_misses),
    hardware("bus-cycles", perf::HardwareId::bus_cycles),
    hardware("stalled-cycles-frontend", perf::HardwareId::stalled_cycles_frontend),
    hardware("idle-cycles-frontend", perf::HardwareId::stalled_cycles_frontend),
    hardware("stalled-cycles-backend", perf::HardwareId::stalled_cycles_backend),
    hardware("idle-cycles-backend", perf::HardwareId::stalled_cycles_backend),
    hardware("ref-cycles", perf::HardwareId::ref_cycles),
};

constexpr std::array software_names{
    software("cpu-clock", perf::SoftwareId::cpu_clock),
    software("task-clock", perf::SoftwareId::task_clock),
    software("page-faults", perf::SoftwareId::page_faults),
    software("faults", perf::SoftwareId::page_faults),
    software("context-switches", perf::SoftwareId::context_switches),
    software("cs", perf::SoftwareId::context_switches),
    software("cpu-migrations", perf::SoftwareId::cpu_migrations),
    software("migrations", perf::SoftwareId::cpu_migrations),
    software("minor-faults", perf::SoftwareId::page_faults_min),
    software("major-faults", perf::SoftwareId::page_faults_maj),
    software("alignment-faults", perf::SoftwareId::alignment_faults),
    software("emulation-faults", perf::SoftwareId::emulation_faults),
    software("dummy", perf::SoftwareId::dummy),
    software("bpf-output", perf::SoftwareId::bpf_output),
    software("cgroup-switches", perf::SoftwareId::cgroup_switches),
};

constexpr Name cache(std::string_view name, CacheId id) { return {name, static_cast<u64>(id)}; }
constexpr Name operation(std::string_view name, CacheOperation id) { return {name, static_cast<u64>(id)}; }
constexpr Name result(std::string_view name, CacheResult id) { return {name, static_cast<u64>(id)}; }

constexpr std::array cache_names{
    cache("L1-dcache", CacheId::l1d), cache("l1-d", CacheId::l1d),
    cache("l1d", CacheId::l1d),       cache("L1-data", CacheId::l1d),
    cache("L1-icache", CacheId::l1i), cache("l1-i", CacheId::l1i),
    cache("l1i", CacheId::l1i),       cache("L1-instruction", CacheId::l1i),
    cache("LLC", CacheId::ll),        cache("L2", CacheId::ll),
    cache("dTLB", CacheId::dtlb),     cache("d-tlb", CacheId::dtlb),
    cache("Data-TLB", CacheId::dtlb), cache("iTLB", CacheId::itlb),
    cache("i-tlb", CacheId::itlb),    cache("Instruction-TLB", CacheId::itlb),
    cache("branch", CacheId::bpu),    cache("branches", CacheId::bpu),
    cache("bpu", CacheId::bpu),       cache("btb", CacheId::bpu),
    cache("bpc", CacheId::bpu),       cache("node", CacheId::node),
};
constexpr std::array operation_names{
    operation("load", CacheOperation::read),
    operation("loads", CacheOperation::read),
    operation("read", CacheOperation::read),
    operation("store", CacheOperation::write),
    operation("stores", CacheOperation::write),
    operation("write", CacheOperation::write),
    operation("prefetch", CacheOperation::prefetch),
    operation("prefetches", CacheOperation::prefetch),
    operation("speculative-read", CacheOperation::prefetch),
    operation("speculative-load", CacheOperation::prefetch),
};
constexpr std::array result_names{
    result("refs", CacheResult::access), result("Reference", CacheResult::access),
    result("ops", CacheResult::access),  result("access", CacheResult::access),
    result("misses", CacheResult::miss), result("miss", CacheResult::miss),
};

std::optional<u64> find_name(std::span<const Name> names, std::string_view name) {
  const auto found =
      std::ranges::find_if(names, [&](const Name& n) { return equal_without_case(n.name, name); });
  return found == names.end() ? std::nullopt : std::optional(found->id);
}

/// Takes the longest of `names` that `rest` begins with, up to its end or a dash, and the dash.
std::optional<u64> take_part(std::span<const Name> names, std::string_view& rest) {
  const Name* best = nullptr;
  for (const Name& n : names) {
    const bool ends =
        rest.size() == n.name.size() || (rest.size() > n.name.size() && rest[n.name.size()] == '-');
    if (ends && equal_without_case(rest.substr(0, n.name.size()), n.name) &&
        (best == nullptr || n.name.size() > best->name.size()))
      best = &n;
  }
  if (best == nullptr) return std::nullopt;
  rest.remove_prefix(std::min(rest.size(), best->name.size() + 1));
  return best->id;
}

/// SLOTS and the bytes of PERF_METRICS (docs/scheduling.md).
constexpr std::array first_metrics{NamedEncoding{"slots", 0x0400}, NamedEncoding{"topdown-retiring", 0x8000},
                                   NamedEncoding{"topdown-bad-spec", 0x8100},
                                   NamedEncoding{"topdown-fe-bound", 0x8200},
                                   NamedEncoding{"topdown-be-bound", 0x8300}};
constexpr std::array second_metrics{
    NamedEncoding{"topdown-heavy-ops", 0x8400}, NamedEncoding{"topdown-br-mispredict", 0x8500},
    NamedEncoding{"topdown-fetch-lat", 0x8600}, NamedEncoding{"topdown-mem-bound", 0x8700}};

constexpr u64 in_tx = u64{1} << 32, in_tx_checkpointed = u64{1} << 33;
constexpr std::array transactions{NamedEncoding{"tx-start", 0x01C9}, NamedEncoding{"tx-commit", 0x02C9},
                                  NamedEncoding{"tx-abort", 0x04C9},
                                  NamedEncoding{"cycles-t", 0x003C | in_tx},
                                  NamedEncoding{"cycles-ct", 0x003C | in_tx | in_tx_checkpointed}};

constexpr std::array branch_sampling{NamedEncoding{"branch-brs", 0x00C4}};

std::vector<NamedEncoding> driver_names(const CpuModel& model) {
  std::vector<NamedEncoding> names;
  const auto add = [&](std::span<const NamedEncoding> more) {
    names.insert(names.end(), more.begin(), more.end());
  };
  add(core_facts(model.microarchitecture()).named_events);
  if (model.metrics_levels >= 1) add(first_metrics);
  if (model.metrics_levels >= 2) add(second_metrics);
  if (model.rtm) add(transactions);
  if (model.amd.has_branch_sampling()) add(branch_sampling);
  return names;
}

}  // namespace

std::optional<NamedEvent> find_hardware_event(std::string_view name) {
  const auto id = find_name(hardware_names, name);
  return id ? std::optional(NamedEvent{EventType::hardware, *id, 0}) : std::nullopt;
}

std::optional<NamedEvent> find_software_event(std::string_view name) {
  const auto id = find_name(software_names, name);
  return id ? std::optional(NamedEvent{EventType::software, *id, 0}) : std::nullopt;
}

std::optional<NamedEvent> find_cache_event(std::string_view name) {
  std::string_view rest = name;
  const auto cache_id = take_part(cache_names, rest);
  if (!cache_id) return std::nullopt;
  std::optional<u64> operation_id, result_id;
  while (!rest.empty()) {
    if (!operation_id && (operation_id = take_part(operation_names, rest))) continue;
    if (!result_id && (result_id = take_part(result_names, rest))) continue;
    return std::nullopt;
  }
  const u64 op = operation_id.value_or(0), res = result_id.value_or(0);
  if (!makes_sense(static_cast<CacheId>(*cache_id), static_cast<CacheOperation>(op))) return std::nullopt;
  return NamedEvent{EventType::hw_cache, *cache_id | op << 8 | res << 16, 0};
}

std::optional<NamedEvent> find_driver_event(const CpuModel& model, std::string_view name) {
  for (const NamedEncoding& n : driver_names(model))
    if (equal_without_case(n.name, name)) return NamedEvent{EventType::raw, n.config, n.extra, n.scale};
  return std::nullopt;
}

std::vector<std::string_view> perf_event_names(const CpuModel& model) {
  std::vector<std::string_view> names;
  for (const Name& n : hardware_names) names.push_back(n.name);
  for (const Name& n : software_names) names.push_back(n.name);
  for (const NamedEncoding& n : driver_names(model)) names.push_back(n.name);
  for (const std::string_view n :
       {"L1-dcache-loads", "L1-dcache-load-misses", "L1-dcache-stores", "L1-dcache-store-misses",
        "L1-icache-load-misses", "LLC-loads", "LLC-load-misses", "LLC-stores", "LLC-store-misses",
        "dTLB-loads", "dTLB-load-misses", "dTLB-stores", "dTLB-store-misses", "iTLB-loads",
        "iTLB-load-misses", "branch-loads", "branch-load-misses"})
    names.push_back(n);
  return names;
}

std::vector<std::string_view> known_names(const CpuModel& model) {
  std::vector<std::string_view> names = perf_event_names(model);
  for (const EventDefinition& row : model.events) names.push_back(row.name);
  return names;
}

}  // namespace pmusim::events
