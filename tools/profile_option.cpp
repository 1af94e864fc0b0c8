#include "profile_option.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>

namespace pmusim::tools {

void ProfileOption::add_to(CLI::App& command) {
  command.add_option("-i,--input", input, "perf.data file, of pmusim or of perf")->capture_default_str();
  command.add_flag("--stdio", stdio, "Print text: what is done anyway");
  command.add_flag("--json,-j", json, "Print JSON: everything that is known of the profile");
  command.add_option("--debug-directory", options.debug_directory, "Where separate debug files are")
      ->capture_default_str();
}

annotate::Report ProfileOption::report() const { return value_or_fail(annotate::analyze(input, options)); }

annotate::Colours terminal_colours() {
  const char* const refused = std::getenv("NO_COLOR");
  const bool wanted = isatty(STDOUT_FILENO) != 0 && (refused == nullptr || *refused == 0);
  return wanted ? annotate::Colours::ansi : annotate::Colours::none;
}

void print_notes(const annotate::Report& report) {
  for (const std::string& note : report.notes) fmt::print(stderr, "pmusim: {}: {}\n", report.input, note);
}

}  // namespace pmusim::tools
