// SPDX-License-Identifier: MIT
#ifndef PMUSIM_SRC_FORMATS_PT_IMPORT_H
#define PMUSIM_SRC_FORMATS_PT_IMPORT_H

#include "pmusim/formats/formats.h"

namespace pmusim::formats {

/// Imports Intel PT from a perf.data file. Code is the program's own, from recorded code (`options.code`) or
/// from the files that were mapped. Threads take turns as the time stamps say.
Result<Conversion, Error> import_pt(const ImportOptions& options);

}  // namespace pmusim::formats

#endif
