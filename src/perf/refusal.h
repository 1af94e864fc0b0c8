// SPDX-License-Identifier: MIT
#ifndef PMUSIM_SRC_PERF_REFUSAL_H
#define PMUSIM_SRC_PERF_REFUSAL_H

#include <fmt/format.h>

#include <cerrno>

#include "pmusim/base/types.h"

namespace pmusim::perf {

/// `return refuse(EINVAL, "field: why")`.
template <class... Arguments>
Failure<KernelError> refuse(int error_number, fmt::format_string<Arguments...> text,
                            Arguments&&... arguments) {
  return Failure(KernelError(error_number, fmt::format(text, std::forward<Arguments>(arguments)...)));
}

}  // namespace pmusim::perf

#endif
