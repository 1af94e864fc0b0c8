// SPDX-License-Identifier: MIT
// Seeds: PMIs separated by commas, each CAUSE@BOUNDARY or CAUSE@BOUNDARY+DELAY.
#include <fmt/format.h>

#include <array>
#include <charconv>

#include "pmusim/explore/explore.h"

namespace pmusim::explore {

namespace {

constexpr std::array<std::string_view, 2> cause_names{"overflow", "spurious"};

/// Reads a seed from its beginning to its end.
class SeedParser {
 public:
  explicit SeedParser(std::string_view seed) : seed_(seed), rest_(seed) {}

  Result<Placement, Error> parse() {
    Placement placement;
    while (!rest_.empty()) {
      const std::optional<PlacedPmi> pmi = one();
      if (!pmi || !ends_well()) return failure("a PMI as CAUSE@BOUNDARY or CAUSE@BOUNDARY+DELAY");
      if (!placement.empty() && pmi->boundary <= placement.back().boundary)
        return failure("boundaries that grow");
      placement.push_back(*pmi);
    }
    return placement;
  }

 private:
  std::optional<PlacedPmi> one() {
    const std::optional<Cause> found = cause();
    if (!found || !skip('@')) return {};
    const std::optional<u32> boundary = number();
    if (!boundary) return {};
    if (!skip('+')) return PlacedPmi{*found, *boundary};
    const std::optional<u32> delay = number();
    return delay ? std::optional(PlacedPmi{*found, *boundary, *delay}) : std::nullopt;
  }
  std::optional<Cause> cause() {
    for (unsigned n = 0; n < cause_names.size(); ++n) {
      if (!rest_.starts_with(cause_names[n])) continue;
      rest_.remove_prefix(cause_names[n].size());
      return static_cast<Cause>(n);
    }
    return {};
  }
  std::optional<u32> number() {
    u32 value = 0;
    const auto [end, error] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), value);
    if (error != std::errc()) return {};
    rest_.remove_prefix(static_cast<std::size_t>(end - rest_.data()));
    return value;
  }
  bool skip(char c) {
    if (!rest_.starts_with(c)) return false;
    rest_.remove_prefix(1);
    return true;
  }
  bool ends_well() { return rest_.empty() || (skip(',') && !rest_.empty()); }
  Failure<Error> failure(std::string_view expected) const {
    return Failure(
        Error(fmt::format("seed '{}', byte {}: expected {}", seed_, seed_.size() - rest_.size(), expected)));
  }

  std::string_view seed_, rest_;
};

}  // namespace

std::string seed_of(const Placement& placement) {
  std::string seed;
  for (const PlacedPmi& pmi : placement) {
    if (!seed.empty()) seed += ',';
    seed += fmt::format("{}@{}", cause_names[static_cast<std::size_t>(pmi.cause)], pmi.boundary);
    if (pmi.delay != 0) seed += fmt::format("+{}", pmi.delay);
  }
  return seed;
}

Result<Placement, Error> parse_seed(std::string_view seed) { return SeedParser(seed).parse(); }

std::string text_of(const Finding& finding) {
  std::string text =
      fmt::format("{}\nseed: {}\n", finding.what, finding.seed.empty() ? "(no PMI)" : finding.seed);
  for (const std::string& line : finding.where) text += fmt::format("  PMI {}\n", line);
  return text;
}

}  // namespace pmusim::explore
