// SPDX-License-Identifier: MIT
#include "driver/debug_store/pebs_demux.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>
#include <string>

#include "pebs_buffers.h"

namespace pmusim::driver {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

/// Writes down what the demultiplexer says: "0:5" is record 5 to counter 0, "0:5!" as its last one,
/// "0 lost 2" and "0 done 3" what they say.
struct Diary {
  unsigned format;
  std::vector<std::string> lines;
  void sample(unsigned counter, std::span<const std::byte> record, Place place) {
    const std::size_t ip_offset = format == 0xF ? 16 : 8;  // of EventingIP, or RIP
    u64 ip = 0;
    std::memcpy(&ip, record.data() + ip_offset, sizeof(ip));
    lines.push_back(std::to_string(counter) + ":" + std::to_string(ip) + (place == Place::last ? "!" : ""));
  }
  void lost(unsigned counter, u64 samples) {
    lines.push_back(std::to_string(counter) + " lost " + std::to_string(samples));
  }
  bool begins(unsigned, u64) { return true; }
  void finished(unsigned counter, u64 samples) {
    lines.push_back(std::to_string(counter) + " done " + std::to_string(samples));
  }
};

struct Drained {
  std::vector<std::string> lines;
  DemuxTotals totals;
};

Drained drain(Bytes& buffer, const DemuxSetup& setup) {
  Diary diary{setup.format, {}};
  Demultiplexer demultiplexer;
  const DemuxTotals totals = demultiplexer.run(buffer, setup, diary);
  return {diary.lines, totals};
}

TEST(Demux, Format0GivesEveryRecordToCounter0) {
  Bytes buffer(2 * 144);
  EXPECT_THAT(drain(buffer, {.format = 0, .enabled = 1}).lines, ElementsAre("0:0", "0:0!", "0 done 2"));
  EXPECT_THAT(drain(buffer, {.format = 0, .enabled = 2}).lines, IsEmpty());
}

TEST(Demux, Format1DropsACollisionAndChargesEveryCollider) {  // A0 B0 A1 C0: docs/pebs.md
  Bytes buffer = fixed_buffer(1, {0b11});
  const Drained drained = drain(buffer, {.format = 1, .enabled = 0b11, .enable_word = 0b11});
  EXPECT_THAT(drained.lines, ElementsAre("0 lost 1", "0 done 0", "1 lost 1", "1 done 0"));
  EXPECT_EQ(drained.totals.collided, 1u);
}

TEST(Demux, Format3GivesASharedRecordToEachOfItsCounters) {  // A0 B0 A1 B1 C01: case 2
  Bytes buffer = fixed_buffer(3, {0b11});
  EXPECT_THAT(drain(buffer, {.format = 3, .enabled = 0b11}).lines,
              ElementsAre("0:0!", "0 done 1", "1:0!", "1 done 1"));
}

TEST(Demux, Format3BelievesItsApplicableCounters) {  // case 1 on format 3
  Bytes buffer = fixed_buffer(3, {0b01});
  EXPECT_THAT(drain(buffer, {.format = 3, .enabled = 0b11}).lines, ElementsAre("0:0!", "0 done 1"));
}

TEST(Demux, Format1IgnoresStatusBitsThatAreNotPebs) {
  Bytes buffer = fixed_buffer(1, {0x5});
  EXPECT_THAT(drain(buffer, {.format = 1, .enabled = 0x1, .enable_word = 0x1}).lines,
              ElementsAre("0:0!", "0 done 1"));
}

TEST(Demux, Format1RescuesAZeroStatusWhenOneEventIsEnabledAndPatchesTheRecord) {
  Bytes buffer = fixed_buffer(1, {0});
  const Drained drained = drain(buffer, {.format = 1, .enabled = 0x2, .enable_word = 0x2});
  EXPECT_THAT(drained.lines, ElementsAre("1:0!", "1 done 1"));
  EXPECT_EQ(drained.totals.rescued, 1u);
  EXPECT_EQ(buffer[0x90], std::byte{2});
}

TEST(Demux, Format1DropsAZeroStatusSilentlyWhenTwoEventsAreEnabled) {
  Bytes buffer = fixed_buffer(1, {0});
  const Drained drained = drain(buffer, {.format = 1, .enabled = 0x3, .enable_word = 0x3});
  EXPECT_THAT(drained.lines, IsEmpty());
  EXPECT_EQ(drained.totals.unowned, 1u);
}

TEST(Demux, Format1CannotRescueALoadLatencyEventBecauseItHasTwoEnableBits) {
  Bytes buffer = fixed_buffer(1, {0});
  const DemuxSetup setup{.format = 1, .enabled = 0x8, .enable_word = 0x8 | u64{0x8} << 32};
  EXPECT_EQ(drain(buffer, setup).totals.unowned, 1u);
}

TEST(Demux, FixedFormatsGroupSamplesByEvent) {
  Bytes buffer = fixed_buffer(1, {0b10, 0b01, 0b10, 0b11, 0b01});
  EXPECT_THAT(drain(buffer, {.format = 1, .enabled = 0b11, .enable_word = 0b11}).lines,
              ElementsAre("0 lost 1", "0:1", "0:4!", "0 done 2", "1 lost 1", "1:0", "1:2!", "1 done 2"));
}

TEST(Demux, AdaptiveRecordsComeInBufferOrderWithTheLastOfEachEventAtTheEnd) {
  Bytes buffer = adaptive_buffer({0b10, 0b01, 0b10, 0b11, 0b01});
  EXPECT_THAT(drain(buffer, {.format = 4, .enabled = 0b11}).lines,
              ElementsAre("1:0", "0:1", "1:2", "0:3", "0:4!", "0 done 3", "1:3!", "1 done 3"));
}

TEST(Demux, AdaptiveRecordsCanBeGroupedAsOlderLinuxDid) {
  Bytes buffer = adaptive_buffer({0b10, 0b01, 0b10});
  EXPECT_THAT(drain(buffer, {.format = 4, .enabled = 0b11, .order = DrainOrder::grouped}).lines,
              ElementsAre("0:1!", "0 done 1", "1:0", "1:2!", "1 done 2"));
}

TEST(Demux, AdaptiveRecordsOfAnotherConfigurationAreSteppedOverAndCounted) {
  Bytes buffer;
  append_adaptive(buffer, 0, 1, 0);
  append_adaptive(buffer, pebs::data_cfg::MEMORY, 1, 1);
  append_adaptive(buffer, 0, 1, 2);
  const Drained drained = drain(buffer, {.format = 4, .enabled = 1});
  EXPECT_THAT(drained.lines, ElementsAre("0:0", "0:2!", "0 done 2"));
  EXPECT_EQ(drained.totals.odd_size, 1u);
}

TEST(Demux, AnAdaptiveRecordOfSizeZeroEndsTheDrain) {
  Bytes buffer = adaptive_buffer({1});
  buffer.resize(buffer.size() + 64);
  const Drained drained = drain(buffer, {.format = 4, .enabled = 1});
  EXPECT_EQ(drained.totals.records, 1u);
  EXPECT_EQ(drained.totals.trailing_bytes, 64u);
}

TEST(Demux, ATruncatedRecordIsLeftOver) {
  Bytes buffer = fixed_buffer(3, {1, 1});
  buffer.resize(buffer.size() - 1);
  const Drained drained = drain(buffer, {.format = 3, .enabled = 1});
  EXPECT_EQ(drained.totals.records, 1u);
  EXPECT_EQ(drained.totals.trailing_bytes, 199u);
}

TEST(Demux, ArchRecordsHaveTheirOwnSizesAndFragments) {
  using namespace pebs;
  Bytes buffer;
  append_arch(buffer, 0, 0, 0);                                             // null record: padding
  append_arch(buffer, header::BASIC | header::CONTINUED, 0b01, 1);          // goes on ...
  append_arch(buffer, cfg_c::GPRS, 0, 0);                                   // ... here
  append_arch(buffer, header::BASIC | cfg_c::AUX, u64{1} << 32 | 0b01, 2);  // fixed 0 and GP 0 share it
  append_arch(buffer, cfg_c::LBR, 0, 0);                                    // tail of something lost
  const Drained drained = drain(buffer, {.format = 0xF, .enabled = u64{1} << 32 | 0b01});
  EXPECT_THAT(drained.lines, ElementsAre("0:1", "0:2!", "0 done 2", "32:2!", "32 done 1"));
  EXPECT_EQ(drained.totals.records, 3u);
  EXPECT_EQ(drained.totals.headless, 1u);
}

// Whatever the bytes are, every record is in exactly one account and no sample lies outside of the buffer.
TEST(Demux, ArbitraryBytesAreAccountedFor) {
  std::mt19937_64 random(7);
  for (int round = 0; round < 2000; ++round) {
    Bytes buffer(random() % 2000);
    for (std::byte& b : buffer) b = static_cast<std::byte>(random() % 4 == 0 ? random() : 0);
    for (const unsigned format : {0u, 1u, 2u, 3u, 4u, 6u, 0xFu}) {
      const DemuxSetup setup{.format = format,
                             .enabled = random(),
                             .enable_word = random() % 2 == 0 ? 1 : random(),
                             .order = random() % 2 == 0 ? DrainOrder::grouped : DrainOrder::record};
      const Drained drained = drain(buffer, setup);
      EXPECT_EQ(drained.totals.accounted(), drained.totals.records);
      EXPECT_LE(drained.totals.trailing_bytes, buffer.size());
    }
  }
}

}  // namespace
}  // namespace pmusim::driver
