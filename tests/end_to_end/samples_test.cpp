// SPDX-License-Identifier: MIT
// sample(): what record() writes into a file, taken apart without one.
#include <gmock/gmock.h>

#include <algorithm>
#include <tuple>

#include "command.h"
#include "pmusim/perfdata/reader.h"
#include "pmusim/session/record.h"

namespace pmusim::test::samples_test {
namespace {

/// What must not depend on the way that a sample took.
struct Taken {
  std::string event;
  u64 ip, time, period, branches, newest_from, newest_cycles, registers;
  friend bool operator==(const Taken&, const Taken&) = default;
};

Taken taken(const std::string& event, const perfdata::SampleRecord& s) {
  const perf::BranchEntry newest = s.branches.empty() ? perf::BranchEntry{} : s.branches.front();
  return {event,
          s.ip,
          s.who.time,
          s.period,
          s.branches.size(),
          newest.from,
          newest.cycles,
          s.interrupt_registers.values.size()};
}

class Sampled : public testing::TestWithParam<const char*> {
 protected:
  static RecordOptions options() {
    RecordOptions all{.events = *events::parse_events(GetParam(), model()), .period = 997};
    all.branch_sample_type = perf::branch::ANY | perf::branch::USER;
    return all;
  }
  static CpuModel model() { return *find_cpu_model("icelake"); }
  static Session session() {
    return std::move(*Session::open(recorded("branches", {"4000"}), {.model = model()}));
  }
};

TEST_P(Sampled, AreTheSamplesOfTheFileThatRecordWrites) {
  const ScratchDirectory scratch;
  RecordOptions to_file = options();
  to_file.output = scratch.file("perf.data");
  Session recorded_one = session(), sampled_one = session();
  ASSERT_TRUE(record(recorded_one, to_file).ok());
  const auto samples = sample(sampled_one, options());
  ASSERT_TRUE(samples.ok()) << samples.error().message;

  std::vector<Taken> of_file, of_replay;
  auto file = perfdata::SampleReader::open(to_file.output);
  ASSERT_TRUE(file.ok()) << file.error().message;
  while (const auto next = file->next()) {
    if (!next->has_value()) break;
    of_file.push_back(taken((*next)->event.name, (*next)->sample));
  }
  for (const auto& [event, sample] : *samples) of_replay.push_back(taken(event.name, sample));
  // The file is read in the order of times, a large PEBS buffer drained event after event.
  const auto earlier = [](const Taken& a, const Taken& b) {
    return std::tie(a.time, a.event, a.ip) < std::tie(b.time, b.event, b.ip);
  };
  std::ranges::sort(of_file, earlier);
  std::ranges::sort(of_replay, earlier);
  EXPECT_GT(of_replay.size(), 20u);
  EXPECT_EQ(of_replay.size(), samples->size());
  EXPECT_EQ(of_replay, of_file);
}

INSTANTIATE_TEST_SUITE_P(Events, Sampled,
                         testing::Values("instructions:u", "instructions:upp,branches:upp",
                                         "{cycles:u,branches:u}"));

TEST(Samples, OfAnEventThatIsRefusedAreItsSentence) {
  const CpuModel model = *find_cpu_model("icelake");
  auto session = std::move(*Session::open(recorded("branches", {"4000"}), {.model = model}));
  const auto samples = sample(session, {.events = *events::parse_events("page-faults", model)});
  ASSERT_FALSE(samples.ok());
  EXPECT_THAT(samples.error().message, testing::HasSubstr("page faults"));
}

TEST(Samples, OfNoEventAreRefused) {
  auto session =
      std::move(*Session::open(recorded("branches", {"4000"}), {.model = *find_cpu_model("icelake")}));
  EXPECT_FALSE(sample(session, {}).ok());
}

}  // namespace
}  // namespace pmusim::test::samples_test
