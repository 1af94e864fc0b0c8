// SPDX-License-Identifier: MIT
#include "kernel_option.h"

#include <fmt/format.h>

namespace pmusim::tools {

void KernelOption::add_to(CLI::App& command) {
  option_ = command
                .add_option("--kernel", name_,
                            fmt::format("Linux release whose perf_event is emulated: {}",
                                        fmt::join(perf::kernel_names(), ", ")))
                ->capture_default_str();
}

perf::Kernel KernelOption::kernel() const { return value_or_fail(perf::find_kernel(name_)); }

}  // namespace pmusim::tools
