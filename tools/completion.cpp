// SPDX-License-Identifier: MIT
#include "completion.h"

#include <algorithm>
#include <array>

#include "cpu/model_names.h"
#include "events/listing.h"
#include "events/perf_list.h"
#include "pmusim/annotate/report.h"
#include "pmusim/cpu/model.h"
#include "pmusim/perf/abi.h"

namespace pmusim::tools {

namespace {

using Words = std::vector<std::string>;

/// A command line up to the word that is being typed.
struct Line {
  const CLI::App* command;  ///< the innermost one that is named
  Words before;             ///< all words but the last
  std::string last;
};

Line parse_line(const CLI::App& app, const Words& words) {
  Line line{&app,
            {words.begin(), words.empty() ? words.end() : words.end() - 1},
            words.empty() ? "" : words.back()};
  for (const std::string& word : line.before)
    for (const CLI::App* const sub : line.command->get_subcommands({}))
      if (sub->get_name() == word) {
        line.command = sub;
        break;
      }
  return line;
}

CpuModel model_of(const Line& line) {
  const auto option = std::ranges::find(line.before, "--model");
  const bool is_given = option != line.before.end() && option + 1 != line.before.end();
  const auto model = find_cpu_model(is_given ? *(option + 1) : "icelake");
  return model.ok() ? *model : *find_cpu_model("icelake");
}

Words models(const Line&) {
  Words names;
  for (const CpuModel& model : cpu_models()) names.emplace_back(model.name);
  for (const ModelAlias& alias : model_aliases()) names.emplace_back(alias.name);
  return names;
}

Words policies(const Line&) {
  Words names;
  for (const PolicyInfo& policy : policy_table()) names.emplace_back(policy.name);
  return names;
}

Words policy_settings(const Line& line) {
  Words names = policies(line);
  for (std::string& name : names) name += '=';
  return names;
}

Words kernels(const Line&) {
  Words names;
  for (const std::string_view name : perf::kernel_names()) names.emplace_back(name);
  return names;
}

/// perf's names, and those of the CPU; in small letters if no capital has been typed.
Words events_of(const Line& line) {
  const CpuModel model = model_of(line);
  Words names;
  for (const events::PerfEvent& event : events::perf_events(model))
    names.insert(names.end(), event.names.begin(), event.names.end());
  const bool small = std::ranges::none_of(line.last, [](char c) { return c >= 'A' && c <= 'Z'; });
  for (const events::ListedEvent& event : events::list_events(model, events::Listed::modelled))
    if (event.counts.empty()) names.push_back(small ? CLI::detail::to_lower(event.name) : event.name);
  return names;
}

Words export_formats(const Line&) {
  Words names;
  for (const std::string_view name : annotate::export_format_names()) names.emplace_back(name);
  return names;
}

Words help_topics(const Line& line) {
  Words names = {"perf-options"};
  for (const CLI::App* const sub : line.command->get_parent()->get_subcommands({}))
    names.push_back(sub->get_name());
  return names;
}

struct Source {
  std::string_view of;  ///< an option without dashes, or "command argument"
  Words (*values)(const Line&);
};
constexpr std::array word_sources{Source{"model", models},
                                  Source{"models", models},
                                  Source{"policy", policy_settings},
                                  Source{"kernel", kernels},
                                  Source{"event", events_of},
                                  Source{"events pattern", events_of},
                                  Source{"list what", events_of},
                                  Source{"models name", models},
                                  Source{"policies pattern", policies},
                                  Source{"help command", help_topics},
                                  Source{"export", export_formats}};

/// The words of "TEXT:{none,gpr,simd}".
Words members(const std::string& type) {
  const std::size_t begin = type.find('{'), end = type.rfind('}');
  return begin == type.npos || end == type.npos
             ? Words{}
             : CLI::detail::split(type.substr(begin + 1, end - begin - 1), ',');
}

Words values_of(const CLI::Option& option, const Line& line) {
  const auto of = [&](const std::string& name) { return std::ranges::find(word_sources, name, &Source::of); };
  const std::string positional = line.command->get_name() + " " + option.get_name(true, false);
  if (option.get_positional() && of(positional) != word_sources.end()) return of(positional)->values(line);
  for (const std::string& name : option.get_lnames())
    if (of(name) != word_sources.end()) return of(name)->values(line);
  return members(option.get_type_name());
}

/// Those that begin with what is typed behind `kept`, which stays in front of each.
Words fitting(const Words& candidates, const std::string& last, std::size_t kept) {
  Words fit;
  for (const std::string& candidate : candidates)
    if (std::string_view(candidate).starts_with(std::string_view(last).substr(kept)))
      fit.push_back(last.substr(0, kept) + candidate);
  return fit;
}

/// Values may be lists: each element is completed by itself.
Words fitting_values(const CLI::Option& option, const Line& line, std::size_t value_begins) {
  const std::size_t separator = line.last.find_last_of(",{");
  const bool in_list = separator != line.last.npos && separator >= value_begins;
  return fitting(values_of(option, line), line.last, in_list ? separator + 1 : value_begins);
}

const CLI::Option* option_named(const Line& line, const std::string& name) {
  return name.starts_with("-") ? line.command->get_option_no_throw(name) : nullptr;
}

/// The option whose value is being typed: "--model sky", "--model=sky".
struct Value {
  const CLI::Option* option;
  std::size_t begins;  ///< in the last word
};
std::optional<Value> value_in(const Line& line) {
  const std::size_t equals = line.last.find('=');
  if (line.last.starts_with("--") && equals != line.last.npos)
    if (const CLI::Option* const option = option_named(line, line.last.substr(0, equals)))
      return Value{option, equals + 1};
  if (line.before.empty()) return {};
  const CLI::Option* const option = option_named(line, line.before.back());
  if (option == nullptr || option->get_items_expected_max() == 0) return {};
  return Value{option, 0};
}

Words options_of(const CLI::App& command) {
  Words names;
  for (const CLI::Option* const option : command.get_options()) {
    if (option->get_group().empty()) continue;
    for (const std::string& name : option->get_snames()) names.push_back("-" + name);
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  }
  return names;
}

Words arguments_of(const Line& line) {
  Words words;
  for (const CLI::App* const sub : line.command->get_subcommands({})) words.push_back(sub->get_name());
  for (const CLI::Option* const option : line.command->get_options())
    if (option->get_positional())
      for (std::string& value : values_of(*option, line)) words.push_back(std::move(value));
  return words;
}

}  // namespace

std::vector<std::string> completions(const CLI::App& app, const std::vector<std::string>& words) {
  const Line line = parse_line(app, words);
  if (std::ranges::find(line.before, "--") != line.before.end()) return {};  // a program and what it takes
  if (const auto value = value_in(line)) return fitting_values(*value->option, line, value->begins);
  return fitting(line.last.starts_with("-") ? options_of(*line.command) : arguments_of(line), line.last, 0);
}

}  // namespace pmusim::tools
