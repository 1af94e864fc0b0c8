// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <memory>

#include "base/input_file.h"
#include "base/printable.h"
#include "command.h"
#include "hardware_log.h"
#include "scenario/scenario.h"

namespace pmusim::tools {

namespace {

std::string content_of(const std::string& path) {
  return value_or_fail(value_or_fail(InputFile::open(path)).read_text());
}

bool holds(const std::string& path, Observer* observer) {
  const auto difference = value_or_fail(scenario::run(content_of(path), path, observer));
  if (!difference) return true;
  fmt::print("{}:{}: {}\n  expected  {}\n  found     {} on {}\n", printable(path), difference->line,
             printable(difference->statement), printable(difference->expected), printable(difference->found),
             difference->model);
  if (!difference->why.empty()) fmt::print("  because   {}\n", printable_sentence(difference->why));
  return false;
}

void run_scenario(const std::vector<std::string>& paths, HardwareLog& hardware) {
  hardware.check(paths);
  if (hardware.wanted() && paths.size() != 1)
    throw CommandError("--hw-log and --hw-timeline show one scenario: expected one file");
  Observer* const observer = hardware.wanted() ? &hardware.open() : nullptr;
  std::size_t failed = 0;
  for (const std::string& path : paths) failed += holds(path, observer) ? 0 : 1;
  hardware.finish();
  if (failed == 0) return fmt::print("{} of {} scenarios hold\n", paths.size(), paths.size());
  throw CommandError(fmt::format("{} of {} scenarios do not hold", failed, paths.size()));
}

}  // namespace

void add_scenario(CLI::App& app) {
  auto paths = std::make_shared<std::vector<std::string>>();
  auto hardware = std::make_shared<HardwareLog>();
  CLI::App* const command = app.add_subcommand(
      "scenario", "Run scenario files: register accesses, retirements and what they lead to");
  command->add_option("file", *paths, "Scenario files (docs/scenarios.md)")->required();
  hardware->add_to(*command);
  command->footer(
      "The first expectation of a file that does not hold is shown with its line, and the exit code is 2.\n\n"
      "  pmusim scenario tests/scenarios/*.pmu");
  command->callback([paths, hardware] { run_scenario(*paths, *hardware); });
}

}  // namespace pmusim::tools
