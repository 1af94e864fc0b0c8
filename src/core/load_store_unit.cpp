// SPDX-License-Identifier: MIT
#include "core/load_store_unit.h"

#include <algorithm>
#include <limits>

#include "cpu/memory_signals.h"

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

}  // namespace

LoadStoreUnit::LoadStoreUnit(const CoreParameters& parameters)

    : hierarchy_(parameters),
      forwarding_cycles_(parameters.forwarding_cycles),
      store_buffer_(parameters.store_buffer_entries) {}

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
    forwards_[granule % forwards_.size()] = {granule, cycle + forwarding_cycles_};
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
  Loaded done{cycle, WaitingFor::l1};
  for (u64 n = 0; n <= std::min(more_lines, longest_string_lines); ++n) {
    const u64 place = n == 0 ? address : (first_line + n) << hierarchy_.line_shift();
    const MemoryHierarchy::Answer answer =
        hierarchy_.access(place, kind, cycle, execution.retirement.quantities);
    access.level = std::max(access.level, answer.level);
    access.tlb = std::max(access.tlb, answer.tlb);
    done.ready_cycle = std::max(done.ready_cycle, answer.ready_cycle);
    done.waiting_for = std::max(done.waiting_for, distance(answer.source));
  }
  if (kind == AccessKind::load)
    done.ready_cycle = std::max(done.ready_cycle, forwarded(address, instruction.memory[operand].bytes));
  access.latency_cycles = static_cast<u32>(done.ready_cycle - cycle);
  const Lines lines = more_lines != 0 && !instruction.rep ? Lines::several : Lines::one;
  execution.retirement.signals = execution.retirement.signals | access_signals(access, lines);
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
