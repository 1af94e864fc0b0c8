// SPDX-License-Identifier: MIT
#ifndef PMUSIM_TOOLS_TRACE_DUMP_H
#define PMUSIM_TOOLS_TRACE_DUMP_H

#include <cstdio>
#include <limits>
#include <string>

#include "pmusim/trace/trace.h"

namespace pmusim::tools {

enum class DumpFormat : u8 { text, json };

enum class DumpedRegisters : u8 {
  general,
  all,  ///< vector, mask and other extended registers, too
};

struct DumpOptions {
  u64 from = 0;  ///< ordinal of the first instruction to print
  u64 count = std::numeric_limits<u64>::max();
  DumpFormat format = DumpFormat::text;
  DumpedRegisters registers = DumpedRegisters::general;
};

/// Prints one line per instruction, and one per side-band record between them. Errors as the reader's.
Result<Done, Error> dump_trace(const std::string& path, const DumpOptions& options, std::FILE* out);

}  // namespace pmusim::tools

#endif
