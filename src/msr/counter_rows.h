// SPDX-License-Identifier: MIT
#ifndef PMUSIM_SRC_MSR_COUNTER_ROWS_H
#define PMUSIM_SRC_MSR_COUNTER_ROWS_H

#include "msr/counters.h"

/// What families of counter registers have in common: which counters a model has, and how it numbers them.
namespace pmusim {

/// Registers in a row of the version that brought it.
inline constexpr u16 legacy_gp_count = 16, v6_gp_count = 32, fixed_count = 16;

inline bool has_bit(u32 bitmap, unsigned n) { return n < 32 && (bitmap >> n & 1) != 0; }
inline bool gp_exists(const CpuModel& m, unsigned n) { return has_bit(m.usable_gp_counters(), n); }
inline bool fixed_exists(const CpuModel& m, unsigned n) { return has_bit(m.usable_fixed_counters(), n); }
inline bool v6_gp_exists(const CpuModel& m, unsigned n) { return m.perfmon_version >= 6 && gp_exists(m, n); }
inline bool v6_fixed_exists(const CpuModel& m, unsigned n) {
  return m.perfmon_version >= 6 && fixed_exists(m, n);
}
inline bool has_version_2(const CpuModel& m, unsigned) { return m.perfmon_version >= 2; }
inline bool has_version_4(const CpuModel& m, unsigned) { return m.perfmon_version >= 4; }

inline u64 any_value(const CpuModel&, unsigned) { return ~u64{0}; }
inline u64 reads_zero(const CounterFile&, At) { return 0; }
/// AMD: DebugCtl[12:11] and their status bits are there.
inline u64 amd_freezes(const CpuModel& m, unsigned) { return all_if(m.amd.has_freeze()); }

// `Field::on` of the bits that stand for counters.
inline u64 gp_bits(const CpuModel& m, unsigned) { return m.usable_gp_counters(); }
inline u64 fixed_bits(const CpuModel& m, unsigned) { return u64{m.usable_fixed_counters()} << first_fixed; }
inline u64 with_metrics(const CpuModel& m, unsigned) { return all_if(m.metrics_levels != 0); }
inline constexpr u64 all_gp = low_bits(first_fixed), all_fixed = bits(counter_slots - 1, first_fixed);

/// A count, in all the bits that counters have.
inline constexpr Field count_fields[] = {
    {~u64{0}, "count", [](const CpuModel& m, unsigned) { return low_bits(m.counter_width); }},
};

}  // namespace pmusim

#endif
