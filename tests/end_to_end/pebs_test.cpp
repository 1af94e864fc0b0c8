// SPDX-License-Identifier: MIT
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "tests/end_to_end/command.h"

namespace pmusim::test {
namespace {

using testing::HasSubstr;

Output generate(const std::string& file, const std::vector<std::string>& more) {
  std::vector<std::string> arguments{pmusim(), "pebs", "generate", "-o", file};
  arguments.insert(arguments.end(), more.begin(), more.end());
  return run(arguments);
}

TEST(PebsCommand, DrainSaysWhatBecameOfEveryGeneratedRecord) {
  const ScratchDirectory scratch;
  const std::string file = scratch.file("buffer");
  ASSERT_EQ(
      generate(file, {"--format", "1", "--events", "4", "--records", "1000", "--collisions", "250"}).status,
      0);
  const Output text = run({pmusim(), "pebs", "drain", file});
  EXPECT_EQ(text.status, 0);
  EXPECT_THAT(text.out, HasSubstr("format 1: 1000 records"));
  const Output json = run({pmusim(), "pebs", "drain", file, "--json", "--records"});
  EXPECT_THAT(json.out, HasSubstr("\"records\": 1000"));
  EXPECT_THAT(json.out, HasSubstr("\"fate\": \"collided\""));
}

TEST(PebsCommand, SameSeedSameBytes) {
  const ScratchDirectory scratch;
  for (const char* name : {"a", "b"})
    ASSERT_EQ(generate(scratch.file(name), {"--format", "15", "--records", "100", "--seed", "5"}).status, 0);
  EXPECT_EQ(read_file(scratch.file("a")), read_file(scratch.file("b")));
}

TEST(PebsCommand, FragmentsDrainAsTheRecordsThatTheyArePartsOf) {
  const ScratchDirectory scratch;
  std::vector<std::string> options{"--format",       "15",           "--records", "100", "--groups",
                                   "memory,gpr,lbr", "--collisions", "300"};
  ASSERT_EQ(generate(scratch.file("whole"), options).status, 0);
  options.insert(options.end(), {"--fragment", "128"});
  ASSERT_EQ(generate(scratch.file("parts"), options).status, 0);
  EXPECT_GT(read_file(scratch.file("parts")).size(), read_file(scratch.file("whole")).size());
  const Output whole = run({pmusim(), "pebs", "drain", scratch.file("whole")});
  const Output parts = run({pmusim(), "pebs", "drain", scratch.file("parts")});
  EXPECT_THAT(parts.out, HasSubstr("format 15: 100 records"));
  EXPECT_EQ(parts.out, whole.out);
}

TEST(PebsCommand, VectorGroupsAreWrittenAndDrained) {
  const ScratchDirectory scratch;
  const std::string file = scratch.file("vectors");
  std::vector<std::string> options{"--format", "15", "--records", "50", "--groups"};
  options.emplace_back("xmm,ymmh,egpr,opmask,zmmh,hi16zmm");
  ASSERT_EQ(generate(file, options).status, 0);
  EXPECT_GT(read_file(file).size(), 50u * (64 + 16 + 256 + 256 + 128 + 64 + 512 + 1024));
  const Output drained = run({pmusim(), "pebs", "drain", file});
  EXPECT_THAT(drained.out, HasSubstr("format 15: 50 records"));
  EXPECT_THAT(drained.out, HasSubstr("50 sampled"));
  const Output refused = generate(file, {"--format", "4", "--records", "1", "--groups", "zmmh"});
  EXPECT_EQ(refused.status, 2);
  EXPECT_THAT(refused.err, HasSubstr("--groups zmmh: only architectural records"));
}

TEST(PebsCommand, OnlyArchitecturalRecordsComeInFragments) {
  const ScratchDirectory scratch;
  const Output refused = generate(scratch.file("x"), {"--format", "4", "--records", "1", "--fragment", "64"});
  EXPECT_EQ(refused.status, 2);
  EXPECT_THAT(refused.err, HasSubstr("--fragment: only architectural records"));
}

TEST(PebsCommand, BrokenFilesGetASentence) {
  const ScratchDirectory scratch;
  const std::string file = scratch.file("buffer");
  ASSERT_EQ(generate(file, {"--format", "4", "--records", "10"}).status, 0);
  const std::string whole = read_file(file);
  for (const std::size_t bytes : {std::size_t{0}, std::size_t{16}, std::size_t{31}, whole.size() - 1}) {
    std::ofstream(file, std::ios::binary) << whole.substr(0, bytes);
    const Output output = run({pmusim(), "pebs", "drain", file});
    EXPECT_EQ(output.status, 2) << bytes;
    EXPECT_THAT(output.err, HasSubstr(file));
  }
  std::ofstream(file, std::ios::binary) << std::string(100, 'x');
  EXPECT_EQ(run({pmusim(), "pebs", "drain", file}).status, 2);
  EXPECT_EQ(run({pmusim(), "pebs", "drain", scratch.file("absent")}).status, 2);
}

TEST(PebsCommand, ImpossibleBuffersAreRefused) {
  const ScratchDirectory scratch;
  const std::string file = scratch.file("buffer");
  EXPECT_EQ(generate(file, {"--format", "7", "--records", "1"}).status, 2);
  EXPECT_EQ(generate(file, {"--format", "0", "--events", "2", "--records", "1"}).status, 2);
  EXPECT_EQ(generate(file, {"--format", "3", "--groups", "lbr", "--records", "1"}).status, 2);
}

}  // namespace
}  // namespace pmusim::test
