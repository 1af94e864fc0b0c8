// SPDX-License-Identifier: MIT
#ifndef PMUSIM_TOOLS_PERF_OPTIONS_H
#define PMUSIM_TOOLS_PERF_OPTIONS_H

#include <span>
#include <string>
#include <string_view>

#include "command.h"
#include "pmusim/base/types.h"

namespace pmusim::tools {

/// What becomes of an option of perf 6.12 here.
enum class Fate : u8 {
  works,
  fulfilled,  ///< accepted without effect: what it asks for is always so
  refused,
};

struct PerfOption {
  std::string_view command;  ///< "record" or "stat"
  std::string_view names;    ///< "-p,--pid"
  std::string_view example;  ///< the option as a person types it, with a value where it takes one
  Fate fate = Fate::works;
  std::string_view sentence;  ///< works: where it differs; fulfilled: why; refused: why, and what to use

  bool takes_value() const;
};

/// Every long option of perf record and perf stat.
std::span<const PerfOption> perf_options();

/// Adds the fulfilled options and the refused ones, which end the command with their sentence. `help` does
/// not show either.
void add_other_perf_options(CLI::App& command);

/// The table for docs/commands.md.
std::string perf_options_as_markdown();

}  // namespace pmusim::tools

#endif
