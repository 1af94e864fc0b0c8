// SPDX-License-Identifier: MIT
#ifndef PMUSIM_TESTS_SUPPORT_UNPACKED_TRACE_H
#define PMUSIM_TESTS_SUPPORT_UNPACKED_TRACE_H

#include <algorithm>
#include <cstring>
#include <optional>
#include <span>
#include <vector>

#include "trace/compression.h"
#include "trace/format.h"

/// Traces that a fuzzer can change within streams: their bytes stand in the file as they are.
namespace pmusim::trace {

/// What zstd needs around at most 128 KiB of bytes as they are: a frame that says their number, with one raw
/// block (RFC 8878, 3.1.1).
inline constexpr std::size_t raw_frame_header_bytes = 12;
inline constexpr std::size_t raw_block_bytes = 128u << 10;

struct RawFrameHeader {
  le32 magic{0xFD2FB528};
  u8 descriptor = 0xA0;  // the content's size in four bytes, no window, no checksum
  le32 content_bytes;
  boost::endian::little_uint24_t block;  // the last one, raw, its size from bit 3 on
};
static_assert(sizeof(RawFrameHeader) == raw_frame_header_bytes);

inline RawFrameHeader raw_frame_header(std::size_t bytes) {
  RawFrameHeader header;
  header.content_bytes = static_cast<u32>(bytes);
  header.block = static_cast<u32>(bytes << 3 | 1);
  return header;
}

template <class T>
std::optional<T> structure_at(std::span<const u8> file, std::size_t at) {
  if (at > file.size() || file.size() - at < sizeof(T)) return std::nullopt;
  T value;
  std::memcpy(&value, &file[at], sizeof value);
  return value;
}

template <class T>
void put_structure(std::span<u8> file, std::size_t at, const T& value) {
  std::memcpy(&file[at], &value, sizeof value);
}

/// Gives streams behind a header of this magic frames that expand, and both their checksums; where they, or
/// the file, end. Nothing where no such header is.
template <class Header>
std::optional<std::size_t> seal_streams(std::span<u8> file, std::size_t at, u32 magic) {
  auto header = structure_at<Header>(file, at);
  if (!header || header->magic != magic) return std::nullopt;
  const std::size_t begin = at + sizeof(Header);
  std::size_t end = begin;
  for (StreamHeader& stream : header->streams) {
    const std::size_t stored = std::min<std::size_t>(stream.stored_bytes, file.size() - end);
    if (stored >= raw_frame_header_bytes && stored <= raw_frame_header_bytes + raw_block_bytes) {
      const std::size_t raw = stored - raw_frame_header_bytes;
      stream.raw_bytes = static_cast<u32>(raw);
      put_structure(file, end, raw_frame_header(raw));
    }
    end += stored;
  }
  header->payload_crc = crc32(file.data() + begin, end - begin);
  header->crc = crc_of(*header);
  put_structure(file, at, *header);
  return end;
}

inline std::optional<std::size_t> seal_any_streams(std::span<u8> file, std::size_t at) {
  if (const auto end = seal_streams<ChunkHeader>(file, at, chunk_magic)) return end;
  if (const auto end = seal_streams<ExtendedHeader>(file, at, extended_magic)) return end;
  return seal_streams<TimingHeader>(file, at, timing_magic);
}

/// Makes everything right in an unpacked trace that no fuzzer could: checksums, and what zstd reads around
/// streams.
inline void seal_unpacked(std::span<u8> file) {
  auto header = structure_at<FileHeader>(file, 0);
  if (!header) return;
  header->crc = crc_of(*header);
  put_structure(file, 0, *header);
  std::optional<std::size_t> at = sizeof(FileHeader);
  while (at) at = seal_any_streams(file, *at);
  if (file.size() < sizeof(FileHeader) + sizeof(Trailer)) return;
  const std::size_t behind_index = file.size() - sizeof(Trailer);
  auto trailer = structure_at<Trailer>(file, behind_index);
  const std::size_t index = static_cast<std::size_t>(trailer->index_offset), bytes = trailer->index_bytes;
  if (index <= behind_index && bytes <= behind_index - index)
    trailer->index_crc = crc32(file.data() + index, bytes);
  trailer->crc = crc_of(*trailer);
  put_structure(file, behind_index, *trailer);
}

/// Appends a header and its streams, unpacked; where they end in `packed`.
template <class Header>
std::optional<std::size_t> unpack_streams(std::span<const u8> packed, std::size_t at, u32 magic,
                                          std::vector<u8>& out) {
  auto header = structure_at<Header>(packed, at);
  if (!header || header->magic != magic) return std::nullopt;
  at += sizeof(Header);
  std::vector<u8> streams;
  for (StreamHeader& stream : header->streams) {
    const auto stored = packed.subspan(at, stream.stored_bytes);
    at += stored.size();
    const auto raw = decompress(stored, stream.raw_bytes);
    if (!raw || raw->size() > raw_block_bytes) {
      streams.insert(streams.end(), stored.begin(), stored.end());
      continue;
    }
    if (raw->empty()) continue;
    stream.stored_bytes = static_cast<u32>(raw_frame_header_bytes + raw->size());
    streams.resize(streams.size() + raw_frame_header_bytes);
    streams.insert(streams.end(), raw->begin(), raw->end());
  }
  const auto* const bytes = reinterpret_cast<const u8*>(&*header);
  out.insert(out.end(), bytes, bytes + sizeof(Header));
  out.insert(out.end(), streams.begin(), streams.end());
  return at;
}

/// The same trace, a whole one, with its streams unpacked. (Its index has the offsets of before; readers go
/// from chunk to chunk.)
inline std::vector<u8> unpacked(std::span<const u8> packed) {
  std::vector<u8> out(packed.begin(), packed.begin() + sizeof(FileHeader));
  std::size_t at = sizeof(FileHeader);
  for (;;) {
    auto end = unpack_streams<ChunkHeader>(packed, at, chunk_magic, out);
    if (!end) end = unpack_streams<ExtendedHeader>(packed, at, extended_magic, out);
    if (!end) end = unpack_streams<TimingHeader>(packed, at, timing_magic, out);
    if (!end) break;
    at = *end;
  }
  auto trailer = structure_at<Trailer>(packed, packed.size() - sizeof(Trailer));
  trailer->index_offset = out.size();
  out.insert(out.end(), packed.begin() + static_cast<std::ptrdiff_t>(at), packed.end());
  put_structure<Trailer>(out, out.size() - sizeof(Trailer), *trailer);
  seal_unpacked(out);
  return out;
}

}  // namespace pmusim::trace

#endif
