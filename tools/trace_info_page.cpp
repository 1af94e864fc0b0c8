// SPDX-License-Identifier: MIT
// What a trace holds, as a page for a browser: tables with bars, in the style of the profile's page. It needs
// no script.
#include <fmt/format.h>

#include <algorithm>

#include "base/printable.h"
#include "tools/page_parts.h"
#include "trace_info.h"

namespace pmusim::tools {
namespace {

/// As text of an element.
std::string escaped(std::string_view text) {
  std::string result;
  for (const char c : printable(text)) {
    switch (c) {
      case '<':
        result += "&lt;";
        break;
      case '>':
        result += "&gt;";
        break;
      case '&':
        result += "&amp;";
        break;
      default:
        result += c;
    }
  }
  return result;
}

std::string number(u64 value) { return fmt::format("{}", fmt::group_digits(value)); }

double percent(u64 part, u64 whole) {
  return whole == 0 ? 0.0 : 100 * static_cast<double>(part) / static_cast<double>(whole);
}

std::string cell(std::string_view text) { return fmt::format("<td class=\"wide\">{}</td>", text); }
std::string number_cell(std::string_view text) { return fmt::format("<td class=\"number\">{}</td>", text); }
std::string share_cells(u64 part, u64 whole) {
  const double share = percent(part, whole);
  return fmt::format(
      "<td class=\"number\">{:.2f} %</td><td><span class=\"bar\"><i style=\"width:{:.1f}%\"></i></span></td>",
      share, share);
}

/// A section with a table. Rows are cells; a column whose title begins with '#' holds numbers.
class Table {
 public:
  Table(std::string_view title, std::initializer_list<std::string_view> columns) {
    text_ = fmt::format("<section>\n<h2>{}</h2>\n<div class=\"scroll\"><table class=\"ranking\"><thead><tr>",
                        title);
    for (const std::string_view column : columns)
      text_ += column.starts_with('#') ? fmt::format("<th class=\"number\">{}</th>", column.substr(1))
                                       : fmt::format("<th>{}</th>", column);
    text_ += "</tr></thead><tbody>\n";
  }
  void row(const std::string& cells) { text_ += "<tr>" + cells + "</tr>\n"; }
  std::string end() && { return std::move(text_) + "</tbody></table></div>\n</section>\n"; }

 private:
  std::string text_;
};

std::string figures(const TraceInfo& info) {
  std::string text = "<dl id=\"figures\">";
  const auto figure = [&](std::string_view name, const std::string& value) {
    text += fmt::format("<div><dt>{}</dt><dd>{}</dd></div>", name, value);
  };
  figure("instructions", number(info.instructions));
  figure("bytes", number(info.file_bytes));
  figure("bytes per instruction", fmt::format("{:.4f}", per_instruction(info.file_bytes, info)));
  figure("processes", number(info.processes.size()));
  figure("threads", number(info.threads.size()));
  return text + "</dl>";
}

std::string mix(const TraceInfo& info) {
  Table table("Instruction mix", {"Class", "#Instructions", "#Share", ""});
  for (std::size_t n = 0; n < execution_classes; ++n)
    if (info.mix[n] != 0)
      table.row(cell(execution_class_names[n]) + number_cell(number(info.mix[n])) +
                share_cells(info.mix[n], info.instructions));
  return std::move(table).end();
}

std::string branches(const TraceInfo& info) {
  Table table("Branches", {"Kind", "#Executed", "#Taken", "#Share of branches", ""});
  for (std::size_t kind = 1; kind < branch_kinds; ++kind)
    if (info.branches[kind] != 0)
      table.row(cell(name_of(static_cast<BranchKind>(kind))) + number_cell(number(info.branches[kind])) +
                number_cell(number(info.taken[kind])) +
                share_cells(info.branches[kind], info.all_branches()));
  return std::move(table).end();
}

std::string footprint(const TraceInfo& info) {
  Table table("Code and data", {"", "#"});
  const auto row = [&](std::string_view name, u64 value) {
    table.row(cell(name) + number_cell(number(value)));
  };
  row("distinct instructions", info.static_instructions);
  row("bytes of code", info.code_bytes);
  row("lines of code (64 bytes)", info.code_lines);
  row("pages of code (4 KiB)", info.code_pages);
  row("instructions that load", info.loads);
  row("instructions that store", info.stores);
  row("system calls", info.system_calls);
  row("signals", info.signals);
  if (info.contents.kernel) row("instructions at ring 0", info.kernel_instructions);
  if (info.contents.kernel) row("interrupts", info.interrupts);
  if (info.contents.timing) row("cycles, as recorded", info.cycles);
  return std::move(table).end();
}

std::string streams(const TraceInfo& info) {
  u64 all = 0;
  for (const trace::StreamSize& stream : info.streams) all += stream.stored_bytes;
  Table table("Streams", {"Stream", "#Raw bytes", "#Stored bytes", "#Stored per instruction", "#Share", ""});
  for (const trace::StreamSize& stream : info.streams)
    table.row(cell(stream.name) + number_cell(number(stream.raw_bytes)) +
              number_cell(number(stream.stored_bytes)) +
              number_cell(fmt::format("{:.4f}", per_instruction(stream.stored_bytes, info))) +
              share_cells(stream.stored_bytes, all));
  return std::move(table).end();
}

std::string threads(const TraceInfo& info) {
  Table table("Threads that ran", {"#Process", "#Thread", "#Instructions", "#Share", ""});
  for (const ThreadInfo& thread : info.threads_that_ran)
    table.row(number_cell(std::to_string(thread.pid)) + number_cell(std::to_string(thread.tid)) +
              number_cell(number(thread.instructions)) + share_cells(thread.instructions, info.instructions));
  return std::move(table).end();
}

std::string modules(const TraceInfo& info) {
  Table table("Executable mappings", {"#Start", "#Bytes", "#File offset", "Path", "Build id"});
  for (const trace::Mapping& module : info.modules)
    table.row(number_cell(fmt::format("{:#x}", module.start)) +
              number_cell(fmt::format("{:#x}", module.bytes)) +
              number_cell(fmt::format("{:#x}", module.file_offset)) + cell(escaped(module.path)) +
              cell(fmt::format("<code>{:02x}</code>", fmt::join(module.build_id, ""))));
  return std::move(table).end();
}

}  // namespace

std::string format_html(const TraceInfo& info, std::string_view name) {
  const std::string title = escaped(name);
  std::string page = fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      "<meta name=\"color-scheme\" content=\"light dark\">\n<title>{}</title>\n<style>\n{}section {{ margin: "
      "0 0 26px; }}\n"
      "</style>\n</head>\n<body>\n<header>\n<div class=\"title\"><p class=\"brand\">pmusim</p><h1>{}</h1>"
      "<p id=\"about\">{}</p></div>\n{}\n</header>\n",
      title, page_parts::style_css, title, contents_name(info.contents), figures(info));
  if (info.truncation)
    page += fmt::format("<section id=\"notes\"><p>{}</p></section>\n", escaped(*info.truncation));
  page += "<main>\n";
  for (const auto part : {mix, branches, footprint, streams, threads, modules}) page += part(info);
  return page + "</main>\n<footer><p>Made by pmusim.</p></footer>\n</body>\n</html>\n";
}

}  // namespace pmusim::tools
