// SPDX-License-Identifier: MIT
#ifndef PMUSIM_SRC_DRIVER_AMD_LBR_H
#define PMUSIM_SRC_DRIVER_AMD_LBR_H

#include <vector>

#include "driver/amd/enumeration.h"
#include "driver/x86/branch_filter.h"
#include "driver/x86/register_access.h"
#include "pmusim/perf/driver.h"

namespace pmusim::driver::amd {

/// The LBR stack of Zen 4 and later: filters, on and off, and what its records become.
class Lbr {
 public:
  Lbr(RegisterAccess& access, const Enumeration& cpu);

  /// For events with a branch_sample_type: sets `branch_config` (what the filter register is to have) and
  /// `branch_software_filter` of the event's data. Errors: EOPNOTSUPP.
  [[nodiscard]] Result<Done, KernelError> init(perf::Event& event) const;

  void add(const perf::Event& event);
  void remove(const perf::Event& event);
  bool in_use() const { return users_ != 0; }

  void enable();
  void disable();
  /// No record, and nothing filtered.
  void reset();

  /// In an interrupt, once for all samples; `code` reads what the software filter has to decode.
  void read(const perf::SampleSink& code);
  /// What `read` took, for a sample of `event`; null where it wants none.
  const perf::BranchStack* stack(const perf::Event& event);

  /// Records do not say whose they are: none survives a switch.
  void context_switch(perf::PmuDriver::SwitchDirection direction, perf::TaskId task);
  void forget_code() { filter_.invalidate(); }

 private:
  RegisterAccess& access_;
  const Enumeration& cpu_;
  BranchFilter filter_{BranchFilter::Sources::fused};
  unsigned users_ = 0;
  bool filtered_ = false;  // the newest change was that a user came
  u64 select_ = 0;         // of the newest user, as is `request_`
  u64 request_ = 0;
  std::vector<perf::BranchEntry> branches_;
  perf::BranchStack presented_;
};

}  // namespace pmusim::driver::amd

#endif
