// SPDX-License-Identifier: MIT
#ifndef PMUSIM_SRC_SESSION_MERGED_TYPES_H
#define PMUSIM_SRC_SESSION_MERGED_TYPES_H

#include <string>
#include <vector>

#include "pmusim/session/stat.h"

namespace pmusim {

/// The name of an event on one kind of core without its PMU: "cycles:u" of "cpu_atom/cycles/u",
/// "cpu/event=0x3c/" of "cpu_core/event=0x3c/". Another name is itself.
std::string name_on_any_core(const std::string& name);

/// Makes one event of those that both kinds of core count, at the place of the first: count, enabled and
/// running time are sums, of counts that have been scaled up before (perf stat --hybrid-merge).
void merge_core_types(std::vector<EventTotal>& events);
/// The same of a whole and of its CPUs, each of which has one kind of core.
void merge_core_types(std::vector<EventTotal>& events, std::vector<CpuTotals>& cpus);

}  // namespace pmusim

#endif
