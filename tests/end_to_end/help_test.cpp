// SPDX-License-Identifier: MIT
// Help texts. Every example that one gives is a command that works.
#include <gmock/gmock.h>

#include <filesystem>

#include "tests/end_to_end/command.h"

namespace pmusim::test {
namespace {

/// Command lines in the help of a command.
std::vector<std::string> examples_of(const std::vector<std::string>& command) {
  std::vector<std::string> arguments = {pmusim()};
  arguments.insert(arguments.end(), command.begin(), command.end());
  arguments.emplace_back("--help");
  std::vector<std::string> examples;
  for (const std::string& line : lines(run(arguments).out)) {
    if (!line.starts_with("  pmusim ")) continue;
    const std::size_t text = line.find("   ", 2);  // what it does stands behind it
    examples.push_back(line.substr(2, text == std::string::npos ? text : text - 2));
  }
  return examples;
}

class HelpExamples : public ::testing::TestWithParam<std::vector<std::string>> {};

TEST_P(HelpExamples, Work) {
  ScratchDirectory directory;
  std::filesystem::copy_file(recorded("branches", {"27"}, "gpr"), directory.file("T"));
  std::filesystem::copy_file(workload("branches"), directory.file("program"));
  const std::string path = std::filesystem::path(pmusim()).parent_path().string();
  const std::vector<std::string> examples = examples_of(GetParam());
  ASSERT_FALSE(examples.empty());
  for (std::string example : examples) {
    // The process of the examples lives for two seconds.
    if (const std::size_t pid = example.find("1234"); pid != example.npos)
      example = "{ sleep 2 & " + example.replace(pid, 4, "$!") + "; }";
    const Output output =
        run({"sh", "-c", "cd " + directory.path().string() + " && PATH=" + path + ":$PATH && " + example});
    EXPECT_EQ(output.status, 0) << example << "\n" << output.err;
  }
}

INSTANTIATE_TEST_SUITE_P(
    OfCommands, HelpExamples,
    ::testing::Values(std::vector<std::string>{"stat"}, std::vector<std::string>{"record"},
                      std::vector<std::string>{"why"}, std::vector<std::string>{"models"},
                      std::vector<std::string>{"msr"}, std::vector<std::string>{"events"},
                      std::vector<std::string>{"list"}, std::vector<std::string>{"policies"},
                      std::vector<std::string>{"pebs"}, std::vector<std::string>{"trace", "record"}),
    [](const auto& command) { return command.param.back() + command.param.front(); });

TEST(Usage, HasTheProgramBehindTheDashes) {
  const auto usage = [](const char* command) { return lines(run({pmusim(), command, "--help"}).out).at(1); };
  EXPECT_EQ(usage("run"), "Usage: pmusim run [OPTIONS] -- CMD...");
  EXPECT_EQ(usage("stat"), "Usage: pmusim stat [OPTIONS] [trace] [more...] | -- CMD...");
  EXPECT_EQ(usage("report"), "Usage: pmusim report [OPTIONS]");
  EXPECT_EQ(usage("diff"), "Usage: pmusim diff [OPTIONS] files...");
}

}  // namespace
}  // namespace pmusim::test
