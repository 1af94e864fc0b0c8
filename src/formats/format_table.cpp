// SPDX-License-Identifier: MIT
#include "formats/format_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "formats/champsim.h"
#include "formats/export.h"
#include "formats/insn_trace.h"
#include "formats/lackey.h"
#include "formats/pt_export.h"
#include "formats/pt_import.h"

namespace pmusim::formats {
namespace {

constexpr std::size_t format_count = static_cast<std::size_t>(Format::count);

constexpr std::array<FormatRow, format_count> rows{{
    {{Format::champsim, "champsim", "ChampSim's records of 64 bytes", "stands for the program's",
      "addresses; sizes taken as 8 bytes",
      "threads, modules, system calls, signals; targets of branches that were not taken"},
     import_champsim,
     export_champsim},
    {{Format::champsim_old, "champsim-old",
      "the same, where a branch on a register is an indirect jump, as to readers before 2023",
      "stands for the program's", "addresses; sizes taken as 8 bytes",
      "threads, modules, system calls, signals; targets of branches that were not taken"},
     import_champsim_old,
     export_champsim},
    {{Format::cloudsuite, "cloudsuite",
      "CloudSuite's records of 96 bytes, as ChampSim reads them, or of 88 without the address space",
      "stands for the program's", "addresses; sizes taken as 8 bytes",
      "threads, modules, system calls, signals; targets of branches that were not taken"},
     import_cloudsuite,
     export_cloudsuite},
    {{Format::lackey, "lackey", "`valgrind --tool=lackey --trace-mem=yes --log-file=FILE`",
      "stands for the program's, with its lengths", "addresses and sizes",
      "threads, modules, system calls, signals; kinds of branches are guessed from where they went and what "
      "they accessed"},
     import_lackey,
     export_lackey},
    {{Format::insn_trace, "insn-trace", "`perf script --insn-trace --show-mmap-events` (Intel PT)",
      "the program's own", "none",
      "iterations of REP instructions, system calls' numbers, signals, time; code of the kernel is left out"},
     import_insn_trace,
     export_insn_trace},
    {{Format::pt, "pt", "Intel PT in a perf.data file", "the program's own, from its files or from a trace",
      "none",
      "iterations of REP instructions, system calls' numbers, signals' numbers; code of the kernel is left "
      "out; time, where only stamps tell it"},
     import_pt,
     export_pt},
}};

constexpr bool is_complete(const FormatInfo& info) {
  return !info.name.empty() && !info.source.empty() && !info.code.empty() && !info.accesses.empty() &&
         !info.lost.empty();
}

constexpr std::array<FormatInfo, format_count> infos = [] {
  std::array<FormatInfo, format_count> result{};
  std::ranges::transform(rows, result.begin(), &FormatRow::info);
  return result;
}();
static_assert(std::ranges::all_of(infos, is_complete));
static_assert(std::ranges::adjacent_find(infos, std::ranges::greater_equal{}, &FormatInfo::format) ==
              infos.end());  // so the rows are in the order of the enumeration

Error no_such_format(Format format) {
  return Error(fmt::format("there is no format of number {}", static_cast<unsigned>(format)));
}

}  // namespace

const FormatRow* row_of(Format format) {
  return format < Format::count ? &rows[static_cast<std::size_t>(format)] : nullptr;
}

std::span<const FormatInfo> all_formats() { return infos; }

Result<Conversion, Error> import_trace(const ImportOptions& options) {
  const FormatRow* const row = row_of(options.format);
  return row != nullptr ? row->import_file(options) : Failure(no_such_format(options.format));
}

Result<Conversion, Error> export_trace(const ExportOptions& options) {
  const FormatRow* const row = row_of(options.format);
  return row != nullptr ? row->export_file(options) : Failure(no_such_format(options.format));
}

}  // namespace pmusim::formats
