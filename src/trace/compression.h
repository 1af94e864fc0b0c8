// SPDX-License-Identifier: MIT
#ifndef PMUSIM_TRACE_COMPRESSION_H
#define PMUSIM_TRACE_COMPRESSION_H

#include <optional>
#include <span>
#include <vector>

#include "pmusim/base/types.h"

namespace pmusim::trace {

/// Appends the compressed form of `raw` to `out` and returns its size in bytes.
std::size_t compress(std::span<const u8> raw, std::vector<u8>& out);
/// The same in frames of `frame_bytes` each, which bounds how much smaller it gets.
std::size_t compress_in_frames(std::span<const u8> raw, std::size_t frame_bytes, std::vector<u8>& out);

/// Nothing unless `stored` expands to exactly `raw_bytes` bytes.
std::optional<std::vector<u8>> decompress(std::span<const u8> stored, std::size_t raw_bytes);

}  // namespace pmusim::trace

#endif
