// SPDX-License-Identifier: MIT
#include "pmusim/events/parser.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/suggest.h"
#include "events/sampling_pmus.h"
#include "events/vendor.h"
#include "modifiers.h"
#include "names.h"
#include "terms.h"
#include "text.h"

namespace pmusim::events {
namespace {

bool is_name_character(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 ||
         std::string_view("_-.*?@").find(c) != std::string_view::npos;
}

std::optional<NamedEvent> find_raw_event(std::string_view name) {
  if (name.size() < 2 || name.front() != 'r') return std::nullopt;
  std::string_view digits = name.substr(1);
  if (digits.starts_with("0x")) digits.remove_prefix(2);
  const auto config = parse_digits(digits, 16);
  return config ? std::optional(NamedEvent{perf::EventType::raw, *config, 0}) : std::nullopt;
}

/// Reads one event list from left to right. `position_` is the next character.
class Parser {
 public:
  Parser(std::string_view text, const CpuModel& model) : text_(text), model_(model) {}

  Result<std::vector<EventGroup>, Error> parse_list() {
    std::vector<EventGroup> groups;
    do {
      auto group = peek() == '{' ? parse_group() : parse_lone_event();
      if (!group.ok()) return Failure(group.error());
      groups.push_back(std::move(*group));
    } while (take(','));
    if (peek() == '}') return fail(position_, "'}' without a '{' before it");
    if (position_ != text_.size())
      return fail(position_,
                  fmt::format("expected ',' or the end of the list, found '{}'", text_[position_]));
    return groups;
  }

 private:
  using EventResult = Result<ParsedEvent, Error>;

  Failure<Error> fail(std::size_t where, std::string_view what) const {
    std::string line(text_);
    std::ranges::replace_if(line, is_space, ' ');
    return Failure(Error(fmt::format("event list '{}', character {}: {}", line, where + 1, what)));
  }

  char peek() {
    while (position_ < text_.size() && is_space(text_[position_])) ++position_;
    return position_ < text_.size() ? text_[position_] : '\0';
  }
  bool take(char wanted) {
    if (peek() != wanted) return false;
    ++position_;
    return true;
  }

  Result<EventGroup, Error> parse_lone_event() {
    EventGroup group;
    auto event = parse_event(group);
    if (!event.ok()) return Failure(event.error());
    group.events.push_back(std::move(*event));
    return group;
  }

  Result<EventGroup, Error> parse_group() {
    const std::size_t begin = position_++;
    EventGroup group;
    do {
      if (peek() == '{') return fail(position_, "groups do not nest");
      auto event = parse_event(group);
      if (!event.ok()) return Failure(event.error());
      group.events.push_back(std::move(*event));
    } while (take(','));
    if (!take('}')) return fail(begin, "group without a closing '}'");
    if (!take(':')) return group;
    const std::string_view letters = take_letters();
    const std::size_t where = position_ - letters.size();
    if (letters.empty()) return fail(where, "expected modifiers after ':'");
    for (ParsedEvent& event : group.events) {
      const bool leads = &event == &group.events.front();
      const bool own_modifiers = event.name.find(':') != std::string::npos;
      if (const auto done = apply_modifiers(event, letters, model_); !done.ok())
        return fail(where, done.error().message);
      if (!leads) event.attr.pinned = event.attr.exclusive = 0;  // they say how the group is scheduled
      if (!own_modifiers && event.name.find('/') == std::string::npos)
        event.name += fmt::format(":{}", letters);
    }
    return group;
  }

  std::string_view take_name() {
    peek();
    const std::size_t begin = position_;
    while (position_ < text_.size() && is_name_character(text_[position_])) ++position_;
    return text_.substr(begin, position_ - begin);
  }

  std::string_view take_letters() {
    peek();
    const std::size_t begin = position_;
    while (position_ < text_.size() && std::isalpha(static_cast<unsigned char>(text_[position_])) != 0)
      ++position_;
    return text_.substr(begin, position_ - begin);
  }

  /// What stands between the slash at `position_` and the one that closes it.
  std::optional<std::string_view> take_slashes() {
    const std::size_t begin = ++position_;
    bool quoted = false;
    for (; position_ < text_.size(); ++position_) {
      if (text_[position_] == '\'') quoted = !quoted;
      if (text_[position_] == '/' && !quoted) return text_.substr(begin, position_++ - begin);
    }
    return std::nullopt;
  }

  /// `group` holds the events before this one.
  EventResult parse_event(EventGroup& group) {
    const std::string_view name = take_name();
    const std::size_t begin = position_ - name.size();
    if (name.empty()) {
      const char found = peek();
      return fail(begin, found == '\0' ? "expected an event, found the end of the list"
                                       : fmt::format("expected an event, found '{}'", found));
    }
    ParsedEvent event;
    const std::optional<u32> pmu = peek() == '/' ? find_pmu(name) : std::nullopt;
    const bool is_pmu = pmu.has_value();
    if (is_pmu)
      event.attr.type = *pmu;
    else if (const auto done = select_named(event, name, begin); !done.ok())
      return Failure(done.error());
    std::size_t end_of_name = position_;
    if (peek() == '/') {
      if (const auto done = parse_terms(event, is_pmu, group); !done.ok()) return Failure(done.error());
      if (is_pmu) end_of_name = position_;
    }
    if (const auto done = parse_modifiers(event, begin, end_of_name, is_pmu); !done.ok())
      return Failure(done.error());
    return event;
  }

  /// Arrow Lake-H has two kinds of Atoms.
  std::string_view hybrid_pmu() const {
    constexpr u32 arrow_lake_h = 0xC5, low_power_crestmont = 2;
    if (model_.core_type != CoreType::atom) return "cpu_core";
    const bool low_power = model_.model == arrow_lake_h && model_.native_model_id == low_power_crestmont;
    return low_power ? "cpu_lowpower" : "cpu_atom";
  }

  /// attr.type of the PMU of that name; nothing if the model has none.
  std::optional<u32> find_pmu(std::string_view name) const {
    if (const auto sampling = find_sampling_pmu(model_, name)) return sampling->type;
    const bool is_core = name == "cpu" || (model_.hybrid && name == hybrid_pmu());
    return is_core ? std::optional(static_cast<u32>(perf::EventType::raw)) : std::nullopt;
  }

  /// The word behind a ':' at `position_`, if it cannot be modifiers.
  std::string_view umask_ahead() const {
    if (position_ >= text_.size() || text_[position_] != ':') return {};
    std::size_t end = position_ + 1;
    while (end < text_.size() && is_name_character(text_[end])) ++end;
    const std::string_view word = text_.substr(position_ + 1, end - position_ - 1);
    return looks_like_modifiers(word) ? std::string_view() : word;
  }

  /// Finds what a name means; takes the umask too where libpfm4's EVENT:UMASK was written.
  Result<Done, Error> select_named(ParsedEvent& event, std::string_view name, std::size_t begin) {
    if (const std::string_view umask = umask_ahead(); !umask.empty()) {
      const std::size_t end = position_ + 1 + umask.size();
      if (auto vendor = find_vendor_event(model_, text_.substr(begin, end - begin))) {
        position_ = end;
        return assign(event, {perf::EventType::raw, vendor->config, vendor->config1});
      }
    }
    if (auto named = find_named(name)) return assign(event, *named);
    return unknown_event(name, begin);
  }

  static Result<Done, Error> assign(ParsedEvent& event, const NamedEvent& named) {
    event.attr.type = static_cast<u32>(named.type);
    event.attr.config = named.config;
    event.attr.config1 = named.config1;
    event.scale = named.scale;
    return Done{};
  }

  std::optional<NamedEvent> find_named(std::string_view name) const {
    if (auto found = find_hardware_event(name)) return found;
    if (auto found = find_software_event(name)) return found;
    if (auto found = find_driver_event(model_, name)) return found;
    if (auto found = find_cache_event(name)) return found;
    if (auto found = find_vendor_event(model_, name))
      return NamedEvent{perf::EventType::raw, found->config, found->config1};
    return find_raw_event(name);
  }

  Failure<Error> unknown_event(std::string_view name, std::size_t begin) const {
    const bool lower_case = std::ranges::none_of(name, [](unsigned char c) { return std::isupper(c) != 0; });
    if (lower_case && !umask_ahead().empty())
      return fail(begin, fmt::format("'{}:{}' is a tracepoint or breakpoint; a replay has neither", name,
                                     umask_ahead()));
    if (is_sampling_pmu(name))
      return fail(begin, find_sampling_pmu(model_, name)
                             ? fmt::format("'{}' is a PMU: its event is '{}//'", name, name)
                             : fmt::format("{} has no PMU '{}'", model_.title, name));
    if (name == "cpu_core" || name == "cpu_atom" || name == "cpu_lowpower")
      return fail(begin, fmt::format("{} has no PMU '{}'; its PMU is '{}'", model_.title, name,
                                     model_.hybrid ? hybrid_pmu() : "cpu"));
    const auto names = known_names(model_);
    return fail(begin,
                fmt::format("unknown event '{}' on {}{}", name, model_.title, did_you_mean(name, names)));
  }

  Result<Done, Error> parse_terms(ParsedEvent& event, bool is_pmu, EventGroup& group) {
    const std::size_t slash = position_;
    const auto text = take_slashes();
    if (!text) return fail(slash, "no second '/' closes the term list");
    const bool is_core_pmu = is_pmu && !is_sampling_pmu(event.attr.type);
    if (trimmed(*text).empty())
      return is_core_pmu ? Result<Done, Error>(fail(slash, "'cpu//' names no event")) : Done{};
    std::optional<double> ratio;
    for (const Term& term : split_terms(*text, slash + 1)) {
      const bool names_event = is_core_pmu && !term.value && !is_term(term.name);
      const auto done = names_event ? select_inside(event, term) : apply(event, term, ratio);
      if (!done.ok()) return done;
    }
    return ratio ? link_to_previous(event, group, *ratio, slash + 1) : Done{};
  }

  /// `cpu/branch-misses,.../`: the name's event select, then the other terms change it.
  Result<Done, Error> select_inside(ParsedEvent& event, const Term& term) const {
    std::optional<NamedEvent> named = find_named(term.name);
    if (named && named->type == perf::EventType::hardware) {
      const auto generic =
          encode_generic_event(model_.microarchitecture(), named->config, model_.arch_events);
      if (!generic.ok())
        return fail(term.position, fmt::format("{} has no event for '{}'", model_.title, term.name));
      named = NamedEvent{perf::EventType::raw, generic->config, 0};
    }
    if (named && named->type == perf::EventType::raw) {
      event.attr.config |= named->config;
      event.attr.config1 |= named->config1;
      event.scale = named->scale;
      return Done{};
    }
    auto names = term_names(model_);
    for (const std::string_view n : known_names(model_)) names.push_back(n);
    return fail(term.position, fmt::format("'{}' is neither a term nor an event of {}{}", term.name,
                                           model_.title, did_you_mean(term.name, names)));
  }

  Result<Done, Error> apply(ParsedEvent& event, const Term& term, std::optional<double>& ratio) const {
    const bool reloads = term.name == "acr_mask" || term.name == "ratio-to-prev";
    if (reloads && model_.acr.cause == 0) return no_auto_reload(term);
    const auto done = apply_term(event, term, model_, ratio);
    return done.ok() ? done : Result<Done, Error>(fail(term.position, done.error().message));
  }

  /// As where a PMU driver does not publish the format.
  Failure<Error> no_auto_reload(const Term& term) const {
    std::vector<std::string_view> models;
    for (const CpuModel& m : cpu_models())
      if (m.acr.cause != 0) models.push_back(m.name);
    return fail(term.position,
                fmt::format("term '{}' needs auto counter reload, which {} does not have; {} do", term.name,
                            model_.title, fmt::join(models, ", ")));
  }

  /// ratio-to-prev=R: this event's period is R times that of the one before it; both reload when this one
  /// overflows, and this one also when the other does.
  Result<Done, Error> link_to_previous(ParsedEvent& event, EventGroup& group, double ratio,
                                       std::size_t where) const {
    const std::size_t index = group.events.size();
    if (index == 0) return fail(where, "term 'ratio-to-prev' needs an event before it in the group");
    perf::Attr& previous = group.events.back().attr;
    u64& period = event.attr.sample_period;
    if (period == 0 && previous.sample_period == 0)
      return fail(where, "term 'ratio-to-prev' needs a period on this event or the one before it");
    const bool forward = previous.sample_period != 0;
    const double derived =
        forward ? static_cast<double>(previous.sample_period) * ratio : static_cast<double>(period) / ratio;
    constexpr double longest = 9e18;
    if (derived < 1 || derived > longest) return fail(where, "term 'ratio-to-prev' leaves no usable period");
    if (forward && period == 0) period = static_cast<u64>(std::llround(derived));
    if (!forward) previous.sample_period = static_cast<u64>(std::llround(derived));
    previous.config2 = bit(static_cast<unsigned>(index));
    event.attr.config2 = bit(static_cast<unsigned>(index)) | bit(static_cast<unsigned>(index - 1));
    return Done{};
  }

  Result<Done, Error> parse_modifiers(ParsedEvent& event, std::size_t begin, std::size_t end_of_name,
                                      bool is_pmu) {
    const bool behind_slash = text_[position_ - 1] == '/';
    const bool colon = take(':');
    const std::string_view letters = colon || behind_slash ? take_letters() : std::string_view();
    const std::size_t where = position_ - letters.size();
    if (colon && letters.empty()) return fail(where, "expected modifiers after ':'");
    if (const auto done = apply_modifiers(event, letters, model_); !done.ok())
      return fail(where, done.error().message);
    if (!event.name.empty()) return Done{};
    event.name = text_.substr(begin, end_of_name - begin);
    std::erase_if(event.name, is_space);
    if (!letters.empty()) event.name += is_pmu ? std::string(letters) : fmt::format(":{}", letters);
    return Done{};
  }

  std::string_view text_;
  const CpuModel& model_;
  std::size_t position_ = 0;
};

}  // namespace

Result<std::vector<EventGroup>, Error> parse_events(std::string_view list, const CpuModel& model) {
  return Parser(list, model).parse_list();
}

}  // namespace pmusim::events
