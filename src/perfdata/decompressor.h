// SPDX-License-Identifier: MIT
#ifndef PMUSIM_SRC_PERFDATA_DECOMPRESSOR_H
#define PMUSIM_SRC_PERFDATA_DECOMPRESSOR_H

#include <memory>
#include <span>
#include <vector>

#include "pmusim/base/types.h"

struct ZSTD_DCtx_s;

namespace pmusim::perfdata {

/// The zstd stream that the COMPRESSED records of a file carry piece by piece.
class Decompressor {
 public:
  /// No record of a real file becomes longer than this; one that does is an attack on memory.
  static constexpr std::size_t largest_piece = std::size_t{64} << 20;

  Decompressor();
  Decompressor(Decompressor&&) noexcept;
  Decompressor& operator=(Decompressor&&) noexcept;
  ~Decompressor();
  /// Appends what `piece` decompresses to. Errors: not a zstd stream, longer than largest_piece.
  Result<Done, Error> append_to(std::vector<std::byte>& plain, std::span<const std::byte> piece);

 private:
  struct Free {
    void operator()(ZSTD_DCtx_s* context) const;
  };
  std::unique_ptr<ZSTD_DCtx_s, Free> context_;
};

}  // namespace pmusim::perfdata

#endif
