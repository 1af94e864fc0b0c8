// SPDX-License-Identifier: MIT
#include "session/metric_formula.h"

#include <algorithm>
#include <cctype>
#include <charconv>

namespace pmusim {
namespace {

bool is_formula_letter(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '.' || c == '_' || c == ':';
}

/// Reads a formula from left to right.
class FormulaReader {
 public:
  FormulaReader(std::string_view text, const FormulaLookup& lookup) : text_(text), lookup_(lookup) {}

  std::optional<double> whole() {
    const std::optional<double> value = sum();
    skip_spaces();
    return readable_ && at_ == text_.size() ? value : std::nullopt;
  }

 private:
  void skip_spaces() {
    while (at_ < text_.size() && text_[at_] == ' ') ++at_;
  }
  bool take(char c) {
    skip_spaces();
    if (at_ >= text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }

  std::optional<double> sum() {
    std::optional<double> value = product();
    while (true) {
      const bool added = take('+');
      if (!added && !take('-')) return value;
      const std::optional<double> next = product();
      value = value && next ? std::optional(added ? *value + *next : *value - *next) : std::nullopt;
    }
  }

  std::optional<double> product() {
    std::optional<double> value = factor();
    while (true) {
      const bool multiplied = take('*');
      if (!multiplied && !take('/')) return value;
      const std::optional<double> next = factor();
      if (!value || !next || (!multiplied && *next == 0))
        value = std::nullopt;
      else
        value = multiplied ? *value * *next : *value / *next;
    }
  }

  std::optional<double> factor() {
    if (take('(')) return bracketed(sum());
    if (take('{')) return spelled_out();
    const std::string_view word = take_word();
    if (word.empty()) return unreadable();
    if ((word == "min" || word == "max") && take('(')) return chosen(word == "min");
    if (word == "if_less" && take('(')) return compared();
    double number = 0;
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), number);
    if (error == std::errc() && end == word.data() + word.size()) return number;
    return lookup_(word);
  }

  std::optional<double> chosen(bool smaller) {
    const std::optional<double> first = sum();
    if (!take(',')) return unreadable();
    const std::optional<double> second = bracketed(sum());
    if (!first || !second) return std::nullopt;
    return smaller ? std::min(*first, *second) : std::max(*first, *second);
  }

  std::optional<double> compared() {
    std::optional<double> values[4];
    for (std::optional<double>& value : values) {
      if (&value != values && !take(',')) return unreadable();
      value = sum();
    }
    if (!take(')')) return unreadable();
    if (!values[0] || !values[1]) return std::nullopt;
    return *values[0] < *values[1] ? values[2] : values[3];
  }

  std::optional<double> spelled_out() {
    const std::size_t end = text_.find('}', at_);
    if (end == std::string_view::npos || end == at_) return unreadable();
    const std::string_view event = text_.substr(at_, end - at_);
    at_ = end + 1;
    return lookup_(event);
  }

  std::optional<double> bracketed(std::optional<double> value) { return take(')') ? value : unreadable(); }

  std::string_view take_word() {
    skip_spaces();
    const std::size_t begin = at_;
    while (at_ < text_.size() &&
           (is_formula_letter(text_[at_]) || (text_[at_] == '-' && at_ > begin && at_ + 1 < text_.size() &&
                                              is_formula_letter(text_[at_ + 1]))))
      ++at_;
    return text_.substr(begin, at_ - begin);
  }

  std::optional<double> unreadable() {
    at_ = text_.size();
    readable_ = false;
    return std::nullopt;
  }

  std::string_view text_;
  const FormulaLookup& lookup_;
  std::size_t at_ = 0;
  bool readable_ = true;
};

}  // namespace

std::optional<double> formula_value(std::string_view formula, const FormulaLookup& lookup) {
  return FormulaReader(formula, lookup).whole();
}

std::vector<std::string_view> formula_names(std::string_view formula) {
  std::vector<std::string_view> names;
  formula_value(formula, [&](std::string_view name) {
    if (std::ranges::find(names, name) == names.end()) names.push_back(name);
    return std::optional(1.0);
  });
  return names;
}

}  // namespace pmusim
