// SPDX-License-Identifier: MIT
#include "perf/ring_buffer.h"

#include <gtest/gtest.h>

#include <cstring>
#include <thread>

#include "pmusim/perf/abi.h"
#include "pmusim/perf/core.h"

namespace pmusim::perf {
namespace {

using Direction = RingBuffer::Direction;
using WhenFull = RingBuffer::WhenFull;

/// A record of `bytes` bytes whose every word after the header is `tag`.
bool put(RingBuffer& ring, std::size_t bytes, u64 tag) {
  std::byte* at = ring.reserve(bytes);
  if (!at) return false;
  const RecordHeader header{9, 0, static_cast<u16>(bytes)};
  std::memcpy(at, &header, sizeof header);
  for (std::size_t i = 8; i < bytes; i += 8) std::memcpy(at + i, &tag, sizeof tag);
  ring.publish();
  return true;
}

std::vector<std::byte> drain(RingBuffer& ring) {
  std::vector<std::byte> all;
  RingReader(ring).drain([&](auto piece) { all.insert(all.end(), piece.begin(), piece.end()); });
  return all;
}

u64 word(std::span<const std::byte> bytes, std::size_t at) {
  u64 value;
  std::memcpy(&value, bytes.data() + at, sizeof value);
  return value;
}

TEST(RingBuffer, ControlPageDescribesTheDataAreaAsMmapWould) {
  RingBuffer ring(2, {});
  const auto mapping = ring.mapping();
  EXPECT_EQ(mapping.size(), 3 * 4096u);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(mapping.data()) % 4096, 0u);
  EXPECT_EQ(word(mapping, 1040), 4096u);  // data_offset
  EXPECT_EQ(word(mapping, 1048), 8192u);  // data_size
  EXPECT_EQ(word(mapping, 40), 2u);       // capabilities
}

TEST(RingBuffer, FillLimitIsTheSizeLessOneWord) {  // observed on Linux: 4080 and 4064
  for (const auto& [bytes, limit] : {std::pair{24u, 4080u}, std::pair{32u, 4064u}}) {
    RingBuffer ring(1, {});
    while (put(ring, bytes, 1)) {
    }
    EXPECT_EQ(ring.control().data_head, limit);
    EXPECT_EQ(ring.lost(), 1u);
  }
}

TEST(RingBuffer, RecordsSurviveAWrapAtEveryWordOffset) {
  for (std::size_t offset = 8; offset <= 4096; offset += 8) {
    RingBuffer ring(1, {});
    ASSERT_TRUE(offset == 4096 ? put(ring, 8, 0) && put(ring, 4080, 0) : put(ring, offset, 0));
    drain(ring);
    ASSERT_TRUE(put(ring, 64, 0x1122334455667788));
    const auto record = drain(ring);
    ASSERT_EQ(record.size(), 64u) << offset;
    for (std::size_t i = 8; i < 64; i += 8) ASSERT_EQ(word(record, i), 0x1122334455667788u) << offset;
  }
}

TEST(RingBuffer, ControlPageOnlyWritesNothingAndCountsNothing) {
  RingBuffer ring(0, {});
  EXPECT_FALSE(put(ring, 8, 0));
  ring.resume();
  EXPECT_FALSE(put(ring, 8, 0));
  EXPECT_EQ(ring.lost(), 0u);
}

TEST(RingBuffer, PausedDropsAndCounts) {
  RingBuffer ring(1, {});
  ring.pause();
  EXPECT_FALSE(put(ring, 8, 0));
  EXPECT_EQ(ring.lost(), 1u);
  ring.resume();
  EXPECT_TRUE(put(ring, 8, 0));
}

TEST(RingBuffer, HalfFullWakesTheReaderOnce) {  // observed: 24-byte records, first wake at head 2064
  RingBuffer ring(1, {});
  int woken = 0;
  ring.on_wakeup([&] { ++woken; });
  while (woken == 0) put(ring, 24, 0);
  EXPECT_EQ(ring.control().data_head, 2064u);
  EXPECT_TRUE(ring.poll());
  EXPECT_FALSE(ring.poll());
}

TEST(RingBuffer, WatermarkWakesAtTheObservedHeads) {  // w = 100, 24-byte records
  RingBuffer ring(1, {.watermark = 100});
  std::vector<u64> heads;
  ring.on_wakeup([&] { heads.push_back(ring.control().data_head); });
  for (int i = 0; i < 26; ++i) put(ring, 24, 0);
  EXPECT_EQ(heads, (std::vector<u64>{120, 216, 312, 408, 504, 624}));
}

TEST(RingBuffer, WakeupEventsCountsSamplesOfTheBuffer) {
  RingBuffer ring(1, {});
  std::vector<int> woken_at;
  int n = 0;
  ring.on_wakeup([&] { woken_at.push_back(n); });
  for (n = 1; n <= 12; ++n) {
    ring.count_sample(4);
    put(ring, 24, 0);
  }
  EXPECT_EQ(woken_at, (std::vector<int>{4, 8, 12}));
}

TEST(RingBuffer, OverwriteGoesRoundAndLosesNothing) {
  RingBuffer ring(1, {.when_full = WhenFull::overwrite});
  for (u64 i = 0; i < 1000; ++i) ASSERT_TRUE(put(ring, 32, i));
  EXPECT_EQ(ring.control().data_head, 32000u);
  EXPECT_EQ(ring.lost(), 0u);
}

TEST(RingBuffer, BackwardHeadDecreasesFromZero) {  // observed: three 32-byte records -> 0x...ffa0
  RingBuffer ring(1, {.direction = Direction::backward, .when_full = WhenFull::overwrite});
  for (u64 i = 1; i <= 3; ++i) put(ring, 32, i);
  EXPECT_EQ(ring.control().data_head, 0xffffffffffffffa0u);
  const auto records = RingReader(ring).snapshot_backward();
  ASSERT_EQ(records.size(), 96u);
  EXPECT_EQ(word(records, 8), 3u);
  EXPECT_EQ(word(records, 72), 1u);
}

TEST(RingBuffer, BackwardSnapshotEndsAtTheOldestWholeRecord) {
  RingBuffer ring(1, {.direction = Direction::backward, .when_full = WhenFull::overwrite});
  for (u64 i = 0; i < 500; ++i) put(ring, 40, i);
  const auto records = RingReader(ring).snapshot_backward();
  ASSERT_EQ(records.size(), 4096 / 40 * 40u);
  for (std::size_t i = 0; i * 40 < records.size(); ++i) EXPECT_EQ(word(records, i * 40 + 8), 499 - i);
}

/// Bytes of the whole records at the front of `bytes`.
std::size_t whole_records(std::span<const std::byte> bytes) {
  std::size_t at = 0;
  while (at + 8 <= bytes.size()) {
    const std::size_t size = word(bytes, at) >> 48;
    if (size < 8 || at + size > bytes.size()) break;
    at += size;
  }
  return at;
}

TEST(RingBuffer, AHeadAnywhereInARecordGivesTheBytesUpToIt) {
  for (u64 cut = 0; cut <= 4080; ++cut) {
    RingBuffer ring(1, {});
    for (u64 i = 0; i < 4080 / 48; ++i) ASSERT_TRUE(put(ring, 48, i));
    ring.control().data_head = cut;
    const auto bytes = drain(ring);
    ASSERT_EQ(bytes.size(), cut);
    ASSERT_EQ(whole_records(bytes), cut / 48 * 48);
  }
}

TEST(RingBuffer, ASnapshotFromAnywhereHoldsWholeRecordsOnly) {
  RingBuffer ring(1, {.direction = Direction::backward, .when_full = WhenFull::overwrite});
  for (u64 i = 0; i < 500; ++i) put(ring, 40, i);
  const u64 head = ring.control().data_head;
  for (u64 offset = 0; offset < 4096; ++offset) {
    ring.control().data_head = head + offset;
    const auto records = RingReader(ring).snapshot_backward();
    ASSERT_EQ(whole_records(records), records.size()) << offset;
  }
}

TEST(RingBuffer, AFalseTailCannotMakeTheWriterLeaveTheBuffer) {
  RingBuffer ring(1, {});
  for (const u64 tail : {~u64{0}, u64{1} << 63, u64{4097}, u64{12345}}) {
    ring.control().data_tail = tail;
    put(ring, 64, 0);
  }
  EXPECT_LE(ring.control().data_head, 4 * 64u);
}

// Every record that was accepted arrives once, whole and in order; every one that was not is counted.
TEST(RingBuffer, AConcurrentReaderSeesWholeRecordsInOrder) {
  RingBuffer ring(1, {});
  constexpr u64 records = 200'000;
  std::atomic<bool> done = false;
  u64 written = 0;
  std::thread producer([&] {
    for (u64 i = 0; i < records; ++i) {
      if (put(ring, 16 + 8 * (i % 13), i))
        ++written;
      else
        std::this_thread::yield();
    }
    done.store(true, std::memory_order_release);
  });

  RingReader reader(ring);
  std::vector<std::byte> bytes;
  u64 read = 0, next = 0;
  bool in_order = true, whole = true;
  const auto parse = [&] {
    std::size_t at = 0;
    while (at < bytes.size()) {
      const std::size_t size = word(bytes, at) >> 48;
      const u64 tag = word(bytes, at + 8);
      whole = whole && size == 16 + 8 * (tag % 13) && at + size <= bytes.size();
      if (!whole) return;
      for (std::size_t i = 16; i < size; i += 8) whole = whole && word(bytes, at + i) == tag;
      in_order = in_order && tag >= next;
      next = tag + 1;
      ++read;
      at += size;
    }
    bytes.clear();
  };
  for (bool last = false; whole;) {
    last = done.load(std::memory_order_acquire);
    reader.drain([&](auto piece) { bytes.insert(bytes.end(), piece.begin(), piece.end()); });
    parse();
    if (last) break;
  }
  producer.join();
  EXPECT_TRUE(whole);
  EXPECT_TRUE(in_order);
  EXPECT_EQ(read, written);
  EXPECT_EQ(written + ring.lost(), records);
}

}  // namespace
}  // namespace pmusim::perf
