// SPDX-License-Identifier: MIT
#ifndef PMUSIM_SRC_ANNOTATE_SHARING_H
#define PMUSIM_SRC_ANNOTATE_SHARING_H

#include <set>
#include <string>
#include <vector>

#include "pmusim/annotate/report.h"
#include "pmusim/base/types.h"

/// Which lines of memory CPUs take from each other, by the samples of memory accesses in a perf.data file:
/// @code
/// const auto report = annotate::analyze_sharing("perf.data", {});
/// if (report) std::cout << annotate::sharing_text(*report);
/// @endcode
namespace pmusim::annotate {

/// Samples of accesses that have an address and a data source.
struct AccessSamples {
  u64 loads = 0, stores = 0;
  u64 local_hitm = 0, remote_hitm = 0;  ///< of the loads: the line was modified in another core's cache
  u64 hitm_cycles = 0;                  ///< sum of the latencies (WEIGHT) of those
  u64 hitm() const { return local_hitm + remote_hitm; }
  AccessSamples& operator+=(const AccessSamples& other);
};

/// Those of one instruction's line of source to one place of a line of memory.
struct SharedAccess {
  u32 offset = 0;  ///< in the line of memory, 0 to 63
  std::string symbol, module;
  std::string file;  ///< of the source; empty if it is not known
  u32 line = 0;
  AccessSamples samples;
  std::set<u32> cpus, threads;  ///< empty where samples do not have them
};

/// A line of memory of one process.
struct ContendedLine {
  static constexpr u64 bytes = 64;
  u32 pid = 0;
  u64 address = 0;  ///< of its first byte
  AccessSamples samples;
  std::vector<SharedAccess> accesses;  ///< by offset, then most HITMs first
};

/// What the samples of a file say of lines that cores take from each other.
struct SharingReport {
  std::string input;
  AccessSamples total;
  std::vector<ContendedLine> lines;  ///< that have HITMs; most first, then by process and address
  std::vector<std::string> notes;    ///< what is missing: sentences
};

/// Reads a perf.data file, ours or perf's. Errors: the file cannot be read or is broken; no event of it
/// samples both addresses and data sources.
Result<SharingReport, Error> analyze_sharing(const std::filesystem::path& perf_data, const Options& options);

/// A table of the lines, and for each a table of who accessed what of it.
std::string sharing_text(const SharingReport& report);
/// Everything, as one object.
std::string sharing_json(const SharingReport& report);

}  // namespace pmusim::annotate

#endif
