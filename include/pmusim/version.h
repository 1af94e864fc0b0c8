// SPDX-License-Identifier: MIT
#ifndef PMUSIM_VERSION_H
#define PMUSIM_VERSION_H

#include <string_view>

/// Which pmusim this is:
/// @code
/// std::cout << "with pmusim " << version << '\n';
/// @endcode
namespace pmusim {

/// "major.minor.patch", numbers in decimal. The build reads its own version from this line.
inline constexpr std::string_view version = "0.1.0";

}  // namespace pmusim

#endif
