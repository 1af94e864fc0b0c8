// SPDX-License-Identifier: MIT
#ifndef PMUSIM_SCENARIO_WORDS_H
#define PMUSIM_SCENARIO_WORDS_H

#include <fmt/format.h>

#include <charconv>
#include <optional>
#include <string_view>

#include "pmusim/base/types.h"

namespace pmusim::scenario {

/// Ends a statement with a sentence; run() adds file and line.
struct Misunderstood {
  std::string sentence;
};

/// Decimal, or hexadecimal after 0x; a minus gives the two's complement.
inline std::optional<u64> number(std::string_view word) {
  const bool negative = word.starts_with('-');
  if (negative) word.remove_prefix(1);
  const bool hexadecimal = word.starts_with("0x") || word.starts_with("0X");
  if (hexadecimal) word.remove_prefix(2);
  u64 value = 0;
  const auto [end, error] =
      std::from_chars(word.data(), word.data() + word.size(), value, hexadecimal ? 16 : 10);
  if (error != std::errc() || end != word.data() + word.size() || word.empty()) return std::nullopt;
  return negative ? ~value + 1 : value;
}

/// The words of a statement, taken one after the other.
class Words {
 public:
  explicit Words(std::string_view text) : rest_(text) { skip(); }

  bool empty() const { return rest_.empty(); }
  std::string_view peek() const { return rest_.substr(0, rest_.find_first_of(" \t")); }
  /// Takes the next word if it is this one.
  bool take(std::string_view word) {
    if (peek() != word) return false;
    static_cast<void>(next(word));
    return true;
  }
  /// `what` names the word in a complaint.
  std::string_view next(std::string_view what) {
    if (empty()) throw Misunderstood{fmt::format("expected {} at the end", what)};
    const std::string_view word = peek();
    rest_.remove_prefix(word.size());
    skip();
    return word;
  }
  u64 next_number(std::string_view what) {
    const std::string_view word = next(what);
    if (const auto value = number(word)) return *value;
    throw Misunderstood{fmt::format("'{}' is no number: expected {}", word, what)};
  }
  void expect(std::string_view word) {
    if (!take(word)) throw Misunderstood{fmt::format("expected '{}' before '{}'", word, peek())};
  }
  void end() const {
    if (!empty()) throw Misunderstood{fmt::format("'{}' is too much", rest_)};
  }

 private:
  void skip() { rest_.remove_prefix(std::min(rest_.find_first_not_of(" \t\r"), rest_.size())); }
  std::string_view rest_;
};

}  // namespace pmusim::scenario

#endif
