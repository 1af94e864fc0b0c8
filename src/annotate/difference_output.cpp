// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "annotate/difference.h"
#include "annotate/json.h"
#include "annotate/page.h"
#include "annotate/percent.h"
#include "base/printable.h"

namespace pmusim::annotate {

namespace {

double magnitude(u64 count) { return static_cast<double>(count); }

/// How much a change of a count stands out: by the square root that counts of chance vary by, so that 3
/// becoming 9 is less than a million becoming two.
double standing_out(const EventChange& change) {
  const double sum = magnitude(change.before.period) + magnitude(change.after.period);
  return sum == 0 ? 0 : std::abs(change.more()) / std::sqrt(sum);
}

/// Of the count before, which may be none.
std::string relative(double more, u64 before) {
  if (before == 0) return more == 0 ? "=" : "new";
  return more == 0 ? "=" : fmt::format("{:+.2f}%", 100 * more / magnitude(before));
}

std::string line_text(const PlaceChange& place) {
  return fmt::format("{}:{}", printable(place.file), place.line);
}

class DifferencePrinter {
 public:
  DifferencePrinter(const Comparison& comparison, const DifferenceOptions& options)
      : comparison_(comparison), options_(options) {}

  std::string sampled() {
    for (const EventChange& change : comparison_.events) {
      if (!is_chosen(change)) continue;
      text_ += fmt::format("{}# {}: {} samples, event count {}; then {} samples, event count {}\n",
                           text_.empty() ? "" : "\n", printable(change.event), change.before.samples,
                           change.before.period, change.after.samples, change.after.period);
      if (options_.symbols) print_shares(change.symbols);
      if (options_.lines) print_shares(change.lines);
    }
    return std::move(text_);
  }

  std::string exact() {
    text_ = fmt::format("# before: {}\n# after:  {}\n", printable(comparison_.before),
                        printable(comparison_.after));
    print_events();
    for (const EventChange& change : comparison_.events) {
      if (options_.event.empty() ? &change != &comparison_.events.front() : !is_chosen(change)) continue;
      if (options_.symbols) print_counts(change, change.symbols, "function");
      if (options_.lines) print_counts(change, change.lines, "line");
    }
    return std::move(text_);
  }

 private:
  bool is_chosen(const EventChange& change) const {
    return options_.event.empty() || change.event == options_.event;
  }

  void print_shares(const std::vector<PlaceChange>& places) {
    const bool of_lines = !places.empty() && places.front().line != 0;
    text_ += fmt::format("\n#{:>9} {:>9}  {:<20} {}Symbol\n", "Baseline", "Delta", "Module",
                         of_lines ? fmt::format("{:<24} ", "Source line") : "");
    for (const PlaceChange& place : places) {
      if (std::abs(place.delta()) < options_.least_percent) continue;
      const auto& before = place.before_percent;
      text_ += fmt::format(" {:>9} {:>+8.2f}%  {:<20} {}{}\n", before ? fmt::format("{:.2f}%", *before) : "",
                           place.delta(), printable(place.module),
                           of_lines ? fmt::format("{:<24} ", line_text(place)) : "", printable(place.symbol));
    }
  }

  /// A column of chances where several runs tell them.
  void print_events() {
    std::vector<const EventChange*> changes;
    for (const EventChange& change : comparison_.events) changes.push_back(&change);
    std::ranges::stable_sort(changes, std::greater(), [](const EventChange* c) { return standing_out(*c); });
    const bool has_chances =
        std::ranges::any_of(changes, [](const EventChange* change) { return change->p.has_value(); });
    const auto print = [&](const char* first, const std::string& before, const std::string& after,
                           const std::string& change, const std::string& chance, const std::string& name) {
      text_ += fmt::format("{}{:>17} {:>18} {:>10}{}  {}\n", first, before, after, change,
                           has_chances ? fmt::format(" {:>8}", chance) : "", name);
    };
    print("\n#", "Before", "After", "Change", "p", "Event");
    for (const EventChange* const c : changes)
      print(" ", fmt::format("{}", c->before.period), fmt::format("{}", c->after.period),
            relative(c->more(), c->before.period), c->p ? fmt::format("{:.2g}", *c->p) : "-",
            printable(c->event));
  }

  void print_counts(const EventChange& change, const std::vector<PlaceChange>& places, const char* kind) {
    if (places.empty()) return;
    const bool of_lines = places.front().line != 0;
    text_ += fmt::format("\n# {} by {}\n#{:>17} {:>18} {:>18} {:>10} {:>9}  {:<20} {}Symbol\n",
                         printable(change.event), kind, "Before", "After", "Difference", "Change", "Of all",
                         "Module", of_lines ? fmt::format("{:<24} ", "Source line") : "");
    std::size_t equal = 0;
    for (const PlaceChange& place : places) {
      const double of_all = 100 * place.more() / std::max(magnitude(change.before.period), 1.0);
      if (place.more() == 0 || std::abs(of_all) < options_.least_percent) {
        ++equal;
        continue;
      }
      text_ += fmt::format(" {:>17} {:>18} {:>+18.0f} {:>10} {:>+8.2f}%  {:<20} {}{}\n", place.before.period,
                           place.after.period, place.more(), relative(place.more(), place.before.period),
                           of_all, printable(place.module),
                           of_lines ? fmt::format("{:<24} ", line_text(place)) : "", printable(place.symbol));
    }
    if (equal != 0)
      text_ +=
          fmt::format(" {} more that changed by less than {:g} % of all\n", equal, options_.least_percent);
  }

  const Comparison& comparison_;
  const DifferenceOptions& options_;
  std::string text_;
};

/// Conversions to JSON, which differ in what a weight is.
class DifferenceJson {
 public:
  explicit DifferenceJson(const Comparison& comparison) : comparison_(comparison) {}

  Json json() const {
    Json events = Json::array();
    for (const EventChange& change : comparison_.events) events.push_back(json_of_event(change));
    return {{"before", comparison_.before},
            {"after", comparison_.after},
            {"counting", is_exact() ? "exact" : "sampled"},
            {"notes", comparison_.notes},
            {"events", std::move(events)}};
  }

 private:
  bool is_exact() const { return comparison_.counting == Counting::exact; }

  Json weight(const Weight& w) const {
    if (is_exact()) return {{"count", w.period}};
    return {{"samples", w.samples}, {"period", w.period}};
  }

  Json side(const Weight& w, const std::vector<double>& runs) const {
    Json json = weight(w);
    if (!runs.empty()) json["runs"] = runs;
    return json;
  }

  Json place(const PlaceChange& p) const {
    Json json{{"module", p.module}, {"symbol", p.symbol}};
    if (p.line != 0) json.update({{"file", p.file}, {"line", p.line}});
    json.update({{"before", weight(p.before)},
                 {"after", weight(p.after)},
                 {"before_percent", maybe(p.before_percent)},
                 {"after_percent", maybe(p.after_percent)},
                 {"delta", p.delta()}});
    return json;
  }

  Json places(const std::vector<PlaceChange>& all) const {
    Json list = Json::array();
    for (const PlaceChange& p : all) list.push_back(place(p));
    return list;
  }

  Json json_of_event(const EventChange& change) const {
    return {{"event", change.event},
            {"before", side(change.before, change.before_runs)},
            {"after", side(change.after, change.after_runs)},
            {"p", maybe(change.p)},
            {"symbols", places(change.symbols)},
            {"lines", places(change.lines)}};
  }

  const Comparison& comparison_;
};

/// For the page, which has the names in its report: a place is a row of numbers. unpackedPlace() in
/// page/difference.js is the reverse.
Json packed_places(const std::vector<PlaceChange>& places) {
  const auto period = [](const Weight& w) { return w.samples == 0 ? Json(nullptr) : Json(w.period); };
  Json rows = Json::array();
  for (const PlaceChange& p : places) {
    Json row{p.number, period(p.before), period(p.after)};
    if (p.line != 0) row.insert(row.end(), {Json(p.file), Json(p.line)});
    rows.push_back(std::move(row));
  }
  return rows;
}

Json packed(const EventChange& change) {
  return {{"event", change.event},
          {"before", change.before.period},
          {"after", change.after.period},
          {"p", maybe(change.p)},
          {"symbols", packed_places(change.symbols)},
          {"lines", packed_places(change.lines)}};
}

std::string packed(const Comparison& comparison) {
  Json events = Json::array();
  for (const EventChange& change : comparison.events) events.push_back(packed(change));
  const Json all{{"exact", comparison.counting == Counting::exact}, {"events", std::move(events)}};
  return all.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace

std::string difference_text(const Comparison& comparison, const DifferenceOptions& options) {
  DifferencePrinter printer(comparison, options);
  return comparison.counting == Counting::sampled ? printer.sampled() : printer.exact();
}

std::string difference_json(const Comparison& comparison) {
  return DifferenceJson(comparison).json().dump(2, ' ', false, Json::error_handler_t::replace);
}

std::string difference_html(const Comparison& comparison) {
  return page_of(comparison.joined, {.difference = packed(comparison)});
}

}  // namespace pmusim::annotate
