// SPDX-License-Identifier: MIT
#include "perfdata/compressor.h"

#include <zstd.h>

#include <cassert>
#include <cstring>

#include "perfdata/file_format.h"
#include "pmusim/perf/abi.h"

namespace pmusim::perfdata {

using perf::RecordHeader;

void Compressor::Free::operator()(ZSTD_CCtx_s* context) const { ZSTD_freeCCtx(context); }

Compressor::Compressor(int level) : level_(level), context_(ZSTD_createCCtx()), record_(65535) {
  ZSTD_CCtx_setParameter(context_.get(), ZSTD_c_compressionLevel, level);
}

Compressor::~Compressor() = default;

std::span<const std::byte> Compressor::compress(std::span<const std::byte> chunk) {
  assert(chunk.size() <= chunk_bytes);
  ZSTD_inBuffer in{chunk.data(), chunk.size(), 0};
  ZSTD_outBuffer out{record_.data(), record_.size(), sizeof(RecordHeader)};
  while (ZSTD_compressStream2(context_.get(), &out, &in, ZSTD_e_flush) != 0) {
  }
  const RecordHeader header{static_cast<u32>(UserRecord::compressed), 0, static_cast<u16>(out.pos)};
  std::memcpy(record_.data(), &header, sizeof header);
  return std::span(record_).first(out.pos);
}

}  // namespace pmusim::perfdata
