// SPDX-License-Identifier: MIT
#ifndef PMUSIM_TOOLS_PROFILE_OPTION_H
#define PMUSIM_TOOLS_PROFILE_OPTION_H

#include <optional>
#include <string>

#include "command.h"
#include "pmusim/annotate/report.h"

namespace pmusim::tools {

/// The options that `annotate` and `report` share.
struct ProfileOption {
  std::string input = "perf.data";
  std::optional<std::string> html;  ///< where to write the page, instead of printing
  bool stdio = false, json = false;
  annotate::Options options;

  void add_to(CLI::App& command);
  annotate::Report report() const;
  /// Does what --html or --json ask for; false if neither was given.
  bool print_other_than_text(const annotate::Report& report) const;
};

/// Colours on a terminal only, and not where NO_COLOR is set (no-color.org).
annotate::Colours terminal_colours();

/// The report's sentences on what is missing, on standard error.
void print_notes(const annotate::Report& report);

/// The names of a profile's events for a sentence; "no event" if there is none.
std::string event_names(const annotate::Report& report);

}  // namespace pmusim::tools

#endif
