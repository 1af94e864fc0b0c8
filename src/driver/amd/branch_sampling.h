// SPDX-License-Identifier: MIT
#ifndef PMUSIM_SRC_DRIVER_AMD_BRANCH_SAMPLING_H
#define PMUSIM_SRC_DRIVER_AMD_BRANCH_SAMPLING_H

#include "driver/amd/branch_records.h"

namespace pmusim::driver::amd {

/// Branch sampling of Zen 3's servers (Linux: arch/x86/events/amd/brs.c): the interrupt of counter 0 waits
/// for the 16 taken branches after the overflow. There is no filter, no word on prediction, and nothing that
/// tells records from those that were there before.
class BranchSampling final : public BranchRecords {
 public:
  BranchSampling(RegisterAccess& access, const Enumeration& cpu) : BranchRecords(access, cpu) {}

  Result<Done, KernelError> init(perf::Event& event) const override;
  u64 counters(u64 all) const override { return all & 1; }
  i64 counted(i64 left) const override;
  void add(const perf::Event& event) override;
  void remove(const perf::Event& event) override;
  void enable() override;
  void disable() override;
  void reset() override;
  void read(const perf::SampleSink& code) override;
  void context_switch(perf::PmuDriver::SwitchDirection direction, perf::TaskId task) override;

 private:
  bool is_wanted(const perf::BranchEntry& branch) const;

  u64 request_ = 0;  // of the newest user
  bool active_ = false;
};

}  // namespace pmusim::driver::amd

#endif
