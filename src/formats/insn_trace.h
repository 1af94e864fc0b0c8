// SPDX-License-Identifier: MIT
#ifndef PMUSIM_FORMATS_INSN_TRACE_H
#define PMUSIM_FORMATS_INSN_TRACE_H

#include <variant>

#include "formats/input_stream.h"
#include "formats/step.h"
#include "pmusim/formats/formats.h"
#include "pmusim/trace/happening.h"

namespace pmusim::formats {

/// An instruction as `perf script --insn-trace` prints it:
///
///     COMMAND  TID [CPU] TIME: ADDRESS SYMBOL (FILE) insn: 48 89 e7
///
/// where symbol, file and CPU may be missing, and TID may be PID/TID.
struct PrintedInstruction {
  std::string command;
  std::optional<u32> pid;
  u32 tid = 0;
  u64 ip = 0;
  Code code;
};
/// A PERF_RECORD_MMAP or MMAP2 line (`--show-mmap-events`), of code.
struct PrintedMapping {
  u32 pid = 0, tid = 0;
  trace::Mapping mapping;
};
/// An error of perf's decoder: some instructions are missing.
struct PrintedGap {};
/// A line of neither kind.
struct PrintedOther {};

using PrintedLine = std::variant<PrintedInstruction, PrintedMapping, PrintedGap, PrintedOther>;

/// Reads one line. Nothing if it is none of these.
std::optional<PrintedLine> parse_insn_trace_line(std::string_view line);

/// Imports the text. Code is the program's own; there are no addresses of accesses.
Result<Conversion, Error> import_insn_trace(const ImportOptions& options);

}  // namespace pmusim::formats

#endif
