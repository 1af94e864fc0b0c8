#ifndef PMUSIM_PERFDATA_DESCRIPTION_H
#define PMUSIM_PERFDATA_DESCRIPTION_H

#include <string>
#include <utility>
#include <vector>

#include "pmusim/perf/abi.h"

/// What a perf.data file says beside its records.
namespace pmusim::perfdata {

/// Header: a seekable file with all features. Pipe: a stream of records, as `perf record -o -` writes.
enum class Form : u8 { file, pipe };

/// The machine and the run. Everything is the writer's caller's: nothing is asked of the machine that writes.
/// Empty or zero: the file has no such feature.
struct Metadata {
  std::string host_name, os_release, version, arch = "x86_64", cpu_description;
  std::string cpuid;  ///< "GenuineIntel,6,143,8": vendor, family, model, stepping in decimal
  u32 cpus = 1;
  u64 total_memory_kib = 0;
  std::vector<std::string> command_line;
  std::vector<std::pair<u32, std::string>> pmu_mappings;          ///< attr.type, PMU name
  std::vector<std::pair<std::string, std::string>> cpu_pmu_caps;  ///< for example {"branches", "32"}
  friend bool operator==(const Metadata&, const Metadata&) = default;
};

struct EventDescription {
  perf::Attr attr;
  std::string name;
  std::vector<u64> ids;
};

/// `members` consecutive events from `leader`, an index.
struct Group {
  std::string name;
  u32 leader = 0, members = 0;
  friend bool operator==(const Group&, const Group&) = default;
};

enum class Space : u8 { user, kernel };
struct BuildId {
  std::string path;
  std::vector<std::byte> id;
  Space space = Space::user;
  friend bool operator==(const BuildId&, const BuildId&) = default;
};

}  // namespace pmusim::perfdata

#endif
