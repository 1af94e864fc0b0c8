// SPDX-License-Identifier: MIT
// Both drivers over a matrix of models and set-ups.
#include <fmt/format.h>

#include <cstdio>
#include <map>
#include <memory>
#include <sstream>

#include "host/child.h"
#include "host/commands.h"
#include "host/difference.h"
#include "host/drawn.h"
#include "host/machine.h"
#include "pmusim/cpu/setup.h"

namespace pmusim::linux_driver {

namespace {

struct CompareOptions {
  std::string trace, known = list_of_known_differences();
  std::vector<std::string> models, setups;
  std::string shard = "1/1";
  Schedule schedule = Schedule::rotate;
  std::optional<u32> core_mhz{};
  u64 drawn = 0, seed = 1, from = 1, context = 0;
  bool list = false, quiet = false;
};

/// The models and machines, their cores as fast as asked for: on a slow one a short program lasts for many
/// ticks.
std::vector<Target> targets_of(const CompareOptions& options) {
  std::vector<Target> targets;
  if (options.models.empty())
    for (const CpuModel& model : models_named({})) targets.emplace_back(model);
  for (const std::string& name : options.models)
    if (name.find(':') == std::string::npos)
      targets.emplace_back(value_or_fail(find_cpu_model(name)));
    else
      targets.emplace_back(value_or_fail(parse_machine(name)), options.schedule);
  if (!options.core_mhz) return targets;
  for (Target& target : targets) {
    slow_down(target.model, *options.core_mhz);
    if (target.machine)
      for (CpuModel& type : target.machine->types) slow_down(type, *options.core_mhz);
  }
  return targets;
}

/// How many cells came to what.
struct Tally {
  u64 agree = 0, refused = 0, absent = 0, known = 0, unknown = 0;
};

/// One line for each difference, "KIND\tREASON\tTEXT"; "absent" or "refused" where nothing could be compared.
std::string compare_cell(const CompareOptions& options, const Target& target, const Setup& setup,
                         const std::vector<KnownDifference>& known) {
  const Vendor vendor = target.model.vendor;
  if (linux_release() < setup.since_release || setup.vendor.value_or(vendor) != vendor) return "absent";
  const auto asked = options_of(setup, target);
  if (!asked.ok()) return "absent";
  const Outcome kernel = value_or_fail(kernel_outcome(options.trace, target, setup, *asked));
  const Outcome session = value_or_fail(session_outcome(options.trace, target, setup, *asked));
  if (kernel.refusal && session.refusal) return "refused";
  const std::vector<KnownDifference> here = known_for(known, target.name, setup.name);
  if (options.context != 0)
    fmt::print("{}{}", records_at_difference(kernel, session, here),
               writes_around_difference(kernel, session, here, options.context));
  std::fflush(stdout);
  std::string lines;
  for (const Difference& d : differences(kernel, session, here))
    lines += fmt::format("{}\t{}\t{}\n", d.kind, d.reason, d.text);
  return lines;
}

/// Whether all lines of a cell are known.
bool print_cell(const std::string& model, const std::string& setup, const std::string& lines,
                const CompareOptions& options) {
  bool all_known = true;
  for (std::size_t at = 0; at < lines.size();) {
    const std::size_t end = lines.find('\n', at), kind = lines.find('\t', at),
                      reason = lines.find('\t', kind + 1);
    const std::string why = lines.substr(kind + 1, reason - kind - 1);
    all_known = all_known && !why.empty();
    if (why.empty() || !options.quiet)
      fmt::print("{} {} {}: {}{}\n", model, setup, lines.substr(at, kind - at),
                 lines.substr(reason + 1, end - reason - 1), why.empty() ? "" : " (known: " + why + ")");
    at = end + 1;
  }
  std::fflush(stdout);
  return all_known;
}

void add_to(Tally& tally, const std::string& model, const Setup& setup, const ChildResult& cell,
            const CompareOptions& options) {
  if (cell.exit_status != 0) {
    fmt::print("{} {}: ended with exit status {}\n", model, setup.name, cell.exit_status);
    ++tally.unknown;
  } else if (cell.text.empty()) {
    ++tally.agree;
  } else if (cell.text == "absent") {
    ++tally.absent;
  } else if (cell.text == "refused") {
    ++tally.refused;
  } else {
    ++(print_cell(model, setup.name, cell.text, options) ? tally.known : tally.unknown);
  }
}

std::vector<Setup> drawn_setups(const CompareOptions& options) {
  std::vector<Setup> drawn;
  for (u64 n = 0; n < options.drawn; ++n) drawn.push_back(drawn_reload_setup(options.seed, options.from + n));
  return drawn;
}

std::vector<Setup> chosen_setups(const CompareOptions& options) {
  const std::vector<std::string>& names = options.setups;
  if (options.drawn != 0) return drawn_setups(options);
  if (names.empty()) return setups();
  std::vector<Setup> chosen;
  for (const std::string& name : names) {
    const auto found = std::find_if(setups().begin(), setups().end(),
                                    [&](const Setup& setup) { return setup.name == name; });
    if (found == setups().end()) throw CommandError(fmt::format("no set-up '{}'; --list shows them", name));
    chosen.push_back(*found);
  }
  return chosen;
}

/// Which cells of the matrix are compared: those with number `first` + n * `all`.
struct Shard {
  u64 first = 0, all = 1;
  bool has(u64 cell) const { return cell % all == first; }
};

Shard shard_of(const std::string& text) {
  u64 number = 0, all = 0;
  char slash = 0;
  std::istringstream words(text);
  if (!(words >> number >> slash >> all) || slash != '/' || number == 0 || number > all || !words.eof())
    throw CommandError(fmt::format("--shard {}: expected I/N, I from 1 to N", text));
  return {.first = number - 1, .all = all};
}

void run_compare(const CompareOptions& options) {
  if (options.list) {
    for (const Setup& setup : chosen_setups(options))
      fmt::print("{:<20} {}: {}\n", setup.name, setup.text, setup.events);
    return;
  }
  if (options.trace.empty())
    throw CommandError("no trace to compare the drivers with; 'pmusim trace record' makes one");
  const auto known = value_or_fail(read_known_differences(options.known));
  const Shard shard = shard_of(options.shard);
  Tally tally;
  u64 cell = 0;
  for (const Target& target : targets_of(options))
    for (const Setup& setup : chosen_setups(options))
      if ((target.machine || !setup.many_cpus) && shard.has(cell++))
        add_to(tally, target.name, setup,
               in_child([&] { return compare_cell(options, target, setup, known); }), options);
  fmt::print(
      "{} set-ups agree, {} are refused by both, {} have no such event, {} differ as known, {} differ\n",
      tally.agree, tally.refused, tally.absent, tally.known, tally.unknown);
  if (tally.unknown != 0) throw Findings();
}

}  // namespace

void add_compare(CLI::App& app) {
  auto options = std::make_shared<CompareOptions>();
  CLI::App* const command = app.add_subcommand(
      "compare", "Hold this project's driver against the kernel's: counts, sample bytes, register writes");
  command->add_option("TRACE", options->trace, "A trace of 'pmusim trace record'");
  command
      ->add_option("--model", options->models,
                   "Models, and machines (skylake:2c, alderlake:1p1e); default all models")
      ->allow_extra_args(false);
  command
      ->add_option("--schedule", options->schedule,
                   "Where threads run on a machine: on another CPU after every tick (rotate), or spread")
      ->transform(CLI::CheckedTransformer(
          std::map<std::string, Schedule>{{"spread", Schedule::spread}, {"rotate", Schedule::rotate}}))
      ->default_str("rotate");
  command->add_option("--setup", options->setups, "Set-ups (default all)")->allow_extra_args(false);
  command->add_option("--known", options->known, "List of known differences");
  command
      ->add_option("--core-mhz", options->core_mhz,
                   "The core's clock (default the TSC's); on a slow one a short program lasts for many ticks")
      ->check(CLI::Range(1, 10'000));
  command->add_option("--shard", options->shard, "I/N: every Nth cell of the matrix, from the Ith on");
  command->add_option(
      "--drawn", options->drawn,
      "In place of the set-ups: so many groups with auto counter reload, drawn by --seed, each with "
      "periods, masks, precise events and neighbours of its own");
  command->add_option("--seed", options->seed, "Of what is drawn (default 1)");
  command->add_option("--from", options->from, "Number of the first that is drawn (default 1)");
  command->add_option("--context", options->context,
                      "Show both drivers' words of the first record that differs, and so many writes before "
                      "and behind the first that does");
  command->add_flag("--list", options->list, "Show the set-ups");
  command->add_flag("-q,--quiet", options->quiet, "Show differences that are not known only");
  command->callback([options] { run_compare(*options); });
}

}  // namespace pmusim::linux_driver
