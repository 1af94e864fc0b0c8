// SPDX-License-Identifier: MIT
// Periods that nobody gave: the profile is as large as it was said to be, in whatever phases a program runs.
#include "session/default_period.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <array>

namespace pmusim {
namespace {

/// A program with a quiet phase of long straight lines and a busy one of jumps.
class Phases final : public trace::Source {
 public:
  enum class Length : u8 { known, unknown };
  static constexpr u64 quiet_runs = 70'000, busy_runs = 1'000'000;
  static constexpr u64 quiet_instructions = 256, busy_instructions = 2;
  static constexpr u64 instructions = quiet_runs * quiet_instructions + busy_runs * busy_instructions;

  explicit Phases(Length length) {
    if (length == Length::known) length_ = instructions;
    make(blocks_[0], 0, quiet_instructions);
    make(blocks_[1], 1, busy_instructions);
  }
  const trace::Contents& contents() const override { return contents_; }
  std::optional<u64> length() const override { return length_; }
  const std::optional<std::string>& truncation() const override { return truncation_; }
  std::vector<std::byte> code(u32, u64, std::size_t) const override { return {}; }
  Result<trace::Items, Error> read() override {
    if (at_ == quiet_runs + busy_runs + 1) return trace::Items();
    if (at_ == 0)
      item_ = trace::ProcessStart{.pid = 1, .tid = 1, .command = "phases", .exec = true};
    else
      item_ = trace::BlockRun{.block = &blocks_[phase(at_)], .next_ip = blocks_[phase(at_ + 1)].start()};
    ++at_;
    return trace::Items(&item_, 1);
  }

 private:
  static std::size_t phase(u64 run) { return run > quiet_runs ? 1 : 0; }
  /// NOPs and a jump.
  static void make(trace::Block& block, u32 id, u64 count) {
    block.id = id;
    block.code.assign(count - 1, std::byte{0x90});
    for (const unsigned byte : {0xE9u, 0u, 0u, 0u, 0u}) block.code.push_back(static_cast<std::byte>(byte));
    const u64 start = 0x401000 + 0x1000 * u64{id};
    for (std::size_t at = 0; at < block.code.size(); at += block.instructions.back().length)
      block.instructions.push_back(x86::decode(std::span(block.code).subspan(at), start + at));
  }

  trace::Contents contents_;
  std::optional<u64> length_;
  std::optional<std::string> truncation_;
  std::array<trace::Block, 2> blocks_;
  u64 at_ = 0;
  trace::Item item_;
};

const CpuModel& model() {
  static const CpuModel icelake = *find_cpu_model("icelake");
  return icelake;
}

Session session(Phases::Length length) {
  return std::move(Session::open(std::make_unique<Phases>(length), {.model = model()})).value();
}

RecordOptions options(const std::string& events) {
  RecordOptions options;
  options.events = events::parse_events(events, model()).value();
  options.output = testing::TempDir() + "default_period" + std::to_string(getpid());
  return options;
}

ChosenPeriods chosen(const std::string& events, Phases::Length length = Phases::Length::known) {
  Session counted = session(length);
  return choose_periods(counted, options(events)).value();
}

u64 samples(const std::string& events, const ChosenPeriods& periods, Phases::Length length) {
  RecordOptions recording = options(events);
  recording.events = periods.events;
  recording.growing = periods.growing;
  Session sampled = session(length);
  const auto summary = record(sampled, recording);
  unlink(recording.output.c_str());
  return summary.value().samples;
}

class DefaultPeriod : public testing::TestWithParam<const char*> {};

TEST_P(DefaultPeriod, GivesTheSamplesThatItPromises) {
  const ChosenPeriods periods = chosen(GetParam());
  u64 promised = 0;
  for (const ChosenPeriod& one : periods.chosen) {
    EXPECT_NEAR(static_cast<double>(one.expected_samples), default_samples, default_samples / 10.0);
    promised += one.expected_samples;
  }
  const auto expected = static_cast<double>(promised);
  EXPECT_NEAR(static_cast<double>(samples(GetParam(), periods, Phases::Length::known)), expected,
              expected / 4);
}

INSTANTIATE_TEST_SUITE_P(Lists, DefaultPeriod,
                         testing::Values("instructions:u", "branches:upp",
                                         "{branches:u,instructions:u,cycles:u}",
                                         "branches:upp,branches:upp,cycles:upp"));

TEST(DefaultPeriods, AreDifferentForEventsThatCountTheSame) {
  const ChosenPeriods periods = chosen("branches:upp,branches:upp");
  EXPECT_NE(periods.chosen[0].period, periods.chosen[1].period);
}

TEST(DefaultPeriods, OfEventsThatTakeTurnsAreForTheirPartOfTheTime) {
  // Ten on eight counters.
  const std::string list = "r00c4:u,r00c4:u,r00c4:u,r00c4:u,r00c4:u,r00c4:u,r00c4:u,r00c4:u,r00c4:u,r00c4:u";
  const ChosenPeriods periods = chosen(list);
  u64 promised = 0;
  for (const ChosenPeriod& one : periods.chosen) promised += one.expected_samples;
  const auto expected = static_cast<double>(promised);
  EXPECT_NEAR(static_cast<double>(samples(list, periods, Phases::Length::known)), expected, expected / 4);
}

TEST(DefaultPeriods, ThatAreLongPromiseANumber) {
  EXPECT_EQ(chosen("instructions:u").chosen[0].expectation, Expectation::near);
}

TEST(DefaultPeriods, ThatAreShortPromiseNoMoreThanALimit) {
  const ChosenPeriods periods = chosen("branch-misses:u");
  EXPECT_EQ(periods.chosen[0].expectation, Expectation::at_most);
  EXPECT_LE(samples("branch-misses:u", periods, Phases::Length::known), periods.chosen[0].expected_samples);
}

TEST(DefaultPeriods, OfARunningProgramFollowItsPhases) {
  const ChosenPeriods periods = chosen("branches:u", Phases::Length::unknown);
  ASSERT_TRUE(periods.growing.has_value());
  const u64 written = samples("branches:u", periods, Phases::Length::unknown);
  EXPECT_GT(written, default_samples);
  // Periods that only doubled gave 63,000.
  EXPECT_LT(written, 8 * default_samples);
}

}  // namespace
}  // namespace pmusim
