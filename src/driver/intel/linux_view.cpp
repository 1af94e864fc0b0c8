// SPDX-License-Identifier: MIT
#include "driver/intel/linux_view.h"

#include "driver/x86/linux_changes.h"
#include "pmusim/arch/debug_store.h"

namespace pmusim::driver {

Enumeration as_seen_by(perf::Kernel kernel, Enumeration cpu) {
  if (!has(kernel, change::auto_counter_reload)) cpu.acr_reloadable = cpu.acr_cause = 0;
  if (!has(kernel, change::arch_pebs) && cpu.arch_pebs()) {
    cpu.pebs_format = Enumeration::no_pebs;
    cpu.pebs_counters = 0;
  }
  if (!has(kernel, change::counter_snapshots) && pebs::stores_counters(cpu.pebs_format))
    cpu.pebs_format = pebs::timed_format;
  return cpu;
}

}  // namespace pmusim::driver
