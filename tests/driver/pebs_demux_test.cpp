// SPDX-License-Identifier: MIT
#include "driver/intel/debug_store/pebs_demux.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <map>
#include <random>
#include <string>

#include "arch/pebs_generator.h"
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

TEST(Demux, Format1RepairsAZeroStatusIfOnlyOneEventIsEnabled) {
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

TEST(Demux, Format1CannotRepairAZeroStatusOfLoadLatency) {
  Bytes buffer = fixed_buffer(1, {0});
  const DemuxSetup setup{.format = 1, .enabled = 0x8, .enable_word = 0x8 | u64{0x8} << 32};
  EXPECT_EQ(drain(buffer, setup).totals.unowned, 1u);
}

TEST(Demux, FixedFormatsGroupSamplesByEvent) {
  Bytes buffer = fixed_buffer(1, {0b10, 0b01, 0b10, 0b11, 0b01});
  EXPECT_THAT(drain(buffer, {.format = 1, .enabled = 0b11, .enable_word = 0b11}).lines,
              ElementsAre("0 lost 1", "0:1", "0:4!", "0 done 2", "1 lost 1", "1:0", "1:2!", "1 done 2"));
}

TEST(Demux, AdaptiveRecordsKeepBufferOrderExceptEachEventsLast) {
  Bytes buffer = adaptive_buffer({0b10, 0b01, 0b10, 0b11, 0b01});
  EXPECT_THAT(drain(buffer, {.format = 4, .enabled = 0b11}).lines,
              ElementsAre("1:0", "0:1", "1:2", "0:3", "0:4!", "0 done 3", "1:3!", "1 done 3"));
}

TEST(Demux, AdaptiveRecordsCanBeGroupedAsOlderLinuxDid) {
  Bytes buffer = adaptive_buffer({0b10, 0b01, 0b10});
  EXPECT_THAT(drain(buffer, {.format = 4, .enabled = 0b11, .order = DrainOrder::grouped}).lines,
              ElementsAre("0:1!", "0 done 1", "1:0", "1:2!", "1 done 2"));
}

TEST(Demux, SkipsAndCountsAdaptiveRecordsOfAnotherConfig) {
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

/// A record with any owners, or none; where a format can have them, of another size or without its head.
void append_any(Bytes& buffer, unsigned format, std::mt19937_64& random) {
  const u64 owners = random() % 8;
  if (format < 4) {
    const Bytes record = fixed_buffer(format, {owners});
    buffer.insert(buffer.end(), record.begin(), record.end());
  } else if (format < 0xF) {
    append_adaptive(buffer, random() % 4 == 0 ? pebs::data_cfg::MEMORY : 0, owners, 0);
  } else {
    append_arch(buffer, random() % 4 == 0 ? pebs::cfg_c::LBR : pebs::header::BASIC, owners, 0);
  }
}

TEST(Demux, DrainsOfTwoBuffersAddUpToTheDrainOfOneWithBoth) {
  std::mt19937_64 random(11);
  for (const unsigned format : {0u, 1u, 2u, 3u, 4u, 6u, 0xFu}) {
    for (int round = 0; round < 20; ++round) {
      Bytes first, second;
      for (u64 records = random() % 40; records > 0; --records) append_any(first, format, random);
      for (u64 records = random() % 40; records > 0; --records) append_any(second, format, random);
      second.resize(second.size() + random() % 8);  // the beginning of another
      Bytes both = first;
      both.insert(both.end(), second.begin(), second.end());
      const DemuxSetup setup{.format = format, .enabled = 0b11, .enable_word = round % 2 == 0 ? 0b11u : 0b1u};
      DemuxTotals sum = drain(first, setup).totals;
      sum += drain(second, setup).totals;
      EXPECT_EQ(sum, drain(both, setup).totals) << format;
    }
  }
}

u64 word_at(const Bytes& buffer, std::size_t offset) {
  u64 word = 0;
  std::memcpy(&word, buffer.data() + offset, sizeof(word));
  return word;
}

/// docs/pebs.md, "Draining", record by record, and nothing else in mind.
class PlainDemux {
 public:
  PlainDemux(Bytes buffer, const DemuxSetup& setup) : buffer_(std::move(buffer)), setup_(setup) {
    setup_.enabled &= low_bits(pebs_counters);
    std::size_t offset = 0;
    while (const std::size_t bytes = take(offset)) offset += bytes;
    drained_.totals.trailing_bytes = buffer_.size() - offset;
    const bool grouped = setup.format <= 3 || setup.order == DrainOrder::grouped;
    if (!grouped) write_in_order();
    for (unsigned counter = 0; counter < pebs_counters; ++counter) write_rest(counter, grouped);
  }
  const Drained& drained() const { return drained_; }

 private:
  /// Deals with the record at `offset`. Its size, 0 where there is none.
  std::size_t take(std::size_t offset) {
    const std::size_t left = buffer_.size() - offset;
    if (setup_.format == 0xF) return take_arch(offset);
    if (setup_.format <= 3) {
      const std::size_t size = pebs::fixed_record_bytes(setup_.format);
      if (size > left) return 0;
      give_fixed(offset, setup_.format == 0 ? 1 : word_at(buffer_, offset + 0x90));
      return size;
    }
    const std::size_t size = left < 32 ? 0 : word_at(buffer_, offset) >> 48;
    if (size < 32 || size > left) return 0;
    if (size == setup_.record_bytes) {
      give(offset, word_at(buffer_, offset + 16) & setup_.enabled);
    } else {
      ++drained_.totals.records;
      ++drained_.totals.odd_size;
    }
    return size;
  }
  std::size_t fragment(std::size_t offset) const {
    if (buffer_.size() - offset < 16) return 0;
    const std::size_t size = word_at(buffer_, offset) & 0xFFFF;
    return size < 16 || size > buffer_.size() - offset ? 0 : size;
  }
  std::size_t take_arch(std::size_t offset) {
    const std::size_t first = fragment(offset);
    if (first == 0) return 0;
    u64 word = word_at(buffer_, offset);
    if ((word & bit(63)) != 0 && first >= 64) {
      give(offset, word_at(buffer_, offset + 24) & setup_.enabled);
      std::size_t size = first;
      while ((word & bit(31)) != 0 || word >> 16 == 0) {
        const std::size_t next = fragment(offset + size);
        if (next == 0) break;
        word = word_at(buffer_, offset + size);
        size += next;
      }
      return size;
    }
    if (word >> 16 != 0) {
      ++drained_.totals.records;
      ++drained_.totals.headless;
    }
    return first;
  }
  void give_fixed(std::size_t offset, u64 status) {
    if (setup_.format == 0 || setup_.format == 3) return give(offset, status & setup_.enabled);
    u64 owners = status & setup_.enabled & 0xFF;
    const bool alone = std::popcount(setup_.enable_word) == 1;
    if (owners == 0 && alone && (setup_.enable_word & setup_.enabled & 0xFF) != 0) {
      owners = setup_.enable_word;
      ++drained_.totals.rescued;
    }
    if (std::popcount(owners) <= 1) return give(offset, owners);
    ++drained_.totals.records;
    ++drained_.totals.collided;
    for (const unsigned counter : set_bits(owners)) ++drained_.totals.lost[counter];
  }
  void give(std::size_t offset, u64 owners) {
    ++drained_.totals.records;
    ++(owners != 0 ? drained_.totals.attributed : drained_.totals.unowned);
    if (std::popcount(owners) > 1) ++drained_.totals.shared;
    for (const unsigned counter : set_bits(owners)) {
      samples_.emplace_back(counter, word_at(buffer_, offset + (setup_.format == 0xF ? 16 : 8)));
      ++drained_.totals.samples[counter];
    }
  }
  std::string line(std::size_t nth) const {
    return std::to_string(samples_[nth].first) + ":" + std::to_string(samples_[nth].second);
  }
  /// A sample leaves when its counter's next one comes.
  void write_in_order() {
    std::map<unsigned, std::size_t> waiting;
    for (std::size_t i = 0; i < samples_.size(); ++i) {
      const auto [found, first] = waiting.try_emplace(samples_[i].first, i);
      if (!first) drained_.lines.push_back(line(std::exchange(found->second, i)));
    }
  }
  void write_rest(unsigned counter, bool grouped) {
    const u64 samples = drained_.totals.samples[counter], lost = drained_.totals.lost[counter];
    if (lost != 0) drained_.lines.push_back(std::to_string(counter) + " lost " + std::to_string(lost));
    u64 seen = 0;
    for (std::size_t i = 0; i < samples_.size(); ++i) {
      if (samples_[i].first != counter) continue;
      const bool last = ++seen == samples;
      if (grouped || last) drained_.lines.push_back(line(i) + (last ? "!" : ""));
    }
    if (samples + lost != 0)
      drained_.lines.push_back(std::to_string(counter) + " done " + std::to_string(samples));
  }

  Bytes buffer_;
  DemuxSetup setup_;
  std::vector<std::pair<unsigned, u64>> samples_;  // counter and IP
  Drained drained_;
};

void expect_plain(const Bytes& buffer, const DemuxSetup& setup) {
  const PlainDemux plain(buffer, setup);
  Bytes drained_bytes = buffer;
  const Drained drained = drain(drained_bytes, setup);
  EXPECT_EQ(drained.lines, plain.drained().lines) << "format " << setup.format;
  EXPECT_EQ(drained.totals, plain.drained().totals) << "format " << setup.format;
  EXPECT_EQ(plain.drained().totals.accounted(), plain.drained().totals.records);
}

DrainOrder random_order(std::mt19937_64& random) {
  return random() % 2 == 0 ? DrainOrder::grouped : DrainOrder::record;
}

TEST(Demux, ArbitraryBytesAreDrainedRecordByRecord) {
  std::mt19937_64 random(7);
  for (int round = 0; round < 1000 && !testing::Test::HasFailure(); ++round) {
    Bytes buffer(random() % 2000);
    for (std::byte& b : buffer) b = static_cast<std::byte>(random() % 4 == 0 ? random() : 0);
    for (const unsigned format : {0u, 1u, 2u, 3u, 4u, 6u, 0xFu})
      expect_plain(buffer, {.format = format,
                            .enabled = random(),
                            .enable_word = random() % 2 == 0 ? 1 : random(),
                            .order = random_order(random)});
  }
}

// Records of one layout, of two layouts in turns and in runs, with bytes changed anywhere.
TEST(Demux, ManyRecordsAreDrainedAsOneByOne) {
  std::mt19937_64 random(11);
  for (int round = 0; round < 1000 && !testing::Test::HasFailure(); ++round) {
    constexpr unsigned formats[] = {1, 2, 3, 4, 6, 0xF};
    const unsigned format = formats[random() % std::size(formats)];
    const auto events = static_cast<unsigned>(1 + random() % 5);
    Bytes buffer;
    u32 record_bytes = 0;
    for (u64 part = random() % 6; part != 0; --part) {
      const auto made =
          pebs::generate_buffer({.format = format,
                                 .events = events,
                                 .records = random() % 20,
                                 .collisions_permille = random() % 2 == 0 ? 300u : 0u,
                                 .seed = random(),
                                 .groups = {.memory = random() % 2 == 0, .gprs = random() % 2 == 0},
                                 .fragment_bytes = random() % 4 == 0 ? 128u : 0u});
      buffer.insert(buffer.end(), made.bytes.begin(), made.bytes.end());
      record_bytes = made.record_bytes;
    }
    for (u64 n = random() % 2 == 0 ? random() % 20 : 0; n != 0 && !buffer.empty(); --n)
      buffer[random() % buffer.size()] = static_cast<std::byte>(random());
    const u64 enabled = random() % 4 == 0 ? random() : low_bits(events);
    expect_plain(buffer, {.format = format,
                          .enabled = enabled,
                          .enable_word = random() % 4 == 0 ? enabled & (0 - enabled) : enabled,
                          .record_bytes = record_bytes,
                          .order = random_order(random)});
  }
}

}  // namespace
}  // namespace pmusim::driver
