// SPDX-License-Identifier: MIT
#ifndef PMUSIM_SRC_ANNOTATE_DIFFERENCE_H
#define PMUSIM_SRC_ANNOTATE_DIFFERENCE_H

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "pmusim/annotate/report.h"

namespace pmusim::annotate {

/// Samples stand for shares of a whole, and are compared as such; exact counts are compared as numbers.
enum class Counting : u8 { sampled, exact };

/// One of two sides to be compared.
struct ComparedSide {
  std::string name;  ///< "perf.data.old", "gzip.pmutrace on skylake"
  Report report;     ///< counts alone have no symbols; of exact counts the periods are read
  /// Counts of each event in several runs, whose mean is the event's period; empty: there was one run.
  std::vector<std::vector<double>> runs;
};

/// A function, or a line of it (`line` is not 0), on two sides.
struct PlaceChange {
  std::string module, symbol, file;  ///< files without their folders: builds stand in different ones
  u32 line = 0;
  u32 number = 0;  ///< of the symbol, in Comparison::joined
  Weight before, after;
  std::optional<double> before_percent, after_percent;  ///< of the event; nothing: no samples

  /// In percent points.
  double delta() const { return after_percent.value_or(0) - before_percent.value_or(0); }
  double more() const { return static_cast<double>(after.period) - static_cast<double>(before.period); }
};

/// What became of an event that two sides have.
struct EventChange {
  std::string event;
  Weight before, after;
  std::vector<double> before_runs, after_runs;  ///< empty: one run
  std::optional<double> p;                      ///< chance_of_difference() of these
  std::vector<PlaceChange> symbols, lines;      ///< largest change first, whichever way

  double more() const { return static_cast<double>(after.period) - static_cast<double>(before.period); }
};

/// Two sides, event by event.
struct Comparison {
  std::string before, after;  ///< names of the sides
  Counting counting = Counting::sampled;
  std::vector<EventChange> events;  ///< of both, by name, in the order of `before`
  std::vector<std::string> notes;   ///< sentences on what cannot be compared
  /// Both as one profile without code. Event 2n is events[n] before, 2n + 1 after. Stacks are those of both,
  /// if both have them.
  Report joined;
};

/// Functions are the same if their names and those of their modules' files are; lines, if their numbers and
/// files are, too.
Comparison compare(const ComparedSide& before, const ComparedSide& after, Counting counting);

/// What of a comparison is printed.
struct DifferenceOptions {
  double least_percent = 0.01;  ///< smaller changes, in points of the event, are left out
  bool symbols = true, lines = false;
  std::string event;  ///< its functions and lines alone; empty: of all (sampled), or of the first (exact)
};

/// Sampled: a table for each event. Exact: one of the events, and tables of functions and lines.
std::string difference_text(const Comparison& comparison, const DifferenceOptions& options);
/// All of it.
std::string difference_json(const Comparison& comparison);
/// As one page for a browser: changes, and a flame graph coloured by what changed.
std::string difference_html(const Comparison& comparison);

}  // namespace pmusim::annotate

#endif
