// SPDX-License-Identifier: MIT
#ifndef PMUSIM_SRC_FORMATS_PT_SOURCE_H
#define PMUSIM_SRC_FORMATS_PT_SOURCE_H

#include <map>
#include <variant>

#include "formats/pt_decoder.h"
#include "formats/trace_maker.h"

namespace pmusim::formats {

/// The packets of a thread, or of a CPU.
struct PtStream {
  u32 index = 0;
  i32 cpu = -1;  ///< -1: of `tid`
  u32 tid = 0;
  std::vector<std::byte> packets;
};

/// What a perf.data file tells beside packets, at a time.
struct PtSideBand {
  u64 time = 0;  ///< ns
  trace::SideBandRecord content;
};

/// Intel PT in a perf.data file.
struct PtSource {
  PtMachine machine;
  bool timed = false;  ///< packets have time stamps; else all side-band comes first
  u64 time_shift = 0, time_multiplier = 1, time_zero = 0;
  std::vector<PtStream> streams;
  std::vector<PtSideBand> side_band;  ///< by time
  /// From when on which thread was on a CPU.
  std::map<i32, std::map<u64, TraceMaker::Thread>> on_cpu;
  std::map<u32, u32> process_of;  ///< of threads
  /// Sentences: where the file ends early, what its recorder lost.
  std::vector<std::string> missing;

  /// Time of the records, in ns, at a time stamp.
  u64 time_of(u64 tsc) const;

  /// A file that was cut is read as far as it goes.
  /// Errors: as perfdata::Reader; no Intel PT in it; a record that does not parse.
  static Result<PtSource, Error> read(const std::string& path);
};

}  // namespace pmusim::formats

#endif
