// SPDX-License-Identifier: MIT
#include "session/level_filter.h"

#include "events/sampling_pmus.h"
#include "pmusim/driver/drivers.h"

namespace pmusim {

void filter_levels_in_software(perf::Attr& attr, const CpuModel& model, perf::Kernel kernel) {
  constexpr u64 software_filter = 1;
  if (!events::is_sampled_by_unit(model, attr)) return;
  if (has(kernel, driver::IbsDriver::level_filter()))
    attr.config2 |= software_filter;
  else
    attr.exclude_kernel = attr.exclude_hv = 0;
}

}  // namespace pmusim
