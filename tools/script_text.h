// SPDX-License-Identifier: MIT
#ifndef PMUSIM_TOOLS_SCRIPT_TEXT_H
#define PMUSIM_TOOLS_SCRIPT_TEXT_H

#include <fmt/format.h>

#include <string>

#include "perf/cpu_mode.h"
#include "pmusim/perfdata/reader.h"
#include "script_fields.h"

namespace pmusim::tools {

/// One sample on its way to the page.
struct ScriptLine {
  const perfdata::EventSample& of;
  const perfdata::Processes& processes;
  const FieldSet& fields;
  std::size_t name_width = 0;  ///< of the longest event name of the file
};

/// Prints samples as perf script does.
class ScriptText {
 public:
  /// Appends a sample, with the line's end.
  void append(fmt::memory_buffer& out, const ScriptLine& line);

 private:
  std::size_t data_source_width_ = 0;  ///< of the longest so far, to which later ones are padded
};

/// PERF_SAMPLE_DATA_SRC in words.
std::string data_source_text(u64 source);

/// The sample as a JSON object, without the line's end.
std::string json_of(const ScriptLine& line);

/// An address of a call chain, and what the CPU ran there.
struct ChainEntry {
  u64 address = 0;
  perf::CpuMode mode = perf::CpuMode::unknown;
};

/// The call chain, innermost first, without context markers; empty where the sample has none. With an LBR
/// call stack, the chain that it shows.
std::vector<ChainEntry> call_chain(const perfdata::EventSample& of);

/// What is mapped at an address: nullptr where that is not known.
const perfdata::Processes::Mapping* mapping_at(const ScriptLine& line, const ChainEntry& place);

/// The name of the file that an address is in; "[kernel]", "[guest kernel]" and the like where none is known,
/// and empty where nothing is. It follows the mode, not the address: 32-bit kernels are where programs are.
std::string file_of(const ScriptLine& line, const ChainEntry& place);

/// WEIGHT or WEIGHT_STRUCT taken apart.
struct Weights {
  u64 weight = 0, instruction_latency = 0, retire_latency = 0;
};
Weights weights_of(const perfdata::EventSample& of);

}  // namespace pmusim::tools

#endif
