// SPDX-License-Identifier: MIT
#ifndef PMUSIM_LBR_BRANCH_SAMPLING_H
#define PMUSIM_LBR_BRANCH_SAMPLING_H

#include <array>
#include <utility>

#include "lbr/branch.h"
#include "msr/row.h"
#include "pmusim/arch/msr.h"
#include "pmusim/base/types.h"

namespace pmusim {

/// Branch sampling of Zen 3's servers (BRS): what Linux knows of it, as no manual of AMD's has it.
///
/// Once software has enabled it, the overflow of its counter holds back the interrupt, and the next 16 taken
/// branches are written down, of any kind at any privilege. With the last of them it turns itself off, and
/// the interrupt goes out; that also happens when software turns it off before.
class BranchSampling {
 public:
  static constexpr unsigned records = 16;

  explicit BranchSampling(const CpuModel& model) : is_there_(model.amd.has_branch_sampling()) {}

  /// Of counters whose overflow asks for an interrupt, those that have to wait.
  u64 hold(u64 interrupting);
  /// Whether an interrupt waits, and every taken branch is one of those that it waits for.
  bool is_recording() const { return recording_; }
  /// A taken branch. True: it was the last one.
  bool record(const Branch& branch);
  /// Whether software has just turned off what an interrupt waited for. True once.
  bool take_release() { return std::exchange(released_, false); }

  void add_to(StateHash& hash) const;
  static RowFamilies<BranchSampling> registers(Vendor vendor);

 private:
  struct Record {
    u64 from = 0, to = 0;
  };
  void write_control(u64 value);

  bool is_there_;
  u64 control_ = 0;
  bool recording_ = false, released_ = false;
  std::array<Record, records> ring_{};
};

}  // namespace pmusim

#endif
