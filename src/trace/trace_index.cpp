// SPDX-License-Identifier: MIT
#include "trace/trace_index.h"

#include <fmt/format.h>

namespace pmusim::trace {
namespace {

std::string_view header_problem(const ChunkHeader& header, u64 first_instruction) {
  if (header.magic != chunk_magic) return "no chunk begins here";
  if (header.crc != crc_of(header)) return "chunk header has a wrong checksum";
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
    if (contents_.extended && !add_part(end, extended_part, extended_totals_)) return false;
    if (contents_.timing && !add_part(end, timing_part, timing_totals_)) return false;
    totals_.instructions += header->instructions;
    add_streams(totals_, *header);
    end_ = end;
    return true;
  }
  u64 end() const { return end_; }
  const IndexHeader& totals() const { return totals_; }
  const ExtendedTotals& extended_totals() const { return extended_totals_; }
  const TimingTotals& timing_totals() const { return timing_totals_; }

 private:
  /// Whether there is one, up to `end` from then on.
  template <std::size_t count>
  bool add_part(u64& end, const PartKind<count>& kind, PartTotals<count>& totals) {
    const auto part = read_part(file_, end, kind);
    if (!part.ok()) return false;
    add_streams(totals, part->header);
    end = part->end;
    return true;
  }

  const FileBytes& file_;
  Contents contents_;
  u64 end_ = sizeof(FileHeader);
  IndexHeader totals_{};
  ExtendedTotals extended_totals_{};
  TimingTotals timing_totals_{};
};

Result<TraceIndex, Error> index_of_truncated(const FileBytes& file, Contents contents) {
  WholeChunks chunks(file, contents);
  while (chunks.advance()) continue;
  if (chunks.end() == sizeof(FileHeader)) {
    return Failure(Error(fmt::format("{}: truncated: it ends at offset {}, within the first chunk or before",
                                     file.path(), file.size())));
  }
  return TraceIndex{
      chunks.end(), chunks.totals(), chunks.extended_totals(), chunks.timing_totals(),
      fmt::format("{}: truncated: it has no end mark; its first {} instructions (up to offset {}) "
                  "are there",
                  file.path(), u64{chunks.totals().instructions}, chunks.end())};
}

Result<Trailer, Error> read_trailer(const FileBytes& file) {
  const u64 offset = file.size() - sizeof(Trailer);
  auto trailer = read_structure<Trailer>(file, offset);
  if (!trailer.ok() || trailer->magic != trailer_magic) return trailer;
  if (trailer->crc != crc_of(*trailer)) return Failure(file.damaged(offset, "end mark has a wrong checksum"));
  const u64 index_bytes = trailer->index_bytes;
  const bool inside = index_bytes >= sizeof(IndexHeader) && index_bytes <= offset - sizeof(FileHeader);
  if (!inside || trailer->index_offset != offset - index_bytes)
    return Failure(file.damaged(offset, "end mark points outside the file"));
  return trailer;
}

/// Takes what stands at the end, if it is there; what is before it.
template <class Totals>
std::span<const std::byte> take_totals(std::span<const std::byte> index, Totals& totals) {
  if (index.size() < sizeof totals) return index;
  std::ranges::copy(index.last(sizeof totals), std::as_writable_bytes(std::span(&totals, 1)).begin());
  return index.first(index.size() - sizeof totals);
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
  if (trailer->index_crc != crc32(payload.data(), payload.size()))
    return Failure(file.damaged(trailer->index_offset, "index has a wrong checksum"));
  TraceIndex index{trailer->index_offset, {}, {}, {}, {}};
  std::copy_n(payload.begin(), sizeof(IndexHeader),
              std::as_writable_bytes(std::span(&index.totals, 1)).begin());
  std::span<const std::byte> left = std::span(payload).subspan(sizeof(IndexHeader));
  if (contents.timing) left = take_totals(left, index.timing_totals);
  if (contents.extended) left = take_totals(left, index.extended_totals);
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
  const std::string_view problem = header_problem(header, first_instruction);
  if (!problem.empty()) return Failure(file.damaged(offset, problem));
  return Done{};
}

Result<std::vector<u8>, Error> read_chunk_payload(const TraceBytes& file, u64 offset,
                                                  const ChunkHeader& header) {
  std::vector<u8> payload(static_cast<std::size_t>(payload_bytes(header)));
  const auto read = file.read(offset + sizeof(ChunkHeader), std::as_writable_bytes(std::span(payload)));
  if (!read.ok()) return Failure(read.error());
  if (header.payload_crc != crc32(payload.data(), payload.size()))
    return Failure(file.damaged(offset, "chunk has a wrong checksum"));
  return payload;
}

}  // namespace pmusim::trace
