// SPDX-License-Identifier: MIT
#include "driver/linux_view.h"

#include "pmusim/arch/pebs_format.h"

namespace pmusim::driver {

using perf::Change;

Enumeration as_seen_by(perf::Kernel kernel, Enumeration cpu) {
  if (!has(kernel, Change::auto_counter_reload)) cpu.acr_reloadable = cpu.acr_cause = 0;
  if (!has(kernel, Change::arch_pebs) && cpu.arch_pebs()) {
    cpu.pebs_format = Enumeration::no_pebs;
    cpu.pebs_counters = 0;
  }
  if (!has(kernel, Change::counter_snapshots) && pebs::stores_counters(cpu.pebs_format))
    cpu.pebs_format = pebs::timed_format;
  return cpu;
}

}  // namespace pmusim::driver
