#include "pmusim/trace/reader.h"

#include <fmt/format.h>

#include "trace/chunk_decoder.h"
#include "trace/code_memory.h"
#include "trace/compression.h"
#include "trace/input_file.h"

namespace pmusim::trace {
namespace {

template <class T>
Result<T, Error> read_structure(const InputFile& file, u64 offset) {
  T structure{};
  const auto read = file.read(offset, std::as_writable_bytes(std::span(&structure, 1)));
  if (!read.ok()) return Failure(read.error());
  return structure;
}

Result<Contents, Error> read_file_header(const InputFile& file) {
  if (file.size() == 0) return Failure(Error(fmt::format("{}: not a trace: the file is empty", file.path())));
  const auto header = read_structure<FileHeader>(file, 0);
  if (!header.ok() || header->magic != file_magic) {
    return Failure(Error(fmt::format("{}: not a trace: it does not begin with \"{}\"", file.path(),
                                     std::string_view(file_magic.data(), file_magic.size()))));
  }
  if (header->crc != crc_of(*header)) return Failure(file.damaged(0, "file header has a wrong checksum"));
  if (header->version != format_version) {
    return Failure(Error(fmt::format("{}: trace format version {} at offset 8, this build reads version {}",
                                     file.path(), u32{header->version}, format_version)));
  }
  const u32 contents = header->contents;
  return Contents{(contents & contents_bits::ADDRESSES) != 0, (contents & contents_bits::REGISTERS) != 0};
}

struct Index {
  u64 offset = 0;  // in the file: the end of the chunks
  IndexHeader header{};
};

Result<Index, Error> read_index(const InputFile& file) {
  if (file.size() < sizeof(FileHeader) + sizeof(IndexHeader) + sizeof(Trailer)) {
    return Failure(Error(fmt::format("{}: truncated: it ends at offset {}", file.path(), file.size())));
  }
  const u64 trailer_offset = file.size() - sizeof(Trailer);
  const auto trailer = read_structure<Trailer>(file, trailer_offset);
  if (!trailer.ok()) return Failure(trailer.error());
  if (trailer->magic != trailer_magic) {
    return Failure(
        Error(fmt::format("{}: truncated: no end mark at offset {}", file.path(), trailer_offset)));
  }
  if (trailer->crc != crc_of(*trailer)) {
    return Failure(file.damaged(trailer_offset, "end mark has a wrong checksum"));
  }
  const u64 offset = trailer->index_offset;
  if (offset < sizeof(FileHeader) || trailer->index_bytes < sizeof(IndexHeader) ||
      offset + trailer->index_bytes != trailer_offset) {
    return Failure(file.damaged(trailer_offset, "end mark points outside the file"));
  }
  std::vector<std::byte> payload(trailer->index_bytes);
  const auto read = file.read(offset, payload);
  if (!read.ok()) return Failure(read.error());
  if (trailer->index_crc != crc32(payload.data(), payload.size())) {
    return Failure(file.damaged(offset, "index has a wrong checksum"));
  }
  Index index{offset, {}};
  std::copy_n(payload.begin(), sizeof(IndexHeader),
              std::as_writable_bytes(std::span(&index.header, 1)).begin());
  return index;
}

// What is wrong with a header whose checksum is right: limits keep a hostile file from asking for memory.
std::string_view chunk_header_problem(const ChunkHeader& header, u64 expected_first) {
  if (header.magic != chunk_magic) return "no chunk begins here";
  if (header.crc != crc_of(header)) return "chunk header has a wrong checksum";
  if (header.first_instruction != expected_first) return "chunk is not in its place";
  if (header.instructions > max_chunk_instructions) return "chunk has too many instructions";
  for (const StreamHeader& s : header.streams) {
    if (s.raw_bytes > max_stream_bytes || s.stored_bytes > max_stream_bytes) return "chunk is too big";
  }
  return {};
}

}  // namespace

struct Reader::Impl {
  InputFile file;
  Contents contents;
  Index index;
  CodeTable table;
  CodeMemory memory;
  std::unique_ptr<ChunkDecoder> chunk;
  u64 chunk_offset = 0;
  u64 next_offset = sizeof(FileHeader);
  u64 instructions = 0;  // before the next chunk

  Impl(InputFile input, Contents has, Index footer) : file(std::move(input)), contents(has), index(footer) {}

  /// Errors as `next`. False at the end of the trace.
  Result<bool, Error> open_chunk();
  Result<StreamData, Error> read_streams(const ChunkHeader& header);
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
  const auto index = read_index(*file);
  if (!index.ok()) return Failure(index.error());
  return Reader(std::make_unique<Impl>(*std::move(file), *contents, *index));
}

const Contents& Reader::contents() const { return impl_->contents; }
u64 Reader::instruction_count() const { return impl_->index.header.instructions; }
u64 Reader::file_bytes() const { return impl_->file.size(); }

std::vector<StreamSize> Reader::streams() const {
  std::vector<StreamSize> result;
  for (std::size_t s = 0; s < stream_count; ++s) {
    const StreamTotal& total = impl_->index.header.streams[s];
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
    if (auto item = impl_->chunk->next()) {
      if (const auto* run = std::get_if<BlockRun>(&*item)) {
        impl_->memory.executed(*run->block);
      } else {
        impl_->memory.happened(std::get<Happening>(*item));
      }
      return item;
    }
    if (impl_->chunk->damaged()) {
      return Failure(impl_->file.damaged(impl_->chunk_offset, "chunk does not decode"));
    }
    impl_->chunk.reset();
  }
}

std::vector<std::byte> Reader::code(u32 pid, u64 address, std::size_t bytes) const {
  return impl_->memory.copy(pid, address, bytes);
}

Result<bool, Error> Reader::Impl::open_chunk() {
  if (next_offset == index.offset) {
    if (instructions == index.header.instructions) return false;
    return Failure(file.damaged(index.offset, "chunks and index disagree on the number of instructions"));
  }
  const auto header = read_structure<ChunkHeader>(file, next_offset);
  if (!header.ok()) return Failure(header.error());
  const std::string_view problem = chunk_header_problem(*header, instructions);
  if (!problem.empty()) return Failure(file.damaged(next_offset, problem));
  auto streams = read_streams(*header);
  if (!streams.ok()) return Failure(streams.error());

  chunk =
      std::make_unique<ChunkDecoder>(*std::move(streams), contents, header->instructions, header->tid, table);
  chunk_offset = next_offset;
  next_offset += sizeof(ChunkHeader);
  for (const StreamHeader& s : header->streams) next_offset += s.stored_bytes;
  instructions += header->instructions;
  return true;
}

Result<StreamData, Error> Reader::Impl::read_streams(const ChunkHeader& header) {
  std::size_t bytes = 0;
  for (const StreamHeader& s : header.streams) bytes += s.stored_bytes;
  if (next_offset + sizeof(ChunkHeader) + bytes > index.offset) {
    return Failure(file.damaged(next_offset, "chunk reaches into the index"));
  }
  std::vector<u8> payload(bytes);
  const auto read = file.read(next_offset + sizeof(ChunkHeader), std::as_writable_bytes(std::span(payload)));
  if (!read.ok()) return Failure(read.error());
  if (header.payload_crc != crc32(payload.data(), payload.size())) {
    return Failure(file.damaged(next_offset, "chunk has a wrong checksum"));
  }
  StreamData streams;
  std::span<const u8> rest(payload);
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
