#ifndef PMUSIM_SRC_DRIVER_IDENTIFY_H
#define PMUSIM_SRC_DRIVER_IDENTIFY_H

#include "pmusim/driver/enumeration.h"

namespace pmusim::driver {

/// Facts that CPUID does not enumerate and that drivers know by the name of the core.
bool is_atom(Microarchitecture core);
unsigned legacy_lbr_entries(Microarchitecture core);
/// Whether a release knows the core (docs/perf-abi-notes.md): else it is one with architectural events alone.
bool has_tables(perf::Kernel kernel, const Enumeration& enumeration);
/// PEBS-capable counters of DS-PEBS parts; arch-PEBS enumerates them.
u64 ds_pebs_counters(Microarchitecture core, unsigned pebs_format, bool baseline, u64 counters);
/// Counters whose precise samples come without a shadow. Linux does not use Sandy Bridge's.
u64 ds_pebs_distribution(Microarchitecture core);

}  // namespace pmusim::driver

#endif
