// SPDX-License-Identifier: MIT
#ifndef PMUSIM_MACHINE_HOST_ERRORS_H
#define PMUSIM_MACHINE_HOST_ERRORS_H

#include <stdexcept>

namespace pmusim::machine {

/// What was asked for cannot be done: exit status 2.
struct Refusal : std::runtime_error {
  using std::runtime_error::runtime_error;
};

}  // namespace pmusim::machine

#endif
