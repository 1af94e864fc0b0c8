// SPDX-License-Identifier: MIT
#ifndef PMUSIM_SRC_FORMATS_PT_EXPORT_H
#define PMUSIM_SRC_FORMATS_PT_EXPORT_H

#include "pmusim/formats/formats.h"

namespace pmusim::formats {

/// Writes a perf.data file with an Intel PT stream for each thread, as `perf record -e intel_pt//u
/// --per-thread` would. Time is the trace's own: two ticks of the TSC, of 1 ns, for each instruction, which
/// is what perf's decoder assumes where packets do not tell.
Result<Conversion, Error> export_pt(const ExportOptions& options);

}  // namespace pmusim::formats

#endif
