// SPDX-License-Identifier: MIT
#ifndef PMUSIM_SRC_FORMATS_PT_FILE_H
#define PMUSIM_SRC_FORMATS_PT_FILE_H

#include <array>
#include <cstddef>

#include "pmusim/base/types.h"

/// Intel PT in a perf.data file: what perf record and perf's decoder agree on.
namespace pmusim::formats {

/// attr.config of an intel_pt event, as IA32_RTIT_CTL (SDM vol. 4).
namespace pt_config {
inline constexpr u64 TRACE = bit(0), CYC = bit(1), MTC = bit(9), TSC = bit(10),
                     NO_RETURN_COMPRESSION = bit(11), BRANCH = bit(13);
}  // namespace pt_config

/// The core:bus ratio of the CPU that exported files are of, which does not change: a core cycle is a tick of
/// the TSC.
inline constexpr u8 nominal_core_bus_ratio = 20;

/// AUXTRACE_INFO behind the record's header.
struct PtInfo {
  static constexpr u32 intel_pt = 1;
  u32 type = intel_pt;
  u32 reserved = 0;
  u64 pmu_type = 0;  ///< attr.type of the events
  u64 time_shift = 0, time_multiplier = 1, time_zero = 0;
  u64 time_conversion_known = 1;
  u64 tsc_bit = pt_config::TSC, no_return_compression_bit = pt_config::NO_RETURN_COMPRESSION;
  u64 switch_records = 0;  ///< 0: the streams are threads'
  u64 snapshots = 0;
  u64 per_cpu = 0;
  u64 mtc_bit = pt_config::MTC, mtc_frequency_bits = 0;
  u64 tsc_ctc_numerator = 0, tsc_ctc_denominator = 0;
  u64 cyc_bit = pt_config::CYC;
  u64 max_nonturbo_ratio = 0;
  u64 filter_bytes = 0;  ///< of a filter behind it
};
static_assert(sizeof(PtInfo) == 8 + 17 * 8 && offsetof(PtInfo, per_cpu) == 80);
/// Files of the first versions end behind `per_cpu`.
inline constexpr std::size_t pt_info_least_bytes = offsetof(PtInfo, per_cpu) + sizeof(u64);

/// PERF_RECORD_AUX behind the record's header: new packets, and what became of others.
struct AuxRecord {
  static constexpr u64 TRUNCATED = bit(0), PARTIAL = bit(2);
  u64 offset = 0, bytes = 0, flags = 0;
};

/// PERF_RECORD_LOST behind the record's header.
struct LostRecord {
  u64 id = 0, records = 0;
};

}  // namespace pmusim::formats

#endif
