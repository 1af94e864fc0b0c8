// SPDX-License-Identifier: MIT
#include "profile_option.h"

#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>
#include <span>

#include "output.h"
#include "pager.h"
#include "pmusim/annotate/report.h"

namespace pmusim::tools {

void ProfileOption::add_to(CLI::App& command) {
  command
      .add_option("-i,--input", input,
                  "perf.data of pmusim or of perf: a file, a directory of perf record --threads, or - for "
                  "standard input")
      ->capture_default_str();
  command.add_flag("--stdio", stdio, "Print text: the default, but for report on a terminal");
  command.add_option("--html", html,
                     "Write a page for a browser to this file: ranking, annotated code, flame graph");
  command.add_flag("--json,-j", json, "Print JSON: everything that is known of the profile");
  command.add_option("--debug-directory", options.debug_directory, "Where separate debug files are")
      ->capture_default_str();
  command.add_option("--kallsyms", options.kallsyms,
                     "Functions of the kernel, as /proc/kallsyms has them (default: the input's name with "
                     ".kallsyms behind it, if there is one)");
}

annotate::Report ProfileOption::report() const {
  if (html) check_output_name(*html, std::span(&input, 1), "--html");
  return value_or_fail(annotate::analyze(input, options));
}

bool ProfileOption::print_other_than_text(const annotate::Report& report) const {
  if (json) fmt::print("{}\n", annotate::to_json(report));
  if (!html) return json;
  write_page(*html, annotate::to_html(report));
  return true;
}

annotate::Colours terminal_colours() {
  const char* const refused = std::getenv("NO_COLOR");
  const bool wanted = output_is_terminal() && (refused == nullptr || *refused == 0);
  return wanted ? annotate::Colours::ansi : annotate::Colours::none;
}

void print_notes(const annotate::Report& report) {
  for (const std::string& note : report.notes) complain(fmt::format("{}: {}", report.input, note));
}

std::string event_names(const annotate::Report& report) {
  std::string names;
  for (const annotate::Event& event : report.events) names += (names.empty() ? "" : ", ") + event.name;
  return names.empty() ? "no event" : names;
}

}  // namespace pmusim::tools
