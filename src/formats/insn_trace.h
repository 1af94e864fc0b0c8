// SPDX-License-Identifier: MIT
#ifndef PMUSIM_FORMATS_INSN_TRACE_H
#define PMUSIM_FORMATS_INSN_TRACE_H

#include <variant>

#include "formats/input_stream.h"
#include "formats/step.h"
#include "pmusim/formats/formats.h"
#include "pmusim/trace/trace.h"

namespace pmusim::formats {

/// An instruction as `perf script --insn-trace` prints it:
///
///     COMMAND  TID [CPU] TIME: ADDRESS SYMBOL (FILE) insn: 48 89 e7
///
/// TID may be PID/TID. All but address and bytes may be missing (-F), and flags, an event's name or its
/// period stand before the address.
struct PrintedInstruction {
  std::string command;
  std::optional<u32> pid, tid;
  bool timed = false, indented = false;
  u64 ip = 0;
  Code code;
  /// Not what is left of a line: it has the fields of the next.
  bool can_be_whole(const PrintedInstruction& next) const {
    return pid.has_value() == next.pid.has_value() && tid.has_value() == next.tid.has_value() &&
           command.empty() == next.command.empty() && timed == next.timed && (indented || !next.indented);
  }
};
/// An instruction whose bytes perf could not read, or was not asked for.
struct PrintedWithoutCode {};
/// A PERF_RECORD_MMAP or MMAP2 line (`--show-mmap-events`), of code.
struct PrintedMapping {
  u32 pid = 0, tid = 0;
  trace::Mapping mapping;
};
/// An error of perf's decoder: some instructions are missing.
struct PrintedGap {};
/// A blank line, a comment, another record.
struct PrintedOther {};
/// A line that is not perf script's.
struct PrintedForeign {};

using PrintedLine = std::variant<PrintedInstruction, PrintedWithoutCode, PrintedMapping, PrintedGap,
                                 PrintedOther, PrintedForeign>;

/// Reads one line. Nothing if it is damaged: begins as one of these and does not go on so.
std::optional<PrintedLine> parse_insn_trace_line(std::string_view line);

/// Imports the text. Code is the program's own; there are no addresses of accesses.
Result<Conversion, Error> import_insn_trace(const ImportOptions& options);

}  // namespace pmusim::formats

#endif
