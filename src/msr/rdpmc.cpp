// SPDX-License-Identifier: MIT
#include "arch/rdpmc.h"

#include "msr/counters.h"

namespace pmusim {

bool CounterFile::has_rdpmc(u32 ecx) const {
  if (model_->rdpmc == RdpmcEncoding::plain)
    return ecx < 32 && (model_->usable_gp_counters() >> ecx & 1) != 0;
  const u32 type = ecx >> 16, index = ecx & 0xFFFF;
  if (type == rdpmc::TYPE_GP) return index < 32 && (model_->usable_gp_counters() >> index & 1) != 0;
  if (type == rdpmc::TYPE_FIXED) return index < 16 && (model_->usable_fixed_counters() >> index & 1) != 0;
  return type == rdpmc::TYPE_METRICS && index == 0 && model_->metrics_levels != 0;
}

FaultOr<u64> CounterFile::rdpmc(u32 ecx, Cpl cpl, bool cr4_pce) {
  const u32 type = ecx >> 16, index = ecx & 0xFFFF;
  const bool is_gp = type == rdpmc::TYPE_GP, is_metrics = type == rdpmc::TYPE_METRICS;
  if (!has_rdpmc(ecx)) return Failure(Fault::gp);
  if (cpl != Cpl::kernel && !cr4_pce) return Failure(Fault::gp);
  if (is_metrics) {
    const u64 value = perf_metrics();
    if ((fixed_ctrl_ & msr::fixed_ctrl::METRICS_CLEAR) != 0 &&
        model_->has_capability(msr::perf_cap::RDPMC_METRICS_CLEAR)) {
      counts_[first_fixed + slots] = 0;
      metrics_.write(0, 0);
    }
    return value;
  }
  const bool hidden = is_gp ? (modifiers(index) & msr::evtsel::RDPMC_USR_DISABLE) != 0
                            : (fixed_ctrl_ >> (4 * index) & msr::fixed_ctrl::RDPMC_USR_DISABLE) != 0;
  if (hidden && cpl != Cpl::kernel) return u64{0};
  return counts_[is_gp ? index : first_fixed + index];
}

}  // namespace pmusim
