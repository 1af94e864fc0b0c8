// SPDX-License-Identifier: MIT
#ifndef PMUSIM_TESTS_ARCHITECTURE_SHOWN_NAMES_H
#define PMUSIM_TESTS_ARCHITECTURE_SHOWN_NAMES_H

#include <algorithm>
#include <cctype>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace pmusim::test {

/// Spaces in place of literals and comments: all else keeps its line.
inline std::string without_literals(std::string code) {
  const auto blank = [&](std::size_t from, std::size_t to) {
    for (std::size_t n = from; n < std::min(to, code.size()); ++n)
      if (code[n] != '\n') code[n] = ' ';
    return std::min(to, code.size());
  };
  for (std::size_t at = 0; at < code.size();) {
    const bool digits = at > 0 && std::isalnum(static_cast<unsigned char>(code[at - 1])) != 0;
    if (code.compare(at, 2, "//") == 0) {
      at = blank(at, code.find('\n', at));
    } else if (code.compare(at, 3, "R\"(") == 0) {
      at = blank(at, code.find(")\"", at) + 2);
    } else if (code[at] == '"' || (code[at] == '\'' && !digits)) {
      std::size_t end = at + 1;
      while (end < code.size() && code[end] != code[at]) end += code[end] == '\\' ? 2 : 1;
      at = blank(at, end + 1);
    } else {
      ++at;
    }
  }
  return code;
}

/// Where code puts the name of something into a text, by fmt or by what prints, and no guard is around it.
/// Names are known by what the members of reports, profiles, traces and counts are called; those that this
/// project gives itself (of models, registers) are called so, too.
inline std::vector<std::size_t> names_put_as_they_are(const std::string& code) {
  static const std::set<std::string, std::less<>> names{
      "path",  "name",   "command", "command_line", "symbol", "function",  "file",     "input", "module",
      "owner", "cgroup", "event",   "linkage_name", "title",  "statement", "expected", "found"};
  static const std::set<std::string, std::less<>> puts{"fmt::format", "fmt::format_to", "fmt::print", "put",
                                                       "print",       "print_to",       "say"};
  // What an error says goes through complain().
  static const std::set<std::string, std::less<>> guards{"printable", "printable_sentence", "complain",
                                                         "Error",     "CommandError",       "refuse"};
  const auto is_of_word = [&](std::size_t at) {
    const char c = code[at];
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == ':';
  };
  const auto word_before = [&](std::size_t at) {
    std::size_t from = at;
    while (from > 0 && is_of_word(from - 1)) --from;
    return code.substr(from, at - from);
  };
  std::vector<std::size_t> found;
  std::vector<std::string> calls;
  const auto within = [&](const auto& functions) {
    return std::ranges::any_of(calls, [&](const std::string& call) { return functions.contains(call); });
  };
  for (std::size_t at = 0; at < code.size(); ++at) {
    const char c = code[at];
    if (c == '(' || c == '{') {
      calls.push_back(word_before(at));
    } else if ((c == ')' || c == '}') && !calls.empty()) {
      calls.pop_back();
    } else if (c == '.' || (c == '>' && at > 0 && code[at - 1] == '-')) {
      std::size_t end = at + 1;
      while (end < code.size() && is_of_word(end)) ++end;
      const bool is_more = end < code.size() && (code[end] == '(' || code[end] == '.' || code[end] == '[');
      if (!is_more && names.contains(code.substr(at + 1, end - at - 1)) && within(puts) && !within(guards))
        found.push_back(at);
    }
  }
  return found;
}

}  // namespace pmusim::test

#endif
