// SPDX-License-Identifier: MIT
#include "annotate/page.h"

#include <cctype>
#include <map>
#include <string_view>

#include "annotate/page_parts.h"
#include "json.h"
#include "pmusim/annotate/report.h"

namespace pmusim::annotate {

namespace {

/// Integers of this many digits fit into a JavaScript number exactly (2^53 has 16).
constexpr std::size_t exact_digits = 15;

bool starts_number(char c) { return c == '-' || std::isdigit(static_cast<unsigned char>(c)) != 0; }

/// JSON as a script element can hold it: no end of an element within, no white space between its words, and
/// integers that a JavaScript number would round (addresses of a kernel) as text.
std::string for_script(std::string_view json) {
  std::string result;
  result.reserve(json.size());
  bool in_text = false;
  for (std::size_t at = 0; at < json.size();) {
    const char c = json[at];
    if (!in_text && (c == ' ' || c == '\n')) {
      ++at;
      continue;
    }
    if (!in_text && starts_number(c)) {
      const std::size_t end = std::min(json.find_first_not_of("-+.eE0123456789", at), json.size());
      const std::string_view number = json.substr(at, end - at);
      const bool rounds = number.size() > exact_digits && number.find_first_of(".eE") == number.npos;
      result += rounds ? '"' + std::string(number) + '"' : std::string(number);
      at = end;
      continue;
    }
    if (in_text && c == '\\') result += json[at++];
    if (c == '"') in_text = !in_text;
    result += json[at] == '<' ? std::string_view("\\u003c") : json.substr(at, 1);
    ++at;
  }
  return result;
}

std::string text_of(const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace); }

std::string report_of(const Report& report) {
  Json functions = Json::array();
  for (const AnnotatedFunction& function : report.functions) functions.push_back(packed(function));
  return text_of(json_of(report, std::move(functions)));
}

/// The source lines that the report refers to, by file and line.
std::string sources_of(const Report& report) {
  std::map<u32, std::map<u32, std::string_view>> wanted;
  const auto want = [&](const SourcePosition& where) {
    if (where.line == 0 || where.file >= report.files.size()) return;
    const auto& lines = report.files[where.file].lines;
    if (where.line <= lines.size()) wanted[where.file][where.line] = lines[where.line - 1];
  };
  for (const RankedLine& line : report.lines) want(line.where);
  for (const AnnotatedFunction& function : report.functions)
    for (const Instruction& instruction : function.instructions) want(instruction.where);

  Json files = Json::object();
  for (const auto& [file, lines] : wanted)
    for (const auto& [line, text] : lines) files[std::to_string(file)][std::to_string(line)] = text;
  return text_of(files);
}

}  // namespace

std::string to_html(const Report& report) { return page_of(report, {}); }

std::string page_of(const Report& report, const PageParts& beside) {
  const std::map<std::string_view, std::string> parts{
      {"STYLE", std::string(page_parts::style_css)},
      {"HELPERS", std::string(page_parts::helpers_js)},
      {"CODE", std::string(page_parts::code_js)},
      {"VIEWS", std::string(page_parts::views_js)},
      {"FLAME", std::string(page_parts::flame_js)},
      {"WHYVIEWS", std::string(page_parts::why_js)},
      {"WHY", for_script(beside.why)},
      {"DIFFERENCEVIEWS", std::string(page_parts::difference_js)},
      {"DIFFERENCE", for_script(beside.difference)},
      {"SHEET", std::string(page_parts::sheet_js)},
      {"PAGE", std::string(page_parts::page_js)},
      {"REPORT", for_script(report_of(report))},
      {"SOURCES", for_script(sources_of(report))}};
  std::string page;
  std::string_view rest = page_parts::page_html;
  while (!rest.empty()) {
    const std::size_t mark = std::min(rest.find('@'), rest.size());
    page += rest.substr(0, mark);
    rest.remove_prefix(mark);
    if (rest.empty()) break;
    const std::size_t end = rest.find('@', 1);
    page += parts.at(rest.substr(1, end - 1));
    rest.remove_prefix(end + 1);
  }
  return page;
}

}  // namespace pmusim::annotate
