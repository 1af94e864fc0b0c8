// SPDX-License-Identifier: MIT
#ifndef PMUSIM_TESTS_TRACE_PROGRAMS_H
#define PMUSIM_TESTS_TRACE_PROGRAMS_H

#include <string>

namespace pmusim::trace {

/// The folder of the programs that tests of recorders run.
inline const std::string programs = TEST_PROGRAMS "/";

}  // namespace pmusim::trace

#endif
