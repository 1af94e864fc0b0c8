// SPDX-License-Identifier: MIT
#include "base/suggest.h"

#include <algorithm>
#include <bit>
#include <boost/container/small_vector.hpp>
#include <numeric>
#include <optional>
#include <utility>

#include "base/letters.h"
#include "pmusim/base/types.h"

namespace pmusim {
namespace {

void make_lower(std::string& text) {
  for (char& c : text) c = lower(c);
}

/// Insertions, deletions and substitutions that lead from one text to the other; none if more than `most`.
std::optional<std::size_t> edit_distance(std::string_view a, std::string_view b, std::size_t most) {
  boost::container::small_vector<std::size_t, 64> distances(b.size() + 1);
  std::size_t* row = distances.data();
  std::iota(row, row + b.size() + 1, std::size_t{0});
  for (std::size_t i = 0; i < a.size(); ++i) {
    // What lies further from the diagonal costs more than `most`.
    const std::size_t first = i - std::min(i, most), end = std::min(b.size(), i + most + 1);
    std::size_t diagonal = std::exchange(row[first], i + 1), least = row[first];
    for (std::size_t j = first; j < end; ++j) {
      const std::size_t substituted = diagonal + (a[i] == b[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min(substituted, std::min(row[j], row[j + 1]) + 1);
      least = std::min(least, row[j + 1]);
    }
    if (least > most) return std::nullopt;  // the least of the rows to come is no less
  }
  return row[b.size()] <= most ? std::optional(row[b.size()]) : std::nullopt;
}

/// The letters in a text, whatever their case; other characters share their bits.
u32 letters_in(std::string_view text) {
  u32 letters = 0;
  for (const char c : text) letters |= u32{1} << (c & 31);
  return letters;
}

std::size_t edits_allowed(std::string_view wanted) { return std::max<std::size_t>(1, wanted.size() / 3); }

/// Lower is nearer; none where the names have nothing to do with each other.
std::optional<std::size_t> distance(std::string_view wanted, std::string_view name) {
  if (name.starts_with(wanted)) return 0;
  const std::size_t most_edits = edits_allowed(wanted);
  const std::size_t fewest_edits =
      wanted.size() < name.size() ? name.size() - wanted.size() : wanted.size() - name.size();
  if (fewest_edits <= most_edits) {
    if (const auto edits = edit_distance(wanted, name, most_edits)) return edits;
  }
  if (name.find(wanted) != std::string_view::npos) return 1 + wanted.size() / 3;
  return std::nullopt;
}

}  // namespace

std::vector<std::string_view> near_matches(std::string_view wanted, std::span<const std::string_view> names,
                                           std::size_t most) {
  if (wanted.empty()) return {};
  std::string wanted_lower(wanted), name_lower;
  make_lower(wanted_lower);
  std::vector<std::pair<std::size_t, std::string_view>> found;
  const u32 letters = letters_in(wanted);
  for (const std::string_view name : names) {
    // Each letter that a name lacks costs an edit: most names are out without a closer look.
    if (static_cast<std::size_t>(std::popcount(letters & ~letters_in(name))) > edits_allowed(wanted))
      continue;
    name_lower = name;
    make_lower(name_lower);
    if (const auto d = distance(wanted_lower, name_lower)) found.emplace_back(*d, name);
  }
  std::stable_sort(found.begin(), found.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<std::string_view> nearest;
  for (const auto& [d, name] : found) {
    if (nearest.size() == most) break;
    nearest.push_back(name);
  }
  return nearest;
}

std::string did_you_mean(std::string_view wanted, std::span<const std::string_view> names, std::size_t most) {
  const std::vector<std::string_view> nearest = near_matches(wanted, names, most);
  std::string text;
  for (std::size_t i = 0; i < nearest.size(); ++i) {
    text += i == 0 ? "; did you mean " : i + 1 == nearest.size() ? " or " : ", ";
    text += nearest[i];
  }
  return text.empty() ? text : text + "?";
}

}  // namespace pmusim
