// SPDX-License-Identifier: MIT
// A program that is counted live, and recorded and replayed.
#include <unistd.h>

#include "tests/live/live.h"

namespace pmusim::test {
namespace {

struct Counted {
  std::string name;
  std::vector<std::string> command;
};

void PrintTo(const Counted& counted, std::ostream* out) { *out << counted.name; }

class LiveCounts : public LiveWithPerf, public testing::WithParamInterface<Counted> {};

std::vector<std::string> joined(std::vector<std::string> first, const std::vector<std::string>& second) {
  first.insert(first.end(), second.begin(), second.end());
  return first;
}

TEST_P(LiveCounts, EqualThoseOfAReplayToTheDigit) {
  const auto& program = GetParam().command;
  if (::access(program.front().c_str(), X_OK) != 0) GTEST_SKIP() << program.front() << " is not installed";
  const auto stat = [&](const char* events) {
    return std::vector<std::string>{"perf", "stat", "-x,", "-o", file("counts"), "-e", events, "--"};
  };
  // perf changes the environment of what it runs, which moves the stack.
  const Output environment = run_live(joined(stat("task-clock:u"), {"/usr/bin/env"}), {}, Addresses::fixed);
  ASSERT_EQ(environment.status, 0) << environment.err;
  constexpr const char* events = "instructions:u,cycles:u,branches:u,branch-misses:u";
  const Output counted = run_live(joined(stat(events), program), {}, Addresses::fixed);
  ASSERT_EQ(counted.status, 0) << counted.err;

  // Who is not root runs it in a user namespace, where it is uid 0: busybox, for one, asks.
  const std::vector<std::string> as_run =
      ::geteuid() == 0 ? std::vector<std::string>{} : std::vector<std::string>{"unshare", "--map-root-user"};
  auto record = joined(joined(as_run, {"env", "-i"}), lines(environment.out));
  record = joined(record, {pmusim(), "trace", "record", "--step", "-o", file("trace"), "--"});
  const Output recorded = run(joined(record, program));
  ASSERT_EQ(recorded.status, 0) << recorded.err;
  EXPECT_EQ(recorded.out, counted.out) << "it did something else";
  const Output replayed = run({pmusim(), "stat", "-x,", "-o", file("replayed"), "-e", events, file("trace")});
  ASSERT_EQ(replayed.status, 0) << replayed.err;
  const auto expected = counts_in(read_file(file("replayed")));
  EXPECT_EQ(expected.size(), 4u);
  EXPECT_EQ(counts_in(read_file(file("counts"))), expected);
}

Counted busybox(const std::string& applet, const std::vector<std::string>& arguments) {
  return {applet, joined({"/bin/busybox", applet}, arguments)};
}

INSTANTIATE_TEST_SUITE_P(Of, LiveCounts,
                         testing::Values(Counted{"bare", {bare_program}},
                                         Counted{"linked", {"/usr/bin/true"}}, busybox("echo", {"a"}),
                                         busybox("seq", {"5"}), busybox("expr", {"6", "*", "7"}),
                                         busybox("factor", {"5040"}), busybox("printf", {"%05d", "42"}),
                                         busybox("dirname", {"/a/b"}), busybox("md5sum", {"/etc/hostname"}),
                                         busybox("sort", {"/etc/shells"})),
                         [](const auto& instance) { return instance.param.name; });

}  // namespace
}  // namespace pmusim::test
