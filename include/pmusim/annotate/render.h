// SPDX-License-Identifier: MIT
#ifndef PMUSIM_ANNOTATE_RENDER_H
#define PMUSIM_ANNOTATE_RENDER_H

#include <string>
#include <vector>

#include "pmusim/annotate/report.h"

/// A report to read in a terminal or in a browser, and for machines.
namespace pmusim::annotate {

enum class Colours : u8 { none, ansi };

/// Source lines and disassembly of one function, as `perf annotate --stdio` shows them: percent of each
/// event, heat as the colour of the address, "# +p%" and "# -p% (p:q%)" behind targets and branches, and
/// where the branch stacks have cycles the IPC and cycles of each block at its last instruction.
std::string annotation_text(const Report& report, const AnnotatedFunction& function, Colours colours);

enum class Ranking : u8 { symbols, modules, lines, branches };
/// One table for each of `rankings`, hottest first, under a head that says what was sampled.
std::string ranking_text(const Report& report, const std::vector<Ranking>& rankings, Colours colours);

/// Everything in the report, as JSON with the names of its members.
std::string to_json(const Report& report);

/// The report as one page for a browser: HTML with style, script and the report's JSON inside, so that it
/// needs no network and says what to_json() says. Its size follows that of the report.
/// @code
/// std::ofstream("profile.html") << to_html(*annotate::analyze("perf.data", {}));
/// @endcode
std::string to_html(const Report& report);

}  // namespace pmusim::annotate

#endif
