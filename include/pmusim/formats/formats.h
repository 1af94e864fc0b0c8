// SPDX-License-Identifier: MIT
#ifndef PMUSIM_FORMATS_FORMATS_H
#define PMUSIM_FORMATS_FORMATS_H

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "pmusim/base/types.h"

/// Instruction traces of other tools, made into native traces and from them.
namespace pmusim::formats {

enum class Format : u8 {
  champsim,      ///< ChampSim's records, branches as its reader of today tells them
  champsim_old,  ///< the same, branches as readers before 2023 took them
  cloudsuite,    ///< CloudSuite's records, which ChampSim reads too
  lackey,        ///< text of `valgrind --tool=lackey --trace-mem=yes`
  insn_trace,    ///< text of `perf script --insn-trace`
  pt,            ///< Intel PT in a perf.data file
  count          ///< no format: how many there are
};

/// What there is to say of a format.
struct FormatInfo {
  Format format;
  std::string_view name;      ///< as options have it
  std::string_view source;    ///< whose files these are
  std::string_view code;      ///< of an imported trace
  std::string_view accesses;  ///< of an imported trace
  std::string_view lost;      ///< by importing
};
/// Every format, in the order of the enumeration.
std::span<const FormatInfo> all_formats();

/// What became of a trace on its way from one format to another.
struct Conversion {
  u64 instructions = 0;
  u64 file_bytes = 0;  ///< of the file that was made
  /// Sentences: what the source cannot tell, what was assumed, what the target cannot hold.
  std::vector<std::string> remarks;
};

/// Which file becomes a trace.
struct ImportOptions {
  Format format = Format::champsim;
  std::string input;         ///< plain or packed by gzip, xz or zstd, which its first bytes tell
  std::string output;        ///< the native trace
  u64 max_instructions = 0;  ///< stop after so many; 0: all
  /// Of pt: a native trace whose code is that of the processes in the file. Empty: code is read from the
  /// files that the processes had mapped.
  std::string code;
};

/// Makes a native trace.
/// @code
/// const auto made = formats::import_trace({formats::Format::lackey, "lackey.txt.gz", "T"});
/// if (made) std::cout << made->instructions << " instructions\n";
/// @endcode
/// ChampSim and lackey do not have the program's code. Bytes stand for it that branch, load and store as it
/// did (trace::Contents::stand_in_code). The file is read twice for that; memory is bounded by the number of
/// distinct instructions, of which it may have a million.
///
/// A file may be cut at its beginning or its end, and have lines between that are not the format's: what is
/// left out is counted in the remarks. The output appears, or replaces what has its name, when it is
/// complete.
///
/// Errors: cannot read or write; not a regular file; damaged, with the offset (of a packed file: of the
/// unpacked bytes, unless the packing is damaged); too many distinct instructions; no instruction.
Result<Conversion, Error> import_trace(const ImportOptions& options);

/// Which trace becomes a file of which format.
struct ExportOptions {
  Format format = Format::champsim;
  std::string input;   ///< a native trace
  std::string output;  ///< not packed
};

/// Writes a native trace in another format. Errors: as trace::Reader; cannot write; a trace without addresses
/// of accesses where the format lives by them (lackey).
Result<Conversion, Error> export_trace(const ExportOptions& options);

}  // namespace pmusim::formats

#endif
