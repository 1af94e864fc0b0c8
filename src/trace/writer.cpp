// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <cassert>

#include "base/output_file.h"
#include "pmusim/trace/trace.h"
#include "trace/chunk_encoder.h"
#include "trace/compression.h"
#include "trace/trace_index.h"

namespace pmusim::trace {
namespace {

template <class T>
std::span<const std::byte> bytes_of(const T& structure) {
  return std::as_bytes(std::span(&structure, 1));
}

/// Code that compresses too well (a sled of NOPs) is written in frames of this many bytes: no reader takes
/// code that is denser than static_instruction_limit().
constexpr std::size_t code_frame_bytes = 32;
enum class CodeFrames : u8 { one, small };

u32 version_for(Contents contents) {
  if (contents.kernel) return format_version;
  if (contents.timing) return format_version_without_kernel;
  if (contents.stand_in_code) return format_version_without_timing;
  return contents.extended ? format_version_without_stand_ins : format_version_without_extended;
}

FileHeader file_header(Contents contents) {
  FileHeader header{};
  header.magic = file_magic;
  header.version = version_for(contents);
  header.contents = (contents.addresses ? contents_bits::ADDRESSES : 0) |
                    (contents.registers ? contents_bits::REGISTERS : 0) |
                    (contents.extended ? contents_bits::EXTENDED : 0) |
                    (contents.stand_in_code ? contents_bits::STAND_IN_CODE : 0) |
                    (contents.timing ? contents_bits::TIMING : 0) |
                    (contents.kernel ? contents_bits::KERNEL : 0);
  header.crc = crc_of(header);
  return header;
}

}  // namespace

struct Writer::Impl {
  OutputFile file;
  Contents contents;
  Unfinished unfinished;
  CodeTable table;
  ChunkEncoder chunk;
  ThreadId chunk_thread;  // that runs when the chunk begins
  IndexHeader totals{};   // of the chunks in the file
  ExtendedTotals extended_totals{};
  TimingTotals timing_totals{};
  std::vector<IndexEntry> index;

  Impl(OutputFile output, Contents has, Unfinished what_is_left)
      : file(std::move(output)), contents(has), unfinished(what_is_left), chunk(has, {}, table) {}

  Result<Done, Error> write_chunk();
  std::vector<u8> compress_streams(ChunkHeader& header, CodeFrames code) const;
  /// Appends a header and the streams behind it.
  template <class Stream, std::size_t count>
  void append_part(u32 magic, PartTotals<count>& totals_of_part, std::vector<u8>& payload) const;
  Result<Done, Error> store(const ChunkHeader& header, std::span<const u8> payload);
  /// What was written is in the file, and what is kept unfinished has its name.
  Result<Done, Error> store_file() { return unfinished == Unfinished::kept ? file.publish() : file.store(); }
  Result<Done, Error> end_chunk_if_full() { return chunk.full() ? write_chunk() : Done{}; }
  Result<Done, Error> write_index();
};

Writer::Writer(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Writer::Writer(Writer&&) noexcept = default;
Writer& Writer::operator=(Writer&&) noexcept = default;
Writer::~Writer() = default;

Result<Writer, Error> Writer::create(const std::string& path, Contents contents, Unfinished unfinished) {
  auto file = OutputFile::create(
      path, contents.registers || contents.extended ? Readers::owner : Readers::as_umask_says);
  if (!file.ok()) return Failure(file.error());
  const auto written = file->write(bytes_of(file_header(contents)));
  if (!written.ok()) return Failure(written.error());
  return Writer(std::make_unique<Impl>(*std::move(file), contents, unfinished));
}

const Block& Writer::add_block(u64 start, std::span<const std::byte> code, std::span<const u8> lengths,
                               Cpl ring) {
  assert(ring == Cpl::user || impl_->contents.kernel);
  const CodedBlock& added = impl_->table.add(start, code, lengths, ring);
  impl_->chunk.add_block(added.block, impl_->table);
  return added.block;
}

Result<Done, Error> Writer::run(const BlockRun& run) {
  impl_->chunk.run(impl_->table[run.block->id], run);
  return impl_->end_chunk_if_full();
}

Result<Done, Error> Writer::side_band(const SideBandRecord& record) {
  impl_->chunk.side_band(record);
  return impl_->end_chunk_if_full();
}

u64 Writer::instruction_count() const { return impl_->totals.instructions + impl_->chunk.instructions(); }
u64 Writer::stored_instruction_count() const {
  return impl_->file.published() ? u64{impl_->totals.instructions} : 0;
}
u64 Writer::stored_bytes() const { return impl_->file.position(); }

Result<Writer::Written, Error> Writer::finish() {
  for (auto step : {&Impl::write_chunk, &Impl::write_index}) {
    const auto done = (impl_.get()->*step)();
    if (!done.ok()) return Failure(done.error());
  }
  const auto done = impl_->file.commit();
  if (!done.ok()) return Failure(done.error());
  return Written{impl_->totals.instructions, impl_->file.position()};
}

Result<Done, Error> Writer::Impl::write_chunk() {
  if (chunk.empty()) return Done{};
  chunk.finish();
  ChunkHeader header{};
  header.magic = chunk_magic;
  header.instructions = chunk.instructions();
  header.first_instruction = totals.instructions;
  header.pid = chunk_thread.pid;
  header.tid = chunk_thread.tid;
  std::vector<u8> payload = compress_streams(header, CodeFrames::one);
  const auto limit = [&] {
    return static_instruction_limit(file.position() + sizeof header + payload.size());
  };
  if (table.static_instructions() > limit()) payload = compress_streams(header, CodeFrames::small);
  if (table.static_instructions() > limit())
    return Failure(
        Error(fmt::format("more than {} distinct instructions are too many for a trace", limit())));
  header.payload_crc = crc32(payload.data(), payload.size());
  header.crc = crc_of(header);
  if (contents.extended) append_part<ExtendedStream>(extended_magic, extended_totals, payload);
  if (contents.timing) append_part<TimingStream>(timing_magic, timing_totals, payload);

  index.push_back({le64(file.position()), le64(totals.instructions)});
  if (auto stored = store(header, payload); !stored) return stored;
  totals.instructions += header.instructions;
  add_streams(totals, header);
  chunk_thread = chunk.thread();
  chunk = ChunkEncoder(contents, chunk_thread, table);
  return Done{};
}

std::vector<u8> Writer::Impl::compress_streams(ChunkHeader& header, CodeFrames code) const {
  std::vector<u8> payload;
  for (std::size_t s = 0; s < stream_count; ++s) {
    const auto raw = chunk.stream(static_cast<Stream>(s));
    const bool in_frames = static_cast<Stream>(s) == Stream::code && code == CodeFrames::small;
    const std::size_t stored_bytes =
        in_frames ? compress_in_frames(raw, code_frame_bytes, payload) : compress(raw, payload);
    header.streams[s].raw_bytes = static_cast<u32>(raw.size());
    header.streams[s].stored_bytes = static_cast<u32>(stored_bytes);
  }
  return payload;
}

template <class Stream, std::size_t count>
void Writer::Impl::append_part(u32 magic, PartTotals<count>& totals_of_part, std::vector<u8>& payload) const {
  PartHeader<count> header{};
  header.magic = magic;
  std::vector<u8> streams;
  for (std::size_t s = 0; s < count; ++s) {
    const auto raw = chunk.stream(static_cast<Stream>(s));
    header.streams[s].raw_bytes = static_cast<u32>(raw.size());
    header.streams[s].stored_bytes = static_cast<u32>(compress(raw, streams));
  }
  add_streams(totals_of_part, header);
  header.payload_crc = crc32(streams.data(), streams.size());
  header.crc = crc_of(header);
  for (const std::byte b : bytes_of(header)) payload.push_back(std::to_integer<u8>(b));
  payload.insert(payload.end(), streams.begin(), streams.end());
}

// Half a chunk is of no use to anybody.
Result<Done, Error> Writer::Impl::store(const ChunkHeader& header, std::span<const u8> payload) {
  const u64 offset = file.position();
  auto stored = file.write(bytes_of(header));
  if (stored.ok()) stored = file.write(std::as_bytes(payload));
  if (stored.ok()) stored = store_file();
  if (!stored.ok()) (void)file.cut(offset);
  return stored;
}

Result<Done, Error> Writer::Impl::write_index() {
  std::vector<std::byte> payload;
  const auto append = [&](std::span<const std::byte> bytes) {
    payload.insert(payload.end(), bytes.begin(), bytes.end());
  };
  append(bytes_of(totals));
  append(std::as_bytes(std::span(index)));
  if (contents.extended) append(bytes_of(extended_totals));
  if (contents.timing) append(bytes_of(timing_totals));

  Trailer trailer{};
  trailer.index_offset = file.position();
  trailer.index_bytes = static_cast<u32>(payload.size());
  trailer.index_crc = crc32(payload.data(), payload.size());
  trailer.magic = trailer_magic;
  trailer.crc = crc_of(trailer);
  append(bytes_of(trailer));
  const u64 offset = file.position();
  auto written = file.write(payload);
  if (written.ok()) written = store_file();
  if (!written.ok()) (void)file.cut(offset);
  return written;
}

}  // namespace pmusim::trace
