// SPDX-License-Identifier: MIT
#ifndef PMUSIM_SRC_DRIVER_AMD_LBR_H
#define PMUSIM_SRC_DRIVER_AMD_LBR_H

#include "driver/amd/branch_records.h"
#include "driver/x86/branch_filter.h"

namespace pmusim::driver::amd {

/// The LBR stack of Zen 4 and later: filters, on and off, and what its records become.
class Lbr final : public BranchRecords {
 public:
  Lbr(RegisterAccess& access, const Enumeration& cpu) : BranchRecords(access, cpu) {}

  Result<Done, KernelError> init(perf::Event& event) const override;
  void add(const perf::Event& event) override;
  void remove(const perf::Event& event) override;
  void enable() override;
  void disable() override;
  void reset() override;
  void read(const perf::SampleSink& code) override;
  void context_switch(perf::PmuDriver::SwitchDirection direction, perf::TaskId task) override;
  void forget_code() override { filter_.invalidate(); }

 private:
  BranchFilter filter_{BranchFilter::Sources::fused};
  bool filtered_ = false;  // the newest change was that a user came
  u64 select_ = 0;         // of the newest user, as is `request_`
  u64 request_ = 0;
};

}  // namespace pmusim::driver::amd

#endif
