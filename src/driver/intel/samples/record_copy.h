// SPDX-License-Identifier: MIT
#ifndef PMUSIM_SRC_DRIVER_INTEL_SAMPLES_RECORD_COPY_H
#define PMUSIM_SRC_DRIVER_INTEL_SAMPLES_RECORD_COPY_H

#include <cstring>
#include <optional>
#include <span>

#include "base/kernel_address.h"
#include "driver/intel/samples/pebs_sample.h"
#include "driver/intel/samples/sample_plan.h"
#include "driver/x86/record_word.h"
#include "perf/general_registers.h"
#include "pmusim/perf/abi.h"

/// From a record to a sample by a plan. All of it is inlined into the loop of its shape.
namespace pmusim::driver {

/// Whether the record has this layout, as far as samples of the shape take something from it.
template <unsigned shape>
inline bool is_of(const std::byte* record, const RecordLayout& layout) {
  if (((load_word(record) ^ layout.word) & layout.word_mask) != 0) return false;
  return !is_wide(shape) || ((load_word(record + layout.depth) ^ layout.depth_word) & layout.depth_mask) == 0;
}

/// The `bytes` of a sample's template, a multiple of 8: in pieces, of which the last overlaps those before.
inline void copy_words(std::byte* to, const std::byte* from, u32 bytes) {
  constexpr u32 piece = 32, word = 8;
  if (bytes < piece) {
    for (u32 at = 0; at < bytes; at += word) std::memcpy(to + at, from + at, word);
    return;
  }
  std::memcpy(to, from, piece);
  const u32 last = bytes - piece;
  for (u32 at = piece; at < last; at += piece) std::memcpy(to + at, from + at, piece);
  std::memcpy(to + last, from + last, piece);
}

/// The latencies of a record as WEIGHT and WEIGHT_STRUCT have them.
inline u64 weight_in(const SamplePlan& plan, const std::byte* record) {
  const RecordLayout& at = plan.record;
  const u64 latency = load_word(record + at.latency);
  const u64 transaction = field(load_word(record + at.tsx), 31, 0);
  if (plan.weight == WeightSource::none) return 0;
  if (plan.weight == WeightSource::latency) return latency;
  if (plan.weight == WeightSource::transaction) return transaction;
  const bool split = plan.weight == WeightSource::split;
  const u64 access = split ? field(latency, 47, 32) : latency;
  if (!plan.weight_struct) return access != 0 ? access : transaction;
  u64 retire = 0;
  if (plan.retire == RetireLatency::adaptive) retire = field(load_word(record), 47, 32);
  if (plan.retire == RetireLatency::architectural) {
    const u64 word = load_word(record + sizeof(pebs::ArchHeader) + offsetof(pebs::ArchBasic, retire_latency));
    retire = (word & bit(16)) != 0 ? field(word, 15, 0) : 0;
  }
  const u64 low = field(access, 31, 0);
  return (low != 0 ? low : transaction) | (split ? field(latency, 15, 0) << 32 : 0) | retire << 48;
}

/// `to` is the sample as if it had no branches.
inline void copy_access(const SamplePlan& plan, const std::byte* record, std::byte* sample, std::byte* to) {
  const perf::SampleTemplate::Offsets& at = plan.sample.at;
  const u64 address = load_word(record + plan.record.address);
  if (at.address != 0) store_word(sample + at.address, address);
  if (at.weight != 0) store_word(to + at.weight, weight_in(plan, record));
  if (at.data_source != 0)
    store_word(to + at.data_source, (*plan.sources)[load_word(record + plan.record.data_source)]);
  if (at.transaction != 0 && plan.record.transactions)
    store_word(to + at.transaction,
               transaction_word(load_word(record + plan.record.tsx), load_word(record + plan.record.rax)));
  if (at.physical_address != 0) store_word(to + at.physical_address, address);
}

/// Behind RFLAGS and RIP, eight registers in another order and eight in the same.
template <RegisterOrder order>
inline void copy_registers(const SamplePlan& plan, const std::byte* record, u64 ip, std::byte* to) {
  constexpr u32 word = 8, first = 2 * word, eight = 8 * word;
  const std::byte* const from = record + plan.record.registers;
  const auto move = [&](u32 nth, u32 source) {
    std::memcpy(to + nth * word, from + first + source * word, word);
  };
  if constexpr (order == RegisterOrder::fixed) {
    std::memcpy(to, from + first, eight);
  } else {  // RAX RCX RDX RBX RSP RBP RSI RDI
    move(0, 0), move(1, 3), move(2, 1), move(3, 2), move(4, 6), move(5, 7), move(6, 5), move(7, 4);
  }
  store_word(to + eight, ip);
  store_word(to + eight + word, architectural_flags(load_word(from)));
  std::byte* high = to + eight + 2 * word;
  if (plan.sample.selectors) {
    store_word(high, perf::segments_at(ring_at(ip)).code);
    store_word(high + word, plan.sample.stack_selector);
    high += 2 * word;
  }
  std::memcpy(high, from + first + eight, eight);
}

inline void copy_xmm(const SamplePlan& plan, const std::byte* record, std::byte* to) {
  constexpr std::size_t bytes = sizeof(pebs::XmmGroup);
  const RecordLayout& at = plan.record;
  constexpr u64 sse = bit(1);
  const bool valid = at.xmm != 0 && (at.xmm_valid == 0 || (load_word(record + at.xmm_valid) & sse) != 0);
  if (valid)
    std::memcpy(to, record + at.xmm, bytes);
  else
    std::memset(to, 0, bytes);
}

/// Branches into their place. Nothing where they need more than a translation.
inline std::optional<std::size_t> copy_branches(const SamplePlan& plan, const std::byte* record,
                                                std::byte* sample) {
  const std::span entries(reinterpret_cast<const pebs::LbrRecord*>(record + plan.record.lbr),
                          plan.record.lbr_entries);
  std::byte* const to = sample + plan.sample.at.branches_end;
  const LbrDecoder& decoder = *plan.branches.decoder;
  if (plan.branches.always()) return decoder.decode(entries, to);
  const DecodedBranches decoded = decoder.decode_and_judge(entries, to);
  return plan.branches.serve(decoded) ? std::optional(decoded.count) : std::nullopt;
}

/// Writes the sample at `to`, which has room for it. Returns its end; null where its branches need more than
/// a translation, and where it has hit a kernel that the event may not see.
template <unsigned shape>
inline std::byte* copy_record(const SamplePlan& plan, const std::byte* record, std::byte* const to) {
  constexpr RegisterOrder registers = register_order(shape);
  const perf::SampleTemplate& sample = plan.sample;
  const auto* words = reinterpret_cast<const std::byte*>(sample.words.data());
  const u64 ip = load_word(record + plan.record.ip);
  if (plan.hides_kernel && is_kernel_address(ip)) [[unlikely]]
    return nullptr;
  std::byte* rest = to;  // where the sample would begin, had it no branches
  if (is_wide(shape) && sample.at.branches_end != 0) {
    copy_words(to, words, sample.at.branches_end);
    const std::optional<std::size_t> branches = copy_branches(plan, record, to);
    if (!branches) return nullptr;
    store_word(to + sample.at.branch_count, *branches);
    rest += *branches * sizeof(perf::BranchEntry);
    const u32 at = sample.at.branches_end;
    copy_words(rest + at, words + at, sample.word_bytes - at);
  } else {
    copy_words(to, words, sample.word_bytes);
  }
  // A word that nobody wants goes to where the header comes.
  store_word(to + sample.at.time, sample.clock(load_word(record + plan.record.tsc)));
  store_word(to + sample.at.ip, ip);
  if constexpr (has_access(shape)) copy_access(plan, record, to, rest);
  if constexpr (registers != RegisterOrder::none)
    copy_registers<registers>(plan, record, ip, rest + sample.at.registers);
  if (is_wide(shape) && sample.at.xmm_registers != 0) copy_xmm(plan, record, rest + sample.at.xmm_registers);
  store_word(to, plan.headers[ip >> 63] + (static_cast<u64>(rest - to) << 48));
  return rest + sample.bytes;
}

}  // namespace pmusim::driver

#endif
