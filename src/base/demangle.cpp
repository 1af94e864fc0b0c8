// SPDX-License-Identifier: MIT
#include "base/demangle.h"

#include <cxxabi.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <string_view>
#include <vector>

#include "pmusim/base/types.h"

namespace pmusim {

namespace {

constexpr u64 longest_mangled = 8192, longest_demangled = 1 << 20;

/// An upper bound of the length of a demangled name.
///
/// A mangled name refers back to its own parts (S0_, T_), so that a hostile one of 200 characters can ask for
/// gigabytes. Every reference is taken to be to the largest part that is complete at that point. Parts end
/// with their bracket; where a name has pointers to members, which need none, they end everywhere.
class DemangledLength {
 public:
  explicit DemangledLength(std::string_view name) : rest_(name) {
    while (!rest_.empty() && total() <= longest_demangled) take();
  }
  u64 total() const { return open_.back().inside + closed_below_; }

 private:
  char next() {
    const char c = rest_.front();
    rest_.remove_prefix(1);
    return c;
  }
  static bool is_digit(char c) { return c >= '0' && c <= '9'; }

  void take() {
    const char c = next();
    if (is_digit(c)) return take_source_name(static_cast<u64>(c - '0'));
    add(4);  // the longest operators and types of one letter take a few times this; brackets add theirs
    if (c == 'S' || c == 'T') return take_reference();
    if (c == 'M') parts_end_everywhere_ = true;
    if (c == 'I' || c == 'N' || c == 'X' || c == 'F' || c == 'J' || c == 'L' || c == 'l') open();
    if (c == 'E') close();
  }
  void take_source_name(u64 length) {
    while (!rest_.empty() && is_digit(rest_.front()) && length < longest_mangled)
      length = length * 10 + static_cast<u64>(next() - '0');
    length = std::min<u64>(length, rest_.size());
    rest_.remove_prefix(static_cast<std::size_t>(length));
    add(length + 2);
  }
  void take_reference() {
    const std::size_t end = rest_.find('_');
    const auto is_index = [](char c) { return is_digit(c) || (c >= 'A' && c <= 'Z'); };
    if (end == std::string_view::npos || !std::ranges::all_of(rest_.substr(0, end), is_index)) return add(64);
    rest_.remove_prefix(end + 1);
    add(largest_);
  }
  void add(u64 length) {
    open_.back().inside += length;
    open_.back().last_item = length;
    if (parts_end_everywhere_) largest_ = std::max(largest_, total());
  }
  void open() {
    closed_below_ += open_.back().inside;
    open_.push_back({});
  }
  /// A part is what is in the bracket, and the item in front of it that it belongs to: pair<int, int>.
  void close() {
    if (open_.size() == 1) return;
    const u64 inside = open_.back().inside;
    open_.pop_back();
    closed_below_ -= open_.back().inside;
    largest_ = std::max(largest_, inside + open_.back().last_item);
    open_.back().inside += inside;
    open_.back().last_item += inside;
  }

  struct Bracket {
    u64 inside = 0, last_item = 0;
  };
  std::string_view rest_;
  std::vector<Bracket> open_{1};
  u64 closed_below_ = 0, largest_ = 64;
  bool parts_end_everywhere_ = false;
};

}  // namespace

std::string demangled(const std::string& linkage_name) {
  if (!linkage_name.starts_with("_Z") || linkage_name.size() > longest_mangled) return linkage_name;
  if (DemangledLength(linkage_name).total() > longest_demangled) return linkage_name;
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> text(
      abi::__cxa_demangle(linkage_name.c_str(), nullptr, nullptr, &status), &std::free);
  return status == 0 && text ? std::string(text.get()) : linkage_name;
}

}  // namespace pmusim
