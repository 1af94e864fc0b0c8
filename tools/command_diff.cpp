// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <cmath>
#include <memory>
#include <nlohmann/json.hpp>

#include "annotate/difference.h"
#include "base/printable.h"
#include "command.h"
#include "output.h"
#include "pmusim/annotate/analyze.h"
#include "pmusim/annotate/export.h"
#include "profile_option.h"

namespace pmusim::tools {

namespace {

using annotate::EventChange;
using annotate::SymbolChange;

struct DiffCommand {
  std::vector<std::string> files;
  double least_points = 0.01;
  bool json = false;
  annotate::Options options;
};

annotate::Report read_report(const std::string& file, const annotate::Options& options) {
  annotate::Report report = value_or_fail(annotate::analyze(file, annotate::options_for_export(options)));
  print_notes(report);
  return report;
}

std::string diff_text(const std::vector<EventChange>& changes, double least_points) {
  std::string text;
  for (const EventChange& change : changes) {
    text += fmt::format("{}# {}: {} samples, event count {}; then {} samples, event count {}\n\n",
                        text.empty() ? "" : "\n", printable(change.event), change.before.samples,
                        change.before.period, change.after.samples, change.after.period);
    text += fmt::format("#{:>9} {:>9}  {:<20} Symbol\n", "Baseline", "Delta", "Module");
    for (const SymbolChange& symbol : change.symbols) {
      if (std::abs(symbol.delta()) < least_points) continue;
      const auto& before = symbol.before_percent;
      text += fmt::format(" {:>9} {:>+8.2f}%  {:<20} {}\n", before ? fmt::format("{:.2f}%", *before) : "",
                          symbol.delta(), printable(symbol.module), printable(symbol.symbol));
    }
  }
  return text;
}

nlohmann::ordered_json diff_json(const std::vector<EventChange>& changes) {
  using Json = nlohmann::ordered_json;
  const auto weight = [](const annotate::Weight& w) {
    return Json{{"samples", w.samples}, {"period", w.period}};
  };
  const auto percent = [](const std::optional<double>& p) { return p ? Json(*p) : Json(nullptr); };
  Json events = Json::array();
  for (const EventChange& change : changes) {
    Json symbols = Json::array();
    for (const SymbolChange& s : change.symbols)
      symbols.push_back({{"module", printable(s.module)},
                         {"symbol", printable(s.symbol)},
                         {"before", weight(s.before)},
                         {"after", weight(s.after)},
                         {"before_percent", percent(s.before_percent)},
                         {"after_percent", percent(s.after_percent)},
                         {"delta", s.delta()}});
    events.push_back({{"event", printable(change.event)},
                      {"before", weight(change.before)},
                      {"after", weight(change.after)},
                      {"symbols", std::move(symbols)}});
  }
  return {{"events", std::move(events)}};
}

void run_diff(const DiffCommand& command) {
  const annotate::Report before = read_report(command.files[0], command.options);
  const annotate::Report after = read_report(command.files[1], command.options);
  const std::vector<EventChange> changes = annotate::changes_between(before, after);
  if (changes.empty())
    throw CommandError(fmt::format("no event is in both profiles: {} has {}, and {} has {}", command.files[0],
                                   event_names(before), command.files[1], event_names(after)));
  print_to(stdout,
           command.json ? diff_json(changes).dump(2) + '\n' : diff_text(changes, command.least_points));
}

}  // namespace

void add_diff(CLI::App& app) {
  auto options = std::make_shared<DiffCommand>();
  CLI::App* const command = app.add_subcommand("diff", "Compare two profiles, function by function");
  command->add_option("profiles", options->files, "perf.data before and after, of pmusim or of perf")
      ->required()
      ->expected(2);
  command
      ->add_option("--least", options->least_points,
                   "Leave out functions that changed by fewer percent points")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  command->add_flag("--json,-j", options->json, "Print JSON, with all functions");
  command->add_option("--debug-directory", options->options.debug_directory, "Where separate debug files are")
      ->capture_default_str();
  command->footer(
      "Baseline is a function's share of the event in the first profile, Delta what the second has more of "
      "it, "
      "in\npercent points; functions with the largest change come first, those of both profiles by their "
      "names "
      "and\nthose of their files.\n\n"
      "  pmusim diff perf.data.old perf.data");
  command->callback([options] { run_diff(*options); });
}

}  // namespace pmusim::tools
