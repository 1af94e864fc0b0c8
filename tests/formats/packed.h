// SPDX-License-Identifier: MIT
#ifndef PMUSIM_TESTS_FORMATS_PACKED_H
#define PMUSIM_TESTS_FORMATS_PACKED_H

#include <lzma.h>
#include <zlib.h>
#include <zstd.h>

#include <stdexcept>
#include <string>
#include <string_view>

#include "pmusim/base/types.h"

/// Files as gzip, xz and zstd pack them, checksums and all.
namespace pmusim::test {

enum class Packing : u8 { none, gzip, xz, zstd };

inline std::string gzipped(std::string_view plain) {
  std::string out(compressBound(plain.size()) + 64, 0);
  z_stream stream{};
  deflateInit2(&stream, 6, Z_DEFLATED, MAX_WBITS + 16, 8, Z_DEFAULT_STRATEGY);
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(plain.data()));
  stream.avail_in = static_cast<uInt>(plain.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  const int result = deflate(&stream, Z_FINISH);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  if (result != Z_STREAM_END) throw std::runtime_error("gzip packs nothing");
  return out;
}

inline std::string xz_packed(std::string_view plain) {
  std::string out(lzma_stream_buffer_bound(plain.size()), 0);
  std::size_t bytes = 0;
  if (lzma_easy_buffer_encode(0, LZMA_CHECK_CRC64, nullptr, reinterpret_cast<const uint8_t*>(plain.data()),
                              plain.size(), reinterpret_cast<uint8_t*>(out.data()), &bytes,
                              out.size()) != LZMA_OK)
    throw std::runtime_error("xz packs nothing");
  out.resize(bytes);
  return out;
}

inline std::string zstd_packed(std::string_view plain) {
  std::string out(ZSTD_compressBound(plain.size()), 0);
  out.resize(ZSTD_compress(out.data(), out.size(), plain.data(), plain.size(), 3));
  return out;
}

inline std::string packed(std::string_view plain, Packing packing) {
  switch (packing) {
    case Packing::gzip:
      return gzipped(plain);
    case Packing::xz:
      return xz_packed(plain);
    case Packing::zstd:
      return zstd_packed(plain);
    case Packing::none:
      break;
  }
  return std::string(plain);
}

}  // namespace pmusim::test

#endif
