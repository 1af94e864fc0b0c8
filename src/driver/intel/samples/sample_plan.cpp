// SPDX-License-Identifier: MIT
#include "driver/intel/samples/sample_plan.h"

#include <algorithm>

#include "driver/intel/cores/core_traits.h"
#include "driver/x86/event_data.h"
#include "driver/x86/record_word.h"
#include "pmusim/arch/debug_store.h"

namespace pmusim::driver {

namespace {

namespace sample = perf::sample;

constexpr u64 planned_weight_types = sample::WEIGHT | sample::WEIGHT_STRUCT;
constexpr u64 planned_access_types =
    sample::ADDR | sample::PHYS_ADDR | sample::DATA_SRC | sample::TRANSACTION | planned_weight_types;
constexpr u32 branch_bytes = sizeof(perf::BranchEntry);
constexpr u32 rip_behind_flags = offsetof(pebs::GprGroup, rip),
              rax_behind_flags = offsetof(pebs::GprGroup, gpr);

bool asks_for(const perf::Event& event, u64 types) { return (event.attr.sample_type & types) != 0; }

/// Where the words of a memory group lie.
template <class Group>
void place_access(RecordLayout& layout, u32 group) {
  layout.accesses = layout.transactions = true;
  layout.address = group + u32{offsetof(Group, address)};
  layout.data_source = group + u32{offsetof(Group, data_source)};
  layout.latency = group + u32{offsetof(Group, latency)};
  layout.tsx = group + u32{offsetof(Group, tsx)};
}

void place_registers(RecordLayout& layout, RegisterOrder order, u32 group) {
  layout.order = order;
  layout.registers = group;
  layout.rax = group + rax_behind_flags;
}

/// Whether the record has what the sample takes from it.
bool serves(const RecordLayout& record, const perf::Event& event, const perf::SampleTemplate& sample) {
  if (sample.at.registers != 0 && record.order == RegisterOrder::none) return false;
  const u32 limit = event.layout.branch_entries_limit;
  const bool all_fit = limit == 0 || record.lbr_entries <= limit;
  if (sample.at.branches_end != 0 && (record.lbr_entries == 0 || !all_fit)) return false;
  if (sample.at.transaction != 0 && record.transactions && record.order == RegisterOrder::none) return false;
  return record.accesses || !asks_for(event, planned_access_types);
}

}  // namespace

SamplePlanner::SamplePlanner(const Enumeration& enumeration)
    : format_(enumeration.pebs_format),
      traps_((enumeration.perf_capabilities & msr::perf_cap::PEBS_TRAP) != 0),
      latency_split_(traits_of(enumeration.microarchitecture).splits_latency),
      retire_latency_((enumeration.perf_capabilities & msr::perf_cap::PEBS_TIMING_INFO) != 0),
      lbr_depth_(enumeration.lbr_entries) {
  const DataSourceReader reader = DataSourceReader::of(enumeration);
  const DataSourceLayout layout = data_source_layout(reader.encoding);
  constexpr DataSourceLayout none,
      status{.code = store_status::L1_HIT | store_status::STLB_MISS | store_status::LOCKED};
  unknown_ = DataSourceTable(none, [](u64) { return perf::data_source_na; });
  loads_ = DataSourceTable(layout, [&](u64 word) { return reader.load(word); });
  stores_ = DataSourceTable(layout, [&](u64 word) { return reader.store(word); });
  precise_stores_ = DataSourceTable(status, precise_store_source);
  load_addresses_ = DataSourceTable(none, [](u64) { return load_address_source(); });
  store_addresses_ = DataSourceTable(status, store_address_source);
}

const DataSourceTable& SamplePlanner::sources_of(const perf::Event& event) const {
  if (has_flag(event, pebs_flag::MEMORY_STORE)) return store_addresses_;
  if (has_flag(event, pebs_flag::MEMORY_LOAD)) return load_addresses_;
  if (has_flag(event, pebs_flag::PRECISE_STORE)) return precise_stores_;
  if (has_flag(event, pebs_flag::STORE_LATENCY)) return stores_;
  return has_flag(event, pebs_flag::LOAD_LATENCY) ? loads_ : unknown_;
}

RecordLayout SamplePlanner::fixed_layout() const {
  RecordLayout layout;
  place_registers(layout, RegisterOrder::fixed, 0);
  if (pebs::has_registers_alone(format_)) return layout;
  layout.accesses = true;
  layout.address = offsetof(pebs::FixedRecord, linear_address);
  layout.data_source = offsetof(pebs::FixedRecord, data_source);
  layout.latency = offsetof(pebs::FixedRecord, latency_cycles);
  if (pebs::has_eventing_ip(format_)) {
    layout.transactions = true;
    layout.ip = offsetof(pebs::FixedRecord, eventing_ip);
    layout.tsx = offsetof(pebs::FixedRecord, tsx);
  }
  if (pebs::has_time(format_)) layout.tsc = offsetof(pebs::FixedRecord, tsc);
  return layout;
}

std::optional<RecordLayout> SamplePlanner::adaptive_layout_of(std::span<const std::byte> example) const {
  RecordLayout layout;
  layout.word_mask = low_bits(32);
  layout.word = load_word(example.data()) & layout.word_mask;
  const pebs::AdaptiveLayout groups = pebs::adaptive_layout(layout.word);
  if (groups.size > example.size()) return std::nullopt;
  layout.ip = offsetof(pebs::BasicGroup, eventing_ip);
  layout.tsc = offsetof(pebs::BasicGroup, tsc);
  if (groups.memory != 0) place_access<pebs::MemoryGroup>(layout, groups.memory);
  if (groups.gprs != 0) place_registers(layout, RegisterOrder::encoded, groups.gprs);
  layout.xmm = groups.xmm;
  layout.lbr = groups.lbr;
  layout.lbr_entries = groups.lbr_entries;
  return layout;
}

std::optional<RecordLayout> SamplePlanner::arch_layout_of(std::span<const std::byte> example) const {
  RecordLayout layout;
  layout.word = load_word(example.data());
  layout.word_mask = ~u64{0};
  const u64 size = layout.word & pebs::header::SIZE;
  if (size != example.size()) return std::nullopt;  // of several fragments
  const pebs::ArchLayout groups = pebs::arch_layout(layout.word, lbr_depth_);
  const auto has = [&](u32 offset, std::size_t bytes) { return offset != 0 && offset + bytes <= size; };
  constexpr u32 basic = sizeof(pebs::ArchHeader);
  layout.ip = basic + u32{offsetof(pebs::ArchBasic, eventing_ip)};
  layout.tsc = basic + u32{offsetof(pebs::ArchBasic, tsc)};
  if (has(groups.aux, sizeof(pebs::ArchAux))) place_access<pebs::ArchAux>(layout, groups.aux);
  if (has(groups.gprs, sizeof(pebs::ArchGprs))) place_registers(layout, RegisterOrder::encoded, groups.gprs);
  constexpr u32 vector_header = sizeof(pebs::ArchVectorHeader);
  if ((layout.word & pebs::cfg_c::XMM) != 0 && has(groups.vectors, vector_header + sizeof(pebs::XmmGroup))) {
    layout.xmm_valid = groups.vectors;
    layout.xmm = groups.vectors + vector_header;
  }
  constexpr u32 lbr_header = sizeof(pebs::ArchLbrHeader);
  if (!has(groups.lbr, lbr_header)) return layout;
  layout.depth = groups.lbr + u32{offsetof(pebs::ArchLbrHeader, depth)};
  layout.depth_mask = ~u64{0};
  layout.depth_word = load_word(example.data() + layout.depth);
  const auto depth = static_cast<u32>(std::min<u64>(layout.depth_word, lbr_depth_));
  const u32 entries = pebs::arch_lbr_entries(layout.word, depth);
  if (!has(groups.lbr, lbr_header + entries * sizeof(pebs::LbrRecord))) return layout;
  layout.lbr = groups.lbr + lbr_header;
  layout.lbr_entries = entries;
  return layout;
}

std::optional<RecordLayout> SamplePlanner::layout_of(std::span<const std::byte> example) const {
  if (pebs::is_fixed(format_)) return fixed_layout();
  return pebs::is_adaptive(format_) ? adaptive_layout_of(example) : arch_layout_of(example);
}

/// The recorded IP is that of the next instruction, where the format has no other or the event wants no
/// better. False: it has to be looked for in the code.
bool SamplePlanner::place_ip(const perf::Event& event, SamplePlan& plan) const {
  RecordLayout& record = plan.record;
  const bool exact = event.attr.precise_ip >= 2;
  if (pebs::is_fixed(format_) && !pebs::has_eventing_ip(format_)) {
    record.ip = record.registers + rip_behind_flags;
    if (traps_ && exact) return false;
  } else if (!exact && record.order != RegisterOrder::none) {
    record.ip = record.registers + rip_behind_flags;
  }
  const u64 header =
      plan.sample.words[0] | (exact ? u64{perf::misc::EXACT_IP} << 32 : 0) | u64{plan.sample.bytes} << 48;
  plan.hides_kernel = event.layout.hides_kernel;
  plan.headers = {header | u64{perf::misc::USER} << 32, header | u64{perf::misc::KERNEL} << 32};
  return true;
}

void SamplePlanner::place_weight(const perf::Event& event, SamplePlan& plan) const {
  plan.weight_struct = asks_for(event, sample::WEIGHT_STRUCT);
  if (pebs::is_fixed(format_)) {
    if (has_flag(event, pebs_flag::LOAD_LATENCY))
      plan.weight = WeightSource::latency;
    else if (plan.record.transactions)
      plan.weight = WeightSource::transaction;
    return;
  }
  const bool architectural = pebs::is_architectural(format_);
  plan.weight = architectural || latency_split_ ? WeightSource::split : WeightSource::access;
  if (architectural)
    plan.retire = RetireLatency::architectural;
  else if (retire_latency_)
    plan.retire = RetireLatency::adaptive;
}

std::optional<SamplePlan> SamplePlanner::plan(const perf::Event& event, const perf::SampleTemplate& sample,
                                              std::span<const std::byte> example,
                                              const PlainBranches& branches) const {
  const std::optional<RecordLayout> record = layout_of(example);
  if (!record || !serves(*record, event, sample)) return std::nullopt;
  if (sample.at.branches_end != 0 && branches.decoder == nullptr) return std::nullopt;
  SamplePlan plan;
  plan.sample = sample;
  plan.record = *record;
  if (!place_ip(event, plan)) return std::nullopt;
  if (event.attr.use_clockid || plan.record.tsc == 0) plan.sample.at.time = 0;  // the template's stays
  place_weight(event, plan);
  plan.sources = &sources_of(event);
  plan.branches = branches;
  plan.shape = plan_shape(sample.at.registers != 0 ? plan.record.order : RegisterOrder::none,
                          asks_for(event, planned_access_types),
                          sample.at.branches_end != 0 || sample.at.xmm_registers != 0);
  plan.most_bytes = sample.bytes + (sample.at.branches_end != 0 ? plan.record.lbr_entries * branch_bytes : 0);
  return plan;
}

}  // namespace pmusim::driver
