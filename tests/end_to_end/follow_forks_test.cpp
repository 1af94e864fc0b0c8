// SPDX-License-Identifier: MIT
// A recorded program that forks: events that are inherited, and the records of its tasks.
#include <gmock/gmock.h>

#include "command.h"
#include "pmusim/cpu/model.h"
#include "pmusim/session/session.h"

namespace pmusim::test {
namespace {

/// A shell and the two programs that it runs, recorded once.
const std::string& forking_trace() {
  static const ScratchDirectory scratch;
  static const std::string path = [] {
    const std::string file = scratch.file("forks.pmutrace");
    const Output output =
        run({pmusim(), "trace", "record", "-o", file, "--", "/bin/sh", "-c", "/bin/true; /bin/true; exit 0"});
    EXPECT_EQ(output.status, 0) << output.err;
    return file;
  }();
  return path;
}

perf::Attr instructions() {
  perf::Attr attr;
  attr.type = static_cast<u32>(perf::EventType::hardware);
  attr.config = static_cast<u64>(perf::HardwareId::instructions);
  attr.exclude_kernel = attr.exclude_hv = 1;
  return attr;
}

u64 count_of(Session& session, perf::Event& event) { return session.perf().read(event)->at(0); }

TEST(FollowForks, AnInheritedEventCountsWhatTheCpuCounts) {
  auto session = std::move(*Session::open(forking_trace(), {.model = *find_cpu_model("icelake")}));
  perf::Event* everyone = nullptr;
  perf::Event* family = nullptr;
  perf::Event* first_only = nullptr;
  // The first task exists once it maps its program; nothing of it has run by then.
  session.on_mapping([&](const trace::Mapping&) {
    if (everyone != nullptr) return;
    perf::Attr inherited = instructions();
    inherited.inherit = 1;
    everyone = *session.open_event(instructions());
    family = *session.perf().open(inherited, 0, -1);
    first_only = *session.perf().open(instructions(), 0, -1);
  });
  ASSERT_TRUE(session.run().ok());
  ASSERT_TRUE(everyone && family && first_only);
  EXPECT_EQ(count_of(session, *everyone), session.instructions());
  EXPECT_EQ(count_of(session, *family), session.instructions());
  EXPECT_GT(count_of(session, *first_only), 0u);
  EXPECT_LT(count_of(session, *first_only), session.instructions());
}

TEST(FollowForks, PerfSeesTheTasksAndNamesTheirSamples) {
  const ScratchDirectory scratch;
  const std::string file = scratch.file("perf.data");
  const Output output =
      run({pmusim(), "record", "-e", "instructions", "-c", "9973", "-o", file, forking_trace()});
  ASSERT_EQ(output.status, 0) << output.err;
  const std::string text = run({"perf", "script", "--show-task-events", "-i", file}).out;
  EXPECT_THAT(text, testing::HasSubstr("PERF_RECORD_FORK("));
  EXPECT_THAT(text, testing::HasSubstr("PERF_RECORD_COMM exec: true:"));
  EXPECT_THAT(text, testing::HasSubstr("PERF_RECORD_EXIT("));
  EXPECT_THAT(text, testing::ContainsRegex("true +[0-9]+ .* 9973 instructions:"));
  EXPECT_THAT(text, testing::ContainsRegex("sh +[0-9]+ .* 9973 instructions:"));
}

}  // namespace
}  // namespace pmusim::test
