// SPDX-License-Identifier: MIT
#ifndef PMUSIM_EXPLORE_EXPLORE_H
#define PMUSIM_EXPLORE_EXPLORE_H

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "pmusim/base/error.h"
#include "pmusim/explore/cpu.h"

/// Every PMI: a driver's code is run once for each place in it at which a PMI can come, and for each pair of
/// places, and so on; the first that breaks something is given as a seed that repeats it.
///
/// @code
/// using namespace pmusim;
/// Pmu start(*find_cpu_model("skylake"));
/// const auto report = explore::explore(start, [](explore::Cpu& cpu) {
///   // build the driver on `cpu`, which is a Bus, and make it the PMI handler of cpu.pmu(); then
///   cpu.open();
///   static_cast<void>(cpu.wrmsr(msr::PERF_GLOBAL_CTRL, 1));  // the driver's code that PMIs may interrupt
///   cpu.close();
///   if (cpu.pmu().rdmsr(msr::PERF_GLOBAL_CTRL).value() != 1) cpu.fail("the driver is not enabled");
/// });
/// if (report.ok() && report->finding) std::cout << explore::text_of(*report->finding);
/// @endcode
///
/// docs/explore.md has more.
namespace pmusim::explore {

/// Code under test: called for each placement with a CPU of its own, a copy of the one to start from. It must
/// do the same whenever nothing else comes in between.
using Scenario = std::function<void(Cpu&)>;

/// What to try.
struct Options {
  unsigned most_pmis = 1;  ///< in one run
  std::vector<Cause> causes = {Cause::overflow};
  /// Boundaries that a PMI may be late by: all from 0 to this.
  u32 greatest_delay = 0;
  /// No more runs than this.
  u64 most_runs = 1'000'000;
};

/// A placement that breaks something.
struct Finding {
  std::string what;                ///< as the scenario reported it
  std::string seed;                ///< for replay(): "overflow@17,spurious@40+2"
  std::vector<std::string> where;  ///< a line for each PMI of the placement
};

/// What a search came to.
struct Report {
  u64 runs = 0;
  u64 boundaries = 0;    ///< places for a PMI in the run that has none
  u64 merged = 0;        ///< places that were not tried again, because an equal state had been there before
  bool complete = true;  ///< false: `most_runs` was not enough
  std::optional<Finding> finding;  ///< the first, with the fewest PMIs
};

/// Runs `scenario` once for every placement. Errors: a scenario that does not repeat itself.
Result<Report, Error> explore(const Pmu& start, const Scenario& scenario, const Options& options = {});

/// Runs the one placement that `seed` names; "" is the one without PMIs. Errors: a seed that is none, or that
/// names a boundary which this scenario does not reach.
Result<Report, Error> replay(const Pmu& start, const Scenario& scenario, std::string_view seed);

/// The same on a Pmu of the caller's: each run begins with it as it is now, and so it is left. For scenarios
/// that have it already.
Result<Report, Error> explore_on(Pmu& pmu, const Scenario& scenario, const Options& options = {});
Result<Report, Error> replay_on(Pmu& pmu, const Scenario& scenario, std::string_view seed);

/// A failure as text: what broke, the seed, and where the PMIs came.
std::string text_of(const Finding& finding);

/// A placement as a seed, and back. Errors say what is wrong and at which byte.
std::string seed_of(const Placement& placement);
Result<Placement, Error> parse_seed(std::string_view seed);

}  // namespace pmusim::explore

#endif
