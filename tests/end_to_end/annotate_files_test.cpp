// SPDX-License-Identifier: MIT
// What annotate and report show of programs that are stripped, split, shared, missing or of another build.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <algorithm>
#include <filesystem>
#include <map>

#include "command.h"
#include "pmusim/base/types.h"
#include "tests/support/json.h"

namespace pmusim::test {

namespace {

using nlohmann::json;
using testing::HasSubstr;
namespace fs = std::filesystem;

class AnnotatedFilesTest : public testing::Test {
 protected:
  /// A profile of a run of `program` with an argument.
  std::string profile(const std::string& program, const std::string& argument) const {
    const std::string trace = scratch.file("trace"), file = scratch.file("perf.data");
    EXPECT_EQ(run({pmusim(), "trace", "record", "-o", trace, "--", program, argument}).status, 0);
    EXPECT_EQ(run({pmusim(), "record", "-q", "-e", "cycles:upp", "-c", "97", "-b", "-o", file, trace}).status,
              0);
    return file;
  }
  json report(const std::string& file, const std::vector<std::string>& options = {}) const {
    std::vector<std::string> command{pmusim(), "annotate", "--json", "-i", file};
    command.insert(command.end(), options.begin(), options.end());
    const Output output = run(command);
    EXPECT_EQ(output.status, 0) << output.err;
    return parse_json(output.out);
  }
  ScratchDirectory scratch;
};

/// Samples by the address at which their function begins, for functions with many.
std::map<u64, u64> hot_functions(const json& report, const std::string& module) {
  std::map<u64, u64> samples;
  for (const json& s : report["symbols"])
    if (report["modules"][s["module"].get<std::size_t>()]["path"] == module &&
        s["weights"][0]["samples"] > 20)
      samples[s["start"]] = s["weights"][0]["samples"];
  return samples;
}

TEST_F(AnnotatedFilesTest, StrippedProgramHasTheSameSamplesByAddress) {
  const std::string program = scratch.file("shapes");
  fs::copy_file(TEST_SHAPES, program);
  const std::string file = profile(program, "100");
  const json whole = report(file);
  ASSERT_EQ(run({"strip", program}).status, 0);
  const json bare = report(file);
  ASSERT_GE(hot_functions(whole, program).size(), 2u);
  EXPECT_EQ(hot_functions(bare, program), hot_functions(whole, program));

  const u64 hottest = whole["symbols"][0]["start"];
  const std::string name = fmt::format("[shapes+{:#x}]", hottest);
  const Output text = run({pmusim(), "annotate", "-i", file, name});
  ASSERT_EQ(text.status, 0) << text.err;
  EXPECT_THAT(text.err, HasSubstr(program + ": has no symbols: its functions are named by their addresses"));
  EXPECT_THAT(text.out, HasSubstr(fmt::format("{:x}:  ", hottest)));
  EXPECT_THAT(text.out, testing::ContainsRegex("# -[0-9.]+% \\(p:")) << "branch rates need no names";
}

TEST_F(AnnotatedFilesTest, AMissingOrOtherProgramIsRankedWithoutCode) {
  const std::string program = scratch.file("shapes");
  fs::copy_file(TEST_SHAPES, program);
  const std::string file = profile(program, "100");
  fs::remove(program);
  Output output = run({pmusim(), "report", "-i", file, "--sort", "module"});
  EXPECT_EQ(output.status, 0);
  EXPECT_THAT(output.err, HasSubstr(program + ": does not exist here"));
  EXPECT_THAT(output.out, HasSubstr(program));
  fs::copy_file("/bin/true", program);
  output = run({pmusim(), "annotate", "-i", file});
  EXPECT_EQ(output.status, 0);
  EXPECT_THAT(output.err, HasSubstr("is another build"));
}

/// As distributions ship a library: stripped, and its debug information elsewhere.
class SharedLibraryTest : public AnnotatedFilesTest {
 protected:
  SharedLibraryTest() {
    fs::copy_file(TEST_SCRAMBLE, program);
    fs::copy_file(TEST_SCRAMBLE_LIBRARY, library);
    file = profile(program, "60");
    id = build_id(report(file));
    fs::create_directories(scratch.path() / "debug" / ".build-id" / id.substr(0, 2));
  }
  std::string build_id(const json& profile) const {
    for (const json& m : profile["modules"])
      if (m["path"] == library) return m["build_id"];
    throw std::runtime_error("the library is not in the profile");
  }
  void split() const {
    const std::string by_id = "debug/.build-id/" + id.substr(0, 2) + "/" + id.substr(2) + ".debug";
    ASSERT_EQ(run({"objcopy", "--only-keep-debug", library, scratch.file(by_id)}).status, 0);
    ASSERT_EQ(run({"strip", "--strip-unneeded", library}).status, 0);
  }
  Output annotate(const std::string& function, const std::string& debug_directory) const {
    return run({pmusim(), "annotate", "-i", file, "--debug-directory", debug_directory, function});
  }
  const std::string program = scratch.file("scramble"), library = scratch.file("libscramble.so");
  std::string file, id;
};

TEST_F(SharedLibraryTest, HasSourceAndBranchesWhereverItWasMapped) {
  const Output whole = annotate("folded", scratch.file("nowhere"));
  ASSERT_EQ(whole.status, 0) << whole.err;
  EXPECT_THAT(whole.out, HasSubstr("if (value & 1) bits += value;"));
  EXPECT_THAT(whole.out, testing::ContainsRegex("# -[0-9.]+% \\(p:"));
}

TEST_F(SharedLibraryTest, IsShownTheSameWithItsDebugFileElsewhere) {
  const std::string whole = annotate("folded", scratch.file("nowhere")).out;
  ASSERT_NO_FATAL_FAILURE(split());
  EXPECT_EQ(annotate("folded", scratch.file("debug")).out, whole);
  const std::string file_of_id = "debug/.build-id/" + id.substr(0, 2) + "/" + id.substr(2) + ".debug";
  fs::create_directories(scratch.path() / ".debug");
  fs::rename(scratch.file(file_of_id), scratch.file(".debug/scramble.debug"));
  ASSERT_EQ(run({"objcopy", "--add-gnu-debuglink=" + scratch.file(".debug/scramble.debug"), library}).status,
            0);
  EXPECT_EQ(annotate("folded", scratch.file("nowhere")).out, whole) << "by its link";
}

TEST_F(SharedLibraryTest, IsShownByItsExportedNamesWithoutADebugFile) {
  ASSERT_NO_FATAL_FAILURE(split());
  const Output output = annotate("scramble", scratch.file("nowhere"));
  ASSERT_EQ(output.status, 0) << output.err;
  EXPECT_THAT(output.err, HasSubstr(library + ": is stripped: only its dynamic symbols are known"));
  EXPECT_THAT(output.err, HasSubstr("no debug information (DWARF)"));
  EXPECT_THAT(output.out, HasSubstr("call"));
  EXPECT_THAT(output.out, HasSubstr("no debug information tells the source lines"));
  const Output ranking = run({pmusim(), "report", "-i", file, "--debug-directory", scratch.file("nowhere")});
  EXPECT_THAT(ranking.out, HasSubstr("[libscramble.so+0x")) << "the function that is not exported";
}

// Debian's C library has its symbols and lines in the package libc6-dbg.
TEST_F(AnnotatedFilesTest, LibcIsShownFromItsDebugPackage) {
  const std::string file = scratch.file("perf.data");
  ASSERT_EQ(run({pmusim(), "record", "-q", "-e", "cycles:upp", "-c", "31", "-b", "-o", file,
                 recorded("branches", {"400"})})
                .status,
            0);
  const json all = report(file);
  const auto libc = std::ranges::find_if(
      all["modules"], [](const json& m) { return m["path"].get<std::string>().ends_with("/libc.so.6"); });
  ASSERT_NE(libc, all["modules"].end());
  const std::string id = (*libc)["build_id"];
  if (!fs::exists("/usr/lib/debug/.build-id/" + id.substr(0, 2) + "/" + id.substr(2) + ".debug"))
    GTEST_SKIP() << "needs the package libc6-dbg";
  EXPECT_EQ((*libc)["problem"], "");
  const Output text = run({pmusim(), "annotate", "-i", file, "__vfprintf_internal"});  // not exported
  ASSERT_EQ(text.status, 0) << text.err;
  EXPECT_THAT(text.out, HasSubstr("vfprintf-internal.c:"));
  EXPECT_THAT(text.out, testing::ContainsRegex("# -[0-9.]+% \\(p:"));
}

}  // namespace

}  // namespace pmusim::test
