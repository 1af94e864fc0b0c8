// SPDX-License-Identifier: MIT
// What a reader makes of files that are not whole traces: a sentence with the file's name and an offset.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <sys/stat.h>

#include "tests/trace/sample_trace.h"
#include "trace/bytes.h"
#include "trace/compression.h"
#include "trace/format.h"
#include "trace/side_band_codec.h"

namespace pmusim::trace {
namespace {

class Damage : public testing::Test {
 protected:
  void SetUp() override {
    trace.write(path, 30);
    content = file_content(path);
  }
  Result<std::vector<OwnedItem>, Error> read(const std::vector<char>& bytes) {
    write_content(damaged, bytes);
    return read_all(damaged);
  }
  /// Why the reader refuses the bytes, or says that they are not all.
  std::string message(const std::vector<char>& bytes) {
    const auto result = read(bytes);
    if (!result.ok()) return result.error().message;
    return Reader::open(damaged)->truncation().value_or("no error");
  }

  /// A trace that runs through `blocks` blocks of NOPs, one behind the other, again and again.
  static void write_nops(const std::string& file, u64 blocks, u64 runs) {
    auto writer = Writer::create(file, {});
    const std::vector<std::byte> nops(max_block_instructions, std::byte{0x90});
    const std::vector<u8> lengths(max_block_instructions, 1);
    std::vector<const Block*> sled;
    for (u64 n = 0; n < blocks; ++n)
      sled.push_back(&writer->add_block(0x400000 + n * nops.size(), nops, lengths));
    for (u64 n = 0; n < runs; ++n) {
      const u64 next = sled[(n + 1) % blocks]->start();
      ASSERT_TRUE(writer->run({sled[n % blocks], next, {}, {}, {}}).ok());
    }
    ASSERT_TRUE(writer->finish().ok());
  }
  /// Gives the first chunk another stream, and everything its right checksum.
  void replace_stream(Stream stream, const std::vector<u8>& raw) {
    ChunkHeader header{};
    std::memcpy(&header, content.data() + sizeof(FileHeader), sizeof header);
    const auto begin = content.begin() + sizeof(FileHeader) + sizeof(ChunkHeader);
    std::vector<u8> payload;
    auto from = begin;
    for (std::size_t s = 0; s < stream_count; ++s) {
      const auto to = from + static_cast<std::ptrdiff_t>(u32{header.streams[s].stored_bytes});
      if (s == static_cast<std::size_t>(stream)) {
        header.streams[s].raw_bytes = static_cast<u32>(raw.size());
        header.streams[s].stored_bytes = static_cast<u32>(compress(raw, payload));
      } else {
        payload.insert(payload.end(), from, to);
      }
      from = to;
    }
    header.payload_crc = crc32(payload.data(), payload.size());
    header.crc = crc_of(header);
    const auto* bytes = reinterpret_cast<const char*>(&header);
    std::vector<char> made(content.begin(), content.begin() + sizeof(FileHeader));
    made.insert(made.end(), bytes, bytes + sizeof header);
    made.insert(made.end(), payload.begin(), payload.end());
    content = made;  // without an end: a truncated trace
  }
  static std::vector<u8> dense_code(u64 blocks) {
    ByteWriter out;
    for (u64 n = 0; n < blocks; ++n) {
      out.difference(0);
      out.number(max_block_instructions);
      for (u8 byte : {u8{1}, u8{0x90}}) out.bytes(std::vector<u8>(max_block_instructions, byte));
    }
    return out.data();
  }
  /// The writer's own encoder cuts paths.
  static void map_with_path(const std::string& path_name, ByteWriter& out) {
    out.byte(static_cast<u8>(SideBandRecord(Map{}).index()));
    for (u64 member : {100, 0x1000, 0x1000, 0, 5, 2}) out.number(member);
    out.text(path_name);
    out.number(0);
  }

  TemporaryDirectory directory;
  std::string path = directory.file("whole");
  std::string damaged = directory.file("damaged");
  RandomTrace trace{1, {true, true}};
  std::vector<char> content;
};

TEST_F(Damage, EveryTruncationIsNoticed) {
  for (std::size_t size = 0; size < content.size(); ++size) {
    const std::string text = message({content.begin(), content.begin() + static_cast<std::ptrdiff_t>(size)});
    EXPECT_EQ(text.find(damaged), 0u) << size << ": " << text;
  }
}

TEST_F(Damage, EveryFlippedBitIsNoticed) {
  for (std::size_t n = 0; n < content.size(); ++n) {
    auto bytes = content;
    bytes[n] = static_cast<char>(bytes[n] ^ 1 << n % 8);
    const std::string text = message(bytes);
    EXPECT_EQ(text.find(damaged), 0u) << n << ": " << text;
  }
}

TEST_F(Damage, EachKindOfWrongFileHasItsSentence) {
  EXPECT_EQ(message({}), damaged + ": not a trace: the file is empty");
  EXPECT_EQ(message(std::vector<char>(100, 'x')),
            damaged + ": not a trace: it does not begin with \"PMUTRACE\"");
  content.pop_back();
  EXPECT_NE(message(content).find("truncated: it has no end mark"), std::string::npos);
  content.resize(100);
  EXPECT_NE(message(content).find("truncated: it ends at offset 100"), std::string::npos);
  EXPECT_NE(read_all(directory.file("missing")).error().message.find("cannot read: No such file"),
            std::string::npos);
  EXPECT_NE(read_all("/").error().message.find("Is a directory"), std::string::npos);
}

// What a recorder that was killed leaves: whole chunks, and a part of one.
TEST_F(Damage, WholeChunksOfATruncatedTraceAreRead) {
  const std::string two = directory.file("two");
  write_nops(two, 1, chunk_instructions / max_block_instructions + 10);
  const auto whole = *read_all(two);
  auto bytes = file_content(two);
  bytes.resize(bytes.size() - sizeof(Trailer) - sizeof(IndexHeader) - sizeof(IndexEntry) - 100);
  const auto part = *read(bytes);
  ASSERT_LT(part.size(), whole.size());
  EXPECT_TRUE(std::equal(part.begin(), part.end(), whole.begin()));
  const auto reader = Reader::open(damaged);
  EXPECT_EQ(reader->instruction_count(), chunk_instructions);
  EXPECT_THAT(*reader->truncation(), testing::HasSubstr("its first 1048576 instructions"));
}

TEST_F(Damage, ZerosBehindTheLastWholeChunkAreATruncation) {
  content.resize(content.size() - sizeof(Trailer) - sizeof(IndexHeader) - sizeof(IndexEntry));
  content.resize(content.size() + 5000);
  EXPECT_THAT(message(content), testing::HasSubstr("truncated: it has no end mark"));
  EXPECT_EQ(read_all(damaged)->size(), trace.items.size());
}

TEST_F(Damage, APipeIsRefusedAndNotWaitedFor) {
  ASSERT_EQ(::mkfifo(damaged.c_str(), 0600), 0);
  EXPECT_EQ(read_all(damaged).error().message,
            damaged + ": cannot read: it is a pipe or a device; expected a regular file");
  EXPECT_FALSE(read_all("/dev/zero").ok());
}

TEST_F(Damage, AnIndexWhoseSizeWrapsIsRefused) {
  Trailer trailer{};
  char* const at = content.data() + content.size() - sizeof trailer;
  std::memcpy(&trailer, at, sizeof trailer);
  trailer.index_bytes = 0xFFFF0000;
  trailer.index_offset = content.size() - sizeof trailer - 0xFFFF0000ull;
  trailer.crc = crc_of(trailer);
  std::memcpy(at, &trailer, sizeof trailer);
  EXPECT_THAT(message(content), testing::HasSubstr("end mark points outside the file"));
}

TEST_F(Damage, ANewerVersionSaysSo) {
  FileHeader header{};
  std::memcpy(&header, content.data(), sizeof header);
  header.version = format_version + 1;
  header.crc = crc_of(header);
  std::memcpy(content.data(), &header, sizeof header);
  EXPECT_EQ(message(content),
            damaged + ": trace format version 7 at offset 8, this build reads up to version 6");
}

// Hostile files have right checksums.

TEST_F(Damage, CodeThatIsDenserThanTheFileIsBigIsRefused) {
  replace_stream(Stream::code, dense_code(static_instruction_limit(0) / 256 + 100));
  EXPECT_THAT(message(content), testing::HasSubstr("more code than a file of this size can hold"));
}

TEST_F(Damage, NamesThatLinuxDoesNotHaveAreRefused) {
  for (std::size_t bytes : {std::size_t{4096}, std::size_t{65'500}}) {
    ByteWriter records;
    encode(ProcessStart{100, 100, "sample", true}, records);
    map_with_path(std::string(bytes, 'x'), records);
    replace_stream(Stream::side_band, records.data());
    EXPECT_THAT(message(content), testing::HasSubstr("a mapping's path is longer than 4095 bytes"));
  }
  ByteWriter name;
  for (const u8 byte : {u8{9}, u8{100}, u8{100}}) name.byte(byte);
  name.text("0123456789abcdef");
  replace_stream(Stream::side_band, name.data());
  EXPECT_THAT(message(content), testing::HasSubstr("a thread's name is longer than 15 bytes"));
}

TEST_F(Damage, MoreThreadsThanLinuxHasAreRefused) {
  auto writer = Writer::create(path, {});
  ASSERT_TRUE(writer->side_band(ProcessStart{1, 1, "forks", true}).ok());
  for (u32 n = 2; n < max_live_threads + 10; ++n)
    ASSERT_TRUE(writer->side_band(ThreadStart{n, n, 1, 1}).ok());
  ASSERT_TRUE(writer->finish().ok());
  EXPECT_THAT(message(file_content(path)), testing::HasSubstr("more than 32768 threads live"));
}

TEST_F(Damage, AWriterStoresASledOfNopsAsReadersTakeIt) {
  constexpr u64 blocks = 700;
  write_nops(path, blocks, blocks);
  EXPECT_EQ(read_all(path)->size(), blocks);
}

TEST_F(Damage, AChunkWithASledOfNopsIsPassedAsItIsRead) {
  constexpr u64 blocks = 700, runs = chunk_instructions / max_block_instructions + 10;
  write_nops(path, blocks, runs);
  auto reader = Reader::open(path);
  ASSERT_TRUE(reader.ok()) << reader.error().message;
  ASSERT_TRUE(reader->begin_at(chunk_instructions).ok());
  const auto items = items_of(*reader);
  ASSERT_TRUE(items.ok()) << items.error().message;
  EXPECT_EQ(items->size(), 10u);
}

TEST_F(Damage, AWriterCompressesCodeAsAWholeWhereReadersTakeIt) {
  write_nops(path, 500, 500);
  const auto reader = Reader::open(path);
  ASSERT_TRUE(reader.ok()) << reader.error().message;
  const auto streams = reader->streams();
  const auto code = std::ranges::find(streams, "code", &StreamSize::name);
  ASSERT_NE(code, streams.end());
  EXPECT_GT(code->raw_bytes, 500u * max_block_instructions);
  EXPECT_LT(code->stored_bytes, code->raw_bytes / 100) << "one NOP is as the other";
}

TEST_F(Damage, AChunkThatAsksForMuchMemoryIsRefused) {
  ChunkHeader header{};
  std::memcpy(&header, content.data() + sizeof(FileHeader), sizeof header);
  header.streams[0].raw_bytes = 0xFFFFFFFF;
  header.crc = crc_of(header);
  std::memcpy(content.data() + sizeof(FileHeader), &header, sizeof header);
  EXPECT_EQ(message(content), damaged + ": damaged at offset 24: chunk is too big");
}

TEST_F(Damage, AStreamThatExpandsToAnotherSizeIsRefused) {
  ChunkHeader header{};
  std::memcpy(&header, content.data() + sizeof(FileHeader), sizeof header);
  header.streams[0].raw_bytes -= 1;
  header.crc = crc_of(header);
  std::memcpy(content.data() + sizeof(FileHeader), &header, sizeof header);
  EXPECT_EQ(message(content), damaged + ": damaged at offset 24: stream 'code' does not expand");
}

}  // namespace
}  // namespace pmusim::trace
