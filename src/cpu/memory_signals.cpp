// SPDX-License-Identifier: MIT
#include "cpu/memory_signals.h"

namespace pmusim {

using enum Signal;

namespace {

SignalSet load_level(CacheLevel level) {
  switch (level) {
    case CacheLevel::l1:
      return {load_l1_hit};
    case CacheLevel::fill_buffer:
      return {load_fb_hit};
    case CacheLevel::l2:
      return {load_l1_miss, load_l2_hit};
    case CacheLevel::l3:
      return {load_l1_miss, load_l2_miss, load_l3_hit};
    case CacheLevel::memory:
      return {load_l1_miss, load_l2_miss, load_l3_miss, load_dram};
  }
  return {};
}

SignalSet load_snoop(const MemoryAccess& access) {
  switch (access.snoop) {
    case Snoop::none:
      return {};
    case Snoop::miss:
      return {load_snoop_miss};
    case Snoop::hit:
      return {load_snoop_hit};
    case Snoop::forward:
      return {access.remote ? load_remote_forward : load_snoop_forward};
    case Snoop::modified:
      return {access.remote ? load_remote_modified : load_snoop_modified};
  }
  return {};
}

SignalSet load_source(const MemoryAccess& access) {
  const bool from_core = access.snoop == Snoop::forward || access.snoop == Snoop::modified;
  if (access.level == CacheLevel::memory && from_core)  // of another package, or there is no L3
    return SignalSet{load_l1_miss, load_l2_miss, load_l3_miss} | load_snoop(access);
  return load_level(access.level) | load_snoop(access);
}

SignalSet store_level(CacheLevel level) {
  SignalSet signals{level == CacheLevel::l1 ? store_l1_hit : store_l1_miss};
  if (level >= CacheLevel::l3) signals.add(store_l2_miss);
  if (level == CacheLevel::l3) signals.add(store_l3_hit);
  if (level == CacheLevel::memory) signals.add(store_l3_miss);
  return signals;
}

SignalSet tlb_level(TlbLevel level, AccessKind kind) {
  const bool is_load = kind == AccessKind::load;
  if (level == TlbLevel::l1) return {};
  if (level == TlbLevel::l2)
    return is_load ? SignalSet{load_dtlb_miss, load_stlb_hit} : SignalSet{store_dtlb_miss, store_stlb_hit};
  return is_load ? SignalSet{load_dtlb_miss, load_stlb_miss} : SignalSet{store_dtlb_miss, store_stlb_miss};
}

}  // namespace

SignalSet access_signals(const MemoryAccess& access, Lines lines) {
  SignalSet signals = tlb_level(access.tlb, access.kind);
  const bool is_load = access.kind == AccessKind::load;
  signals = signals | (is_load ? load_source(access) : store_level(access.level));
  signals.add(is_load ? load_latency : store_latency);
  if (lines == Lines::several) signals.add(is_load ? split_load : split_store);
  return signals;
}

SignalSet fetch_signals(CacheLevel level, TlbLevel tlb) {
  SignalSet signals;
  if (level != CacheLevel::l1) signals.add(l1i_miss);
  if (level > CacheLevel::l2) signals.add(l2i_miss);
  if (level == CacheLevel::l3) signals.add(l3i_hit);
  if (level == CacheLevel::memory) signals.add(l3i_miss);
  if (tlb != TlbLevel::l1) signals.add(itlb_miss);
  if (tlb == TlbLevel::walk) signals.add(stlb_instruction_miss);
  return signals;
}

std::array<SignalSet, 4> signals_of_hits(bool addresses_known) {
  const SignalSet loads = addresses_known ? signals_of_hit(AccessKind::load) : SignalSet{load_l1_hit};
  const SignalSet stores = addresses_known ? signals_of_hit(AccessKind::store) : SignalSet{store_l1_hit};
  return {SignalSet{}, loads, stores, loads | stores};
}

}  // namespace pmusim
