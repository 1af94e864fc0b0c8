// SPDX-License-Identifier: MIT
#ifndef PMUSIM_SRC_PERFDATA_FILE_FORMAT_H
#define PMUSIM_SRC_PERFDATA_FILE_FORMAT_H

#include <array>
#include <cstddef>

#include "pmusim/base/types.h"

/// The perf.data file as perf's perf.data-file-format.txt has it: header, feature numbers, and the records
/// that tools (not the kernel) put into the data section.
namespace pmusim::perfdata {

inline constexpr u64 magic = 0x32454c4946524550;  ///< "PERFILE2"

struct Section {
  u64 offset = 0, size = 0;
};

struct FileHeader {
  u64 magic = perfdata::magic;
  u64 size = 104;
  u64 attr_size = 0;  ///< one entry of the attr section: attr.size + 16
  Section attrs, data, event_types;
  std::array<u64, 4> features{};  ///< bit n: feature n has a row in the table behind the data
};
static_assert(sizeof(FileHeader) == 104 && offsetof(FileHeader, features) == 72);

/// A stream starts with this instead; everything else comes as records.
struct PipeHeader {
  u64 magic = perfdata::magic;
  u64 size = 16;
};

enum class Feature : u8 {
  tracing_data = 1,
  build_id,
  host_name,
  os_release,
  version,
  arch,
  cpu_count,
  cpu_description,
  cpuid,
  total_memory,
  command_line,
  event_description,
  cpu_topology,
  numa_topology,
  branch_stack,
  pmu_mappings,
  group_description,
  stat = 19,
  cache,
  sample_time,
  memory_topology,
  clock_id,
  directory_format,
  compressed = 27,
  cpu_pmu_caps,
  clock_data,
  hybrid_topology,
  pmu_caps,
};
/// What perf 6.1 and 6.12 take as the end of the feature records of a stream.
inline constexpr u64 last_feature_marker = 32;

enum class UserRecord : u32 {
  header_attr = 64,
  tracing_data = 66,
  build_id,
  finished_round,
  auxtrace_info = 70,
  auxtrace,
  thread_map = 73,
  cpu_map,
  stat_config,
  stat,
  stat_round,
  event_update,
  time_conversion,
  header_feature,
  compressed,
  finished_init,
  compressed2,
};
/// perf's newest: BPF_METADATA, SCHEDSTAT_CPU and SCHEDSTAT_DOMAIN follow COMPRESSED2.
inline constexpr u32 last_user_record = 86;
inline constexpr u64 event_update_unit = 0, event_update_scale = 1, event_update_name = 2,
                     event_update_cpus = 3;

/// What STAT says behind its header: a count of `perf stat record`, since the beginning.
struct StatRecord {
  u64 id = 0;
  i32 cpu = -1;    ///< its number; -1: of a task, wherever it runs
  u32 thread = 0;  ///< index into the THREAD_MAP
  u64 counted = 0, enabled_ns = 0, running_ns = 0;
};
static_assert(sizeof(StatRecord) == 40);

/// What STAT_ROUND says: the counts before it are those of a time.
struct StatRound {
  u64 is_final = 0;  ///< 0: of an interval
  u64 ns = 0;
};
/// Tags of STAT_CONFIG, and its way to add up counts: by CPU, or all.
inline constexpr u64 stat_config_aggregation = 0, stat_config_interval = 1, stat_config_scale = 2;
inline constexpr u64 aggregate_none = 0, aggregate_all = 1;

/// What an AUXTRACE record says behind its header. The bytes that it announces follow the record, and are not
/// counted in the header's size.
struct AuxArea {
  u64 bytes = 0;
  u64 offset = 0;     ///< of them in their stream
  u64 reference = 0;  ///< the TSC when they were read, which decoders take bits 63:56 from; 0: no time stamps
  u32 index = 0;      ///< of the stream
  u32 tid = 0;
  i32 cpu = -1;  ///< -1: of a thread, wherever it runs
  u32 reserved = 0;
};
static_assert(sizeof(AuxArea) == 40);

/// Sizes of perf_event_attr from VER0 to VER10.
inline constexpr std::array<u32, 11> attr_sizes = {64, 72, 80, 96, 104, 112, 120, 128, 136, 144, 176};

/// A build-id entry before its padded name (perf_record_header_build_id).
struct BuildIdEntry {
  u32 type = 0;
  u16 misc = 0;
  u16 size = 0;
  i32 pid = -1;
  std::array<std::byte, 20> id{};
  u8 id_size = 0;
  std::array<u8, 3> padding{};
};
static_assert(sizeof(BuildIdEntry) == 36);
inline constexpr u16 build_id_size_valid = 0x8000;

inline constexpr u32 compression_zstd = 1;

}  // namespace pmusim::perfdata

#endif
