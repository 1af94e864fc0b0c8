// SPDX-License-Identifier: MIT
// Which files debug information may make annotate show: docs/security.md.
#include "annotate/source_files.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>

namespace pmusim::annotate {
namespace {

namespace fs = std::filesystem;

class SourceFilesTest : public testing::Test {
 protected:
  void SetUp() override { fs::create_directories(folder_ / "include"); }
  void TearDown() override { fs::remove_all(folder_); }
  std::string made(const std::string& name) const {
    std::ofstream(folder_ / name) << "first\nsecond\n";
    return folder_ / name;
  }
  std::string path(const std::string& name) const { return folder_ / name; }
  static bool is_shown(const std::string& path) {
    SourceFiles files;
    return files.read(files.number(symbols::Position{path, 1}).file);
  }

 private:
  fs::path folder_ = fs::path(testing::TempDir()) / "source_files_test";
};

TEST_F(SourceFilesTest, SourceCodeIsRead) {
  const std::string file = made("x.cpp");
  SourceFiles files;
  ASSERT_TRUE(files.read(files.number(symbols::Position{file, 1}).file));
  EXPECT_EQ(files.take()[0].lines, (std::vector<std::string>{"first", "second"}));
  for (const char* const name : {"x.c", "x.S", "x.rs", "x.tcc", "include/vector"})
    EXPECT_TRUE(is_shown(made(name))) << name;
}

TEST_F(SourceFilesTest, WhatIsNotCalledLikeSourceCodeIsNotRead) {
  EXPECT_FALSE(is_shown("/etc/passwd"));
  EXPECT_FALSE(is_shown("/usr/include/../../etc/passwd"));
  for (const char* const name : {"secret", "id_rsa.pub", "notes.txt", ".bashrc"})
    EXPECT_FALSE(is_shown(made(name))) << name;
}

TEST_F(SourceFilesTest, PipesAndDevicesAreNotOpened) {
  ASSERT_EQ(mkfifo(path("pipe.c").c_str(), 0600), 0);
  fs::create_symlink("/dev/zero", path("zero.c"));
  fs::create_symlink("/proc/self/environ", path("environ.c"));
  for (const char* const name : {"pipe.c", "zero.c", "environ.c"}) EXPECT_FALSE(is_shown(path(name))) << name;
}

}  // namespace
}  // namespace pmusim::annotate
