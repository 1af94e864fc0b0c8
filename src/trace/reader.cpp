// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <system_error>
#include <utility>

#include "pmusim/base/types.h"
#include "pmusim/trace/trace.h"
#include "trace/beginning.h"
#include "trace/chunk_decoder.h"
#include "trace/code_memory.h"
#include "trace/compression.h"
#include "trace/decoding_thread.h"
#include "trace/live_threads.h"
#include "trace/passed_chunk.h"
#include "trace/trace_index.h"

namespace pmusim::trace {
namespace {

constexpr u64 unknown_end = ~u64{0};

Result<Contents, Error> read_file_header(const TraceBytes& file) {
  const auto header = read_structure<FileHeader>(file, 0);
  if (!header.ok() || header->magic != file_magic) {
    return Failure(Error(fmt::format("{}: not a trace: it does not begin with \"{}\"", file.path(),
                                     std::string_view(file_magic.data(), file_magic.size()))));
  }
  if (header->crc != crc_of(*header)) return Failure(file.damaged(0, "file header has a wrong checksum"));
  if (header->version == 0 || header->version > format_version) {
    return Failure(
        Error(fmt::format("{}: trace format version {} at offset 8, this build reads up to version {}",
                          file.path(), u32{header->version}, format_version)));
  }
  const u32 contents = header->contents;
  const bool may_have_extended = header->version > format_version_without_extended;
  const bool may_have_stand_ins = header->version > format_version_without_stand_ins;
  const bool may_have_timing = header->version > format_version_without_timing;
  const bool may_have_kernel = header->version > format_version_without_kernel;
  return Contents{.addresses = (contents & contents_bits::ADDRESSES) != 0,
                  .registers = (contents & contents_bits::REGISTERS) != 0,
                  .extended = may_have_extended && (contents & contents_bits::EXTENDED) != 0,
                  .stand_in_code = may_have_stand_ins && (contents & contents_bits::STAND_IN_CODE) != 0,
                  .timing = may_have_timing && (contents & contents_bits::TIMING) != 0,
                  .kernel = may_have_kernel && (contents & contents_bits::KERNEL) != 0};
}

}  // namespace

struct Reader::Impl {
  std::shared_ptr<const TraceBytes> bytes;
  const TraceBytes& file;
  Contents contents;
  Contents wanted;  // of these
  u64 wanted_streams = ~u64{0};
  TraceIndex index;  // of a trace that comes through a pipe: filled in at its end
  u64 file_bytes = 0;
  CodeTable table;
  CodeMemory memory;
  LiveThreads threads;
  DecoderMemory decoder_memory;
  std::unique_ptr<ChunkDecoder> chunk;
  std::unique_ptr<PassedChunk> passed_chunk;  // instead
  Beginning beginning{0};
  bool begun = true;
  Items held;  // follow what is delivered before them
  Item switch_before;
  Items latest;                // that were read
  u64 may_be_first = ~u64{0};  // as ChunkDecoder::may_be_first(), of these; all, if there are more than 64
  std::size_t remembered = 0;  // of these, in `memory`
  u64 chunk_offset = 0;
  u64 next_offset = sizeof(FileHeader);
  u64 instructions = 0;  // before the next chunk
  bool ahead = false;
  // From where `begun`, if at all; what is above is then its own, but for `memory`. Last: it uses the others.
  std::unique_ptr<DecodingThread> thread;

  Impl(std::shared_ptr<const TraceBytes> input, Contents has, TraceIndex footer)
      : bytes(std::move(input)), file(*bytes), contents(has), wanted(has), index(std::move(footer)) {}

  /// Everything in order, but for what passed chunks hold beside side-band records. Errors as Reader::read().
  Result<Items, Error> read();
  Result<Items, Error> decode();
  /// The same up to the first block, of which the beginning decides what is delivered.
  Result<Items, Error> read_before_beginning();
  Items begin(Items first);
  Items tell_first(const ThreadSwitch& to, Items then);

  /// The next one, read or passed. Errors as next(). False at the end of the trace.
  Result<bool, Error> open_chunk();
  /// Both: where it ends in the file.
  Result<u64, Error> open_chunk(const ChunkHeader& header);
  Result<u64, Error> pass_chunk(const ChunkHeader& header);
  /// Nothing at the end.
  Result<std::optional<ChunkHeader>, Error> next_header();
  bool comes_through_pipe() const { return index.chunks_end == unknown_end; }
  Result<std::optional<ChunkHeader>, Error> next_header_of_pipe();
  Result<StreamData, Error> read_streams(const ChunkHeader& header);
  /// Expands the part at `offset` into `streams`; where it ends in the file.
  template <std::size_t count>
  Result<u64, Error> read_part(u64 offset, const PartKind<count>& kind,
                               std::array<std::vector<u8>, count>& streams);
  template <std::size_t count>
  Result<u64, Error> pass_part(u64 offset, const PartKind<count>& kind) const;
  /// Those of the streams whose bit is in `needed`.
  template <std::size_t count>
  Result<Done, Error> expand(std::span<const u8> payload, const std::array<StreamHeader, count>& headers,
                             const std::array<std::string_view, count>& names,
                             std::array<std::vector<u8>, count>& streams, u64 needed = ~u64{0});
  Result<Done, Error> take(const SideBandRecord& record);
  Result<Items, Error> read_ahead();
  std::unique_ptr<DecodingThread> start_thread();
  /// So many of the latest have been delivered.
  void remember(std::size_t count);
  void remember(const Item& item);
};

Reader::Reader(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Reader::Reader(Reader&&) noexcept = default;
Reader& Reader::operator=(Reader&&) noexcept = default;
Reader::~Reader() = default;

Result<Reader, Error> Reader::open(const std::string& path) {
  auto input = InputFile::open(path);
  if (!input.ok()) return Failure(input.error());
  if (input->size() == 0) return Failure(Error(fmt::format("{}: not a trace: the file is empty", path)));
  const auto file = std::make_shared<FileBytes>(*std::move(input));
  const auto contents = read_file_header(*file);
  if (!contents.ok()) return Failure(contents.error());
  auto index = read_index(*file, *contents);
  if (!index.ok()) return Failure(index.error());
  auto impl = std::make_unique<Impl>(file, *contents, *std::move(index));
  impl->file_bytes = file->size();
  return Reader(std::move(impl));
}

Result<Reader, Error> Reader::open_stream(std::shared_ptr<const TraceBytes> bytes) {
  const auto contents = read_file_header(*bytes);
  if (!contents.ok()) return Failure(contents.error());
  return Reader(std::make_unique<Impl>(std::move(bytes), *contents, TraceIndex{unknown_end, {}, {}, {}, {}}));
}

const Contents& Reader::contents() const { return impl_->contents; }
u64 Reader::instruction_count() const { return impl_->index.totals.instructions; }
const std::optional<std::string>& Reader::truncation() const { return impl_->index.truncation; }
u64 Reader::file_bytes() const { return impl_->file_bytes; }

std::vector<StreamSize> Reader::streams() const {
  std::vector<StreamSize> result;
  const auto add = [&](const auto& names, const auto& totals) {
    for (std::size_t s = 0; s < names.size(); ++s)
      result.push_back({names[s], totals.streams[s].raw_bytes, totals.streams[s].stored_bytes});
  };
  add(stream_names, impl_->index.totals);
  if (impl_->contents.extended) add(extended_stream_names, impl_->index.extended_totals);
  if (impl_->contents.timing) add(timing_stream_names, impl_->index.timing_totals);
  return result;
}

Result<Done, Error> Reader::begin_at(u64 instruction) {
  if (instruction >= instruction_count())
    return Failure(Error(fmt::format("{}: cannot begin at instruction {}: it has {}, the first of which is 0",
                                     impl_->file.path(), instruction, instruction_count())));
  impl_->beginning = Beginning(instruction);
  impl_->begun = instruction == 0;
  return Done{};
}

u64 Reader::instructions_before() const { return impl_->beginning.passed(); }
std::optional<u64> Reader::length() const { return instruction_count() - impl_->beginning.instruction(); }

void Reader::leave_out(Detail detail) {
  constexpr auto bit_of = [](Stream s) { return bit(static_cast<unsigned>(s)); };
  if (detail == Detail::addresses) {
    impl_->wanted.addresses = false;
    impl_->wanted_streams &= ~bit_of(Stream::addresses);
  } else if (!impl_->contents.extended) {
    impl_->wanted.registers = false;
    impl_->wanted_streams &=
        ~(bit_of(Stream::register_masks) | bit_of(Stream::register_values) | bit_of(Stream::flags));
  }
}

void Reader::decode_ahead() { impl_->ahead = !impl_->contents.extended; }

Result<std::unique_ptr<Source>, Error> Reader::again() const {
  if (impl_->comes_through_pipe()) return Source::again();
  auto reader = open(impl_->file.path());
  if (!reader.ok()) return Failure(reader.error());
  if (const u64 first = impl_->beginning.instruction(); first != 0)
    if (auto begun = reader->begin_at(first); !begun.ok()) return Failure(begun.error());
  reader->impl_->wanted = impl_->wanted;
  reader->impl_->wanted_streams = impl_->wanted_streams;
  reader->impl_->ahead = impl_->ahead;
  return std::unique_ptr<Source>(std::make_unique<Reader>(std::move(reader).value()));
}

Result<Items, Error> Reader::read() {
  impl_->remember(impl_->latest.size());
  const auto items = impl_->begun ? impl_->read() : impl_->read_before_beginning();
  impl_->latest = items.ok() ? *items : Items();
  impl_->remembered = 0;
  return items;
}

Result<Items, Error> Reader::Impl::read() {
  may_be_first = ~u64{0};
  if (ahead) return read_ahead();
  const auto items = decode();
  if (items.ok() && !items->empty() && std::holds_alternative<BlockRun>(items->front()))
    may_be_first = chunk->may_be_first();
  return items;
}

Result<Items, Error> Reader::Impl::read_ahead() {
  if (thread == nullptr) thread = start_thread();
  return thread != nullptr ? thread->read() : decode();
}

/// None where there may be no more threads: it is decoded when asked for, then.
std::unique_ptr<DecodingThread> Reader::Impl::start_thread() {
  try {
    return std::make_unique<DecodingThread>([this] { return decode(); });
  } catch (const std::system_error&) {
    ahead = false;
    return nullptr;
  }
}

void Reader::Impl::remember(std::size_t count) {
  constexpr std::size_t mask_bits = 64;
  if (may_be_first != 0)
    for (std::size_t n = remembered; n < count; ++n)
      if (n >= mask_bits || (may_be_first >> n & 1) != 0) remember(latest[n]);
  remembered = count;
}

void Reader::Impl::remember(const Item& item) {
  if (const auto* run = std::get_if<BlockRun>(&item)) {
    memory.executed(*run->block);
  } else {
    memory.on_side_band(std::get<SideBandRecord>(item));
  }
}

Result<Items, Error> Reader::Impl::decode() {
  for (;;) {
    if (chunk == nullptr && passed_chunk == nullptr) {
      const auto opened = open_chunk();
      if (!opened.ok()) return Failure(opened.error());
      if (!*opened) return Items();
    }
    if (const Items items = chunk ? chunk->read() : passed_chunk->read(); !items.empty()) {
      if (const auto* record = std::get_if<SideBandRecord>(&items.front()))
        if (auto taken = take(*record); !taken.ok()) return Failure(taken.error());
      return items;
    }
    if (chunk ? chunk->damaged() : passed_chunk->damaged())
      return Failure(file.damaged(chunk_offset, chunk ? chunk->problem() : passed_chunk->problem()));
    chunk.reset();
    passed_chunk.reset();
  }
}

Result<Items, Error> Reader::Impl::read_before_beginning() {
  may_be_first = ~u64{0};
  if (!held.empty()) {
    begun = std::holds_alternative<BlockRun>(held.front());
    return std::exchange(held, Items());
  }
  for (;;) {
    const auto items = decode();
    if (!items.ok() || items->empty()) return items;
    if (const auto* record = std::get_if<SideBandRecord>(&items->front())) {
      if (!beginning.tells(*record)) {
        remember(items->front());
        continue;
      }
      const auto to = beginning.switch_before(*record);
      return to ? tell_first(*to, *items) : items;
    }
    for (Items runs = *items; !runs.empty(); runs = runs.subspan(1)) {
      const Block& block = *std::get<BlockRun>(runs.front()).block;
      if (!beginning.is_behind(block.instructions.size())) return begin(runs);
      beginning.pass(block.instructions.size());
      memory.executed(block);
    }
  }
}

Items Reader::Impl::begin(Items first) {
  const auto to = beginning.switch_at_beginning();
  if (to) return tell_first(*to, first);
  begun = true;
  return first;
}

Items Reader::Impl::tell_first(const ThreadSwitch& to, Items then) {
  held = then;
  switch_before = SideBandRecord(to);
  return {&switch_before, 1};
}

std::vector<std::byte> Reader::code(u32 pid, u64 address, std::size_t bytes) const {
  impl_->remember(delivered());
  return impl_->memory.copy(pid, address, bytes);
}

Result<Done, Error> Reader::Impl::take(const SideBandRecord& record) {
  threads.on_side_band(record);
  if (threads.count() > max_live_threads)
    return Failure(file.damaged(chunk_offset, fmt::format("more than {} threads live", max_live_threads)));
  return Done{};
}

Result<std::optional<ChunkHeader>, Error> Reader::Impl::next_header() {
  if (comes_through_pipe()) return next_header_of_pipe();
  if (next_offset == index.chunks_end) {
    if (instructions == index.totals.instructions) return std::optional<ChunkHeader>();
    return Failure(file.damaged(index.chunks_end, "chunks and index disagree on the number of instructions"));
  }
  const auto header = read_chunk_header(file, next_offset, instructions);
  if (!header.ok()) return Failure(header.error());
  return std::optional(*header);
}

// What is no chunk is the index, which begins with the number of all instructions and is longer.
Result<std::optional<ChunkHeader>, Error> Reader::Impl::next_header_of_pipe() {
  const auto header = read_structure<ChunkHeader>(file, next_offset);
  if (!header.ok()) return Failure(header.error());
  const u64 all_instructions = header->magic | u64{header->instructions} << 32;
  if (header->magic != chunk_magic && all_instructions == instructions) {
    index.chunks_end = next_offset;
    index.totals.instructions = instructions;
    return std::optional<ChunkHeader>();
  }
  const auto checked = check_chunk_header(file, *header, next_offset, instructions);
  if (!checked.ok()) return Failure(checked.error());
  return std::optional(*header);
}

Result<bool, Error> Reader::Impl::open_chunk() {
  const auto header = next_header();
  if (!header.ok()) return Failure(header.error());
  if (!*header) return false;
  const auto end =
      !begun && beginning.is_behind((*header)->instructions) ? pass_chunk(**header) : open_chunk(**header);
  if (!end.ok()) return Failure(end.error());
  chunk_offset = next_offset;
  next_offset = *end;
  instructions += (*header)->instructions;
  return true;
}

Result<u64, Error> Reader::Impl::open_chunk(const ChunkHeader& header) {
  u64 end = next_offset + sizeof(ChunkHeader) + payload_bytes(header);
  if (end > index.chunks_end) return Failure(file.damaged(next_offset, "chunk reaches into the index"));
  auto streams = read_streams(header);
  if (!streams.ok()) return Failure(streams.error());
  if (contents.extended) {
    const auto behind = read_part(end, extended_part, streams->extended);
    if (!behind.ok()) return behind;
    end = *behind;
  }
  if (contents.timing) {
    const auto behind = read_part(end, timing_part, streams->timing);
    if (!behind.ok()) return behind;
    end = *behind;
  }
  table.limit_instructions(static_instruction_limit(end));
  chunk = std::make_unique<ChunkDecoder>(*std::move(streams), wanted,
                                         ChunkDecoder::Facts{header.instructions, header.tid}, table,
                                         decoder_memory);
  return end;
}

Result<u64, Error> Reader::Impl::pass_chunk(const ChunkHeader& header) {
  u64 end = next_offset + sizeof(ChunkHeader) + payload_bytes(header);
  if (contents.extended) {
    const auto behind = pass_part(end, extended_part);
    if (!behind.ok()) return behind;
    end = *behind;
  }
  if (contents.timing) {
    const auto behind = pass_part(end, timing_part);
    if (!behind.ok()) return behind;
    end = *behind;
  }
  if (end > index.chunks_end) return Failure(file.damaged(next_offset, "chunk reaches into the index"));
  const auto payload = read_chunk_payload(file, next_offset, header);
  if (!payload.ok()) return Failure(payload.error());
  StreamData streams;
  constexpr auto code = static_cast<unsigned>(Stream::code),
                 records = static_cast<unsigned>(Stream::side_band);
  if (auto done = expand(*payload, header.streams, stream_names, streams.plain, bit(code) | bit(records));
      !done.ok())
    return Failure(done.error());
  table.limit_instructions(static_instruction_limit(end));
  passed_chunk =
      std::make_unique<PassedChunk>(std::move(streams.plain[code]), std::move(streams.plain[records]), table);
  beginning.pass(header.instructions);
  return end;
}

Result<StreamData, Error> Reader::Impl::read_streams(const ChunkHeader& header) {
  const auto payload = read_chunk_payload(file, next_offset, header);
  if (!payload.ok()) return Failure(payload.error());
  StreamData streams;
  if (auto done = expand(*payload, header.streams, stream_names, streams.plain, wanted_streams); !done.ok())
    return Failure(done.error());
  return streams;
}

template <std::size_t count>
Result<u64, Error> Reader::Impl::read_part(u64 offset, const PartKind<count>& kind,
                                           std::array<std::vector<u8>, count>& streams) {
  const auto part = trace::read_part(file, offset, kind);
  if (!part.ok()) return Failure(part.error());
  if (part->end > index.chunks_end) return Failure(file.damaged(offset, "chunk reaches into the index"));
  auto done = expand(part->payload, part->header.streams, kind.stream_names, streams);
  if (!done.ok()) return Failure(done.error());
  return part->end;
}

template <std::size_t count>
Result<u64, Error> Reader::Impl::pass_part(u64 offset, const PartKind<count>& kind) const {
  const auto header = read_part_header(file, offset, kind);
  if (!header.ok()) return Failure(header.error());
  return offset + sizeof *header + payload_bytes(*header);
}

template <std::size_t count>
Result<Done, Error> Reader::Impl::expand(std::span<const u8> payload,
                                         const std::array<StreamHeader, count>& headers,
                                         const std::array<std::string_view, count>& names,
                                         std::array<std::vector<u8>, count>& streams, u64 needed) {
  for (std::size_t s = 0; s < count; ++s) {
    const auto stored = payload.first(headers[s].stored_bytes);
    payload = payload.subspan(stored.size());
    if ((needed >> s & 1) == 0) continue;
    auto raw = decompress(stored, headers[s].raw_bytes);
    if (!raw) return Failure(file.damaged(next_offset, fmt::format("stream '{}' does not expand", names[s])));
    streams[s] = *std::move(raw);
  }
  return Done{};
}

}  // namespace pmusim::trace
