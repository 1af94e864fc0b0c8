// SPDX-License-Identifier: MIT
#ifndef PMUSIM_BASE_BASE_NAME_H
#define PMUSIM_BASE_BASE_NAME_H

#include <string>
#include <string_view>

namespace pmusim {

/// The name of a file without its folders.
inline std::string base_name(std::string_view path) { return std::string(path.substr(path.rfind('/') + 1)); }

}  // namespace pmusim

#endif
