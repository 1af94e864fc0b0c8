// SPDX-License-Identifier: MIT
// Traces that are decoded ahead by another thread: nothing but the time differs.
#include "trace/decoding_thread.h"

#include <gmock/gmock.h>

#include <array>
#include <atomic>
#include <cstring>
#include <future>
#include <map>
#include <new>
#include <random>
#include <set>
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
struct Delivered {
  std::vector<OwnedItem> items;
  std::string error;
  friend bool operator==(const Delivered&, const Delivered&) = default;
};

Delivered all_of(Source& source) {
  Delivered delivered;
  for (;;) {
    const auto item = source.next();
    if (!item.ok()) return delivered.error = item.error().message, delivered;
    if (!*item) return delivered;
    delivered.items.push_back(own(**item));
  }
}
Delivered all_of(const std::string& path, Decoded decoded, u64 from = 0) {
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

TEST_F(DecodingAhead, DeliversTheSameItemsOfEveryKindOfTrace) {
  for (const Contents contents :
       {Contents{}, Contents{.addresses = true}, Contents{.registers = true},
        Contents{.addresses = true, .timing = true}, Contents{.addresses = true, .kernel = true}}) {
    RandomTrace trace(7, contents);
    trace.write(path, 3000);
    const Delivered delivered = all_of(path, Decoded::ahead);
    EXPECT_EQ(delivered.error, "");
    EXPECT_EQ(delivered.items, trace.items);
  }
}

TEST_F(DecodingAhead, DeliversTheSameOfWhatIsNotLeftOut) {
  constexpr Contents everything{.addresses = true, .registers = true, .timing = true};
  RandomTrace trace(11, everything);
  trace.write(path, 3000);
  for (const Decoded decoded : {Decoded::when_asked, Decoded::ahead})
    for (const bool registers : {false, true}) {
      Reader reader = open(path, decoded);
      reader.leave_out(registers ? Detail::registers : Detail::addresses);
      auto expected = trace.items;
      for (OwnedItem& item : expected) registers ? item.registers.clear() : item.addresses.clear();
      const Delivered delivered = all_of(reader);
      EXPECT_EQ(delivered.error, "");
      EXPECT_EQ(delivered.items, expected);
      EXPECT_EQ(reader.contents(), everything);
    }
}

TEST_F(DecodingAhead, DeliversTheSameFromEveryPlace) {
  RandomTrace trace(3, {.addresses = true});
  trace.write(path, 500);
  for (u64 from = 1; from < trace.instructions; from += 97)
    EXPECT_EQ(all_of(path, Decoded::ahead, from), all_of(path, Decoded::when_asked, from)) << from;
}

TEST_F(DecodingAhead, KnowsTheCodeUpToTheDeliveredItem) {
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

TEST_F(DecodingAhead, KnowsOfEachProcessWhatItHasExecuted) {
  for (const Decoded decoded : {Decoded::when_asked, Decoded::ahead}) {
    auto writer = Writer::create(path, {});
    const std::array<std::byte, 1> nop{std::byte{0x90}};
    const std::array<u8, 1> lengths{1};
    std::vector<const Block*> blocks;
    for (u64 n = 0; n < 40; ++n) blocks.push_back(&writer->add_block(0x1000 + n, nop, lengths));
    std::mt19937_64 random(9);
    const auto add_side_band = [&](const SideBandRecord& h) { ASSERT_TRUE(writer->side_band(h).ok()); };
    for (const u32 started : {101, 100}) add_side_band(ProcessStart{started, started, "one", true});
    add_side_band(ThreadSwitch{100, 100});
    u32 pid = 100;
    for (int n = 0; n < 2000; ++n) {
      if (random() % 20 == 0) {
        pid = 100 + static_cast<u32>(random() % 2);
        add_side_band(ThreadSwitch{pid, pid});
      }
      if (random() % 200 == 0) add_side_band(ProcessStart{pid, pid, "two", true});
      const Block& block = *blocks[random() % std::min<u64>(blocks.size(), 1 + static_cast<u64>(n) / 9)];
      ASSERT_TRUE(writer->run({&block, block.end(), {}, {}, {}}).ok());
    }
    ASSERT_TRUE(writer->finish().ok());
    Reader reader = open(path, decoded);
    std::map<u32, std::set<u64>> executed;
    while (true) {
      const auto item = reader.next();
      ASSERT_TRUE(item.ok());
      if (!*item) break;
      if (const auto* run = std::get_if<BlockRun>(&**item)) {
        executed[pid].insert(run->block->start());
      } else if (const auto* to = std::get_if<ThreadSwitch>(&std::get<SideBandRecord>(**item))) {
        pid = to->pid;
      } else if (const auto* start = std::get_if<ProcessStart>(&std::get<SideBandRecord>(**item))) {
        executed[start->pid].clear();
      }
      for (u64 n = 0; n < blocks.size(); ++n)
        ASSERT_EQ(reader.code(pid, 0x1000 + n, 1).size(), executed[pid].count(0x1000 + n)) << n;
    }
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
    const Delivered ahead = all_of(path, Decoded::ahead);
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
  const Delivered ahead = all_of(path, Decoded::ahead);
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

TEST(DecodingThread, RethrowsAnExceptionBehindItsItemsEachTime) {
  const Item syscall = SideBandRecord(Syscall{39, 1});
  int items = 0;
  DecodingThread thread([&]() -> Result<Items, Error> {
    if (items++ == 3000) throw std::bad_alloc();
    return Items(&syscall, 1);
  });
  for (std::size_t n = 0; n < 3000;) {
    const std::size_t more = thread.read()->size();
    ASSERT_NE(more, 0u);
    n += more;
    ASSERT_LE(n, 3000u);
  }
  for (int n = 0; n < 3; ++n) EXPECT_THROW((void)thread.read(), std::bad_alloc);
}

// Whoever takes items does not wait for each.
TEST(DecodingThread, DecodesManyItemsBeforeTheFirstIsTaken) {
  constexpr int many = ItemBatch::most_items + 1;
  const Item syscall = SideBandRecord(Syscall{39, 1});
  std::atomic<int> items = 0;
  std::promise<void> are_many;
  DecodingThread thread([&]() -> Result<Items, Error> {
    if (++items == many) are_many.set_value();
    return Items(&syscall, 1);
  });
  are_many.get_future().wait();  // for ever, if they come only as they are taken
  EXPECT_FALSE(thread.read()->empty());
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
