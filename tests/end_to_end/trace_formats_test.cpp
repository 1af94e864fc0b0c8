// SPDX-License-Identifier: MIT
#include <gmock/gmock.h>

#include <algorithm>

#include "tests/end_to_end/command.h"
#include "tests/support/json.h"

namespace pmusim::test {
namespace {

using ::testing::HasSubstr;

/// Of each instruction in a file: its address, whether it is a branch and taken, addresses of its accesses.
std::vector<std::string> champsim_essence(const std::string& file) {
  constexpr std::size_t record_bytes = 64, flags_end = 10, stores = 16;
  std::vector<std::string> result;
  for (std::size_t at = 0; at + record_bytes <= file.size(); at += record_bytes)
    result.push_back(file.substr(at, flags_end) + file.substr(at + stores, record_bytes - stores));
  return result;
}

/// Of each instruction: its line, and its accesses but for their sizes, which code that stands for the
/// program's cannot always have.
std::vector<std::string> lackey_essence(const std::string& file) {
  std::vector<std::string> result;
  std::vector<std::string> accesses;
  const auto end_instruction = [&] {
    std::ranges::sort(accesses);
    for (const std::string& access : accesses) result.back() += access;
    accesses.clear();
  };
  for (const std::string& line : lines(file)) {
    if (line.starts_with("I")) {
      end_instruction();
      result.push_back(line);
    } else {
      accesses.push_back(line.substr(0, line.find(',')));
    }
  }
  end_instruction();
  return result;
}

/// A recorded program, written in another format and read back.
class OtherFormats : public testing::TestWithParam<const char*> {
 protected:
  std::string converted(const std::string& trace) {
    const std::string other = scratch_.file("other"), back = scratch_.file("back");
    EXPECT_EQ(run({pmusim(), "trace", "export", "-f", GetParam(), "-o", other, trace}).status, 0);
    EXPECT_EQ(run({pmusim(), "trace", "import", "-f", GetParam(), "-o", back, other}).status, 0);
    return back;
  }
  std::vector<std::string> essence_of(const std::string& trace) const {
    const std::string other = scratch_.file("essence"), format = GetParam();
    EXPECT_EQ(run({pmusim(), "trace", "export", "-f", format, "-o", other, trace}).status, 0);
    return format == "lackey" ? lackey_essence(read_file(other)) : champsim_essence(read_file(other));
  }

  ScratchDirectory scratch_;
};

nlohmann::json info_of(const std::string& trace) {
  return parse_json(run({pmusim(), "trace", "info", "--json", trace}).out);
}

TEST_P(OtherFormats, KeepWhereAProgramWentAndWhatItAccessed) {
  const std::string original = recorded("branches", {"27"});
  const std::string back = converted(original);
  const auto before = info_of(original), after = info_of(back);
  EXPECT_EQ(after["instructions"], before["instructions"]);
  EXPECT_EQ(after["distinct_instructions"], before["distinct_instructions"]);
  // lackey does not tell kinds: a branch that never was taken looks like none.
  const bool kinds_are_told = GetParam() != std::string("lackey");
  for (const char* kind : {"conditional", "direct call", "return"}) {
    if (kinds_are_told) {
      EXPECT_EQ(after["branch_kinds"][kind], before["branch_kinds"][kind]) << kind;
    }
  }
  if (GetParam() != std::string("insn-trace")) {
    const auto expected = essence_of(original), actual = essence_of(back);
    EXPECT_EQ(actual.size(), expected.size());
    const auto [at, other] = std::ranges::mismatch(actual, expected);
    EXPECT_EQ(at - actual.begin(), std::ssize(expected)) << "the first instruction that differs";
  }
}

INSTANTIATE_TEST_SUITE_P(Each, OtherFormats, testing::Values("champsim", "lackey", "insn-trace"),
                         [](const auto& tested) {
                           const std::string name = tested.param;
                           return name.substr(0, name.find('-'));
                         });

TEST(TraceFormats, OfStandInCodeRefuseEventsThatNeedRealCode) {
  ScratchDirectory scratch;
  const std::string other = scratch.file("other"), back = scratch.file("back");
  run({pmusim(), "trace", "export", "-f", "champsim", "-o", other, recorded("branches", {"27"})});
  run({pmusim(), "trace", "import", "-f", "champsim", "-o", back, other});
  EXPECT_EQ(
      run({pmusim(), "stat", "-e", "instructions,branch-misses,mem_inst_retired.all_loads", back}).status, 0);
  for (const std::string event : {"fp_arith_inst_retired.scalar_double", "br_inst_retired.far_branch",
                                  "uops_retired.slots", "mem_inst_retired.split_loads"}) {
    const Output refused = run({pmusim(), "stat", "-e", event, back});
    EXPECT_EQ(refused.status, 2) << event;
    EXPECT_THAT(refused.err, HasSubstr("needs the program's own code, which this trace does not have"));
  }
}

TEST(TraceFormats, OfABrokenFileEndWithASentenceAndStatus2) {
  ScratchDirectory scratch;
  const Output broken =
      run({pmusim(), "trace", "import", "-f", "champsim", "-o", scratch.file("t"), pmusim()});
  EXPECT_EQ(broken.status, 2);
  EXPECT_THAT(broken.err, HasSubstr(pmusim() + ": does not begin with records of 64 bytes"));
  EXPECT_FALSE(std::filesystem::exists(scratch.file("t")));
  const Output unknown = run({pmusim(), "trace", "import", "-f", "sift", "-o", scratch.file("t"), pmusim()});
  EXPECT_EQ(unknown.status, 2);
  EXPECT_THAT(unknown.err, HasSubstr("champsim"));
}

}  // namespace
}  // namespace pmusim::test
