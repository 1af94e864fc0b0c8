// SPDX-License-Identifier: MIT
#ifndef PMUSIM_SRC_XSAVE_IMAGE_H
#define PMUSIM_SRC_XSAVE_IMAGE_H

#include <bit>
#include <cstring>

#include "xsave/xsave_unit.h"

/// Components as bytes of an area.
namespace pmusim::xsave {

static_assert(std::endian::native == std::endian::little, "qwords are copied as bytes");

// CPUID.0DH.1:EAX
inline constexpr u32 has_xsaveopt = 1, has_xsavec = 2, has_xsaves = 8;

/// Qwords of the x87 component: control, status, tags and opcode; instruction and data pointer; ST0..ST7, two
/// qwords each, of which the upper holds 16 bits.
inline constexpr std::size_t x87_header_qwords = 3;
inline constexpr u64 st_upper = bits(15, 0);
/// The first x87 qword as the registers take it: FCW, FSW, abridged FTW, 11 bits of opcode. Reserved bits do
/// not exist; FCW[6] always reads 1; the summary of exceptions (FSW[7], and FSW[15] after it) follows from
/// the others (SDM vol. 1, 8.1).
constexpr u64 x87_control(u64 stored) {
  constexpr u64 fcw = 0x1F3F, fcw_one = 0x40, exceptions = 0x3F, summary = bit(7) | bit(15);
  const u64 control = (stored & fcw) | fcw_one, status = stored >> 16 & 0xFFFF & ~summary;
  const bool unmasked = (status & ~control & exceptions) != 0;
  return control | (status | (unmasked ? summary : 0)) << 16 | (stored & (bits(39, 32) | bits(58, 48)));
}

template <class T>
T load(std::span<const std::byte> area, std::size_t offset) {
  T value;
  std::memcpy(&value, area.data() + offset, sizeof value);
  return value;
}
template <class T>
void store(std::span<std::byte> area, std::size_t offset, const T& value) {
  std::memcpy(area.data() + offset, &value, sizeof value);
}

}  // namespace pmusim::xsave

#endif
