// SPDX-License-Identifier: MIT
#ifndef PMUSIM_TOOLS_PEBS_FILE_H
#define PMUSIM_TOOLS_PEBS_FILE_H

#include <string>

#include "arch/pebs_generator.h"
#include "pmusim/base/types.h"

namespace pmusim::tools {

/// Head of a file that holds one PEBS buffer; its bytes follow, `data_bytes` of them.
struct PebsFileHeader {
  char magic[8];
  le32 format;        ///< IA32_PERF_CAPABILITIES[11:8]
  le32 record_bytes;  ///< in the configuration in which the records were made
  le64 enabled;       ///< counters with PEBS events: GP n bit n, fixed m bit 32 + m
  le64 data_bytes;
};
static_assert(sizeof(PebsFileHeader) == 32);
inline constexpr char pebs_file_magic[8] = {'P', 'E', 'B', 'S', 'B', 'U', 'F', '1'};

Result<Done, Error> write_pebs_file(const std::string& path, const pebs::GeneratedBuffer& buffer);
Result<pebs::GeneratedBuffer, Error> read_pebs_file(const std::string& path);

}  // namespace pmusim::tools

#endif
