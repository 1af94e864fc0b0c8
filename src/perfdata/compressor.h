// SPDX-License-Identifier: MIT
#ifndef PMUSIM_SRC_PERFDATA_COMPRESSOR_H
#define PMUSIM_SRC_PERFDATA_COMPRESSOR_H

#include <memory>
#include <span>
#include <vector>

#include "pmusim/base/types.h"

struct ZSTD_CCtx_s;

namespace pmusim::perfdata {

/// One zstd stream over the whole data section, cut into COMPRESSED records.
class Compressor {
 public:
  /// Input of one record. Its compressed form fits in a record even if it cannot be compressed.
  static constexpr std::size_t chunk_bytes = 32 * 1024;
  /// COMPRESSED.mmap_len: room that readers must have for one decompressed record.
  static constexpr u32 reader_buffer_bytes = 64 * 1024;

  explicit Compressor(int level);
  ~Compressor();

  /// The COMPRESSED record for at most `chunk_bytes` bytes. It stays valid until the next call.
  std::span<const std::byte> compress(std::span<const std::byte> chunk);
  int level() const { return level_; }

 private:
  struct Free {
    void operator()(ZSTD_CCtx_s* context) const;
  };
  int level_;
  std::unique_ptr<ZSTD_CCtx_s, Free> context_;
  std::vector<std::byte> record_;
};

}  // namespace pmusim::perfdata

#endif
