// SPDX-License-Identifier: MIT
#include "session/time_spans.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>

namespace pmusim {

namespace {

constexpr u64 ns_per_ms = 1'000'000;

std::optional<u64> milliseconds(std::string_view text) {
  constexpr u64 most = ~u64{0} / ns_per_ms;
  u64 value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value > most) return std::nullopt;
  return value * ns_per_ms;
}

std::optional<TimeSpan> parse_span(std::string_view text) {
  const std::size_t dash = text.find('-');
  const std::optional<u64> begin = milliseconds(text.substr(0, dash));
  if (!begin) return std::nullopt;
  if (dash == std::string_view::npos) return TimeSpan{.begin = *begin};
  const std::optional<u64> end = milliseconds(text.substr(dash + 1));
  if (!end || *end <= *begin) return std::nullopt;
  return TimeSpan{*begin, *end};
}

}  // namespace

Result<std::vector<TimeSpan>, Error> parse_time_spans(std::string_view text) {
  std::vector<TimeSpan> spans;
  for (std::size_t at = 0; at <= text.size();) {
    const std::string_view part = text.substr(at, text.find(',', at) - at);
    const std::optional<TimeSpan> span = parse_span(part);
    if (!span)
      return Failure(Error(fmt::format(
          "'{}' is no delay: expected milliseconds of emulated time, as 10 or 10-20,30-40", part)));
    if (!spans.empty() && span->begin < spans.back().end)
      return Failure(Error(fmt::format("'{}' begins before the span in front of it ends", part)));
    spans.push_back(*span);
    at += part.size() + 1;
  }
  return spans;
}

bool is_measured(const std::vector<TimeSpan>& spans, u64 ns) {
  return spans.empty() ||
         std::ranges::any_of(spans, [&](const TimeSpan& span) { return span.begin <= ns && ns < span.end; });
}

}  // namespace pmusim
