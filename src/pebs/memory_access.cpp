// SPDX-License-Identifier: MIT
#include "pmusim/arch/debug_store.h"
#include "record.h"

namespace pmusim::pebs {

namespace {

constexpr SignalSet load_signals{Signal::load,
                                 Signal::split_load,
                                 Signal::load_l1_hit,
                                 Signal::load_l1_miss,
                                 Signal::load_fb_hit,
                                 Signal::load_l2_hit,
                                 Signal::load_l2_miss,
                                 Signal::load_l3_hit,
                                 Signal::load_l3_miss,
                                 Signal::load_dram,
                                 Signal::load_stlb_hit,
                                 Signal::load_stlb_miss,
                                 Signal::load_dtlb_miss,
                                 Signal::load_snoop_miss,
                                 Signal::load_snoop_hit,
                                 Signal::load_snoop_forward,
                                 Signal::load_snoop_modified,
                                 Signal::load_remote_forward,
                                 Signal::load_remote_modified};
constexpr SignalSet store_signals{Signal::store,          Signal::split_store,    Signal::store_l1_hit,
                                  Signal::store_l1_miss,  Signal::store_stlb_hit, Signal::store_stlb_miss,
                                  Signal::store_dtlb_miss};

constexpr u64 precise_store_enable = bit(63);
constexpr unsigned precise_store_counter = 3;
constexpr unsigned load_latency_enable = 32;  // PEBS_ENABLE bit of GP 0

const MemoryAccess* first_access(const Retirement& retirement, AccessKind kind) {
  for (const MemoryAccess& access : retirement.memory)
    if (access.kind == kind) return &access;
  return nullptr;
}

u64 hit_word(const MemoryAccess& access, bool with_tlb_and_lock) {
  u64 word = access.level == CacheLevel::l1 ? store_status::L1_HIT : 0;
  if (with_tlb_and_lock && access.tlb == TlbLevel::walk) word |= store_status::STLB_MISS;
  if (with_tlb_and_lock && access.locked) word |= store_status::LOCKED;
  return word;
}

}  // namespace

MemoryFacility memory_facility(const CounterFile& counters, unsigned counter, u64 enable) {
  if (counter >= first_fixed) return MemoryFacility::none;
  const CpuModel& model = counters.model();
  if (model.pebs.precise_store && counter == precise_store_counter && (enable & precise_store_enable) != 0)
    return MemoryFacility::precise_store;
  const auto event = counters.event(counter);
  if (!event) return MemoryFacility::none;
  const SignalSet signals = event->rule.all | event->rule.any;
  if (signals.has(Signal::load_latency)) {
    const bool needs_enable = pebs::is_fixed(model.pebs.format) && (model.pebs.counters >> 32) == 0;
    if (!needs_enable || (enable & bit(load_latency_enable + counter)) != 0)
      return MemoryFacility::load_latency;
    return MemoryFacility::none;
  }
  if (signals.has(Signal::store_latency)) return MemoryFacility::store_latency;
  if (!pebs::has_eventing_ip(model.pebs.format)) return MemoryFacility::none;
  if (signals.intersects(store_signals)) return MemoryFacility::store_address;
  if (signals.intersects(load_signals)) return MemoryFacility::load_address;
  return MemoryFacility::none;
}

const MemoryAccess* longest_load(const Retirement& retirement, u64 threshold) {
  const MemoryAccess* longest = nullptr;
  for (const MemoryAccess& access : retirement.memory) {
    if (access.kind != AccessKind::load || access.latency_cycles <= threshold) continue;
    if (longest == nullptr || access.latency_cycles > longest->latency_cycles) longest = &access;
  }
  return longest;
}

SampledAccess sampled_access(const AssistInput& input, u64 enable, u64 threshold) {
  const PebsFeatures& features = input.counters.model().pebs;
  for (const unsigned counter : set_bits(input.served)) {
    const MemoryFacility facility = memory_facility(input.counters, counter, enable);
    const bool loads = facility == MemoryFacility::load_latency || facility == MemoryFacility::load_address;
    const MemoryAccess* access =
        facility == MemoryFacility::load_latency
            ? longest_load(input.retirement, threshold)
            : first_access(input.retirement, loads ? AccessKind::load : AccessKind::store);
    if (facility == MemoryFacility::none || access == nullptr) continue;
    SampledAccess sampled{.address = access->address};
    switch (facility) {
      case MemoryFacility::none:
        break;
      case MemoryFacility::load_latency:
      case MemoryFacility::store_latency:
        sampled.data_source = encode_data_source(features.data_source, *access);
        sampled.access_latency = access->latency_cycles;
        sampled.instruction_latency = input.retirement.latency_cycles;
        break;
      case MemoryFacility::precise_store:
        sampled.data_source = hit_word(*access, true);
        break;
      case MemoryFacility::load_address:
      case MemoryFacility::store_address:
        sampled.data_source = hit_word(*access, false);
        break;
    }
    return sampled;
  }
  return {};
}

u64 tsx_word(const CpuModel& model, const Retirement& retirement) {
  if (!model.rtm || retirement.tx != TxState::aborting) return 0;
  return tsx::TRANSACTION | tsx::SYNCHRONOUS;
}

}  // namespace pmusim::pebs
