// SPDX-License-Identifier: MIT
#include "trace/trace_index.h"

#include <fmt/format.h>

namespace pmusim::trace {
namespace {

std::string_view problem_of(const ChunkHeader& header, u64 first_instruction) {
  if (header.magic != chunk_magic) return "no chunk begins here";
  if (!is_checksum(header.crc, crc_of(header))) return "chunk header has a wrong checksum";
  if (header.first_instruction != first_instruction) return "chunk is not in its place";
  if (header.instructions > max_chunk_instructions) return "chunk has too many instructions";
  for (const StreamHeader& s : header.streams) {
    if (s.raw_bytes > max_stream_bytes || s.stored_bytes > max_stream_bytes) return "chunk is too big";
  }
  return {};
}

/// Walks along the chunks of a trace that ends early.
class WholeChunks {
 public:
  WholeChunks(const FileBytes& file, Contents contents) : file_(file), contents_(contents) {}

  /// True if another whole chunk followed.
  bool advance() {
    const auto header = read_chunk_header(file_, end_, totals_.instructions);
    if (!header.ok()) return false;
    u64 end = end_ + sizeof(ChunkHeader) + payload_bytes(*header);
    // A machine that went down can leave blocks of zeros.
    if (end > file_.size() || !read_chunk_payload(file_, end_, *header).ok()) return false;
    if (contents_.extended) {
      const auto part = read_extended_part(file_, end);
      if (!part.ok()) return false;
      for (std::size_t s = 0; s < extended_stream_count; ++s) {
        extended_totals_.streams[s].raw_bytes += part->header.streams[s].raw_bytes;
        extended_totals_.streams[s].stored_bytes += part->header.streams[s].stored_bytes;
      }
      end = part->end;
    }
    totals_.instructions += header->instructions;
    for (std::size_t s = 0; s < stream_count; ++s) {
      totals_.streams[s].raw_bytes += header->streams[s].raw_bytes;
      totals_.streams[s].stored_bytes += header->streams[s].stored_bytes;
    }
    end_ = end;
    return true;
  }
  u64 end() const { return end_; }
  const IndexHeader& totals() const { return totals_; }
  const ExtendedTotals& extended_totals() const { return extended_totals_; }

 private:
  const FileBytes& file_;
  Contents contents_;
  u64 end_ = sizeof(FileHeader);
  IndexHeader totals_{};
  ExtendedTotals extended_totals_{};
};

Result<TraceIndex, Error> index_of_truncated(const FileBytes& file, Contents contents) {
  WholeChunks chunks(file, contents);
  while (chunks.advance()) continue;
  if (chunks.end() == sizeof(FileHeader)) {
    return Failure(Error(fmt::format("{}: truncated: it ends at offset {}, within the first chunk or before",
                                     file.path(), file.size())));
  }
  return TraceIndex{
      chunks.end(), chunks.totals(), chunks.extended_totals(),
      fmt::format("{}: truncated: it has no end mark; its first {} instructions (up to offset {}) "
                  "are there",
                  file.path(), u64{chunks.totals().instructions}, chunks.end())};
}

Result<Trailer, Error> read_trailer(const FileBytes& file) {
  const u64 offset = file.size() - sizeof(Trailer);
  auto trailer = read_structure<Trailer>(file, offset);
  if (!trailer.ok() || trailer->magic != trailer_magic) return trailer;
  if (!is_checksum(trailer->crc, crc_of(*trailer)))
    return Failure(file.damaged(offset, "end mark has a wrong checksum"));
  const u64 index_bytes = trailer->index_bytes;
  const bool inside = index_bytes >= sizeof(IndexHeader) && index_bytes <= offset - sizeof(FileHeader);
  if (!inside || trailer->index_offset != offset - index_bytes)
    return Failure(file.damaged(offset, "end mark points outside the file"));
  return trailer;
}

}  // namespace

Result<TraceIndex, Error> read_index(const FileBytes& file, Contents contents) {
  if (file.size() < sizeof(FileHeader) + sizeof(IndexHeader) + sizeof(Trailer))
    return index_of_truncated(file, contents);
  const auto trailer = read_trailer(file);
  if (!trailer.ok()) return Failure(trailer.error());
  if (trailer->magic != trailer_magic) return index_of_truncated(file, contents);

  std::vector<std::byte> payload(trailer->index_bytes);
  const auto read = file.read(trailer->index_offset, payload);
  if (!read.ok()) return Failure(read.error());
  if (!is_checksum(trailer->index_crc, crc32(payload.data(), payload.size())))
    return Failure(file.damaged(trailer->index_offset, "index has a wrong checksum"));
  TraceIndex index{trailer->index_offset, {}, {}, {}};
  std::copy_n(payload.begin(), sizeof(IndexHeader),
              std::as_writable_bytes(std::span(&index.totals, 1)).begin());
  if (contents.extended && payload.size() >= sizeof(IndexHeader) + sizeof(ExtendedTotals))
    std::copy_n(payload.end() - sizeof(ExtendedTotals), sizeof(ExtendedTotals),
                std::as_writable_bytes(std::span(&index.extended_totals, 1)).begin());
  return index;
}

Result<ChunkHeader, Error> read_chunk_header(const TraceBytes& file, u64 offset, u64 first_instruction) {
  auto header = read_structure<ChunkHeader>(file, offset);
  if (!header.ok()) return header;
  const auto checked = check_chunk_header(file, *header, offset, first_instruction);
  if (!checked.ok()) return Failure(checked.error());
  return header;
}

Result<Done, Error> check_chunk_header(const TraceBytes& file, const ChunkHeader& header, u64 offset,
                                       u64 first_instruction) {
  const std::string_view problem = problem_of(header, first_instruction);
  if (!problem.empty()) return Failure(file.damaged(offset, problem));
  return Done{};
}

Result<ExtendedHeader, Error> read_extended_header(const TraceBytes& file, u64 offset) {
  const auto header = read_structure<ExtendedHeader>(file, offset);
  if (!header.ok()) return Failure(header.error());
  if (header->magic != extended_magic || !is_checksum(header->crc, crc_of(*header)))
    return Failure(file.damaged(offset, "header of the extended registers has a wrong checksum"));
  for (const StreamHeader& s : header->streams)
    if (s.raw_bytes > max_stream_bytes || s.stored_bytes > max_stream_bytes)
      return Failure(file.damaged(offset, "chunk is too big"));
  return *header;
}

Result<ExtendedPart, Error> read_extended_part(const TraceBytes& file, u64 offset) {
  const auto header = read_extended_header(file, offset);
  if (!header.ok()) return Failure(header.error());
  ExtendedPart part{*header, std::vector<u8>(static_cast<std::size_t>(payload_bytes(*header))), 0};
  const auto read =
      file.read(offset + sizeof(ExtendedHeader), std::as_writable_bytes(std::span(part.payload)));
  if (!read.ok()) return Failure(read.error());
  if (!is_checksum(header->payload_crc, crc32(part.payload.data(), part.payload.size())))
    return Failure(file.damaged(offset, "extended registers have a wrong checksum"));
  part.end = offset + sizeof(ExtendedHeader) + part.payload.size();
  return part;
}

Result<std::vector<u8>, Error> read_chunk_payload(const TraceBytes& file, u64 offset,
                                                  const ChunkHeader& header) {
  std::vector<u8> payload(static_cast<std::size_t>(payload_bytes(header)));
  const auto read = file.read(offset + sizeof(ChunkHeader), std::as_writable_bytes(std::span(payload)));
  if (!read.ok()) return Failure(read.error());
  if (!is_checksum(header.payload_crc, crc32(payload.data(), payload.size())))
    return Failure(file.damaged(offset, "chunk has a wrong checksum"));
  return payload;
}

}  // namespace pmusim::trace
