// SPDX-License-Identifier: MIT
#ifndef PMUSIM_FORMATS_FORMAT_TABLE_H
#define PMUSIM_FORMATS_FORMAT_TABLE_H

#include "pmusim/formats/formats.h"

namespace pmusim::formats {

/// All that a format takes. References, so that a row without a reader or a writer does not compile.
struct FormatRow {
  FormatInfo info;
  Result<Conversion, Error> (&import_file)(const ImportOptions& options);
  Result<Conversion, Error> (&export_file)(const ExportOptions& options);
};

/// Null for what is no format.
const FormatRow* row_of(Format format);

}  // namespace pmusim::formats

#endif
