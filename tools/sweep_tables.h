// SPDX-License-Identifier: MIT
#ifndef PMUSIM_TOOLS_SWEEP_TABLES_H
#define PMUSIM_TOOLS_SWEEP_TABLES_H

#include <span>
#include <string>
#include <vector>

#include "sweep_results.h"

namespace pmusim::tools {

// All results of a sweep as one table, in the order of its file. What is not known is an empty field, or
// NULL.

/// Comma-separated, with a headline: a line for each event and each metric of each job.
std::string long_table(std::span<const SweepResult> results);
/// The same with a line for each trace on each model, a column for each event of each set ("set.event") and
/// each metric ("metrics.name").
std::string wide_table(std::span<const SweepResult> results);
/// An SQLite database with the tables `runs` (a trace on a model), `counts` and `metrics`.
std::vector<std::byte> database(std::span<const SweepResult> results);

}  // namespace pmusim::tools

#endif
