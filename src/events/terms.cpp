// SPDX-License-Identifier: MIT
#include "terms.h"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <cstdlib>

#include "base/suggest.h"
#include "pmusim/base/bits.h"
#include "text.h"

namespace pmusim::events {
namespace {

/// A field of the event select or of an extra word: what a PMU driver publishes as its format.
struct Format {
  std::string_view name;
  u64 perf::Attr::*word;
  unsigned low, width;
  bool selects_event = true;
};

constexpr std::array formats{
    Format{"event", &perf::Attr::config, 0, 8},
    Format{"umask", &perf::Attr::config, 8, 8},
    Format{"edge", &perf::Attr::config, 18, 1},
    Format{"pc", &perf::Attr::config, 19, 1},
    Format{"any", &perf::Attr::config, 21, 1},
    Format{"inv", &perf::Attr::config, 23, 1},
    Format{"cmask", &perf::Attr::config, 24, 8},
    Format{"in_tx", &perf::Attr::config, 32, 1},
    Format{"in_tx_cp", &perf::Attr::config, 33, 1},
    Format{"eq", &perf::Attr::config, 36, 1},
    Format{"config", &perf::Attr::config, 0, 64},
    Format{"config1", &perf::Attr::config1, 0, 64, false},
    Format{"config2", &perf::Attr::config2, 0, 64, false},
    Format{"config3", &perf::Attr::config3, 0, 64, false},
    Format{"offcore_rsp", &perf::Attr::config1, 0, 64, false},
    Format{"ldlat", &perf::Attr::config1, 0, 16, false},
    Format{"frontend", &perf::Attr::config1, 0, 24, false},
    Format{"acr_mask", &perf::Attr::config2, 0, 64, false},
};

/// Terms that perf has beyond the PMU's formats.
constexpr std::array other_terms{std::string_view("name"), std::string_view("period"),
                                 std::string_view("freq"), std::string_view("percore"),
                                 std::string_view("ratio-to-prev")};

const Format* find_format(std::string_view name) {
  const auto found = std::ranges::find_if(formats, [&](const Format& f) { return f.name == name; });
  return found == formats.end() ? nullptr : &*found;
}

Result<u64, Error> number_of(const Term& term) {
  if (!term.value) return Failure(Error(fmt::format("term '{}' needs a value", term.name)));
  const auto number = parse_number(*term.value);
  if (!number)
    return Failure(
        Error(fmt::format("term '{}' needs a decimal or 0x number, not '{}'", term.name, *term.value)));
  return *number;
}

/// A umask of two bytes; its halves are apart in the event select.
Result<Done, Error> apply_wide_umask(perf::Attr& attr, const Term& term) {
  const auto number = number_of(term);
  if (!number.ok()) return Failure(number.error());
  if (*number > 0xFFFF)
    return Failure(Error(fmt::format("{:#x} does not fit the 16 bits of term 'umask'", *number)));
  attr.config = (attr.config & ~(0xFF00 | u64{0xFF} << 40)) | (*number & 0xFF) << 8 | *number >> 8 << 40;
  return Done{};
}

Result<Done, Error> apply_format(perf::Attr& attr, const Format& format, const Term& term) {
  u64 value = 1;
  if (term.value || format.width > 1) {
    const auto number = number_of(term);
    if (!number.ok()) return Failure(number.error());
    value = *number;
  }
  if ((value & ~low_bits(format.width)) != 0)
    return Failure(Error(fmt::format("{:#x} does not fit the {} bit{} of term '{}'", value, format.width,
                                     format.width == 1 ? "" : "s", format.name)));
  u64& word = attr.*format.word;
  word = (word & ~(low_bits(format.width) << format.low)) | value << format.low;
  return Done{};
}

Result<Done, Error> apply_period(perf::Attr& attr, const Term& term) {
  const auto number = number_of(term);
  if (!number.ok()) return Failure(number.error());
  if (*number == 0) return Failure(Error(fmt::format("term '{}' must not be 0", term.name)));
  attr.sample_period = *number;
  attr.freq = term.name == "freq";
  return Done{};
}

Result<Done, Error> apply_name(std::string& name, const Term& term) {
  std::string_view value = term.value.value_or("");
  if (value.size() >= 2 && value.front() == '\'' && value.back() == '\'')
    value = value.substr(1, value.size() - 2);
  if (value.empty()) return Failure(Error("term 'name' needs a value"));
  name = value;
  return Done{};
}

Result<double, Error> ratio_of(const Term& term) {
  const std::string text(term.value.value_or(""));
  char* end = nullptr;
  const double ratio = std::strtod(text.c_str(), &end);
  if (text.empty() || *end != '\0' || !std::isfinite(ratio) || ratio <= 0)
    return Failure(Error(fmt::format("term 'ratio-to-prev' needs a number above 0, not '{}'", text)));
  return ratio;
}

}  // namespace

std::vector<Term> split_terms(std::string_view text, std::size_t position) {
  std::vector<Term> terms;
  std::size_t begin = 0;
  bool quoted = false;
  for (std::size_t i = 0; i <= text.size(); ++i) {
    if (i < text.size() && text[i] == '\'') quoted = !quoted;
    if (i < text.size() && (text[i] != ',' || quoted)) continue;
    const std::string_view whole = text.substr(begin, i - begin);
    const std::size_t equals = whole.find('=');
    Term term{.position = position + begin, .name = whole.substr(0, equals), .value = std::nullopt};
    if (equals != whole.npos) term.value = whole.substr(equals + 1);
    terms.push_back(term);
    begin = i + 1;
  }
  return terms;
}

std::vector<std::string_view> term_names() {
  std::vector<std::string_view> names(other_terms.begin(), other_terms.end());
  for (const Format& f : formats) names.push_back(f.name);
  return names;
}

bool is_term(std::string_view name) {
  return find_format(name) != nullptr || std::ranges::find(other_terms, name) != other_terms.end();
}

Result<Done, Error> apply_term(ParsedEvent& event, const Term& term, TermScope scope,
                               std::optional<double>& ratio_to_prev) {
  if (const Format* format = find_format(term.name)) {
    if (format->selects_event && scope == TermScope::named_event)
      return Failure(Error(fmt::format(
          "term '{}' changes the event select and a generic event has none; write cpu/event=...,{}.../",
          term.name, term.name)));
    if (scope == TermScope::pmu_with_umask2 && term.name == "umask")
      return apply_wide_umask(event.attr, term);
    return apply_format(event.attr, *format, term);
  }
  if (term.name == "period" || term.name == "freq") return apply_period(event.attr, term);
  if (term.name == "name") return apply_name(event.name, term);
  if (term.name == "percore") return Done{};  // one logical processor is one core
  if (term.name == "ratio-to-prev") {
    const auto ratio = ratio_of(term);
    if (!ratio.ok()) return Failure(ratio.error());
    ratio_to_prev = *ratio;
    return Done{};
  }
  const auto names = term_names();
  return Failure(Error(fmt::format("unknown term '{}'{}", term.name, did_you_mean(term.name, names))));
}

}  // namespace pmusim::events
