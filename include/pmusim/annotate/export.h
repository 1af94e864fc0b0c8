// SPDX-License-Identifier: MIT
#ifndef PMUSIM_ANNOTATE_EXPORT_H
#define PMUSIM_ANNOTATE_EXPORT_H

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "pmusim/annotate/analyze.h"
#include "pmusim/annotate/report.h"

/// A profile in the formats of other tools:
/// @code
/// const auto report = annotate::analyze("perf.data", annotate::options_for_export({}));
/// std::cout << annotate::export_profile(*report, annotate::ExportFormat::collapsed, 0);
/// @endcode
namespace pmusim::annotate {

/// Formats of other tools.
enum class ExportFormat : u8 {
  collapsed,   ///< a line per stack, as Brendan Gregg's flamegraph.pl reads it
  speedscope,  ///< JSON of speedscope.app
  callgrind,   ///< version 1, as callgrind_annotate and KCachegrind read it
  pprof,       ///< profile.proto of github.com/google/pprof, not compressed
  chrome,      ///< Trace Event Format: samples with stackFrames
  firefox,     ///< processed profile of profiler.firefox.com
};

/// "collapsed": what names a format.
std::string_view name_of(ExportFormat format);
std::optional<ExportFormat> find_export_format(std::string_view name);
std::vector<std::string_view> export_format_names();
/// Whether a file of it holds all events of a profile, and no event has to be chosen.
bool holds_all_events(ExportFormat format);

/// With these options nothing is left out of a report: the totals of what is exported are those of the event.
Options options_for_export(Options options);

/// The report's stacks (without call stacks: its symbols) with the counts of `event`, or of all events where
/// the format holds them. Every format sums up to the event's total. Characters in names that would end a
/// line, a name or a string of the format are replaced or escaped.
///
/// Costs of calls in callgrind's format: of a function that is in a stack several times the outermost call
/// has the cost, and a function "[all]" calls the outermost ones, so that what its callers pass on to a
/// function is what `Symbol::with_callees` says.
std::string export_profile(const Report& report, ExportFormat format, u32 event);

}  // namespace pmusim::annotate

#endif
