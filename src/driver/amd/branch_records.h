// SPDX-License-Identifier: MIT
#ifndef PMUSIM_SRC_DRIVER_AMD_BRANCH_RECORDS_H
#define PMUSIM_SRC_DRIVER_AMD_BRANCH_RECORDS_H

#include <memory>
#include <vector>

#include "driver/amd/enumeration.h"
#include "driver/x86/event_data.h"
#include "driver/x86/register_access.h"
#include "pmusim/perf/driver.h"

namespace pmusim::driver::amd {

/// Where the branch stacks of samples come from: the LBR stack of Zen 4 and later, or the branch sampling of
/// Zen 3's servers.
class BranchRecords {
 public:
  virtual ~BranchRecords() = default;

  /// For events with a branch_sample_type: sets `branch_config` (for the filter register, if there is one)
  /// and `branch_software_filter` of the event's data. Errors: EOPNOTSUPP or EINVAL.
  [[nodiscard]] virtual Result<Done, KernelError> init(perf::Event& event) const = 0;
  /// Counters that can sample branch stacks, of those in `all`.
  virtual u64 counters(u64 all) const { return all; }
  /// How many events of `left`, the rest of an interval, are counted before records begin.
  virtual i64 counted(i64 left) const { return left; }

  virtual void add(const perf::Event& event) = 0;
  virtual void remove(const perf::Event& event) = 0;
  bool in_use() const { return users_ != 0; }

  virtual void enable() = 0;
  virtual void disable() = 0;
  /// No record, and nothing filtered.
  virtual void reset() = 0;

  /// In an interrupt, once for all samples; `code` reads what the software filter has to decode.
  virtual void read(const perf::SampleSink& code) = 0;
  /// What `read` took, for a sample of `event`; null where it wants none.
  const perf::BranchStack* stack(const perf::Event& event);

  /// Records do not say whose they are: none survives a switch.
  virtual void context_switch(perf::PmuDriver::SwitchDirection direction, perf::TaskId task) = 0;
  virtual void forget_code() {}

 protected:
  BranchRecords(RegisterAccess& access, const Enumeration& cpu) : access_(access), cpu_(cpu) {}

  u64 canonical(u64 address) const;

  RegisterAccess& access_;
  const Enumeration& cpu_;
  unsigned users_ = 0;
  std::vector<perf::BranchEntry> branches_;

 private:
  perf::BranchStack presented_;
};

/// What the CPU has. Both must outlive it.
std::unique_ptr<BranchRecords> make_branch_records(RegisterAccess& access, const Enumeration& cpu);

}  // namespace pmusim::driver::amd

#endif
