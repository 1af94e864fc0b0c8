// SPDX-License-Identifier: MIT
#ifndef PMUSIM_ARCH_PEBS_FORMAT_H
#define PMUSIM_ARCH_PEBS_FORMAT_H

#include "pmusim/base/bits.h"

/// What the numbers of PEBS record formats (PERF_CAPABILITIES[11:8]) stand for; 0FH is architectural PEBS,
/// which enumerates itself in CPUID. Questions have names, so that nobody else compares the numbers.
namespace pmusim::pebs {

inline constexpr unsigned no_format = ~0u, architectural_format = 0xF;
inline constexpr unsigned timed_format = 5, counting_format = 6;  // adaptive ones, beside the first: 4

constexpr bool is_architectural(unsigned format) { return format == architectural_format; }
/// One layout for all records of the format.
constexpr bool is_fixed(unsigned format) { return format <= 3; }
/// Groups that software chooses, behind a basic group.
constexpr bool is_adaptive(unsigned format) { return format >= 4 && format <= counting_format; }
constexpr bool is_known(unsigned format) {
  return is_fixed(format) || is_adaptive(format) || is_architectural(format);
}

/// Registers and nothing else: no status word, no memory access.
constexpr bool has_registers_alone(unsigned format) { return format == 0; }
/// The IP of the sampled instruction itself, and what a transaction did.
constexpr bool has_eventing_ip(unsigned format) { return format >= 2; }
constexpr bool has_time(unsigned format) { return format >= 3; }
/// The status word names the counters that the record is for; before, all that had overflowed.
constexpr bool has_own_status(unsigned format) { return format >= 3; }
/// Records can hold the values of other counters; of architectural PEBS, CPUID says it.
constexpr bool stores_counters(unsigned format) { return format == counting_format; }

/// What decides how precise samples can be.
struct Precision {
  unsigned format = no_format;
  bool branch_records = false;  ///< an LBR tells the instruction before the recorded IP
  bool distribution = false;    ///< a counter without shadow: PDIR, PDIST
};

/// Highest precise_ip of perf_event_attr: 1 constant skid, 2 the instruction itself, 3 without a shadow. 0:
/// no PEBS.
constexpr unsigned max_precise(const Precision& pebs) {
  if (!is_known(pebs.format)) return 0;
  const bool knows_the_instruction = pebs.branch_records || has_eventing_ip(pebs.format);
  return 1u + (knows_the_instruction ? 1u : 0u) + (pebs.distribution ? 1u : 0u);
}

}  // namespace pmusim::pebs

namespace pmusim {

/// Which encoding the data-source word of a PEBS record has, by the microarchitecture that introduced it
/// (Linux: pebs_data_source, load_latency_data).
enum class DataSourceEncoding : u8 {
  none,
  nehalem,
  westmere,
  sandy_bridge,
  skylake,
  golden_cove,
  gracemont,
  crestmont,
  lion_cove,
  panther_cove,
  arctic_wolf,
};

/// Where the parts of a data-source word lie. A zero mask: the encoding cannot tell.
struct DataSourceLayout {
  u64 code = 0;  ///< the source code itself
  u64 stlb_miss = 0, locked = 0, data_blocked = 0, address_blocked = 0;
  u64 l2_miss = 0;  ///< code is an off-module source
};

constexpr DataSourceLayout data_source_layout(DataSourceEncoding encoding) {
  switch (encoding) {
    case DataSourceEncoding::none:
      return {};
    case DataSourceEncoding::nehalem:
      return {.code = 0xF};
    case DataSourceEncoding::westmere:
    case DataSourceEncoding::sandy_bridge:
    case DataSourceEncoding::skylake:
      return {.code = 0xF, .stlb_miss = bit(4), .locked = bit(5)};
    case DataSourceEncoding::golden_cove:
      return {.code = 0xF,
              .stlb_miss = bit(4),
              .locked = bit(5),
              .data_blocked = bit(6),
              .address_blocked = bit(7)};
    case DataSourceEncoding::gracemont:
      return {.code = 0xF, .stlb_miss = bit(5), .locked = bit(4), .data_blocked = bit(6)};
    case DataSourceEncoding::crestmont:
      return {.code = 0xF, .stlb_miss = bit(6), .locked = bit(5), .data_blocked = bit(7)};
    case DataSourceEncoding::lion_cove:
      return {.code = 0xFF,
              .stlb_miss = bit(10),
              .locked = bit(11),
              .data_blocked = bit(12),
              .address_blocked = bit(13)};
    case DataSourceEncoding::panther_cove:
    case DataSourceEncoding::arctic_wolf:
      return {.code = 0xFF,
              .stlb_miss = bit(11),
              .locked = bit(12),
              .data_blocked = bit(13),
              .address_blocked = bit(14),
              .l2_miss = bit(8)};
  }
  return {};
}

/// Stores of the facilities before store latency: precise store and the address-only memory events.
namespace store_status {
inline constexpr u64 L1_HIT = bit(0), STLB_MISS = bit(4), LOCKED = bit(5);
}  // namespace store_status

}  // namespace pmusim

#endif
