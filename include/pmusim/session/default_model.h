// SPDX-License-Identifier: MIT
#ifndef PMUSIM_SESSION_DEFAULT_MODEL_H
#define PMUSIM_SESSION_DEFAULT_MODEL_H

/// The CPU that a program runs on where nobody names one:
/// @code
/// const CpuModel model = *find_cpu_model(default_model);
/// @endcode
namespace pmusim {

/// A name of find_cpu_model(), of the command and of the package for Python.
inline constexpr const char* default_model = "icelake";

}  // namespace pmusim

#endif
