// SPDX-License-Identifier: MIT
#ifndef PMUSIM_BASE_DEMANGLE_H
#define PMUSIM_BASE_DEMANGLE_H

#include <string>

namespace pmusim {

/// The name as the programmer wrote it. Names that are not mangled, or that would become monstrous, stay as
/// they are.
std::string demangled(const std::string& linkage_name);

}  // namespace pmusim

#endif
