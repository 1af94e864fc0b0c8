// SPDX-License-Identifier: MIT
#ifndef PMUSIM_SRC_VPMU_GUEST_REGISTERS_H
#define PMUSIM_SRC_VPMU_GUEST_REGISTERS_H

#include <array>
#include <optional>

#include "pmusim/pmu/pmu.h"

namespace pmusim::vpmu {

/// Counters are numbered as GLOBAL_STATUS has them: GP n is n, fixed m is 32 + m.
inline constexpr unsigned first_fixed = 32;

/// What a guest sees of the host's model: perfmon of version 2 with what KVM shows of it.
CpuModel guest_model(const CpuModel& host);

/// The registers of a guest's PMU.
///
/// They are those of a Pmu of the guest's model on which nothing retires: it keeps what software writes,
/// knows what faults, and delivers the guest's PMIs. What hardware would write, which is counts and overflow
/// status, is the hypervisor's and kept beside it.
class GuestRegisters {
 public:
  explicit GuestRegisters(const CpuModel& host) : file_(guest_model(host)) {}

  FaultOr<u64> rdmsr(u32 address);
  [[nodiscard]] Fault wrmsr(u32 address, u64 value);
  FaultOr<u64> rdpmc(u32 ecx);
  CpuidResult cpuid(u32 leaf, u32 subleaf);

  u64 counters() const { return file_.model().counters(); }
  unsigned counter_width() const { return file_.model().counter_width; }
  u64 count(unsigned counter) const { return counts_[counter]; }
  void set_count(unsigned counter, u64 value) { counts_[counter] = value; }
  u64 status() const { return status_; }
  void set_status(u64 status) { status_ = status; }
  /// What the register holds, which is there.
  u64 at(u32 address) { return rdmsr(address).value(); }
  /// The event select by which a general counter would count what this one does; 0: it stands still.
  u64 select(unsigned counter);

  void request_pmi() { file_.request_pmi(); }
  /// The guest takes a PMI that is pending, if it lets it pass.
  bool interrupt(const InterruptFrame& frame);
  /// Memory, XSAVE and the handler are the file's own.
  Pmu& file() { return file_; }
  const Pmu& file() const { return file_; }

 private:
  std::optional<unsigned> counter_at(u32 address) const;

  Pmu file_;
  std::array<u64, 64> counts_{};
  u64 status_ = 0;
};

}  // namespace pmusim::vpmu

#endif
