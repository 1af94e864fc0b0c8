#ifndef PMUSIM_ARCH_XSAVE_H
#define PMUSIM_ARCH_XSAVE_H

#include <algorithm>
#include <array>

#include "pmusim/base/bits.h"

/// The XSAVE state components of Intel parts (SDM vol. 1, ch. 13; sizes and offsets as CPUID.0DH reports
/// them).
namespace pmusim::xsave {

inline constexpr u32 legacy_bytes = 512, header_bytes = 64, extended_offset = legacy_bytes + header_bytes;

struct Component {
  u32 bytes = 0;             ///< 0: reserved number, or part of the legacy region
  u32 standard_offset = 0;   ///< 0 for supervisor components
  bool supervisor = false;   ///< enabled in IA32_XSS, not in XCR0
  bool aligned = false;      ///< starts at a 64-byte boundary of the compacted format
  bool disableable = false;  ///< has a bit in IA32_XFD
};

inline constexpr unsigned component_count = 20;

/// By component number: 2 AVX, 3-4 MPX, 5-7 AVX-512, 8 PT, 9 PKRU, 10 PASID, 11-12 CET, 13 HDC, 14 UINTR,
/// 15 LBR, 16 HWP, 17-18 AMX, 19 APX.
inline constexpr std::array<Component, component_count> components = {{
    {},
    {},
    {.bytes = 256, .standard_offset = 576},
    {.bytes = 64, .standard_offset = 960},
    {.bytes = 64, .standard_offset = 1024},
    {.bytes = 64, .standard_offset = 1088},
    {.bytes = 512, .standard_offset = 1152},
    {.bytes = 1024, .standard_offset = 1664},
    {.bytes = 128, .supervisor = true},
    {.bytes = 8, .standard_offset = 2688},
    {.bytes = 8, .supervisor = true},
    {.bytes = 16, .supervisor = true},
    {.bytes = 24, .supervisor = true},
    {.bytes = 8, .supervisor = true},
    {.bytes = 48, .supervisor = true},
    {.bytes = 808, .supervisor = true},
    {.bytes = 8, .supervisor = true},
    {.bytes = 64, .standard_offset = 2752, .aligned = true},
    {.bytes = 8192, .standard_offset = 2816, .aligned = true, .disableable = true},
    {.bytes = 128, .standard_offset = 960},
}};

/// Bytes of an area in the standard format that holds the components of `mask`.
constexpr u32 standard_bytes(u64 mask) {
  u32 end = extended_offset;
  for (const unsigned i : set_bits(mask & low_bits(component_count)))
    end = std::max(end, components[i].standard_offset + components[i].bytes);
  return end;
}

/// Bytes of an area in the compacted format that holds the components of `mask`.
constexpr u32 compacted_bytes(u64 mask) {
  u32 end = extended_offset;
  for (const unsigned i : set_bits(mask & low_bits(component_count) & ~low_bits(2))) {
    if (components[i].aligned) end = (end + 63) / 64 * 64;
    end += components[i].bytes;
  }
  return end;
}

}  // namespace pmusim::xsave

#endif
