// SPDX-License-Identifier: MIT
// `--kernel-entries` and `--kallsyms`, as a user has them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "command.h"
#include "pmusim/base/types.h"
#include "tests/support/json.h"

namespace pmusim::test {
namespace {

using testing::HasSubstr;
using Json = nlohmann::json;

class KernelEntries : public testing::Test {
 protected:
  std::string trace_ = recorded("mispredict", {"512", "2"});
  ScratchDirectory scratch_;

  Json stat(const std::string& entries, const std::string& events) const {
    const Output output =
        run({pmusim(), "stat", "--json", "-e", events, "--kernel-entries", entries, trace_});
    EXPECT_EQ(output.status, 0) << output.err;
    return parse_json(output.out);
  }
  static u64 value(const Json& counts, std::size_t event) { return counts["events"][event]["value"]; }
};

TEST_F(KernelEntries, CountByTheirLength) {
  const std::string events = "instructions:k,instructions:u,instructions";
  const Json shorter = stat("syscall=200", events), longer = stat("syscall=300", events);
  const u64 calls = (value(longer, 0) - value(shorter, 0)) / 100;
  EXPECT_GT(calls, 3u);
  EXPECT_EQ(value(shorter, 1), value(longer, 1));
  EXPECT_EQ(value(shorter, 0) + value(shorter, 1), value(shorter, 2));
  EXPECT_EQ(value(stat("every=10000", "instructions:k"), 0) % 100, value(shorter, 0) % 100);
}

TEST_F(KernelEntries, AProfileNamesTheKernelsFunctions) {
  const std::string out = scratch_.file("perf.data");
  const Output recorded = run({pmusim(), "record", "-e", "instructions:k", "-c", "50", "-o", out,
                               "--kernel-entries", "syscall=500", trace_});
  ASSERT_EQ(recorded.status, 0) << recorded.err;
  EXPECT_THAT(recorded.err, HasSubstr("perf report --kallsyms " + out + ".kallsyms"));
  EXPECT_THAT(run({pmusim(), "report", "-i", out}).out, HasSubstr("synthetic_sys_"));
  std::filesystem::rename(out + ".kallsyms", scratch_.file("names"));
  EXPECT_THAT(run({pmusim(), "report", "-i", out}).out, Not(HasSubstr("synthetic_")));
  EXPECT_THAT(run({pmusim(), "report", "-i", out, "--kallsyms", scratch_.file("names")}).out,
              HasSubstr("synthetic_sys_"));
  if (!installed("perf")) GTEST_SKIP() << "perf is not installed";
  const Output perf =
      run({"perf", "script", "-i", out, "--kallsyms", scratch_.file("names"), "-F", "ip,sym"});
  EXPECT_THAT(perf.out, HasSubstr("synthetic_sys_"));
  EXPECT_THAT(run({"perf", "script", "-i", out, "--show-mmap-events"}).out,
              HasSubstr("PERF_RECORD_MMAP -1/0: [0xffffffff81000000("));
}

TEST_F(KernelEntries, WrongOnesAreRefused) {
  const auto refusal = [&](const std::string& entries) {
    const Output output = run({pmusim(), "stat", "--kernel-entries", entries, trace_});
    EXPECT_EQ(output.status, 2);
    return output.err;
  };
  EXPECT_THAT(refusal("syscall=60"), HasSubstr("an entry takes 61 to 10000000 instructions"));
  EXPECT_THAT(refusal("interrupt=60"), HasSubstr("'interrupt=60': expected 'default', or syscall=N"));
  EXPECT_THAT(refusal("syscall=6x"), HasSubstr("'syscall=6x'"));
  EXPECT_THAT(refusal("syscall"), HasSubstr("'syscall'"));
  const Output without = run({pmusim(), "stat", "-e", "instructions:k", trace_});
  EXPECT_EQ(without.status, 2);
  EXPECT_THAT(without.err, HasSubstr("--kernel-entries"));
}

}  // namespace
}  // namespace pmusim::test
