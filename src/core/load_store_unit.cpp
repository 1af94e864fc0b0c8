// SPDX-License-Identifier: MIT
#include "core/load_store_unit.h"

#include <algorithm>
#include <limits>

namespace pmusim {
namespace {

WaitingFor distance(CacheLevel level) {
  switch (level) {
    case CacheLevel::l2:
      return WaitingFor::l2;
    case CacheLevel::l3:
      return WaitingFor::l3;
    case CacheLevel::memory:
      return WaitingFor::memory;
    default:
      return WaitingFor::l1;
  }
}

void add_level_of_load(CacheLevel level, SignalSet& signals) {
  switch (level) {
    case CacheLevel::l1:
      signals.add(Signal::load_l1_hit);
      return;
    case CacheLevel::fill_buffer:
      signals.add(Signal::load_fb_hit);
      return;
    case CacheLevel::l2:
      signals.add(Signal::load_l1_miss);
      signals.add(Signal::load_l2_hit);
      return;
    case CacheLevel::l3:
      signals.add(Signal::load_l1_miss);
      signals.add(Signal::load_l2_miss);
      signals.add(Signal::load_l3_hit);
      return;
    case CacheLevel::memory:
      signals.add(Signal::load_l1_miss);
      signals.add(Signal::load_l2_miss);
      signals.add(Signal::load_l3_miss);
      signals.add(Signal::load_dram);
      return;
  }
}

void add_tlb(TlbLevel level, AccessKind kind, SignalSet& signals) {
  if (level == TlbLevel::l1) return;
  const bool load = kind == AccessKind::load;
  signals.add(load ? Signal::load_dtlb_miss : Signal::store_dtlb_miss);
  if (level == TlbLevel::l2)
    signals.add(load ? Signal::load_stlb_hit : Signal::store_stlb_hit);
  else
    signals.add(load ? Signal::load_stlb_miss : Signal::store_stlb_miss);
}

void add_access(const MemoryAccess& access, bool split, SignalSet& signals) {
  add_tlb(access.tlb, access.kind, signals);
  if (access.kind == AccessKind::load) {
    add_level_of_load(access.level, signals);
    signals.add(Signal::load_latency);
    if (split) signals.add(Signal::split_load);
  } else {
    signals.add(access.level == CacheLevel::l1 ? Signal::store_l1_hit : Signal::store_l1_miss);
    if (access.level >= CacheLevel::l3) signals.add(Signal::store_l2_miss);
    if (access.level == CacheLevel::l3) signals.add(Signal::store_l3_hit);
    if (access.level == CacheLevel::memory) signals.add(Signal::store_l3_miss);
    signals.add(Signal::store_latency);
    if (split) signals.add(Signal::split_store);
  }
}

}  // namespace

LoadStoreUnit::LoadStoreUnit(const CoreParameters& parameters)
    : hierarchy_(parameters), store_buffer_(parameters.store_buffer_entries) {}

u64 LoadStoreUnit::forwarded(u64 address, u64 bytes) const {
  u64 ready = 0;
  for (u64 granule = address / 8, left = std::min<u64>(bytes + address % 8, 16);; ++granule, left -= 8) {
    const Forward& forward = forwards_[granule % forwards_.size()];
    if (forward.granule == granule) ready = std::max(ready, forward.ready_cycle);
    if (left <= 8) return ready;
  }
}

void LoadStoreUnit::remember_store(u64 address, u64 bytes, u64 cycle) {
  for (u64 granule = address / 8, left = std::min<u64>(bytes + address % 8, 64);; ++granule, left -= 8) {
    forwards_[granule % forwards_.size()] = {granule, cycle};
    if (left <= 8) return;
  }
}

LoadStoreUnit::Loaded LoadStoreUnit::touch(const DataAccesses& data, unsigned operand, AccessKind kind,
                                           u64 cycle, Execution& execution) {
  const x86::Instruction& instruction = *data.instruction;
  const u64 address = data.addresses[operand];
  const u64 bytes = std::max<u64>(instruction.memory[operand].bytes, 1) * data.iterations;
  const u64 first_line = hierarchy_.line_of(address);
  const u64 more_lines =
      ((address & low_bits(hierarchy_.line_shift())) + bytes - 1) >> hierarchy_.line_shift();

  MemoryAccess access{.address = address,
                      .bytes = static_cast<u32>(std::min<u64>(bytes, std::numeric_limits<u32>::max())),
                      .kind = kind,
                      .locked = instruction.locked};
  const u64 start = kind == AccessKind::load
                        ? std::max(cycle, forwarded(address, instruction.memory[operand].bytes))
                        : cycle;
  Loaded done{start, WaitingFor::l1};
  for (u64 n = 0; n <= std::min(more_lines, longest_string_lines); ++n) {
    const u64 place = n == 0 ? address : (first_line + n) << hierarchy_.line_shift();
    const MemoryHierarchy::Answer answer =
        hierarchy_.access(place, kind, start, execution.retirement.quantities);
    access.level = std::max(access.level, answer.level);
    access.tlb = std::max(access.tlb, answer.tlb);
    done.ready_cycle = std::max(done.ready_cycle, answer.ready_cycle);
    done.waiting_for = std::max(done.waiting_for, distance(answer.source));
  }
  access.latency_cycles = static_cast<u32>(done.ready_cycle - cycle);
  add_access(access, more_lines != 0 && !instruction.rep, execution.retirement.signals);
  execution.accesses[execution.access_count++] = access;
  return done;
}

LoadStoreUnit::Loaded LoadStoreUnit::load(const DataAccesses& data, u64 cycle, Execution& execution) {
  Loaded loaded{cycle, WaitingFor::execution};
  for (unsigned n = 0; n < data.instruction->memory_operands; ++n) {
    const x86::MemoryOperand& operand = data.instruction->memory[n];
    if (!operand.load || data.iterations == 0) continue;
    Loaded data_ready{cycle + hierarchy_.hit_latency(), WaitingFor::l1};
    if (data.addresses.empty())
      execution.retirement.signals.add(Signal::load_l1_hit);
    else
      data_ready = touch(data, n, AccessKind::load, cycle, execution);
    if (data_ready.ready_cycle > loaded.ready_cycle) loaded = data_ready;
  }
  return loaded;
}

LoadStoreUnit::Loaded LoadStoreUnit::store(const DataAccesses& data, u64 cycle, Execution& execution) {
  Loaded room{cycle, WaitingFor::execution};
  for (unsigned n = 0; n < data.instruction->memory_operands; ++n) {
    const x86::MemoryOperand& operand = data.instruction->memory[n];
    if (!operand.store || data.iterations == 0) continue;
    if (data.addresses.empty()) {
      execution.retirement.signals.add(Signal::store_l1_hit);
      continue;
    }
    u64& leaves = store_buffer_[next_store_];
    if (++next_store_ == store_buffer_.size()) next_store_ = 0;
    if (leaves > room.ready_cycle) room = {leaves, WaitingFor::store_buffer};
    const Loaded written = touch(data, n, AccessKind::store, room.ready_cycle, execution);
    remember_store(data.addresses[n], operand.bytes * data.iterations, room.ready_cycle);
    last_commit_ = std::max(last_commit_, written.ready_cycle);
    leaves = last_commit_;
    if (data.instruction->rep) room = {last_commit_, WaitingFor::store_buffer};
  }
  return room;
}

}  // namespace pmusim
