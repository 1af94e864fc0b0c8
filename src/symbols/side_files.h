// SPDX-License-Identifier: MIT
#ifndef PMUSIM_SRC_SYMBOLS_SIDE_FILES_H
#define PMUSIM_SRC_SYMBOLS_SIDE_FILES_H

#include "elf_file.h"

namespace pmusim::symbols {

/// The first file that libdw would open for `dwarf`, that of `elf`, and is not to; nothing if there is none.
///
/// libdw opens what DWARF names (.dwo, .dwp, the file of .gnu_debugaltlink) as soon as it is asked for what
/// lies there, and would wait for a pipe for ever. So it is asked nothing before this was: each of these has
/// to be missing, or a regular file of its kind (docs/security.md).
std::optional<std::filesystem::path> unfit_side_file(Dwarf* dwarf, const ElfFile& elf);

}  // namespace pmusim::symbols

#endif
