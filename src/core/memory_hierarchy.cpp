// SPDX-License-Identifier: MIT
#include "core/memory_hierarchy.h"

#include <algorithm>
#include <bit>

#include "core/quantities.h"

namespace pmusim {
namespace {

template <class Value>
SetAssociative<Value> make(const CacheGeometry& cache) {
  return {cache.bytes / cache.line_bytes / cache.ways, cache.ways};
}

/// The quantity that has the cycles of the walks that another one counts.
Quantity walk_cycles(Quantity walks) {
  switch (walks) {
    case Quantity::page_walks_load:
      return Quantity::page_walk_cycles_load;
    case Quantity::page_walks_store:
      return Quantity::page_walk_cycles_store;
    default:
      return Quantity::page_walk_cycles_instruction;
  }
}

/// The quantities that count requests of L2 for data, ownership and code.
constexpr struct {
  Quantity requests, misses;
} l2_reads[] = {
    {Quantity::l2_data_reads, Quantity::l2_data_read_misses},
    {Quantity::l2_ownership_reads, Quantity::l2_ownership_read_misses},
    {Quantity::l2_code_reads, Quantity::l2_code_read_misses},
};

}  // namespace

MemoryHierarchy::MemoryHierarchy(const CoreParameters& p)
    : line_shift_(static_cast<unsigned>(std::countr_zero(p.l1d.line_bytes))),
      l1d_latency_(p.l1d.latency_cycles),
      l1i_miss_penalty_(p.l1i_miss_penalty),
      l2_latency_(p.l2.latency_cycles),
      l3_latency_(p.l3.latency_cycles),
      memory_latency_(p.memory_latency_cycles),
      snoop_cycles_(p.snoop_cycles),
      modified_snoop_cycles_(p.modified_snoop_cycles),
      remote_cycles_(p.remote_cycles),
      stlb_latency_(p.stlb_latency_cycles),
      page_walk_cycles_(p.page_walk_cycles),
      page_walk_loads_(p.page_walk_loads),
      adjacent_line_level_(p.adjacent_line_level),
      l1d_(make<Fill>(p.l1d)),
      l1i_(make<Present>(p.l1i)),
      l2_(make<Fill>(p.l2)),
      l3_(p.l3.bytes == 0 ? std::nullopt : std::optional(make<Present>(p.l3))),
      dtlb_(p.dtlb_entries / p.dtlb_ways, p.dtlb_ways),
      itlb_(p.itlb_entries / p.itlb_ways, p.itlb_ways),
      stlb_(p.stlb_entries == 0 ? std::nullopt
                                : std::optional<SetAssociative<Present>>(
                                      std::in_place, p.stlb_entries / p.stlb_ways, p.stlb_ways)),
      fill_buffers_(p.outstanding_misses),
      prefetches_(p.l2_prefetches_outstanding),
      l2_geometry_(p.l2),
      l3_geometry_(p.l3),
      l2_transfers_(p.l2_transfers != 0),
      strides_(p.l1_stride_loads),
      streams_({.pages = p.l2_stream_pages,
                .gap_lines = p.l2_stream_gap_lines,
                .burst_lines = p.l2_stream_burst_lines,
                .ahead_lines = p.l2_stream_ahead_lines,
                .line_shift = line_shift_,
                .next_page = p.next_page_prefetch}) {}

void MemoryHierarchy::join(MachineCaches& machine, const CorePlace& place) {
  machine_ = &machine;
  core_ = machine.join(*this, place, {.l2 = l2_geometry_, .l3 = l3_geometry_, .l2_transfers = l2_transfers_});
  l3_.reset();
}

void MemoryHierarchy::share_l2(ModuleCache& module, u32 core) {
  core_ = core;
  l2_.for_each_from_oldest([&](u64 line, const Fill& fill) {
    const u64 key = machine_->key(line);
    if (!module.has(key)) module.insert(key, fill, core_);
  });
  l2_ = make<Fill>({.bytes = l2_geometry_.line_bytes, .ways = 1, .line_bytes = l2_geometry_.line_bytes});
  module_ = &module;
}

const Fill* MemoryHierarchy::find_in_l2(u64 line) {
  return module_ == nullptr ? l2_.find(line) : module_->find(machine_->key(line), core_);
}

bool MemoryHierarchy::holds_in_l2(u64 line) const {
  return module_ == nullptr ? l2_.has(line) : module_->has(machine_->key(line));
}

void MemoryHierarchy::fill_l2(u64 line, const Fill& fill) {
  if (module_ == nullptr)
    l2_.insert(line, fill);
  else
    module_->insert(machine_->key(line), fill, core_);
}

void MemoryHierarchy::invalidate(u64 line) {
  l1d_.erase(line);
  l1i_.erase(line);
  l2_.erase(line);
}

u64 MemoryHierarchy::latency_of(const MachineCaches::Answer& answer) const {
  if (answer.remote) return l3_latency_ + remote_cycles_;
  const u64 latency = answer.level == CacheLevel::l2   ? l2_latency_
                      : answer.level == CacheLevel::l3 ? l3_latency_
                                                       : memory_latency_;
  if (answer.snoop == Snoop::none) return latency;
  return latency + (answer.snoop == Snoop::modified ? modified_snoop_cycles_ : snoop_cycles_);
}

MemoryHierarchy::Outer MemoryHierarchy::look_up_machine(u64 line, u64 cycle, Quantities& quantities) {
  const MachineCaches::Answer answer = machine_->read(core_, line);
  if (l3_geometry_.bytes != 0) ++at(quantities, Quantity::llc_references);
  if (answer.level == CacheLevel::memory) ++at(quantities, Quantity::llc_misses);
  return {answer.level, cycle + latency_of(answer), answer.snoop, answer.remote};
}

// A store to a line that other cores may have: it asks for it beyond L2, though the line is here.
void MemoryHierarchy::own(u64 line, u64 start, Answer& answer, Quantities& quantities) {
  const std::optional<MachineCaches::Answer> asked = machine_->own(core_, line);
  if (!asked || answer.level > CacheLevel::l2) return;
  ++at(quantities, Quantity::l2_requests);
  ++at(quantities, Quantity::l2_ownership_reads);
  if (asked->level > CacheLevel::l2) {
    ++at(quantities, Quantity::l2_misses);
    ++at(quantities, Quantity::l2_ownership_read_misses);
  }
  if (asked->level > CacheLevel::l2 || l3_geometry_.bytes == 0) ++at(quantities, Quantity::llc_references);
  answer.level = answer.source = asked->level;
  answer.snoop = asked->snoop;
  answer.remote = asked->remote;
  answer.ready_cycle = std::max(answer.ready_cycle, start + latency_of(*asked));
}

MemoryHierarchy::Outer MemoryHierarchy::look_up_last(u64 line, u64 cycle, Quantities& quantities) {
  if (machine_ != nullptr) return look_up_machine(line, cycle, quantities);
  if (l3_.has_value()) {
    ++at(quantities, Quantity::llc_references);
    if (l3_->find(line) != nullptr) return {CacheLevel::l3, cycle + l3_latency_};
    l3_->insert(line, {});
  }
  ++at(quantities, Quantity::llc_misses);
  return {CacheLevel::memory, cycle + memory_latency_};
}

MemoryHierarchy::Outer MemoryHierarchy::look_up_outer(u64 line, u64 cycle, Reader reader,
                                                      Quantities& quantities) {
  const auto& [requests, misses] = l2_reads[static_cast<unsigned>(reader)];
  ++at(quantities, Quantity::l2_requests);
  ++at(quantities, requests);
  if (l3_geometry_.bytes == 0) ++at(quantities, Quantity::llc_references);
  if (const Fill* const present = find_in_l2(line)) {
    if (module_ != nullptr)
      if (const std::optional<Outer> sent = ask_module(line, cycle, misses, quantities)) return *sent;
    const u64 hit = cycle + l2_latency_;
    if (present->ready_cycle() <= hit) return {CacheLevel::l2, hit};
    ++at(quantities, Quantity::l2_misses);  // a prefetch is under way
    ++at(quantities, misses);
    return {present->source(), present->ready_cycle()};
  }
  ++at(quantities, Quantity::l2_misses);
  ++at(quantities, misses);
  ++at(quantities, Quantity::l2_lines_in);
  const Outer outer = look_up_last(line, cycle, quantities);
  fill_l2(line, Fill(outer.ready_cycle, outer.level));
  return outer;
}

// L2 has a line that another core of the module may have written to in its L1.
std::optional<MemoryHierarchy::Outer> MemoryHierarchy::ask_module(u64 line, u64 cycle, Quantity misses,
                                                                  Quantities& quantities) {
  const std::optional<MachineCaches::Answer> sent = machine_->share(core_, line);
  if (!sent) return std::nullopt;
  if (sent->level > CacheLevel::l2) {
    ++at(quantities, Quantity::l2_misses);
    ++at(quantities, misses);
    ++at(quantities, l3_geometry_.bytes != 0 ? Quantity::llc_references : Quantity::llc_misses);
  }
  return Outer{sent->level, cycle + latency_of(*sent), sent->snoop, sent->remote};
}

// A request of L1, which the prefetchers of L2 see.
MemoryHierarchy::Outer MemoryHierarchy::ask_l2(u64 line, u64 cycle, Reader reader, Quantities& quantities) {
  const Outer outer = look_up_outer(line, cycle, reader, quantities);
  prefetch_stream(line, cycle, quantities);
  if (outer.level == CacheLevel::memory) prefetch_pair(line ^ 1, cycle, quantities);
  return outer;
}

void MemoryHierarchy::prefetch_stream(u64 line, u64 cycle, Quantities& quantities) {
  const auto busy = [&](u64 until) { return until > cycle; };
  const auto room = static_cast<unsigned>(prefetches_.size()) -
                    static_cast<unsigned>(std::count_if(prefetches_.begin(), prefetches_.end(), busy));
  LineRun run = streams_.observe(line, room);
  for (; run.lines != 0; --run.lines, run.first += static_cast<u64>(run.step))
    prefetch_into_l2(run.first, cycle, quantities);
}

void MemoryHierarchy::prefetch_pair(u64 line, u64 cycle, Quantities& quantities) {
  if (adjacent_line_level_ == 2) prefetch_into_l2(line, cycle, quantities);
  if (adjacent_line_level_ == 3 && l3_geometry_.bytes != 0 && !last_level_has(line))
    prefetch_into_last(line, cycle, quantities);
}

bool MemoryHierarchy::last_level_has(u64 line) const {
  return machine_ != nullptr ? machine_->last_level_has(core_, line) : l3_->has(line);
}

void MemoryHierarchy::prefetch_into_last(u64 line, u64 cycle, Quantities& quantities) {
  ++at(quantities, Quantity::l2_prefetches);
  ++at(quantities, Quantity::l2_prefetch_misses);
  if (machine_ == nullptr) {
    look_up_last(line, cycle, quantities);
    return;
  }
  ++at(quantities, Quantity::llc_references);
  ++at(quantities, Quantity::llc_misses);
  machine_->prefetch(core_, line);
}

// Dropped where nothing is free to bring the line.
void MemoryHierarchy::prefetch_into_l2(u64 line, u64 cycle, Quantities& quantities) {
  const bool present = holds_in_l2(line);
  u64& free = *std::min_element(prefetches_.begin(), prefetches_.end());
  if (!present && free > cycle) return;
  ++at(quantities, Quantity::l2_prefetches);
  if (present) return;
  ++at(quantities, Quantity::l2_prefetch_misses);
  ++at(quantities, Quantity::l2_lines_in);
  const Outer outer = look_up_last(line, cycle, quantities);
  tell_data_read({cycle, outer.ready_cycle}, quantities);
  free = outer.ready_cycle;
  fill_l2(line, Fill(outer.ready_cycle, outer.level));
}

void MemoryHierarchy::prefetch_into_l1(u64 line, u64 cycle, Quantities& quantities) {
  if (l1d_.has(line)) return;
  u64& buffer = *std::min_element(fill_buffers_.begin(), fill_buffers_.end());
  if (buffer > cycle) return;
  const Outer outer = ask_l2(line, cycle, Reader::data, quantities);
  if (outer.level > CacheLevel::l2)
    tell_data_read({std::min(cycle + l2_latency_, outer.ready_cycle), outer.ready_cycle}, quantities);
  buffer = outer.ready_cycle;
  fill_l1d(line, Fill(outer.ready_cycle, outer.level, true), quantities);
}

void MemoryHierarchy::fill_l1d(u64 line, const Fill& fill, Quantities& quantities) {
  ++at(quantities, Quantity::l1d_replacements);
  l1d_.insert(line, fill);
}

// How long the last entry of a walk takes beyond a hit in L1. Page tables lie where no program has addresses.
u64 MemoryHierarchy::read_page_table(u64 page, u64 cycle, Quantities& quantities) {
  constexpr unsigned entry_shift = 3;
  const u64 line = bit(62) | page >> (line_shift_ - entry_shift);
  if (const Fill* const present = l1d_.find(line))
    return present->ready_cycle() > cycle ? present->ready_cycle() - cycle : 0;
  const Outer outer = look_up_outer(line, cycle, Reader::data, quantities);
  fill_l1d(line, Fill(outer.ready_cycle, outer.level), quantities);
  return outer.ready_cycle - cycle;
}

MemoryHierarchy::Translation MemoryHierarchy::translate(SetAssociative<Present>& first_level,
                                                        const Page& page, u64 cycle, Quantities& quantities) {
  if (first_level.find(page.number) != nullptr) return {};
  first_level.insert(page.number, {});
  if (stlb_ && stlb_->find(page.number) != nullptr) return {TlbLevel::l2, stlb_latency_};
  if (stlb_) stlb_->insert(page.number, {});
  u64 walk = page_walk_cycles_;
  if (page_walk_loads_ != 0) walk += read_page_table(page.number, cycle + stlb_latency_ + walk, quantities);
  ++at(quantities, page.walks);
  at(quantities, Quantity::page_walk_cycles) += static_cast<u32>(walk);
  at(quantities, walk_cycles(page.walks)) += static_cast<u32>(walk);
  return {TlbLevel::walk, stlb_latency_ + walk};
}

// A demand load or a prefetch that leaves the core.
void MemoryHierarchy::tell_data_read(const Span& span, Quantities& quantities) {
  ++at(quantities, Quantity::all_data_reads);
  at(quantities, Quantity::all_data_reads_under_way) += static_cast<u32>(span.end - span.begin);
  at(quantities, Quantity::cycles_all_data_reads) += data_reads_.cover(span.begin, span.end);
  at(quantities, Quantity::cycles_four_data_reads) += four_data_reads_.cover(span.begin, span.end);
  at(quantities, Quantity::cycles_six_data_reads) += six_data_reads_.cover(span.begin, span.end);
}

// A demand load that leaves the core.
void MemoryHierarchy::tell_demand_read(const Span& span, CacheLevel level, Quantities& quantities) {
  const auto cycles = static_cast<u32>(span.end - span.begin);
  at(quantities, Quantity::data_reads_under_way) += cycles;
  at(quantities, Quantity::cycles_six_demand_reads) += six_demand_reads_.cover(span.begin, span.end);
  loads_under_way_.mark(load_missed_l2, {span.begin, span.end});
  tell_data_read(span, quantities);
  if (level != CacheLevel::memory) return;
  at(quantities, Quantity::memory_reads_under_way) += cycles;
  at(quantities, Quantity::cycles_six_memory_reads) += six_memory_reads_.cover(span.begin, span.end);
  loads_under_way_.mark(load_missed_l3, {span.begin, span.end});
}

void MemoryHierarchy::tell_load(const Answer& answer, u64 start, Quantities& quantities) {
  loads_under_way_.mark(load_missed_nothing, {start, answer.ready_cycle});
  if (answer.level < CacheLevel::l2) return;
  at(quantities, Quantity::l1d_misses_under_way) += static_cast<u32>(answer.ready_cycle - start);
  loads_under_way_.mark(load_missed_l1d, {start, answer.ready_cycle});
  if (answer.level == CacheLevel::l2) return;
  const u64 left = std::min(start + l2_latency_, answer.ready_cycle);  // the core
  tell_demand_read({left, answer.ready_cycle}, answer.level, quantities);
}

void MemoryHierarchy::tell_requests(const Request& request, const Answer& answer, u64 start,
                                    Quantities& quantities) {
  if (request.kind == AccessKind::load) return tell_load(answer, start, quantities);
  if (answer.level <= CacheLevel::l2) return;
  const u64 left = std::min(start + l2_latency_, answer.ready_cycle);
  at(quantities, Quantity::ownership_reads_under_way) += static_cast<u32>(answer.ready_cycle - left);
  at(quantities, Quantity::cycles_ownership_reads) += ownership_.cover(left, answer.ready_cycle);
}

inline MemoryHierarchy::Answer MemoryHierarchy::look_up_l1d(const Request& request, u64 start, TlbLevel tlb,
                                                            Quantities& quantities) {
  const Fill* const present = l1d_.find(line_of(request.address));
  if (present == nullptr) return miss_l1d(request, start, tlb, quantities);
  const u64 hit = start + l1d_latency_;
  if (present->ready_cycle() <= hit) return {CacheLevel::l1, CacheLevel::l1, tlb, hit};
  return {CacheLevel::fill_buffer, present->source(), tlb, present->ready_cycle(), present->prefetched()};
}

MemoryHierarchy::Answer MemoryHierarchy::access(const Request& request, Quantities& quantities) {
  const bool loads = request.kind == AccessKind::load;
  const Page page{request.address >> page_shift,
                  loads ? Quantity::page_walks_load : Quantity::page_walks_store};
  const Translation translation = translate(dtlb_, page, request.cycle, quantities);
  const u64 start = request.cycle + translation.latency_cycles;
  Answer answer = look_up_l1d(request, start, translation.level, quantities);
  if (machine_ != nullptr && !loads) own(line_of(request.address), start, answer, quantities);
  tell_requests(request, answer, start, quantities);
  if (loads) prefetch_stride(request, start, quantities);
  return answer;
}

MemoryHierarchy::Answer MemoryHierarchy::miss_l1d(const Request& request, u64 start, TlbLevel tlb,
                                                  Quantities& quantities) {
  const u64 line = line_of(request.address);
  const Reader reader = request.kind == AccessKind::load ? Reader::data : Reader::ownership;
  u64& buffer = *std::min_element(fill_buffers_.begin(), fill_buffers_.end());
  if (buffer > start) {
    at(quantities, Quantity::fill_buffers_full_periods) += full_.begins(start) ? 1 : 0;
    at(quantities, Quantity::fill_buffers_full_cycles) += full_.cover(start, buffer);
  }
  const Outer outer = ask_l2(line, std::max(start, buffer), reader, quantities);
  buffer = outer.ready_cycle;
  fill_l1d(line, Fill(outer.ready_cycle, outer.level), quantities);
  return {outer.level, outer.level, tlb, outer.ready_cycle, false, outer.snoop, outer.remote};
}

MemoryHierarchy::Answer MemoryHierarchy::fetch(u64 address, u64 cycle, Quantities& quantities) {
  const Page page{address >> page_shift, Quantity::page_walks_instruction};
  const Translation translation = translate(itlb_, page, cycle, quantities);
  const u64 start = cycle + translation.latency_cycles;
  at(quantities, Quantity::itlb_stall_cycles) += static_cast<u32>(translation.latency_cycles);
  const u64 line = line_of(address);
  if (l1i_.find(line) != nullptr) return {CacheLevel::l1, CacheLevel::l1, translation.level, start};
  l1i_.insert(line, {});
  code_pages_[page.number / 64 % code_pages_.size()] |= bit(page.number % 64);
  const Outer outer = look_up_outer(line, start, Reader::code, quantities);
  const u64 ready = outer.level == CacheLevel::l2 ? start + l1i_miss_penalty_ : outer.ready_cycle;
  at(quantities, Quantity::l1i_stall_cycles) += static_cast<u32>(ready - start);
  if (outer.level > CacheLevel::l2) {
    const u64 left = std::min(start + l2_latency_, ready);
    at(quantities, Quantity::code_reads_under_way) += static_cast<u32>(ready - left);
    at(quantities, Quantity::cycles_code_reads) += code_.cover(left, ready);
  }
  return {outer.level, outer.level, translation.level, ready};
}

bool MemoryHierarchy::take_code(u64 address) {
  if (!has_code(address)) return false;
  l1i_.erase(line_of(address));
  return true;
}

void MemoryHierarchy::begin_again() {
  for (SetAssociative<Fill>* const cache : {&l1d_, &l2_}) cache->for_each([](Fill& fill) { fill = Fill(); });
  std::ranges::fill(fill_buffers_, 0);
  std::ranges::fill(prefetches_, 0);
  full_ = ownership_ = code_ = data_reads_ = BusySpan();
  four_data_reads_ = {};
  six_data_reads_ = six_demand_reads_ = six_memory_reads_ = {};
  loads_under_way_ = {};
}

void MemoryHierarchy::flush(u64 address) {
  const u64 line = line_of(address);
  if (machine_ != nullptr) machine_->flush(line);
  invalidate(line);
  if (l3_) l3_->erase(line);
}

}  // namespace pmusim
