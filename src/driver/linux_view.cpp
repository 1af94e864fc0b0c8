#include "linux_view.h"

namespace pmusim::driver {

using perf::Change;

Enumeration as_seen_by(perf::Kernel kernel, Enumeration cpu) {
  constexpr unsigned with_counters = 6, without_counters = 5;
  if (!has(kernel, Change::auto_counter_reload)) cpu.acr_reloadable = cpu.acr_cause = 0;
  if (!has(kernel, Change::arch_pebs) && cpu.arch_pebs()) {
    cpu.pebs_format = Enumeration::no_pebs;
    cpu.pebs_counters = 0;
  }
  if (!has(kernel, Change::counter_snapshots) && cpu.pebs_format == with_counters)
    cpu.pebs_format = without_counters;
  return cpu;
}

}  // namespace pmusim::driver
