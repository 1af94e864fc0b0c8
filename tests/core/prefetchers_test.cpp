// SPDX-License-Identifier: MIT
#include "core/prefetchers.h"

#include <gtest/gtest.h>

#include <random>
#include <set>

#include "tests/core/chase.h"

namespace pmusim::prefetchers_test {
namespace {

using namespace test;

constexpr u64 load_at = 0x401000;

TEST(StridePrefetcher, PrefetchesOnceAStrideHasComeThreeTimes) {
  StridePrefetcher strides(256);
  strides.observe(load_at, 0x1000);
  for (const u64 address : {0x1080, 0x1100, 0x1180})
    EXPECT_EQ(strides.observe(load_at, address), StridePrefetcher::nothing) << address;
  EXPECT_EQ(strides.observe(load_at, 0x1200), 0x1280u);
  EXPECT_EQ(strides.observe(load_at, 0x1900), StridePrefetcher::nothing) << "another stride";
}

TEST(StridePrefetcher, GoesDownwardsToo) {
  StridePrefetcher strides(256);
  u64 next = 0;
  for (const u64 address : {0x1F00, 0x1E00, 0x1D00, 0x1C00, 0x1B00}) next = strides.observe(load_at, address);
  EXPECT_EQ(next, 0x1A00u);
}

TEST(StridePrefetcher, StaysInThePage) {
  StridePrefetcher strides(256);
  u64 next = 0;
  for (const u64 address : {0x1800, 0x1A00, 0x1C00, 0x1D00, 0x1E00, 0x1F00})
    next = strides.observe(load_at, address);
  EXPECT_EQ(next, StridePrefetcher::nothing);
}

TEST(StridePrefetcher, TakesLoadsWithTheSameLowestBitsForOne) {
  StridePrefetcher strides(256);
  for (const u64 address : {0x1000, 0x1040, 0x1080, 0x10C0}) strides.observe(load_at, address);
  EXPECT_EQ(strides.observe(load_at + 256, 0x1100), 0x1140u);
}

constexpr StreamPrefetcher::Shape streamer{
    .pages = 32, .gap_lines = 2, .burst_lines = 2, .ahead_lines = 5, .line_shift = 6};
constexpr unsigned much_room = 100;

TEST(StreamPrefetcher, RunsAheadFromTheThirdLineOn) {
  StreamPrefetcher streams(streamer);
  EXPECT_EQ(streams.observe(0, much_room).lines, 0u);
  EXPECT_EQ(streams.observe(1, much_room).lines, 0u);
  const LineRun run = streams.observe(2, much_room);
  EXPECT_EQ(run.first, 3u);
  EXPECT_EQ(run.step, 1);
  EXPECT_EQ(run.lines, 2u);
  EXPECT_EQ(streams.observe(3, much_room).first, 5u);
}

TEST(StreamPrefetcher, FollowsLinesDownwards) {
  StreamPrefetcher streams(streamer);
  streams.observe(40, much_room);
  streams.observe(39, much_room);
  const LineRun run = streams.observe(38, much_room);
  EXPECT_EQ(run.first, 37u);
  EXPECT_EQ(run.step, -1);
}

TEST(StreamPrefetcher, NeedsANextPagePrefetcherToCrossThePage) {
  const auto first_run_in_next_page = [](unsigned next_page) {
    StreamPrefetcher::Shape shape = streamer;
    shape.next_page = next_page;
    StreamPrefetcher streams(shape);
    for (u64 line = 0; line < 64; ++line) streams.observe(line, much_room);
    return streams.observe(64, much_room);
  };
  EXPECT_EQ(first_run_in_next_page(0).lines, 0u);
  EXPECT_EQ(first_run_in_next_page(1).lines, 2u);
  EXPECT_EQ(first_run_in_next_page(1).first, 65u);
}

TEST(StreamPrefetcher, ForgetsADirectionAtAStepBeyondTheGap) {
  StreamPrefetcher streams(streamer);
  for (const u64 line : {0, 1, 2, 6}) streams.observe(line, much_room);
  EXPECT_EQ(streams.observe(7, much_room).lines, 0u);
  EXPECT_EQ(streams.observe(8, much_room).first, 9u);
}

// Whatever comes, it fetches within the page, ahead of the request and not too far, no more than there is
// room for, and no line of a run twice.
TEST(StreamPrefetcher, KeepsToItsLimitsWhateverComes) {
  std::mt19937_64 random(1);
  StreamPrefetcher streams(streamer);
  u64 line = 0;
  u64 fetched = 0;
  for (int n = 0; n < 50'000; ++n) {
    line = random() % 8 == 0 ? random() % 256 : (line + random() % 3) % 256;
    const auto room = static_cast<unsigned>(random() % 4);
    const LineRun run = streams.observe(line, room);
    ASSERT_LE(run.lines, std::min(room, streamer.burst_lines));
    for (u64 k = 0; k < run.lines; ++k) {
      const auto distance = static_cast<i64>(run.first + k * static_cast<u64>(run.step) - line) * run.step;
      ASSERT_GE(distance, 1);
      ASSERT_LE(distance, i64{streamer.ahead_lines});
      ASSERT_EQ((run.first + k * static_cast<u64>(run.step)) / 64, line / 64) << "the page";
    }
    fetched += run.lines;
  }
  EXPECT_GT(fetched, 10'000u);
}

CpuModel with_streamer() {
  CpuModel model = four_wide();
  model.core.l2_stream_pages = 32;
  return model;
}

TEST(Prefetching, LoadsThatGoUpwardsNoLongerMissEverywhere) {
  const std::vector<u64> upwards = ascending(0x100000, 1 << 20, line_bytes);
  EXPECT_LT(Chase(with_streamer()).cycles_per_access(upwards),
            Chase(four_wide()).cycles_per_access(upwards) / 4);
}

TEST(Prefetching, ARequestOfThePrefetcherIsAnEventAndNoDemandMiss) {
  Core core = make_core(with_streamer());
  const trace::Block block = block_at(0x1000, std::vector<x86::Instruction>(64, load()));
  const std::vector<Seen> seen = run(core, block, ascending(0x100000, page_bytes, line_bytes));
  const u64 prefetches = total(seen, Quantity::l2_prefetch_misses);
  EXPECT_GT(prefetches, 20u);
  EXPECT_EQ(total(seen, Quantity::l2_lines_in), 64 + 4u) << "every line of the page once, and the code's";
}

TEST(Prefetching, TheOtherLineOfAPairComesWithAMissedOne) {
  CpuModel model = four_wide();
  model.core.adjacent_line_level = 2;
  Core core = make_core(model);
  const trace::Block block = block_at(0x1000, {load()});
  EXPECT_EQ(run(core, block, {0x50000})[0].accesses[0].level, CacheLevel::memory);
  core.interrupt();
  for (int n = 0; n < 300; ++n) run(core, block, {0x9000});  // until it is there
  EXPECT_EQ(run(core, block, {0x50040})[0].accesses[0].level, CacheLevel::l2);
}

TEST(Prefetching, ALoadInALoopFindsALineThatIsOnItsWay) {
  CpuModel model = four_wide();
  model.core.l1_stride_loads = 256;
  Core core = make_core(model);
  const trace::Block block = block_at(0x1000, {load()});
  bool met_prefetch = false;
  for (u64 at = 0; at < page_bytes; at += 2 * line_bytes)
    met_prefetch |= run(core, block, {0x100000 + at})[0].signals.has(Signal::load_hit_hw_prefetch);
  EXPECT_TRUE(met_prefetch);
}

TEST(Prefetching, EveryPrefetcherCanBeTurnedOff) {
  CpuModel model = find_cpu_model("broadwell").value();
  model.policies.prefetchers_off = 15;
  Core core = make_core(model);
  const trace::Block block = block_at(0x1000, std::vector<x86::Instruction>(64, load()));
  const std::vector<Seen> seen = run(core, block, ascending(0x100000, page_bytes, line_bytes));
  EXPECT_EQ(total(seen, Quantity::l2_prefetches), 0u);
  for (const Seen& one : seen) EXPECT_FALSE(one.signals.has(Signal::load_hit_hw_prefetch));
}

}  // namespace
}  // namespace pmusim::prefetchers_test
