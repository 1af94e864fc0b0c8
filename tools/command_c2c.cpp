// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <memory>

#include "annotate/sharing.h"
#include "command.h"
#include "output.h"

namespace pmusim::tools {

namespace {

struct C2cCommand {
  std::string input = "perf.data";
  bool json = false;
  annotate::Options options;
};

void run_c2c_report(const C2cCommand& command) {
  const annotate::SharingReport report =
      value_or_fail(annotate::analyze_sharing(command.input, command.options));
  for (const std::string& note : report.notes) complain(fmt::format("{}: {}", report.input, note));
  print_to(stdout, command.json ? annotate::sharing_json(report) + "\n" : annotate::sharing_text(report));
}

void add_c2c_report(CLI::App& c2c) {
  auto report = std::make_shared<C2cCommand>();
  CLI::App* const command =
      c2c.add_subcommand("report", "Show the lines of memory that CPUs take from each other, and who does");
  command->footer(
      "Samples of memory accesses on a machine of many CPUs: lines of memory by how often a load found them\n"
      "modified in another core's cache (HITM), and of each who accessed which bytes. Two threads at\n"
      "different offsets of a line share it falsely.\n\n"
      "  pmusim record --machine icelake:4c -e cpu/mem-loads,ldlat=30/P,cpu/mem-stores/P -c 1 -d -W T\n"
      "  pmusim c2c report\n"
      "  pmusim c2c report --json perf.data");
  command
      ->add_option("FILE,-i,--input", report->input,
                   "perf.data of pmusim or of perf: a file, a directory of perf record --threads, or - for "
                   "standard input")
      ->capture_default_str();
  command->add_flag("--json,-j", report->json, "Print JSON: everything that is known");
  command->add_option("--debug-directory", report->options.debug_directory, "Where separate debug files are")
      ->capture_default_str();
  command->callback([report] { run_c2c_report(*report); });
}

}  // namespace

void add_c2c(CLI::App& app) {
  CLI::App* const command = app.add_subcommand("c2c", "Find lines of memory that CPUs take from each other");
  command->require_subcommand(1);
  add_c2c_report(*command);
}

}  // namespace pmusim::tools
