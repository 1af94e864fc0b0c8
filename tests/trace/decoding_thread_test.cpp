// SPDX-License-Identifier: MIT
// Traces that are decoded ahead by another thread: nothing but the time differs.
#include <gmock/gmock.h>

#include <cstring>
#include <string>
#include <utility>

#include "tests/trace/sample_trace.h"
#include "trace/format.h"

namespace pmusim::trace {
namespace {

enum class Decoded { when_asked, ahead };

Reader open(const std::string& path, Decoded decoded, u64 from = 0) {
  Reader reader = *Reader::open(path);
  EXPECT_TRUE(reader.begin_at(from).ok());
  if (decoded == Decoded::ahead) reader.decode_ahead();
  return reader;
}

/// What a reader says: items, and the error that ends them, if any.
struct Told {
  std::vector<OwnedItem> items;
  std::string error;
  friend bool operator==(const Told&, const Told&) = default;
};

Told all_of(Source& source) {
  Told told;
  for (;;) {
    const auto item = source.next();
    if (!item.ok()) return told.error = item.error().message, told;
    if (!*item) return told;
    told.items.push_back(own(**item));
  }
}
Told all_of(const std::string& path, Decoded decoded, u64 from = 0) {
  Reader reader = open(path, decoded, from);
  return all_of(reader);
}

class DecodingAhead : public testing::Test {
 protected:
  /// Three chunks of 256 instructions a run, so that most of it does not fit into what is decoded ahead.
  void write_three_chunks() const {
    auto writer = Writer::create(path, {.addresses = true});
    const std::vector<std::byte> code(max_block_instructions, std::byte{0x50});  // PUSH RAX
    const std::vector<u8> lengths(max_block_instructions, 1);
    std::vector<const Block*> blocks;
    for (u64 n = 0; n < 7; ++n) blocks.push_back(&writer->add_block(0x400000 + n * 0x1000, code, lengths));
    std::vector<u64> addresses(max_block_instructions);
    for (u64 n = 0; n < 3 * chunk_instructions / max_block_instructions; ++n) {
      addresses[n % addresses.size()] = n * n;
      const Block& next = *blocks[(n + 1) * (n + 1) % blocks.size()];
      ASSERT_TRUE(writer->run({blocks[n * n % blocks.size()], next.start(), addresses, {}, {}}).ok());
    }
    ASSERT_TRUE(writer->finish().ok());
  }
  u64 second_chunk() const {
    const auto content = file_content(path);
    ChunkHeader header{};
    std::memcpy(&header, content.data() + sizeof(FileHeader), sizeof header);
    u64 end = sizeof(FileHeader) + sizeof header;
    for (const StreamHeader& s : header.streams) end += s.stored_bytes;
    return end;
  }

  TemporaryDirectory directory;
  std::string path = directory.file("trace");
};

TEST_F(DecodingAhead, TellsTheSameItemsOfEveryKindOfTrace) {
  for (const Contents contents : {Contents{}, Contents{.addresses = true}, Contents{.registers = true},
                                  Contents{.addresses = true, .timing = true}}) {
    RandomTrace trace(7, contents);
    trace.write(path, 3000);
    const Told told = all_of(path, Decoded::ahead);
    EXPECT_EQ(told.error, "");
    EXPECT_EQ(told.items, trace.items);
  }
}

TEST_F(DecodingAhead, TellsTheSameFromEveryPlace) {
  RandomTrace trace(3, {.addresses = true});
  trace.write(path, 500);
  for (u64 from = 1; from < trace.instructions; from += 97)
    EXPECT_EQ(all_of(path, Decoded::ahead, from), all_of(path, Decoded::when_asked, from)) << from;
}

TEST_F(DecodingAhead, KnowsTheCodeThatWasExecutedUpToTheItemThatWasTold) {
  RandomTrace trace(5, {});
  trace.write(path, 2000);
  Reader ahead = open(path, Decoded::ahead), when_asked = open(path, Decoded::when_asked);
  while (true) {
    const auto item = ahead.next();
    ASSERT_TRUE(item.ok() && when_asked.next().ok());
    if (!*item) break;
    ASSERT_EQ(ahead.code(100, 0x400800, 64), when_asked.code(100, 0x400800, 64));
  }
}

TEST_F(DecodingAhead, MeetsDamageAtTheSamePlace) {
  write_three_chunks();
  const auto whole = file_content(path);
  const u64 second = second_chunk();
  for (const u64 at :
       {u64{sizeof(FileHeader)} + 4, second + 3, second + 40, second + sizeof(ChunkHeader) + 9}) {
    auto damaged = whole;
    damaged[static_cast<std::size_t>(at)] ^= 0x10;
    write_content(path, damaged);
    const Told ahead = all_of(path, Decoded::ahead);
    EXPECT_THAT(ahead.error, testing::HasSubstr("damaged at offset")) << at;
    EXPECT_EQ(ahead.items.size(), at < second ? 0u : chunk_instructions / max_block_instructions);
    EXPECT_EQ(ahead, all_of(path, Decoded::when_asked)) << at;
  }
}

TEST_F(DecodingAhead, EndsWhereATruncatedTraceDoes) {
  write_three_chunks();
  auto content = file_content(path);
  content.resize(static_cast<std::size_t>(second_chunk()) + 100);
  write_content(path, content);
  const Told ahead = all_of(path, Decoded::ahead);
  EXPECT_EQ(ahead.items.size(), chunk_instructions / max_block_instructions);
  EXPECT_EQ(ahead, all_of(path, Decoded::when_asked));
}

TEST_F(DecodingAhead, SaysTheEndAndAnErrorAgainAndAgain) {
  RandomTrace trace(1, {});
  trace.write(path, 20);
  Reader whole = open(path, Decoded::ahead);
  EXPECT_EQ(all_of(whole).items, trace.items);
  for (int n = 0; n < 3; ++n) EXPECT_FALSE((*whole.next()).has_value());

  auto content = file_content(path);
  content[sizeof(FileHeader) + 4] ^= 0x10;
  write_content(path, content);
  Reader damaged = open(path, Decoded::ahead);
  const std::string message = damaged.next().error().message;
  for (int n = 0; n < 3; ++n) EXPECT_EQ(damaged.next().error().message, message);
}

TEST_F(DecodingAhead, StopsWhereTheReaderIsLeft) {
  write_three_chunks();
  for (const int items : {0, 1, 1023, 1024, 1025, 5000}) {
    Reader reader = open(path, Decoded::ahead);
    for (int n = 0; n < items; ++n) ASSERT_TRUE(reader.next().ok());
    Reader moved = std::move(reader);
    ASSERT_TRUE(moved.next().ok());
  }
}

}  // namespace
}  // namespace pmusim::trace
