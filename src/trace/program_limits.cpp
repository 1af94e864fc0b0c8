// SPDX-License-Identifier: MIT
#include "trace/program_limits.h"

namespace pmusim::trace {
namespace {

rlimit raise_to_hard(__rlimit_resource_t resource) {
  rlimit before{};
  ::getrlimit(resource, &before);
  const rlimit raised{before.rlim_max, before.rlim_max};
  ::setrlimit(resource, &raised);
  return before;
}

}  // namespace

ProgramLimits take_limits_off() { return {raise_to_hard(RLIMIT_FSIZE), raise_to_hard(RLIMIT_CPU)}; }

void set_limits(const ProgramLimits& limits) {
  ::setrlimit(RLIMIT_FSIZE, &limits.file_size);
  ::setrlimit(RLIMIT_CPU, &limits.cpu_time);
}

}  // namespace pmusim::trace
