// SPDX-License-Identifier: MIT
#ifndef PMUSIM_SRC_SESSION_ACR_EXPERIMENT_H
#define PMUSIM_SRC_SESSION_ACR_EXPERIMENT_H

#include <array>
#include <functional>
#include <string>

#include "pmusim/base/types.h"
#include "pmusim/cpu/model.h"

namespace pmusim {

/// The published experiment with auto counter reload: two loops over random numbers that miss different
/// shares of their branches, sampled first with two plain counters, then so that branch-misses sample only
/// where they exceed a share of the branches.
struct AcrExperimentOptions {
  CpuModel model;
  u64 period = 4000;                                          ///< of both events, of branches with ACR
  u64 ratio_percent = 20;                                     ///< misses per branches above which ACR samples
  std::array<std::string, 2> loops{"sum_ge64", "sum_ge128"};  ///< functions that hold the loops
  std::string directory = ".";                                ///< gets traditional.data and acr.data
  /// Called with what begins now.
  std::function<void(const std::string&)> progress = [](const std::string&) {};
};

struct AcrRun {
  std::string events;  ///< as `pmusim record -e` takes them
  std::string file;
  u64 file_bytes = 0;
  u64 samples = 0;
  std::array<u64, 2> miss_samples{}, branch_samples{};  ///< per loop
  u64 misses_elsewhere = 0, branches_elsewhere = 0;     ///< samples outside both loops

  u64 in_loop(std::size_t loop) const { return miss_samples[loop] + branch_samples[loop]; }
  u64 of_misses() const { return miss_samples[0] + miss_samples[1] + misses_elsewhere; }
  u64 of_branches() const { return branch_samples[0] + branch_samples[1] + branches_elsewhere; }
};

struct AcrExperiment {
  std::array<u64, 2> branches{}, misses{};  ///< really executed, per loop
  AcrRun traditional, acr;
  double miss_percent(std::size_t loop) const {
    return branches[loop] == 0
               ? 0
               : 100.0 * static_cast<double>(misses[loop]) / static_cast<double>(branches[loop]);
  }
};

/// Runs it on a recording of the mispredict workload.
///
/// Errors: the model has no auto counter reload; the trace cannot be read; its program has no such functions;
/// a file cannot be written.
Result<AcrExperiment, Error> run_acr_experiment(const std::string& trace,
                                                const AcrExperimentOptions& options);

}  // namespace pmusim

#endif
