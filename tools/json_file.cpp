// SPDX-License-Identifier: MIT
#include "json_file.h"

#include <fmt/format.h>

#include "base/input_file.h"
#include "command_error.h"

namespace pmusim::tools {

using nlohmann::ordered_json;

namespace {

constexpr u64 largest_file = 64u << 20;
constexpr int deepest = 64;

/// "line 3, column 7: ..." of "[json.exception.parse_error.101] parse error at line 3, column 7: ...".
std::string_view place_and_reason(std::string_view what) {
  constexpr std::string_view before = "parse error at ";
  const std::size_t at = what.find(before);
  return at == std::string_view::npos ? what : what.substr(at + before.size());
}

}  // namespace

void JsonFile::refuse(std::string_view sentence) const {
  throw CommandError(fmt::format("{}: {}", path, sentence));
}

JsonFile JsonFile::read(const std::string& path) {
  JsonFile file{path, {}};
  const InputFile input = value_or_fail(InputFile::open(path));
  if (input.size() > largest_file)
    file.refuse(fmt::format("has {} bytes; expected JSON of {} at most", input.size(), largest_file));
  const std::string text = value_or_fail(input.read_text());
  const auto check_depth = [&](int depth, ordered_json::parse_event_t, const ordered_json&) {
    if (depth >= deepest)
      file.refuse(fmt::format("is nested deeper than {} lists and objects; expected no more", deepest));
    return true;
  };
  try {
    file.content = ordered_json::parse(text, check_depth);
  } catch (const ordered_json::parse_error& error) {
    file.refuse(fmt::format("is not JSON: {}", place_and_reason(error.what())));
  } catch (const ordered_json::out_of_range&) {
    file.refuse("has a number that is too large; expected none beyond 1.8e308");
  }
  return file;
}

}  // namespace pmusim::tools
