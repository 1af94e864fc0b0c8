// SPDX-License-Identifier: MIT
#ifndef PMUSIM_TRACE_TRACE_INDEX_H
#define PMUSIM_TRACE_TRACE_INDEX_H

#include <optional>
#include <string>
#include <vector>

#include "pmusim/trace/block.h"
#include "trace/format.h"
#include "trace/trace_bytes.h"

namespace pmusim::trace {

/// What a trace holds altogether, and where its chunks end.
struct TraceIndex {
  u64 chunks_end = 0;  ///< offset in the file
  IndexHeader totals{};
  ExtendedTotals extended_totals{};
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

/// What begins the extended registers of a chunk. Errors: damaged or truncated.
Result<ExtendedHeader, Error> read_extended_header(const TraceBytes& file, u64 offset);

/// The extended registers of a chunk, whose header's place and streams are known: their header and their
/// streams as they are stored. Errors: damaged or truncated.
struct ExtendedPart {
  ExtendedHeader header{};
  std::vector<u8> payload;
  u64 end = 0;  ///< offset in the file
};
Result<ExtendedPart, Error> read_extended_part(const TraceBytes& file, u64 offset);

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

}  // namespace pmusim::trace

#endif
