// SPDX-License-Identifier: MIT
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "driver/intel/samples/recorded_counts.h"
#include "pebs_buffers.h"

namespace pmusim::driver {
namespace {

using testing::ElementsAre;

constexpr unsigned adaptive = 6, architectural = Enumeration::arch_pebs_format;

Bytes group(u32 gp, u32 fixed, std::initializer_list<u64> values, u32 metrics = 0) {
  Bytes bytes;
  pebs::CountersHeader head{};
  head.gp = gp;
  head.fixed = fixed;
  head.metrics = metrics;
  append(bytes, head);
  for (const u64 value : values) append(bytes, le64(value));
  return bytes;
}

Bytes adaptive_record(u64 config, u64 applicable, const Bytes& counters) {
  Bytes record;
  append_adaptive(record, config & low_bits(32), applicable, 0);
  record.resize(pebs::adaptive_layout(config & low_bits(32)).counters);
  record.insert(record.end(), counters.begin(), counters.end());
  const le16 size = static_cast<u16>(record.size());
  std::memcpy(record.data() + offsetof(pebs::BasicGroup, size), &size, sizeof(size));
  return record;
}

/// A fragment with a counters group at its end; `word` is the header without its size.
Bytes arch_fragment(u64 word, const Bytes& counters, u64 applicable = 0) {
  Bytes fragment;
  append_arch(fragment, word, applicable, 0);
  fragment.resize(pebs::arch_layout(word, 32).counters);
  fragment.insert(fragment.end(), counters.begin(), counters.end());
  fragment.resize((fragment.size() + 15) & ~std::size_t{15});
  const le64 head = word | fragment.size();
  std::memcpy(fragment.data(), &head, sizeof(head));
  return fragment;
}

std::vector<u64> words(const RecordedValues& values) {
  std::vector<u64> out;
  for (std::size_t at = 0; at < values.values.size(); at += 8) {
    le64 word;
    std::memcpy(&word, values.values.data() + at, 8);
    out.push_back(word);
  }
  return out;
}

TEST(RecordedValues, StandBehindTheGroupsBeforeThem) {
  const u64 config = pebs::data_cfg::COUNTERS | pebs::data_cfg::GPRS;
  const Bytes record = adaptive_record(config, 1, group(0b101, 0b1, {7, 8, 9}));
  const RecordedValues values = recorded_values(record, adaptive, 32);
  EXPECT_EQ(values.counters, 0b101 | bit(32));
  EXPECT_THAT(words(values), ElementsAre(7, 8, 9));
  EXPECT_FALSE(values.has_metrics);
}

TEST(RecordedValues, MetricsFollowTheCounters) {
  const Bytes record = adaptive_record(pebs::data_cfg::COUNTERS, 1, group(1, 0, {7, 1000, 0x80}, 3));
  const RecordedValues values = recorded_values(record, adaptive, 32);
  EXPECT_THAT(words(values), ElementsAre(7));
  EXPECT_TRUE(values.has_metrics);
  EXPECT_EQ(values.slots, 1000u);
  EXPECT_EQ(values.metrics, 0x80u);
}

TEST(RecordedValues, AreFoundInALaterFragment) {
  using namespace pebs;
  Bytes record;
  append_arch(record, header::BASIC | header::CONTINUED, 1, 0);
  append_arch(record, header::CONTINUED | cfg_c::GPRS, 0, 0);
  const Bytes last = arch_fragment(cfg_c::GP, group(0b10, 0, {5}));
  record.insert(record.end(), last.begin(), last.end());
  const RecordedValues values = recorded_values(record, architectural, 32);
  EXPECT_EQ(values.counters, 0b10u);
  EXPECT_THAT(words(values), ElementsAre(5));
}

TEST(RecordedValues, ARecordCutOffAnywhereGivesAllOfThemOrNone) {
  const Bytes whole = adaptive_record(pebs::data_cfg::COUNTERS, 1, group(0b11, 0b1, {7, 8, 9, 1, 2}, 3));
  for (std::size_t bytes = 0; bytes < whole.size(); ++bytes) {
    const Bytes cut(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(bytes));
    EXPECT_EQ(recorded_values(cut, adaptive, 32).counters, 0u) << bytes;
  }
  const Bytes arch =
      arch_fragment(pebs::header::BASIC | pebs::cfg_c::GP | pebs::cfg_c::LBR, group(0b11, 0, {7, 8}), 1);
  for (std::size_t bytes = 0; bytes < arch.size(); ++bytes) {
    const Bytes cut(arch.begin(), arch.begin() + static_cast<std::ptrdiff_t>(bytes));
    EXPECT_EQ(recorded_values(cut, architectural, 32).counters, 0u) << bytes;
  }
}

/// Two events of a group on GP 0 (precise, period 100) and fixed 0, and a stranger on GP 1.
class CountsOfRecords : public testing::Test {
 protected:
  CountsOfRecords() {
    enumeration.pebs_format = adaptive;
    enumeration.counter_width = 48;
    enumeration.kernel = perf::Kernel::v7_1;
    for (perf::Event* event : {&precise, &plain, &stranger}) event->leader = event;
    plain.leader = &precise;
    data_of(precise).flags = pebs_flag::PRECISE | pebs_flag::AUTO_RELOAD | pebs_flag::COUNTERS_RECORDED;
    precise.hw.sample_period = 100;
    precise.hw.previous_count = minus(100);
    plain.hw.period_left = 5000;
    map[0] = &precise;
    map[1] = &stranger;
    map[32] = &plain;
  }
  static u64 minus(u64 value) { return (0 - value) & low_bits(48); }
  void record(u64 applicable, u64 gp0, u64 gp1, u64 fixed0) {
    const Bytes bytes =
        adaptive_record(pebs::data_cfg::COUNTERS, applicable, group(0b11, 1, {gp0, gp1, fixed0}));
    buffer.insert(buffer.end(), bytes.begin(), bytes.end());
  }
  RecordedCounts take() {
    RecordedCounts counts(enumeration);
    counts.take(buffer, 0b11, {map, {}});
    return counts;
  }

  Enumeration enumeration;
  perf::Event precise, plain, stranger;
  EventMap map{};
  Bytes buffer;
};

TEST_F(CountsOfRecords, ArePerRecordWithTheReloadInBetween) {
  record(0b01, 3, 0, 1000);  // 103 events, then back to -100
  record(0b01, 2, 0, 2000);
  const RecordedCounts counts = take();
  const std::size_t size = buffer.size() / 2;
  const auto first = counts.at(std::span(buffer).first(size)),
             second = counts.at(std::span(buffer).last(size));
  ASSERT_EQ(first.size(), 2u);
  EXPECT_EQ(first[0].count, 103u);
  EXPECT_EQ(first[1].count, 1000u);
  EXPECT_EQ(second[0].count, 205u);
  EXPECT_EQ(second[1].count, 2000u);
  EXPECT_EQ(precise.count, 205u);
  EXPECT_EQ(precise.hw.previous_count, minus(100));
  EXPECT_EQ(plain.hw.previous_count, 2000u);
  EXPECT_EQ(plain.hw.period_left, 5000 - 2000);
}

TEST_F(CountsOfRecords, ARecordOfAnotherCounterReloadsNothing) {
  record(0b10, minus(40), 5, 600);
  take();
  EXPECT_EQ(precise.count, 60u);
  EXPECT_EQ(precise.hw.previous_count, minus(40));
  EXPECT_EQ(stranger.count, 0u) << "not of a group that reads counts from records";
}

TEST_F(CountsOfRecords, WithoutItsValueARecordIsOnePeriod) {
  append_adaptive(buffer, 0, 0b01, 0);
  take();
  EXPECT_EQ(precise.count, 100u);
  EXPECT_EQ(precise.hw.previous_count, minus(100));
}

TEST_F(CountsOfRecords, NothingIsKnownOfAPlaceWhereNoRecordBegins) {
  record(0b01, 3, 0, 1000);
  const RecordedCounts counts = take();
  EXPECT_TRUE(counts.at(std::span(buffer).subspan(8)).empty());
}

/// The same as Linux 7.3 takes them (__setup_pebs_counter_group).
class CountsOfSamples : public CountsOfRecords {
 protected:
  CountsOfSamples() { enumeration.kernel = perf::Kernel::v7_3; }
  /// Samples of `event` from records of one length, in this order.
  void leave(perf::Event& event, std::initializer_list<std::size_t> order) {
    RecordedCounts counts(enumeration);
    counts.take(buffer, 0b11, {map, {}});
    const std::size_t size = first_record_bytes(buffer, adaptive);
    for (const std::size_t n : order) {
      const auto known = counts.at_sample(event, std::span(buffer).subspan(n * size, size));
      at_samples.emplace_back(known.begin(), known.end());
    }
  }
  std::vector<std::vector<perf::CountAtSample>> at_samples;
};

TEST_F(CountsOfSamples, AreThoseOfTheirRecordWithTheReloadBehindIt) {
  record(0b01, 3, 0, 1000);
  record(0b01, 2, 0, 2000);
  leave(precise, {0, 1});
  EXPECT_EQ(at_samples[0][0].count, 103u);
  EXPECT_EQ(at_samples[0][1].count, 1000u);
  EXPECT_EQ(at_samples[1][0].count, 205u);
  EXPECT_EQ(at_samples[1][1].count, 2000u);
  EXPECT_EQ(precise.hw.previous_count, minus(100));
  EXPECT_EQ(plain.hw.period_left, 5000 - 2000);
}

// The last record of a counter is handled behind later ones of others.
TEST_F(CountsOfSamples, ACounterBehindWhatWasSeenHasGoneRound) {
  record(0b01, 3, 0, 1000);
  record(0b01, 2, 0, 2000);
  leave(precise, {1, 0});
  EXPECT_EQ(at_samples[0][1].count, 2000u);
  EXPECT_EQ(at_samples[1][1].count, 1000 + bit(48));
}

TEST_F(CountsOfSamples, WhoeverHasACounterOfTheRecordHasItsValue) {
  record(0b01, 3, 7, 1000);
  leave(precise, {0});
  EXPECT_EQ(stranger.count, 7u);
  EXPECT_EQ(at_samples[0].size(), 2u) << "of the group";
}

TEST_F(CountsOfSamples, SamplesOfOtherEventsTakeNothing) {
  record(0b10, 3, 7, 1000);
  leave(stranger, {0});
  EXPECT_TRUE(at_samples[0].empty());
  EXPECT_EQ(precise.count + plain.count + stranger.count, 0u);
}

TEST_F(CountsOfSamples, WithoutTheGroupARecordIsNotCounted) {
  append_adaptive(buffer, 0, 0b01, 0);
  leave(precise, {0});
  EXPECT_TRUE(at_samples[0].empty());
  EXPECT_EQ(precise.count, 0u);
}

}  // namespace
}  // namespace pmusim::driver
