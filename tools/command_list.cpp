// SPDX-License-Identifier: MIT
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <memory>

#include "command.h"
#include "events/listing.h"
#include "events/perf_list.h"
#include "model_option.h"
#include "output.h"
#include "text.h"

namespace pmusim::tools {

namespace {

using events::PerfEvent;
using events::PerfKind;

struct ListCommand {
  std::vector<std::string> wanted;
  ModelOption model;
};

/// What perf calls a kind in its list, and how it is asked for.
struct KindRow {
  PerfKind kind;
  std::string_view word, title;
};
constexpr std::array kinds{KindRow{PerfKind::hardware, "hw", "Hardware event"},
                           KindRow{PerfKind::software, "sw", "Software event"},
                           KindRow{PerfKind::cache, "cache", "Hardware cache event"},
                           KindRow{PerfKind::driver, "pmu", "Kernel PMU event"}};

const KindRow& kind_row(PerfKind kind) { return *std::ranges::find(kinds, kind, &KindRow::kind); }

/// Whether a word on the command line asks for the name: the word of its kind, or else a pattern or a part.
bool asks_for(const std::string& word, std::string_view kind, const std::string& name) {
  if (std::ranges::find(kinds, word, &KindRow::word) != kinds.end()) return word == kind;
  return matches_glob(word, name) || matches_glob("*" + word + "*", name);
}

bool is_listed(const ListCommand& command, std::string_view kind, const std::string& name) {
  return command.wanted.empty() || std::ranges::any_of(command.wanted, [&](const std::string& word) {
           return asks_for(word, kind, name);
         });
}

std::string perf_lines(const ListCommand& command, const CpuModel& model) {
  std::string lines;
  for (const PerfEvent& event : events::perf_events(model)) {
    const KindRow& row = kind_row(event.kind);
    if (!std::ranges::any_of(event.names,
                             [&](const std::string& n) { return is_listed(command, row.word, n); }))
      continue;
    const std::string pmu = event.kind == PerfKind::driver ? fmt::format(" OR cpu/{}/", event.names[0]) : "";
    lines +=
        fmt::format("  {:<50} [{}]\n", fmt::format("{}{}", fmt::join(event.names, " OR "), pmu), row.title);
  }
  return lines;
}

std::string vendor_lines(const ListCommand& command, const CpuModel& model) {
  std::string lines;
  for (const events::ListedEvent& event : list_events(model, events::Listed::modelled)) {
    if (!event.counts.empty() || !is_listed(command, "pmu", event.name)) continue;
    lines += fmt::format("  {}\n", event.name);
    if (!event.description.empty()) lines += fmt::format("       [{}]\n", event.description);
    if (!event.refusal.empty()) lines += fmt::format("       [not countable: {}]\n", event.refusal);
  }
  return lines;
}

void run_list(const ListCommand& command) {
  const CpuModel model = command.model.model();
  const std::string ours = perf_lines(command, model), vendors = vendor_lines(command, model);
  if (ours.empty() && vendors.empty())
    throw CommandError(
        fmt::format("no event of {} fits '{}'; 'pmusim events --all {}' also searches those "
                    "that the core model cannot produce",
                    model.title, fmt::join(command.wanted, " "), fmt::join(command.wanted, " ")));
  std::string text = "List of pre-defined events (to be used in -e):\n\n" + ours;
  if (command.wanted.empty())
    text +=
        fmt::format("  {:<50} [Raw hardware event descriptor]\n  {:<50} [Raw hardware event descriptor]\n",
                    "rNNN", "cpu/t1=v1[,t2=v2,t3 ...]/modifier");
  if (!vendors.empty()) text += fmt::format("\n{}:\n{}", model.title, vendors);
  print_to(stdout, text);
}

}  // namespace

void add_list(CLI::App& app) {
  auto command = std::make_shared<ListCommand>();
  CLI::App* const list = app.add_subcommand("list", "List the events of a CPU as perf list does");
  list->footer(
      "'pmusim events' shows what each of perf's names counts on the CPU, how events are encoded, which "
      "PEBS\n"
      "can sample, and writes JSON.\n\n"
      "  pmusim list hw cache                        perf's own names\n"
      "  pmusim list --model skylake 'br_misp*'      events that fit a pattern");
  list->add_option("what", command->wanted,
                   "hw, sw, cache or pmu for a kind; else parts of names, which may have * and ?");
  command->model.add_to(*list);
  list->callback([command] { run_list(*command); });
}

}  // namespace pmusim::tools
