#include "pmusim/trace/reader.h"

#include <fmt/format.h>

#include "trace/chunk_decoder.h"
#include "trace/code_memory.h"
#include "trace/compression.h"
#include "trace/live_threads.h"
#include "trace/trace_index.h"

namespace pmusim::trace {
namespace {

Result<Contents, Error> read_file_header(const InputFile& file) {
  if (file.size() == 0) return Failure(Error(fmt::format("{}: not a trace: the file is empty", file.path())));
  const auto header = read_structure<FileHeader>(file, 0);
  if (!header.ok() || header->magic != file_magic) {
    return Failure(Error(fmt::format("{}: not a trace: it does not begin with \"{}\"", file.path(),
                                     std::string_view(file_magic.data(), file_magic.size()))));
  }
  if (!is_checksum(header->crc, crc_of(*header)))
    return Failure(file.damaged(0, "file header has a wrong checksum"));
  if (header->version != format_version) {
    return Failure(Error(fmt::format("{}: trace format version {} at offset 8, this build reads version {}",
                                     file.path(), u32{header->version}, format_version)));
  }
  const u32 contents = header->contents;
  return Contents{(contents & contents_bits::ADDRESSES) != 0, (contents & contents_bits::REGISTERS) != 0};
}

}  // namespace

struct Reader::Impl {
  InputFile file;
  Contents contents;
  TraceIndex index;
  CodeTable table;
  CodeMemory memory;
  LiveThreads threads;
  std::unique_ptr<ChunkDecoder> chunk;
  u64 chunk_offset = 0;
  u64 next_offset = sizeof(FileHeader);
  u64 instructions = 0;  // before the next chunk

  Impl(InputFile input, Contents has, TraceIndex footer)
      : file(std::move(input)), contents(has), index(std::move(footer)) {}

  /// Errors as `next`. False at the end of the trace.
  Result<bool, Error> open_chunk();
  Result<StreamData, Error> read_streams(const ChunkHeader& header);
  Result<std::optional<Item>, Error> take(Item item);
};

Reader::Reader(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Reader::Reader(Reader&&) noexcept = default;
Reader& Reader::operator=(Reader&&) noexcept = default;
Reader::~Reader() = default;

Result<Reader, Error> Reader::open(const std::string& path) {
  auto file = InputFile::open(path);
  if (!file.ok()) return Failure(file.error());
  const auto contents = read_file_header(*file);
  if (!contents.ok()) return Failure(contents.error());
  auto index = read_index(*file);
  if (!index.ok()) return Failure(index.error());
  return Reader(std::make_unique<Impl>(*std::move(file), *contents, *std::move(index)));
}

const Contents& Reader::contents() const { return impl_->contents; }
u64 Reader::instruction_count() const { return impl_->index.totals.instructions; }
const std::optional<std::string>& Reader::truncation() const { return impl_->index.truncation; }
u64 Reader::file_bytes() const { return impl_->file.size(); }

std::vector<StreamSize> Reader::streams() const {
  std::vector<StreamSize> result;
  for (std::size_t s = 0; s < stream_count; ++s) {
    const StreamTotal& total = impl_->index.totals.streams[s];
    result.push_back({stream_names[s], total.raw_bytes, total.stored_bytes});
  }
  return result;
}

Result<std::optional<Item>, Error> Reader::next() {
  for (;;) {
    if (impl_->chunk == nullptr) {
      const auto opened = impl_->open_chunk();
      if (!opened.ok()) return Failure(opened.error());
      if (!*opened) return std::optional<Item>();
    }
    if (auto item = impl_->chunk->next()) return impl_->take(*std::move(item));
    if (impl_->chunk->damaged()) {
      return Failure(impl_->file.damaged(impl_->chunk_offset, impl_->chunk->problem()));
    }
    impl_->chunk.reset();
  }
}

std::vector<std::byte> Reader::code(u32 pid, u64 address, std::size_t bytes) const {
  return impl_->memory.copy(pid, address, bytes);
}

Result<std::optional<Item>, Error> Reader::Impl::take(Item item) {
  if (const auto* run = std::get_if<BlockRun>(&item)) {
    memory.executed(*run->block);
  } else {
    const Happening& happening = std::get<Happening>(item);
    memory.happened(happening);
    threads.happened(happening);
    if (threads.count() > max_live_threads)
      return Failure(file.damaged(chunk_offset, fmt::format("more than {} threads live", max_live_threads)));
  }
  return std::optional(std::move(item));
}

Result<bool, Error> Reader::Impl::open_chunk() {
  if (next_offset == index.chunks_end) {
    if (instructions == index.totals.instructions) return false;
    return Failure(file.damaged(index.chunks_end, "chunks and index disagree on the number of instructions"));
  }
  const auto header = read_chunk_header(file, next_offset, instructions);
  if (!header.ok()) return Failure(header.error());
  const u64 end = next_offset + sizeof(ChunkHeader) + payload_bytes(*header);
  if (end > index.chunks_end) return Failure(file.damaged(next_offset, "chunk reaches into the index"));
  auto streams = read_streams(*header);
  if (!streams.ok()) return Failure(streams.error());

  table.limit_instructions(static_instruction_limit(end));
  chunk =
      std::make_unique<ChunkDecoder>(*std::move(streams), contents, header->instructions, header->tid, table);
  chunk_offset = next_offset;
  next_offset = end;
  instructions += header->instructions;
  return true;
}

Result<StreamData, Error> Reader::Impl::read_streams(const ChunkHeader& header) {
  const auto payload = read_chunk_payload(file, next_offset, header);
  if (!payload.ok()) return Failure(payload.error());
  StreamData streams;
  std::span<const u8> rest(*payload);
  for (std::size_t s = 0; s < stream_count; ++s) {
    auto raw = decompress(rest.first(header.streams[s].stored_bytes), header.streams[s].raw_bytes);
    if (!raw)
      return Failure(file.damaged(next_offset, fmt::format("stream '{}' does not expand", stream_names[s])));
    streams[s] = *std::move(raw);
    rest = rest.subspan(header.streams[s].stored_bytes);
  }
  return streams;
}

}  // namespace pmusim::trace
