// SPDX-License-Identifier: MIT
#ifndef PMUSIM_LBR_LAYOUT_H
#define PMUSIM_LBR_LAYOUT_H

#include <optional>

#include "pmusim/arch/branch.h"
#include "pmusim/cpu/model.h"

namespace pmusim {

/// How a model lays a record out in its FROM, TO and INFO registers: PERF_CAPABILITIES[5:0] as data.
///
/// Records are kept with clean addresses and an architectural INFO word. All that differs between formats is
/// which INFO bits hardware can produce, and in which register they are seen.
struct LbrLayout {
  explicit LbrLayout(const CpuModel& model);

  u64 from(const LbrEntry& record) const;
  u64 to(const LbrEntry& record) const;
  u64 info(const LbrEntry& record) const { return record.info & info_register; }

  /// `record` after a write of its FROM (TO, INFO) register; nothing if the write faults, because bits that
  /// stand for the sign of the address disagree with it.
  std::optional<LbrEntry> with_from(LbrEntry record, u64 value) const;
  std::optional<LbrEntry> with_to(LbrEntry record, u64 value) const;
  LbrEntry with_info(LbrEntry record, u64 value) const;

  /// INFO bits for what only AMD's records have, in their TO registers. Intel has none at these places.
  static constexpr u64 valid = bit(47), speculative = bit(46);

  u64 produced = 0;           ///< INFO bits that recording sets
  u64 info_register = 0;      ///< INFO bits in the INFO register
  u64 flags_in_from = 0;      ///< INFO bits that replace address bits of FROM
  u64 checked_from = 0;       ///< FROM bits that must agree with the sign of a written address
  bool cycles_in_to = false;  ///< TO[63:48] is CYC_CNT
  bool packed = false;        ///< one register holds both, 32 bits each
  bool checked_to = true;
  /// Flags above the 58 bits of the address: MISPRED in FROM, valid in TO. FROM of a fused pair is its first.
  bool amd = false;
};

}  // namespace pmusim

#endif
