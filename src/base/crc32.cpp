// SPDX-License-Identifier: MIT
#include "base/crc32.h"

#include <array>
#include <boost/endian/conversion.hpp>

namespace pmusim {
namespace {

constexpr u32 polynomial = 0xEDB88320;  // reflected
constexpr std::size_t step_bytes = 8;

/// Row n: what a byte does to the remainder n bytes later.
using Rows = std::array<std::array<u32, 256>, step_bytes>;
constexpr Rows make_rows() {
  Rows rows{};
  for (u32 byte = 0; byte < 256; ++byte) {
    u32 rest = byte;
    for (int bit = 0; bit < 8; ++bit) rest = rest >> 1 ^ ((rest & 1) != 0 ? polynomial : 0);
    rows[0][byte] = rest;
  }
  for (std::size_t n = 1; n < step_bytes; ++n)
    for (std::size_t byte = 0; byte < 256; ++byte)
      rows[n][byte] = rows[n - 1][byte] >> 8 ^ rows[0][rows[n - 1][byte] & 0xFF];
  return rows;
}
constexpr Rows rows = make_rows();

}  // namespace

u32 crc32(const void* data, std::size_t bytes, u32 before) {
  const auto* at = static_cast<const unsigned char*>(data);
  u32 rest = ~before;
  for (; bytes >= step_bytes; bytes -= step_bytes, at += step_bytes) {
    const u64 next = boost::endian::load_little_u64(at) ^ rest;
    rest = 0;
    for (std::size_t n = 0; n < step_bytes; ++n) rest ^= rows[step_bytes - 1 - n][next >> 8 * n & 0xFF];
  }
  for (; bytes != 0; --bytes, ++at) rest = rest >> 8 ^ rows[0][(rest ^ *at) & 0xFF];
  return ~rest;
}

}  // namespace pmusim
