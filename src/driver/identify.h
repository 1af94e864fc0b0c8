#ifndef PMUSIM_SRC_DRIVER_IDENTIFY_H
#define PMUSIM_SRC_DRIVER_IDENTIFY_H

#include "pmusim/driver/enumeration.h"

namespace pmusim::driver {

/// Facts that CPUID does not enumerate and that drivers know by the name of the core.
bool is_atom(Microarchitecture core);
unsigned legacy_lbr_entries(Microarchitecture core);
/// PEBS-capable counters of DS-PEBS parts; arch-PEBS enumerates them.
u64 ds_pebs_counters(Microarchitecture core, unsigned pebs_format, bool baseline, u64 counters);
u64 ds_pebs_distribution(Microarchitecture core);

}  // namespace pmusim::driver

#endif
