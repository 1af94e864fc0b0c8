// SPDX-License-Identifier: MIT
#ifndef PMUSIM_ARCH_PEBS_FORMAT_H
#define PMUSIM_ARCH_PEBS_FORMAT_H

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

#endif
