// SPDX-License-Identifier: MIT
#ifndef PMUSIM_SRC_CPU_PARAMETER_VALUES_H
#define PMUSIM_SRC_CPU_PARAMETER_VALUES_H

#include <optional>
#include <string_view>

#include "pmusim/cpu/core_parameters.h"

/// A core's parameters as text, on the command line and in the tables of the models: "512", "48K", "100M",
/// "tage".
namespace pmusim {

/// A number, with a unit behind it where it counts bytes or Hertz. Nothing for text that is none.
std::optional<u64> number_of(std::string_view text, ParameterUnit unit);

/// The value that a text gives the parameter. Nothing for one that it cannot be.
std::optional<u64> value_of(const CoreParameter& parameter, std::string_view text);

}  // namespace pmusim

#endif
