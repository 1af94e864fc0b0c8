// SPDX-License-Identifier: MIT
#include "base/input_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <fstream>
#include <span>
#include <string>

namespace pmusim {
namespace {

using testing::HasSubstr;

std::string refusal(const std::string& path) {
  const auto file = InputFile::open(path);
  return file.ok() ? "opened" : file.error().message;
}

class InputFileTest : public testing::Test {
 protected:
  void SetUp() override { std::filesystem::create_directories(folder_); }
  void TearDown() override { std::filesystem::remove_all(folder_); }
  std::string path(const std::string& name) const { return folder_ / name; }

 private:
  // Other tests of the suite may run in another process.
  std::filesystem::path folder_ =
      std::filesystem::path(testing::TempDir()) / ("input_file_test." + std::to_string(getpid()));
};

TEST_F(InputFileTest, ARegularFileIsRead) {
  std::ofstream(path("x")) << "content";
  const auto file = InputFile::open(path("x"));
  ASSERT_TRUE(file.ok());
  EXPECT_EQ(file->size(), 7u);
  EXPECT_EQ(file->read_all()->size(), 7u);
}

TEST_F(InputFileTest, ItsStartIsAsMuchAsThereIs) {
  std::ofstream(path("x")) << "content";
  const auto file = InputFile::open(path("x"));
  ASSERT_TRUE(file.ok());
  std::array<char, 12> longer{}, shorter{};
  EXPECT_EQ(*file->read_start(std::as_writable_bytes(std::span(longer))), 7u);
  EXPECT_STREQ(longer.data(), "content");
  EXPECT_EQ(*file->read_start(std::as_writable_bytes(std::span(shorter).first(4))), 4u);
  EXPECT_STREQ(shorter.data(), "cont");
}

TEST_F(InputFileTest, WhatIsNoFileIsRefusedWithItsName) {
  EXPECT_THAT(refusal(path("x")), HasSubstr("x: cannot read: No such file"));
  EXPECT_THAT(refusal(path("")), HasSubstr("cannot read: Is a directory"));
}

TEST_F(InputFileTest, PipesAndDevicesAreRefusedAtOnce) {
  ASSERT_EQ(mkfifo(path("pipe").c_str(), 0600), 0);
  std::filesystem::create_symlink(path("pipe"), path("link"));
  for (const std::string& each :
       {path("pipe"), path("link"), std::string("/dev/zero"), std::string("/dev/tty")})
    EXPECT_THAT(refusal(each), HasSubstr("expected a regular file"));
}

TEST_F(InputFileTest, WhatTheKernelMakesUpIsRefused) {
  EXPECT_THAT(refusal("/proc/self/environ"), HasSubstr("the kernel makes it up"));
  std::filesystem::create_symlink("/proc/self/maps", path("link"));
  EXPECT_THAT(refusal(path("link")), HasSubstr("the kernel makes it up"));
}

TEST_F(InputFileTest, ADescriptorOfProcThatIsAFileIsAFile) {
  std::ofstream(path("x")) << "content";
  const auto file = InputFile::open(path("x"));
  ASSERT_TRUE(file.ok());
  EXPECT_TRUE(InputFile::open("/proc/self/fd/" + std::to_string(file->descriptor())).ok());
}

}  // namespace
}  // namespace pmusim
