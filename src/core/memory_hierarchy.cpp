// SPDX-License-Identifier: MIT
#include "core/memory_hierarchy.h"

#include <algorithm>
#include <bit>

namespace pmusim {
namespace {

constexpr unsigned page_shift = 12;

template <class Value>
SetAssociative<Value> make(const CacheGeometry& cache) {
  return {cache.bytes / cache.line_bytes / cache.ways, cache.ways};
}

u32& at(Quantities& quantities, Quantity which) { return quantities[static_cast<unsigned>(which)]; }

}  // namespace

MemoryHierarchy::MemoryHierarchy(const CoreParameters& p)
    : line_shift_(static_cast<unsigned>(std::countr_zero(p.l1d.line_bytes))),
      l1d_latency_(p.l1d.latency_cycles),
      l1i_miss_penalty_(p.l1i_miss_penalty),
      l2_latency_(p.l2.latency_cycles),
      l3_latency_(p.l3.latency_cycles),
      memory_latency_(p.memory_latency_cycles),
      stlb_latency_(p.stlb_latency_cycles),
      page_walk_cycles_(p.page_walk_cycles),
      l1d_(make<Fill>(p.l1d)),
      l1i_(make<Present>(p.l1i)),
      l2_(make<Present>(p.l2)),
      l3_(p.l3.bytes == 0 ? std::nullopt : std::optional(make<Present>(p.l3))),
      dtlb_(p.dtlb_entries / p.dtlb_ways, p.dtlb_ways),
      itlb_(p.itlb_entries / p.itlb_ways, p.itlb_ways),
      stlb_(p.stlb_entries == 0 ? std::nullopt
                                : std::optional<SetAssociative<Present>>(
                                      std::in_place, p.stlb_entries / p.stlb_ways, p.stlb_ways)),
      fill_buffers_(p.outstanding_misses) {}

MemoryHierarchy::Outer MemoryHierarchy::look_up_outer(u64 line, Quantities& quantities) {
  ++at(quantities, Quantity::l2_requests);
  if (!l3_.has_value()) ++at(quantities, Quantity::llc_references);
  if (l2_.find(line) != nullptr) return {CacheLevel::l2, l2_latency_};
  ++at(quantities, Quantity::l2_misses);
  l2_.insert(line, {});
  if (l3_.has_value()) {
    ++at(quantities, Quantity::llc_references);
    if (l3_->find(line) != nullptr) return {CacheLevel::l3, l3_latency_};
    l3_->insert(line, {});
  }
  ++at(quantities, Quantity::llc_misses);
  return {CacheLevel::memory, memory_latency_};
}

MemoryHierarchy::Translation MemoryHierarchy::translate(SetAssociative<Present>& first_level, u64 page,
                                                        Quantity walks, Quantities& quantities) {
  if (first_level.find(page) != nullptr) return {};
  first_level.insert(page, {});
  if (stlb_ && stlb_->find(page) != nullptr) return {TlbLevel::l2, stlb_latency_};
  if (stlb_) stlb_->insert(page, {});
  ++at(quantities, walks);
  at(quantities, Quantity::page_walk_cycles) += page_walk_cycles_;
  return {TlbLevel::walk, stlb_latency_ + page_walk_cycles_};
}

MemoryHierarchy::Answer MemoryHierarchy::access(u64 address, AccessKind kind, u64 cycle,
                                                Quantities& quantities) {
  const Translation translation = translate(
      dtlb_, address >> page_shift,
      kind == AccessKind::load ? Quantity::page_walks_load : Quantity::page_walks_store, quantities);
  const u64 start = cycle + translation.latency_cycles;
  const u64 line = line_of(address);
  if (const Fill* present = l1d_.find(line)) {
    const u64 hit = start + l1d_latency_;
    if (present->ready_cycle <= hit) return {CacheLevel::l1, CacheLevel::l1, translation.level, hit};
    return {CacheLevel::fill_buffer, present->source, translation.level, present->ready_cycle};
  }
  const Outer outer = look_up_outer(line, quantities);
  u64& buffer = *std::min_element(fill_buffers_.begin(), fill_buffers_.end());
  buffer = std::max(start, buffer) + outer.latency_cycles;
  l1d_.insert(line, Fill{buffer, outer.level});
  return {outer.level, outer.level, translation.level, buffer};
}

MemoryHierarchy::Answer MemoryHierarchy::fetch(u64 address, u64 cycle, Quantities& quantities) {
  const Translation translation =
      translate(itlb_, address >> page_shift, Quantity::page_walks_instruction, quantities);
  const u64 start = cycle + translation.latency_cycles;
  const u64 line = line_of(address);
  if (l1i_.find(line) != nullptr) return {CacheLevel::l1, CacheLevel::l1, translation.level, start};
  l1i_.insert(line, {});
  const Outer outer = look_up_outer(line, quantities);
  const unsigned delay = outer.level == CacheLevel::l2 ? l1i_miss_penalty_ : outer.latency_cycles;
  return {outer.level, outer.level, translation.level, start + delay};
}

void MemoryHierarchy::flush(u64 address) {
  const u64 line = line_of(address);
  l1d_.erase(line);
  l1i_.erase(line);
  l2_.erase(line);
  if (l3_) l3_->erase(line);
}

}  // namespace pmusim
