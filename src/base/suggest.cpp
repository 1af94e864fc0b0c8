// SPDX-License-Identifier: MIT
#include "base/suggest.h"

#include <algorithm>
#include <cctype>
#include <numeric>
#include <optional>
#include <utility>

namespace pmusim {
namespace {

std::string lower(std::string_view text) {
  std::string out(text);
  std::transform(out.begin(), out.end(), out.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return out;
}

/// Insertions, deletions and substitutions that lead from one text to the other.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::size_t diagonal = std::exchange(row[0], i + 1);
    for (std::size_t j = 0; j < b.size(); ++j) {
      const std::size_t substituted = diagonal + (a[i] == b[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({substituted, row[j] + 1, row[j + 1] + 1});
    }
  }
  return row[b.size()];
}

/// Lower is nearer; none where the names have nothing to do with each other.
std::optional<std::size_t> distance(std::string_view wanted, std::string_view name) {
  if (wanted.empty()) return std::nullopt;
  if (name.starts_with(wanted)) return 0;
  const std::size_t most_edits = std::max<std::size_t>(1, wanted.size() / 3);
  const std::size_t fewest_edits =
      wanted.size() < name.size() ? name.size() - wanted.size() : wanted.size() - name.size();
  if (fewest_edits <= most_edits) {
    if (const std::size_t edits = edit_distance(wanted, name); edits <= most_edits) return edits;
  }
  if (name.find(wanted) != std::string_view::npos) return 1 + wanted.size() / 3;
  return std::nullopt;
}

}  // namespace

std::vector<std::string_view> near_matches(std::string_view wanted, std::span<const std::string_view> names,
                                           std::size_t most) {
  const std::string wanted_lower = lower(wanted);
  std::vector<std::pair<std::size_t, std::string_view>> found;
  for (const std::string_view name : names) {
    if (const auto d = distance(wanted_lower, lower(name))) found.emplace_back(*d, name);
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
