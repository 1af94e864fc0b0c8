// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/suggest.h"
#include "command.h"
#include "events/census.h"
#include "events/event_code.h"
#include "events/listing.h"
#include "model_option.h"
#include "text.h"

namespace pmusim::tools {

namespace {

using Json = nlohmann::ordered_json;
using events::ListedEvent;

struct EventsCommand {
  std::vector<std::string> globs;
  bool all = false, json = false, census = false;
  ModelOption model;
};

std::vector<ListedEvent> matching_events(const EventsCommand& command, const CpuModel& model) {
  std::vector<ListedEvent> listed =
      list_events(model, command.all ? events::Listed::all : events::Listed::modelled);
  if (command.globs.empty()) return listed;
  std::vector<ListedEvent> found;
  for (const std::string& glob : command.globs) {
    const auto before = found.size();
    std::ranges::copy_if(listed, std::back_inserter(found),
                         [&](const ListedEvent& e) { return matches_glob(glob, e.name); });
    if (found.size() != before) continue;
    const std::vector<ListedEvent> everything = list_events(model, events::Listed::all);
    std::vector<std::string_view> names;
    for (const ListedEvent& e : everything) {
      if (!e.modelled && matches_glob(glob, e.name)) throw CommandError(e.refusal + "; --all lists it");
      names.push_back(e.name);
    }
    throw CommandError(
        fmt::format("no event of {} is named '{}'{}", model.title, glob, did_you_mean(glob, names)));
  }
  return found;
}

/// Breaks `text` at spaces into lines of at most `width` characters, each behind `indent`.
void print_wrapped(std::string_view text, std::string_view indent, std::size_t width) {
  while (!text.empty()) {
    std::size_t end = text.size() <= width ? text.size() : text.rfind(' ', width);
    if (end == std::string_view::npos || end == 0) end = std::min(width, text.size());
    fmt::print("{}{}\n", indent, text.substr(0, end));
    text.remove_prefix(std::min(text.size(), text.find_first_not_of(' ', end)));
  }
}

void print_event(const ListedEvent& event, SelectLayout layout) {
  const bool refused = event.modelled && !event.refusal.empty();
  fmt::print("  {:<40} {}{}{}{}\n", event.name, events::perf_terms(event.config, event.extra, layout),
             event.pebs ? "  PEBS" : "", event.modelled ? "" : "  not modelled",
             refused ? "  not countable" : "");
  if (!event.counts.empty()) fmt::print("      counts {}\n", event.counts);
  if (refused) print_wrapped(event.refusal, "      ", 94);
  print_wrapped(event.description, "      ", 94);
}

void print_event_list(const CpuModel& model, const std::vector<ListedEvent>& listed) {
  const auto is_perf_name = [](const ListedEvent& e) { return !e.counts.empty(); };
  if (std::ranges::any_of(listed, is_perf_name)) fmt::print("perf's names on {}:\n", model.title);
  for (const ListedEvent& event : listed)
    if (is_perf_name(event)) print_event(event, model.select);
  if (!std::ranges::all_of(listed, is_perf_name)) fmt::print("Events of {}:\n", model.title);
  for (const ListedEvent& event : listed)
    if (!is_perf_name(event)) print_event(event, model.select);
}

Json event_json(const ListedEvent& event, SelectLayout layout) {
  const events::EventCode code = events::event_code(layout, event.config);
  Json json = {{"name", event.name},
               {"event", code.event},
               {"umask", code.umask},
               {"cmask", event.config >> 24 & 0xFF},
               {"inv", (event.config >> 23 & 1) != 0},
               {"edge", (event.config >> 18 & 1) != 0},
               {"extra", event.extra},
               {"terms", events::perf_terms(event.config, event.extra, layout)},
               {"pebs", event.pebs},
               {"modelled", event.modelled},
               {"countable", event.refusal.empty()},
               {"description", event.description}};
  if (!event.counts.empty()) json["counts"] = event.counts;
  if (!event.refusal.empty()) json["refusal"] = event.refusal;
  return json;
}

void run_events(const EventsCommand& command) {
  if (command.census) {
    fmt::print("{}", events::census_tables(events::take_census()));
    return;
  }
  const CpuModel model = command.model.model();
  const std::vector<ListedEvent> listed = matching_events(command, model);
  if (command.json) {
    Json all = Json::array();
    for (const ListedEvent& event : listed) all.push_back(event_json(event, model.select));
    fmt::print("{}\n", all.dump(2));
  } else {
    print_event_list(model, listed);
  }
}

}  // namespace

void add_events(CLI::App& app) {
  auto command = std::make_shared<EventsCommand>();
  CLI::App* const events =
      app.add_subcommand("events", "List the events of a CPU, or those that fit a pattern");
  events->footer(
      "What is listed can be given to -e of stat and record, also in other spellings: raw (r01c4), terms\n"
      "(cpu/event=0xc4,umask=0x01/), modifiers (:u, :p to :ppp).\n\n"
      "  pmusim events --model skylake                    all that the core model produces\n"
      "  pmusim events --model skylake 'br_*' mem-loads   some of them");
  events->add_option("pattern", command->globs, "names, which may have * and ?; case does not matter");
  events->add_flag("--all", command->all, "also events of the CPU that the core model cannot produce");
  events->add_flag("--census", command->census,
                   "of every model, how many of its events are counted, and why the others are refused");
  events->add_flag("--json", command->json, "as a JSON array");
  command->model.add_to(*events);
  events->callback([command] { run_events(*command); });
}

}  // namespace pmusim::tools
