// SPDX-License-Identifier: MIT
#include "perfdata/decompressor.h"

#include <fmt/format.h>
#include <zstd.h>

namespace pmusim::perfdata {

void Decompressor::Free::operator()(ZSTD_DCtx_s* context) const { ZSTD_freeDCtx(context); }

Decompressor::Decompressor() : context_(ZSTD_createDCtx()) {}
Decompressor::Decompressor(Decompressor&&) noexcept = default;
Decompressor& Decompressor::operator=(Decompressor&&) noexcept = default;
Decompressor::~Decompressor() = default;

Result<Done, Error> Decompressor::append_to(std::vector<std::byte>& plain, std::span<const std::byte> piece) {
  const std::size_t start = plain.size(), step = ZSTD_DStreamOutSize();
  ZSTD_inBuffer in{piece.data(), piece.size(), 0};
  for (bool more = true; more;) {
    const std::size_t filled = plain.size();
    if (filled - start > largest_piece)
      return Failure(Error(fmt::format("a compressed record holds more than {} bytes", largest_piece)));
    plain.resize(filled + step);
    ZSTD_outBuffer out{plain.data() + filled, step, 0};
    const std::size_t state = ZSTD_decompressStream(context_.get(), &out, &in);
    plain.resize(filled + out.pos);
    if (ZSTD_isError(state)) return Failure(Error(fmt::format("not zstd: {}", ZSTD_getErrorName(state))));
    more = in.pos < in.size || out.pos == step;
  }
  return Done{};
}

}  // namespace pmusim::perfdata
