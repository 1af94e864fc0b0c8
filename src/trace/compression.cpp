// SPDX-License-Identifier: MIT
#include "trace/compression.h"

#include <zstd.h>

#include <algorithm>
#include <cassert>

namespace pmusim::trace {

namespace {

constexpr int level = 3;

/// What the frames of `stored` say they expand to; nothing where they are none, or do not say.
std::optional<u64> announced_bytes(std::span<const u8> stored) {
  u64 bytes = 0;
  while (!stored.empty()) {
    const u64 content = ZSTD_getFrameContentSize(stored.data(), stored.size());
    const std::size_t frame_bytes = ZSTD_findFrameCompressedSize(stored.data(), stored.size());
    if (content >= ZSTD_CONTENTSIZE_ERROR || ZSTD_isError(frame_bytes)) return std::nullopt;
    bytes += content;
    stored = stored.subspan(frame_bytes);
  }
  return bytes;
}

}  // namespace

std::size_t compress(std::span<const u8> raw, std::vector<u8>& out) {
  if (raw.empty()) return 0;
  const std::size_t start = out.size();
  out.resize(start + ZSTD_compressBound(raw.size()));
  const std::size_t bytes =
      ZSTD_compress(out.data() + start, out.size() - start, raw.data(), raw.size(), level);
  assert(!ZSTD_isError(bytes));  // the buffer has the bound's size
  out.resize(start + bytes);
  return bytes;
}

std::size_t compress_in_frames(std::span<const u8> raw, std::size_t frame_bytes, std::vector<u8>& out) {
  std::size_t bytes = 0;
  for (; !raw.empty(); raw = raw.subspan(std::min(frame_bytes, raw.size())))
    bytes += compress(raw.first(std::min(frame_bytes, raw.size())), out);
  return bytes;
}

std::optional<std::vector<u8>> decompress(std::span<const u8> stored, std::size_t raw_bytes) {
  if (raw_bytes == 0) return stored.empty() ? std::optional<std::vector<u8>>(std::in_place) : std::nullopt;
  if (announced_bytes(stored) != raw_bytes) return std::nullopt;  // asked before there is memory for it
  std::vector<u8> raw(raw_bytes);
  const std::size_t bytes = ZSTD_decompress(raw.data(), raw.size(), stored.data(), stored.size());
  if (ZSTD_isError(bytes) || bytes != raw_bytes) return std::nullopt;
  return raw;
}

}  // namespace pmusim::trace
