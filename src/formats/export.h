// SPDX-License-Identifier: MIT
#ifndef PMUSIM_FORMATS_EXPORT_H
#define PMUSIM_FORMATS_EXPORT_H

#include "pmusim/formats/formats.h"

namespace pmusim::formats {

Result<Conversion, Error> export_champsim(const ExportOptions& options);
Result<Conversion, Error> export_cloudsuite(const ExportOptions& options);
Result<Conversion, Error> export_lackey(const ExportOptions& options);
Result<Conversion, Error> export_insn_trace(const ExportOptions& options);

}  // namespace pmusim::formats

#endif
