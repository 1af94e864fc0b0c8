// SPDX-License-Identifier: MIT
#ifndef PMUSIM_SRC_SESSION_FILE_OPTIONS_H
#define PMUSIM_SRC_SESSION_FILE_OPTIONS_H

#include "perfdata/writer.h"
#include "pmusim/session/record.h"

namespace pmusim {

/// How `record` writes its file, and what the file says of the emulated machine.
perfdata::Options writer_options(const Session& session, const RecordOptions& options);

}  // namespace pmusim

#endif
