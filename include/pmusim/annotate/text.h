#ifndef PMUSIM_ANNOTATE_TEXT_H
#define PMUSIM_ANNOTATE_TEXT_H

#include <string>
#include <vector>

#include "pmusim/annotate/report.h"

/// A report to read in a terminal, and for machines.
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

}  // namespace pmusim::annotate

#endif
