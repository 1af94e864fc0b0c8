// SPDX-License-Identifier: MIT
#ifndef PMUSIM_ANNOTATE_ANALYZE_H
#define PMUSIM_ANNOTATE_ANALYZE_H

#include <filesystem>
#include <string>
#include <vector>

#include "pmusim/annotate/report.h"
#include "pmusim/base/error.h"

/// From a perf.data file to what is hot in it, and why:
/// @code
/// const auto report = annotate::analyze("perf.data", {});
/// if (report) std::cout << ranking_text(*report, {annotate::Ranking::symbols}, annotate::Colours::none);
/// @endcode
namespace pmusim::annotate {

/// /usr/lib/debug.
std::filesystem::path usual_debug_directory();

enum class Syntax : u8 { att, intel };

/// Which samples are counted: those that each list that is not empty has something of.
struct SampleChoice {
  std::vector<std::string> commands;  ///< what their task was called then
  std::vector<u32> pids, tids, cpus;
};

/// Which functions are annotated, how, and where what belongs to their files is looked for.
struct Options {
  /// Annotate these functions alone (demangled or linkage names), from samples whose IP lies in one of them,
  /// as `perf annotate SYMBOL` does. Empty: every function with samples, from all samples.
  std::vector<std::string> symbols;
  SampleChoice samples = {};
  Syntax syntax = Syntax::att;
  /// The hottest so many functions are annotated, and so many branches, lines and paths are kept.
  u32 max_functions = 1000, max_branches = 1000, max_lines = 1000, max_paths = 20;
  /// Nodes of call stacks below this share of the samples are dropped.
  double min_stack_share = 0.0001;
  /// Where separate debug files are: DIRECTORY/.build-id/ab/cdef.debug and DIRECTORY/usr/bin/x.debug.
  std::filesystem::path debug_directory = usual_debug_directory();
  /// Where JIT compilers leave perf-PID.map.
  std::filesystem::path jit_directory = "/tmp";
};

/// Reads a perf.data file, ours or perf's, and sums it up. Code that cannot be resolved is in the report as
/// far as it is known, with sentences in `notes` and `problem`. Errors: the file cannot be read or is broken;
/// none of `symbols` has samples; no sample is of those asked for.
Result<Report, Error> analyze(const std::filesystem::path& perf_data, const Options& options);
/// The same for a file in memory, without the check of `symbols`; `name` is for messages.
Result<Report, Error> analyze_bytes(const std::string& name, const std::vector<std::byte>& perf_data,
                                    const Options& options);

}  // namespace pmusim::annotate

#endif
