// SPDX-License-Identifier: MIT
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <map>
#include <memory>

#include "base/printable.h"
#include "command.h"
#include "output.h"
#include "pmusim/formats/formats.h"

namespace pmusim::tools {
namespace {

using formats::Format;

std::map<std::string, Format> formats_by_name() {
  std::map<std::string, Format> result;
  for (const formats::FormatInfo& info : formats::all_formats()) result.emplace(info.name, info.format);
  return result;
}

std::string names_and_sources() {
  std::vector<std::string> each;
  for (const formats::FormatInfo& info : formats::all_formats())
    each.push_back(fmt::format("{} ({})", info.name, info.source));
  std::string text = fmt::format("{}", fmt::join(each, ", "));
  std::erase(text, '`');  // which is for pages
  return text;
}

void add_format(CLI::App& command, Format& format) {
  command.add_option("-f,--format", format, names_and_sources())
      ->required()
      ->transform(CLI::CheckedTransformer(formats_by_name()).description(""))
      ->option_text("FORMAT");
}

void tell_conversion(std::string_view what, const formats::Conversion& conversion,
                     const std::string& output) {
  std::string text =
      fmt::format("{} {} instructions, {} bytes, to {}\n", what, fmt::group_digits(conversion.instructions),
                  fmt::group_digits(conversion.file_bytes), printable(output));
  for (const std::string& remark : conversion.remarks) text += printable_sentence(remark) + "\n";
  say(text);
}

void add_import(CLI::App& trace) {
  auto* command = trace.add_subcommand("import", "Make a trace of one that another tool has written");
  command->footer(
      "The file may be packed by gzip, xz or zstd. What its format cannot tell is said, and replays refuse\n"
      "the events that would need it. Intel PT's time stamps order threads; cycles are the core model's.\n\n"
      "  pmusim trace import -f champsim -o T 600.perlbench_s-210B.champsimtrace.xz\n"
      "  valgrind --tool=lackey --trace-mem=yes --log-file=lackey.txt ls; pmusim trace import -f lackey -o T "
      "lackey.txt\n"
      "  perf script --insn-trace --show-mmap-events > pt.txt; pmusim trace import -f insn-trace -o T "
      "pt.txt");
  auto options = std::make_shared<formats::ImportOptions>();
  options->output = "trace.pmutrace";
  add_format(*command, options->format);
  command->add_option("-o,--output", options->output, "The trace to write")->capture_default_str();
  command->add_option("--max-instructions", options->max_instructions, "Take the first N instructions only");
  command->add_option("--code", options->code,
                      "With pt: take the code from this trace of the same processes, not from their files");
  command->add_option("file", options->input, "The file to read")->required();
  command->callback([options] {
    check_output_name(options->output, std::vector{options->input});
    tell_conversion("imported", value_or_fail(formats::import_trace(*options)), options->output);
  });
}

void add_export(CLI::App& trace) {
  auto* command = trace.add_subcommand("export", "Write a trace in another tool's format");
  command->footer(
      "The file is not packed.\n\n"
      "  pmusim trace export -f champsim -o T.champsimtrace T; xz T.champsimtrace");
  auto options = std::make_shared<formats::ExportOptions>();
  add_format(*command, options->format);
  command->add_option("-o,--output", options->output, "The file to write")->required();
  command->add_option("trace", options->input, "The trace to read")->required();
  command->callback([options] {
    check_output_name(options->output, std::vector{options->input});
    tell_conversion("exported", value_or_fail(formats::export_trace(*options)), options->output);
  });
}

}  // namespace

void add_trace_formats(CLI::App& trace) {
  add_import(trace);
  add_export(trace);
}

}  // namespace pmusim::tools
