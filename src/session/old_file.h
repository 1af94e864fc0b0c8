// SPDX-License-Identifier: MIT
#ifndef PMUSIM_SRC_SESSION_OLD_FILE_H
#define PMUSIM_SRC_SESSION_OLD_FILE_H

#include <string>

#include "pmusim/base/types.h"

namespace pmusim {

/// Gives a regular file that is there and not empty the second name PATH.old, in place of what had it. Errors
/// name the file and the system's reason.
Result<Done, Error> keep_old_file(const std::string& path);

}  // namespace pmusim

#endif
