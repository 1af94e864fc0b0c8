// SPDX-License-Identifier: MIT
#ifndef PMUSIM_SRC_SESSION_CORE_TYPES_H
#define PMUSIM_SRC_SESSION_CORE_TYPES_H

#include <optional>

#include "pmusim/perf/abi.h"

namespace pmusim {

/// attr.type of the E cores' PMU on a hybrid machine. Linux gives it the next free number, and the P cores'
/// the raw type's.
inline constexpr u32 cpu_atom_type = 8, cpu_core_type = static_cast<u32>(perf::EventType::raw);

inline bool is_generic(const perf::Attr& attr) {
  return attr.type == static_cast<u32>(perf::EventType::hardware) ||
         attr.type == static_cast<u32>(perf::EventType::hw_cache);
}

/// Which kind of core of a hybrid machine counts an event, 0 for P; nothing: every CPU.
inline std::optional<u32> core_type_of(const perf::Attr& attr) {
  const u64 type = is_generic(attr) ? attr.config >> 32 : attr.type;
  if (type == cpu_atom_type) return 1;
  return is_generic(attr) || type == cpu_core_type ? std::optional<u32>(0) : std::nullopt;
}

/// An event of a part with one kind of core, as one kind of a hybrid machine takes it.
inline perf::Attr of_core_type(perf::Attr attr, u32 type) {
  const u32 pmu = type == 0 ? cpu_core_type : cpu_atom_type;
  if (is_generic(attr))
    attr.config |= u64{pmu} << 32;
  else if (attr.type == cpu_core_type)
    attr.type = pmu;
  return attr;
}

/// The other way round.
inline perf::Attr of_one_type(perf::Attr attr) {
  if (is_generic(attr))
    attr.config &= 0xFFFF'FFFF;
  else if (attr.type == cpu_atom_type)
    attr.type = cpu_core_type;
  return attr;
}

}  // namespace pmusim

#endif
