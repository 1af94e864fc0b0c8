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

// As most are.
SignalSet signals_of(const MemoryAccess& access, Lines lines) {
  if (access.level != CacheLevel::l1 || access.tlb != TlbLevel::l1 || lines != Lines::one)
    return access_signals(access, lines);
  return signals_of_hit(access.kind);
}

// Of a string operation: what a load behind it can meet.
constexpr u64 longest_remembered_bytes = 64;

u64 bytes_of(const DataAccesses& data, unsigned operand) {
  return std::max<u64>(data.instruction->memory[operand].bytes, 1) * data.iterations;
}

}  // namespace

LoadStoreUnit::LoadStoreUnit(const CoreParameters& parameters)
    : hierarchy_(parameters),
      forwarding_cycles_(parameters.forwarding_cycles),
      blocked_forward_cycles_(parameters.blocked_forward_cycles),
      address_alias_cycles_(parameters.address_alias_cycles),
      one_physical_page_(parameters.one_physical_page != 0),
      window_(parameters.store_buffer_entries),
      disambiguation_(parameters.disambiguation_loads),
      store_buffer_(parameters.store_buffer_entries) {}

std::optional<u64> LoadStoreUnit::flush(const x86::Instruction& instruction, const Registers* registers) {
  const x86::MemoryOperand& line = instruction.flushed_line;
  if (registers == nullptr || line.fs || line.gs) return std::nullopt;
  const u64 address = x86::effective_address(instruction, line, *registers, 0, 0);
  hierarchy_.flush(address);
  return hierarchy_.line_of(address);
}

// A load that starts before all older stores have their addresses: when it starts after all.
u64 LoadStoreUnit::pass_older_stores(u64 ip, const StoreWindow::Met& met, u64 cycle, Execution& execution) {
  if (!disambiguation_.exists() || window_.all_addressed_cycle() <= cycle) return cycle;
  using enum StoreWindow::Meeting;
  const bool needed = (met.how == forwarded || met.how == blocked) && met.store->addressed_cycle > cycle;
  const bool passed = disambiguation_.may_pass(ip);
  if (needed)
    disambiguation_.was_wrong_to_pass(ip);
  else
    disambiguation_.was_right_to_pass(ip);
  if (!passed) return window_.all_addressed_cycle();
  if (needed) execution.clear(Signal::memory_ordering_clear);
  return needed ? met.store->addressed_cycle : cycle;
}

// When a load has its data that the caches have in `ready_cycle`.
u64 LoadStoreUnit::data_of(const StoreWindow::Met& met, u64 ready_cycle, Execution& execution) const {
  using enum StoreWindow::Meeting;
  if (met.how == none) return ready_cycle;
  if (met.how == aliased) {
    execution.signals.add(Signal::address_alias);
    return ready_cycle + address_alias_cycles_;
  }
  const u64 forwarded_cycle = met.store->data_cycle + forwarding_cycles_;
  if (met.how == forwarded) return std::max(ready_cycle, forwarded_cycle);
  execution.signals.add(Signal::store_forward_blocked);
  return std::max({ready_cycle, forwarded_cycle + blocked_forward_cycles_,
                   met.store->left_cycle + hierarchy_.hit_latency()});
}

[[gnu::always_inline]] inline LoadStoreUnit::Found LoadStoreUnit::find(const DataAccesses& data,
                                                                       const Place& place, AccessKind kind,
                                                                       u64 cycle, Execution& execution) {
  const LoweredInstruction& instruction = *data.instruction;
  const u64 address = place.address, bytes = place.bytes;
  const u64 more_lines =
      ((address & low_bits(hierarchy_.line_shift())) + bytes - 1) >> hierarchy_.line_shift();
  Found found{.access = {.address = address,
                         .bytes = static_cast<u32>(std::min<u64>(bytes, std::numeric_limits<u32>::max())),
                         .kind = kind,
                         .locked = instruction.locked},
              .ready = {cycle, WaitingFor::l1},
              .several_lines = more_lines != 0 && !instruction.rep};
  const auto find_line = [&](u64 in_line) __attribute__((always_inline)) {
    const MemoryHierarchy::Answer answer = hierarchy_.access(
        {.address = in_line, .ip = instruction.ip, .kind = kind, .cycle = cycle}, execution.quantities);
    if (answer.prefetched && kind == AccessKind::load) execution.signals.add(Signal::load_hit_hw_prefetch);
    found.access.level = std::max(found.access.level, answer.level);
    found.access.tlb = std::max(found.access.tlb, answer.tlb);
    if (answer.snoop != Snoop::none) [[unlikely]] {
      found.access.snoop = std::max(found.access.snoop, answer.snoop);
      found.access.remote |= answer.remote;
    }
    found.ready.ready_cycle = std::max(found.ready.ready_cycle, answer.ready_cycle);
    found.ready.waiting_for = std::max(found.ready.waiting_for, distance(answer.source));
  };
  find_line(address);
  for (u64 n = 1; n <= std::min(more_lines, longest_string_lines); ++n)
    find_line((hierarchy_.line_of(address) + n) << hierarchy_.line_shift());
  return found;
}

void LoadStoreUnit::write_code(u64 address, Execution& execution) {
  if (hierarchy_.take_code(address)) execution.clear(Signal::self_modifying_clear);
}

LoadStoreUnit::Loaded LoadStoreUnit::touch(const DataAccesses& data, unsigned operand, AccessKind kind,
                                           u64 cycle, Execution& execution) {
  const Place place{data.addresses[operand], bytes_of(data, operand)};
  StoreWindow::Met met;
  if (kind == AccessKind::load) {
    met = window_.meet(place.address, std::min(place.bytes, longest_remembered_bytes), cycle);
    if (one_physical_page_ && met.how == StoreWindow::Meeting::aliased)
      met.how = StoreWindow::Meeting::blocked;
    cycle = pass_older_stores(data.instruction->ip, met, cycle, execution);
  }
  auto [access, done, several_lines] = find(data, place, kind, cycle, execution);
  if (kind == AccessKind::load)
    done.ready_cycle = data_of(met, done.ready_cycle + data.slow_cycles, execution);
  if (kind == AccessKind::store) write_code(place.address, execution);
  access.latency_cycles = static_cast<u32>(done.ready_cycle - cycle);
  execution.signals = execution.signals | signals_of(access, several_lines ? Lines::several : Lines::one);
  execution.accesses.push_back(access);
  return done;
}

LoadStoreUnit::Loaded LoadStoreUnit::access_in_order(const DataAccesses& data, unsigned operand,
                                                     AccessKind kind, u64 cycle, Execution& execution) {
  const Place place{data.addresses[operand], bytes_of(data, operand)};
  const Found found = find(data, place, kind, cycle, execution);
  execution.signals =
      execution.signals | signals_of(found.access, found.several_lines ? Lines::several : Lines::one);
  if (kind == AccessKind::store) write_code(place.address, execution);
  return found.ready;
}

void LoadStoreUnit::access_in_order(const DataAccesses& data, u64 cycle, Execution& execution) {
  const LoweredInstruction& instruction = *data.instruction;
  if (data.iterations == 0) return;
  if (data.addresses.empty()) {
    if (instruction.loads()) execution.signals.add(Signal::load_l1_hit);
    if (instruction.stores()) execution.signals.add(Signal::store_l1_hit);
    return;
  }
  const auto access = [&](unsigned operand, AccessKind kind) {
    const Place place{data.addresses[operand], bytes_of(data, operand)};
    const MemoryHierarchy::Request request{
        .address = place.address, .ip = instruction.ip, .kind = kind, .cycle = cycle};
    const bool is_one_line =
        hierarchy_.line_of(place.address) == hierarchy_.line_of(place.address + place.bytes - 1);
    using enum MemoryHierarchy::Found;
    if (!is_one_line || hierarchy_.access_if_there(request, execution.quantities) == elsewhere) {
      access_in_order(data, operand, kind, cycle, execution);
      return;
    }
    execution.signals = execution.signals | signals_of_hit(kind);
    if (kind == AccessKind::store) write_code(place.address, execution);
  };
  for (unsigned n = 0; n < instruction.operands; ++n)
    if (instruction.memory[n].load) access(n, AccessKind::load);
  for (unsigned n = 0; n < instruction.operands; ++n)
    if (instruction.memory[n].store) access(n, AccessKind::store);
}

LoadStoreUnit::Loaded LoadStoreUnit::load_known(const DataAccesses& data, u64 cycle, Execution& execution) {
  Loaded loaded{cycle, WaitingFor::execution};
  for (unsigned n = 0; n < data.instruction->operands; ++n) {
    const LoweredInstruction::Operand& operand = data.instruction->memory[n];
    if (!operand.load || data.iterations == 0) continue;
    const Loaded data_ready = touch(data, n, AccessKind::load, cycle, execution);
    if (data_ready.ready_cycle > loaded.ready_cycle) loaded = data_ready;
  }
  return loaded;
}

LoadStoreUnit::Loaded LoadStoreUnit::store_known(const DataAccesses& data, const StoreTimes& times,
                                                 Execution& execution) {
  Loaded room{times.data_cycle, WaitingFor::execution};
  for (unsigned n = 0; n < data.instruction->operands; ++n) {
    const LoweredInstruction::Operand& operand = data.instruction->memory[n];
    if (!operand.store || data.iterations == 0) continue;
    u64& leaves = store_buffer_[next_store_];
    if (++next_store_ == store_buffer_.size()) next_store_ = 0;
    if (leaves > room.ready_cycle) {
      execution.quantities[static_cast<unsigned>(Quantity::store_buffer_full_cycles)] +=
          full_.cover(room.ready_cycle, leaves);
      room = {leaves, WaitingFor::store_buffer};
    }
    const Loaded written = touch(data, n, AccessKind::store, room.ready_cycle, execution);
    last_commit_ = std::max(last_commit_, written.ready_cycle);
    leaves = last_commit_;
    window_.remember(
        {.address = data.addresses[n],
         .bytes = std::min(std::max<u64>(operand.bytes, 1) * data.iterations, longest_remembered_bytes),
         .addressed_cycle = times.addressed_cycle,
         .data_cycle = room.ready_cycle,
         .left_cycle = last_commit_});
    if (data.instruction->rep) room = {last_commit_, WaitingFor::store_buffer};
  }
  return room;
}

}  // namespace pmusim
