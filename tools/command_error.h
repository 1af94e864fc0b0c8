// SPDX-License-Identifier: MIT
#ifndef PMUSIM_TOOLS_COMMAND_ERROR_H
#define PMUSIM_TOOLS_COMMAND_ERROR_H

#include <stdexcept>
#include <utility>

#include "pmusim/base/types.h"

namespace pmusim::tools {

/// Ends a command with a sentence on standard error and exit code 2.
struct CommandError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Ends a command that did its work with another exit status than 0.
struct ExitStatus {
  int status;
};

/// Ends a command, whose work is done, by the signal that asked it to.
struct EndedBySignal {
  int signal;
};

/// The value, or the end of the command with the error's sentence.
template <class T, class E>
T value_or_fail(Result<T, E> result) {
  if (!result.ok()) throw CommandError(result.error().message);
  return std::move(result).value();
}

}  // namespace pmusim::tools

#endif
