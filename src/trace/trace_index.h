// SPDX-License-Identifier: MIT
#ifndef PMUSIM_TRACE_TRACE_INDEX_H
#define PMUSIM_TRACE_TRACE_INDEX_H

#include <fmt/format.h>

#include <optional>
#include <string>
#include <vector>

#include "pmusim/trace/trace.h"
#include "trace/format.h"
#include "trace/trace_bytes.h"

namespace pmusim::trace {

/// What a trace holds altogether, and where its chunks end.
struct TraceIndex {
  u64 chunks_end = 0;  ///< offset in the file
  IndexHeader totals{};
  ExtendedTotals extended_totals{};
  TimingTotals timing_totals{};
  std::optional<std::string> truncation;  ///< as Reader::truncation()
};

/// Reads the index at the end of a trace; for a trace that ends early, makes one from the chunks that are
/// whole. Errors: damaged; truncated before the first chunk's end.
Result<TraceIndex, Error> read_index(const FileBytes& file, Contents contents);

/// Reads a chunk's header, which is to be that of the chunk with `first_instruction`. Limits keep a hostile
/// file from asking for memory. Errors: damaged or truncated.
Result<ChunkHeader, Error> read_chunk_header(const TraceBytes& file, u64 offset, u64 first_instruction);

/// Whether what was read as such a header is one. Errors: damaged.
Result<Done, Error> check_chunk_header(const TraceBytes& file, const ChunkHeader& header, u64 offset,
                                       u64 first_instruction);

/// Reads what stands behind a chunk's header: every stream as it is stored. Errors: damaged or truncated.
Result<std::vector<u8>, Error> read_chunk_payload(const TraceBytes& file, u64 offset,
                                                  const ChunkHeader& header);

template <class T>
Result<T, Error> read_structure(const TraceBytes& file, u64 offset) {
  T structure{};
  const auto read = file.read(offset, std::as_writable_bytes(std::span(&structure, 1)));
  if (!read.ok()) return Failure(read.error());
  return structure;
}

/// Bytes of all streams behind a header in the file.
template <class Header>
u64 payload_bytes(const Header& header) {
  u64 bytes = 0;
  for (const StreamHeader& s : header.streams) bytes += s.stored_bytes;
  return bytes;
}

/// Streams behind those that every trace has.
template <std::size_t count>
struct PartKind {
  u32 magic = 0;
  std::string_view name;
  std::array<std::string_view, count> stream_names;
};
inline constexpr PartKind<extended_stream_count> extended_part{extended_magic, "extended registers",
                                                               extended_stream_names};
inline constexpr PartKind<timing_stream_count> timing_part{timing_magic, "timing", timing_stream_names};

/// What begins such a part of a chunk. Errors: damaged or truncated.
template <std::size_t count>
Result<PartHeader<count>, Error> read_part_header(const TraceBytes& file, u64 offset,
                                                  const PartKind<count>& kind) {
  const auto header = read_structure<PartHeader<count>>(file, offset);
  if (!header.ok()) return header;
  if (header->magic != kind.magic || header->crc != crc_of(*header))
    return Failure(file.damaged(offset, fmt::format("header of the {} has a wrong checksum", kind.name)));
  for (const StreamHeader& s : header->streams)
    if (s.raw_bytes > max_stream_bytes || s.stored_bytes > max_stream_bytes)
      return Failure(file.damaged(offset, "chunk is too big"));
  return header;
}

/// Such a part, whose place is known: its header and its streams as they are stored.
template <std::size_t count>
struct Part {
  PartHeader<count> header{};
  std::vector<u8> payload;
  u64 end = 0;  ///< offset in the file
};
/// Errors: damaged or truncated.
template <std::size_t count>
Result<Part<count>, Error> read_part(const TraceBytes& file, u64 offset, const PartKind<count>& kind) {
  const auto header = read_part_header(file, offset, kind);
  if (!header.ok()) return Failure(header.error());
  Part<count> part{*header, std::vector<u8>(static_cast<std::size_t>(payload_bytes(*header))), 0};
  const auto read = file.read(offset + sizeof *header, std::as_writable_bytes(std::span(part.payload)));
  if (!read.ok()) return Failure(read.error());
  if (header->payload_crc != crc32(part.payload.data(), part.payload.size()))
    return Failure(file.damaged(offset, fmt::format("{} with a wrong checksum", kind.name)));
  part.end = offset + sizeof *header + part.payload.size();
  return part;
}

/// Adds what a chunk has to what all have.
template <class Totals, class Header>
void add_streams(Totals& totals, const Header& header) {
  for (std::size_t s = 0; s < totals.streams.size(); ++s) {
    totals.streams[s].raw_bytes += header.streams[s].raw_bytes;
    totals.streams[s].stored_bytes += header.streams[s].stored_bytes;
  }
}

}  // namespace pmusim::trace

#endif
