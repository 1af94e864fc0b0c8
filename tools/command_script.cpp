// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <map>

#include "base/printable.h"
#include "command.h"
#include "output.h"
#include "script_text.h"

namespace pmusim::tools {

namespace {

struct ScriptCommand {
  std::string input = "perf.data", fields;
  bool json = false;
};

/// Output in large pieces.
class Page {
 public:
  fmt::memory_buffer& text() { return text_; }
  void write_if_full() {
    if (text_.size() >= large) write();
  }
  void write() {
    std::fwrite(text_.data(), 1, text_.size(), stdout);
    text_.clear();
  }

 private:
  static constexpr std::size_t large = 1 << 16;
  fmt::memory_buffer text_;
};

std::size_t longest_name(const std::vector<perfdata::EventDescription>& events) {
  std::size_t longest = 0;
  for (const perfdata::EventDescription& event : events)
    longest = std::max(longest, printable(event.name).size());
  return longest;
}

/// What is shown of each event's samples. JSON shows all that there is unless fields are chosen.
class FieldsOfEvents {
 public:
  FieldsOfEvents(const ScriptCommand& command) : command_(command) {}
  const FieldSet& of(const perfdata::EventDescription& event) {
    const auto found = sets_.find(&event);
    if (found != sets_.end()) return found->second;
    return sets_.emplace(&event, make(event)).first->second;
  }

 private:
  FieldSet make(const perfdata::EventDescription& event) const {
    if (!command_.json || !command_.fields.empty()) return fields_of(command_.fields, event.attr);
    FieldSet all;
    for (const FieldRow& row : field_rows())
      if (has_field(event.attr, row.field)) all.add(row.field);
    return all;
  }
  const ScriptCommand& command_;
  std::map<const perfdata::EventDescription*, FieldSet> sets_;
};

/// What was not read of the file, on standard error.
void print_warnings(const ScriptCommand& command, const perfdata::SampleReader& samples) {
  for (const std::string& warning : samples.warnings())
    complain(fmt::format("{}: {}", command.input, warning));
}

void run_script(const ScriptCommand& command) {
  auto samples = value_or_fail(perfdata::SampleReader::open(command.input));
  FieldsOfEvents fields(command);
  std::size_t name_width = 0;
  Page page;
  ScriptText text;
  if (command.json) fmt::format_to(std::back_inserter(page.text()), "[");
  for (bool first = true;; first = false) {
    auto next = samples.next();
    if (first) {  // a stream may name its events as late as this
      check_fields(command.fields, command.input, samples.file().events());
      name_width = longest_name(samples.file().events());
    }
    if (!next) page.write();
    const auto sample = value_or_fail(std::move(next));
    if (!sample) break;
    const ScriptLine line{*sample, samples.processes(), fields.of(sample->event), name_width};
    if (command.json)
      fmt::format_to(std::back_inserter(page.text()), "{}{}", first ? "\n" : ",\n", json_of(line));
    else
      text.append(page.text(), line);
    page.write_if_full();
  }
  if (command.json) fmt::format_to(std::back_inserter(page.text()), "\n]\n");
  page.write();
  print_warnings(command, samples);
}

std::string field_list() {
  std::string list;
  for (const FieldRow& row : field_rows()) list += fmt::format("  {:<16}{}\n", row.name, row.text);
  return list;
}

}  // namespace

void add_script(CLI::App& app) {
  auto options = std::make_shared<ScriptCommand>();
  CLI::App* const command = app.add_subcommand("script", "Print the samples of a perf.data file");
  command->footer("Fields that perf script has, too, look as it prints them. Fields of -F:\n" + field_list() +
                  "\n  pmusim script -F ip,iregs,isimd -i perf.data    registers, vectors and opmasks\n"
                  "  pmusim script -F +brstack                       the usual fields and the branches\n"
                  "  pmusim script --json                            all that each sample has");
  command
      ->add_option("-i,--input", options->input,
                   "perf.data to read: a file, a directory of perf record --threads, or - for standard input")
      ->capture_default_str();
  command->add_option("-F,--fields", options->fields,
                      "Fields to show: a list, or changes to the usual ones: +brstack,-time");
  command->add_flag("--json", options->json, "Print a JSON array with an object for each sample");
  command->callback([options] { run_script(*options); });
}

}  // namespace pmusim::tools
