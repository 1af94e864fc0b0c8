// SPDX-License-Identifier: MIT
#include "terms.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <span>

#include "base/suggest.h"
#include "events/formats.h"
#include "events/sampling_pmus.h"
#include "pmusim/base/types.h"
#include "text.h"

namespace pmusim::events {
namespace {

/// The words of the attribute as a whole: terms that perf has for every PMU.
constexpr std::array words{
    Format{"config", &perf::Attr::config, {0, 64}},
    Format{"config1", &perf::Attr::config1, {0, 64}},
    Format{"config2", &perf::Attr::config2, {0, 64}},
    Format{"config3", &perf::Attr::config3, {0, 64}},
};

/// Terms that perf has beyond the PMU's formats.
constexpr std::array other_terms{std::string_view("name"), std::string_view("period"),
                                 std::string_view("freq"), std::string_view("percore"),
                                 std::string_view("ratio-to-prev")};

std::optional<Format> find_in(std::span<const Format> formats, std::string_view name) {
  const auto found = std::ranges::find(formats, name, &Format::name);
  return found == formats.end() ? std::nullopt : std::optional(*found);
}

std::optional<Format> find_format(std::string_view name, const CpuModel& model, u32 type) {
  const auto own = find_in(formats(model, type), name);
  return own ? own : find_in(words, name);
}

Result<u64, Error> number_of(const Term& term) {
  if (!term.value) return Failure(Error(fmt::format("term '{}' needs a value", term.name)));
  const auto number = parse_number(*term.value);
  if (!number)
    return Failure(
        Error(fmt::format("term '{}' needs a decimal or 0x number, not '{}'", term.name, *term.value)));
  return *number;
}

void put(u64& word, BitRange bits, u64 value) {
  word = (word & ~(low_bits(bits.width) << bits.low)) | (value & low_bits(bits.width)) << bits.low;
}

Result<Done, Error> apply_format(perf::Attr& attr, const Format& format, const Term& term) {
  u64 value = 1;
  if (term.value || format.width() > 1) {
    const auto number = number_of(term);
    if (!number.ok()) return Failure(number.error());
    value = *number;
  }
  if ((value & ~low_bits(format.width())) != 0)
    return Failure(Error(fmt::format("{:#x} does not fit the {} bit{} of term '{}'", value, format.width(),
                                     format.width() == 1 ? "" : "s", format.name)));
  put(attr.*format.word, format.range, value);
  if (format.upper.width != 0) put(attr.*format.word, format.upper, value >> format.range.width);
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
    const std::string_view whole = trimmed(text.substr(begin, i - begin));
    const std::size_t equals = whole.find('='), offset = static_cast<std::size_t>(whole.data() - text.data());
    Term term{.position = position + offset, .name = trimmed(whole.substr(0, equals)), .value = std::nullopt};
    if (equals != whole.npos) term.value = trimmed(whole.substr(equals + 1));
    terms.push_back(term);
    begin = i + 1;
  }
  return terms;
}

std::vector<std::string_view> term_names(const CpuModel& model, u32 type) {
  std::vector<std::string_view> names(other_terms.begin(), other_terms.end());
  for (const Format& f : formats(model, type)) names.push_back(f.name);
  for (const Format& f : words) names.push_back(f.name);
  return names;
}

bool is_term(std::string_view name) {
  return is_format(name) || find_in(words, name) || std::ranges::find(other_terms, name) != other_terms.end();
}

Result<Done, Error> apply_term(ParsedEvent& event, const Term& term, const CpuModel& model,
                               std::optional<double>& ratio_to_prev) {
  const u32 type = event.attr.type;
  if (const auto format = find_format(term.name, model, type)) {
    if (format->selects_event() && type != static_cast<u32>(perf::EventType::raw) && !is_sampling_pmu(type))
      return Failure(Error(fmt::format(
          "term '{}' changes the event select and a generic event has none; write cpu/event=...,{}.../",
          term.name, term.name)));
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
  if (is_format(term.name))
    return Failure(Error(fmt::format("the PMU{} of {} has no term '{}'",
                                     is_sampling_pmu(type) ? " for instruction-based sampling" : "",
                                     model.title, term.name)));
  const auto names = term_names(model, type);
  return Failure(Error(fmt::format("unknown term '{}'{}", term.name, did_you_mean(term.name, names))));
}

}  // namespace pmusim::events
