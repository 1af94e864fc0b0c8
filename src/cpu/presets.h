#ifndef PMUSIM_SRC_CPU_PRESETS_H
#define PMUSIM_SRC_CPU_PRESETS_H

#include "pmusim/cpu/model.h"

/// One function per product; a family's file derives its members from each other by copying and changing.
namespace pmusim::presets {

CpuModel icelake();
CpuModel icelake_server();

/// Bitmap of fixed counters in the position they have in GLOBAL_CTRL.
constexpr u64 fixed(u64 bitmap) { return bitmap << 32; }

inline constexpr u32 kib = 1024, mib = 1024 * kib;

}  // namespace pmusim::presets

#endif
