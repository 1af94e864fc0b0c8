// SPDX-License-Identifier: MIT
#ifndef PMUSIM_SCENARIO_SCENARIO_H
#define PMUSIM_SCENARIO_SCENARIO_H

#include <optional>
#include <string>
#include <string_view>

#include "pmusim/base/types.h"
#include "pmusim/pmu/observer.h"

/// A PMU scenario as a text that a reader of the SDM understands, and that needs no C++:
///
///     # SDM vol. 3, freezing on PMI: the legacy strategy clears the enables.
///     model haswell
///     policy pmi_skid_cycles 0
///     wrmsr IA32_DEBUGCTL FREEZE_PERFMON_ON_PMI
///     wrmsr IA32_PMC0 0xffffffff
///     wrmsr IA32_PERFEVTSEL0 EN|USR|INT|0xc0
///     wrmsr IA32_PERF_GLOBAL_CTRL 1
///     retire 2
///     rdmsr IA32_PERF_GLOBAL_STATUS = 1
///     rdmsr IA32_PERF_GLOBAL_CTRL = 0
///     pmis = 1
///
/// docs/scenarios.md lists the statements.
namespace pmusim::scenario {

/// The first expectation that did not hold.
struct Difference {
  unsigned line = 0;  ///< from 1
  std::string model;  ///< what it was found on: "skylake", "CPU 1 of skylake" where there are several
  std::string statement, expected, found;
  std::string why;  ///< of a fault that was found, as Pmu::why
};

/// Runs a scenario to its end or to the first difference. Errors: a statement that cannot be understood, with
/// its line and what was expected; `name` is for messages. `observer`, if not null, observes the first CPU of
/// the first model.
Result<std::optional<Difference>, Error> run(std::string_view text, const std::string& name,
                                             Observer* observer = nullptr);

}  // namespace pmusim::scenario

#endif
