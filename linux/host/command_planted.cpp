// SPDX-License-Identifier: MIT
// Whether comparing finds bugs that are there.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <memory>

#include "host/child.h"
#include "host/commands.h"
#include "host/difference.h"
#include "host/planted_bus.h"

namespace pmusim::linux_driver {

namespace {

struct PlantedOptions {
  std::string trace, known = list_of_known_differences();
  std::vector<std::string> names;
  u32 core_mhz = 20;
};

/// The first difference that is not listed; "agrees" where there is none.
std::string compared(const PlantedOptions& options, const PlantedBug& bug, bool planted) {
  CpuModel model = value_or_fail(find_cpu_model(bug.model));
  slow_down(model, options.core_mhz);
  const Setup& setup =
      *std::find_if(setups().begin(), setups().end(), [&](const Setup& s) { return s.name == bug.setup; });
  const auto asked = value_or_fail(options_of(setup, Target(model)));
  BusBetween between;
  if (planted) between = [&](Pmu& pmu) { return std::make_unique<PlantedBus>(pmu, bug); };
  const Outcome kernel = value_or_fail(kernel_outcome(options.trace, model, setup, asked, between));
  const Outcome session = value_or_fail(session_outcome(options.trace, model, setup, asked));
  const auto known = value_or_fail(read_known_differences(options.known));
  // Registers that are written otherwise need no comparison of what comes of it.
  for (const Difference& d : differences(kernel, session, known_for(known, model.name, setup.name)))
    if (d.reason.empty() && d.kind != "writes") return fmt::format("{}: {}", d.kind, d.text);
  return "agrees";
}

std::vector<PlantedBug> bugs_named(const std::vector<std::string>& names) {
  if (names.empty()) return planted_bugs();
  std::vector<PlantedBug> chosen;
  for (const std::string& name : names) {
    const auto found = std::find_if(planted_bugs().begin(), planted_bugs().end(),
                                    [&](const auto& bug) { return bug.name == name; });
    if (found == planted_bugs().end())
      throw CommandError(fmt::format("no planted bug '{}'; --list shows them", name));
    chosen.push_back(*found);
  }
  return chosen;
}

void run_planted(const PlantedOptions& options) {
  if (options.trace.empty())
    throw CommandError("no trace to compare the drivers with; 'pmusim trace record' makes one");
  u64 found = 0, missed = 0;
  for (const PlantedBug& bug : bugs_named(options.names)) {
    const ChildResult sound = in_child([&] { return compared(options, bug, false); });
    if (sound.text != "agrees")
      throw CommandError(fmt::format("{} {} differs without a bug: {}", bug.model, bug.setup, sound.text));
    const ChildResult with = in_child([&] { return compared(options, bug, true); });
    const bool differs = with.exit_status != 0 || with.text != "agrees";
    ++(differs ? found : missed);
    fmt::print("{:<28} {}: {}, {}: {}\n", bug.name, bug.text, bug.model, bug.setup,
               !differs ? "NOT FOUND"
               : with.exit_status != 0
                   ? fmt::format("found: the kernel ends with status {}", with.exit_status)
                   : "found: " + with.text);
    std::fflush(stdout);
  }
  fmt::print("{} planted bugs found, {} not\n", found, missed);
  if (missed != 0) throw Findings();
}

}  // namespace

void add_planted(CLI::App& app) {
  auto options = std::make_shared<PlantedOptions>();
  CLI::App* const command = app.add_subcommand(
      "planted",
      "Show that 'compare' finds bugs: some are planted between the kernel's driver and its hardware, and "
      "counts or samples must differ");
  command->add_option("TRACE", options->trace, "A trace of 'pmusim trace record'");
  command->add_option("--bug", options->names, "Which (default all)")->allow_extra_args(false);
  command->add_option("--known", options->known, "List of known differences");
  command->add_flag_callback(
      "--list",
      [] {
        for (const PlantedBug& bug : planted_bugs()) fmt::print("{:<28} {}\n", bug.name, bug.text);
        throw CLI::Success();
      },
      "Show the bugs");
  command->callback([options] { run_planted(*options); });
}

}  // namespace pmusim::linux_driver
