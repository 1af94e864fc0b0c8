// SPDX-License-Identifier: MIT
#ifndef PMUSIM_BASE_ERROR_H
#define PMUSIM_BASE_ERROR_H

#include <string>
#include <utility>

#include "pmusim/base/result.h"

namespace pmusim {

/// Why an input could not be used, as one sentence for the person who gave it: what is wrong, where (file and
/// offset, option, field), and what was expected.
struct Error {
  explicit Error(std::string text) : message(std::move(text)) {}
  std::string message;
};

/// A refusal shaped like the kernel's: an errno value and the sentence that says which field and why.
struct KernelError {
  KernelError(int code, std::string text) : error_number(code), message(std::move(text)) {}
  int error_number;  ///< positive errno, for example EINVAL
  std::string message;
};

}  // namespace pmusim

#endif
