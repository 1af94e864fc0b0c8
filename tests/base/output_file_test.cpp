// SPDX-License-Identifier: MIT
#include "base/output_file.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>

namespace pmusim {
namespace {

namespace fs = std::filesystem;

class OutputFileTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = (fs::temp_directory_path() / "pmusim-output-XXXXXX").string();
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    directory_ = name;
  }
  void TearDown() override { fs::remove_all(directory_); }
  fs::path path() const { return directory_ / "file"; }
  std::size_t files() const {
    return static_cast<std::size_t>(
        std::distance(fs::directory_iterator(directory_), fs::directory_iterator{}));
  }
  static std::span<const std::byte> bytes(std::string_view text) { return std::as_bytes(std::span(text)); }

  static std::string content_of(const fs::path& path) {
    std::ifstream in(path);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  static void write_file(const fs::path& path, std::string_view text) { std::ofstream(path) << text; }
  void write_with(Readers readers) const {
    Result<OutputFile, Error> file = OutputFile::create(path(), readers);
    ASSERT_TRUE(file.ok() && file->write(bytes("new")).ok() && file->commit().ok());
  }
  unsigned mode() const { return static_cast<unsigned>(fs::status(path()).permissions()); }

  fs::path directory_;
};

TEST_F(OutputFileTest, HasItsNameOnlyWhenItIsComplete) {
  Result<OutputFile, Error> file = OutputFile::create(path());
  ASSERT_TRUE(file.ok() && file->write(bytes("content")).ok() && file->overwrite(0, bytes("C")).ok());
  EXPECT_FALSE(fs::exists(path()));
  EXPECT_EQ(file->position(), 7u);
  ASSERT_TRUE(file->commit().ok());
  std::string text;
  std::ifstream(path()) >> text;
  EXPECT_EQ(text, "Content");
  EXPECT_EQ(files(), 1u);
}

TEST_F(OutputFileTest, WhatIsOnTheDiskHasNoNameYet) {
  Result<OutputFile, Error> file = OutputFile::create(path());
  ASSERT_TRUE(file.ok() && file->write(bytes("content")).ok() && file->sync().ok());
  EXPECT_FALSE(fs::exists(path()));
  ASSERT_TRUE(file->commit().ok());
  EXPECT_EQ(content_of(path()), "content");
}

TEST_F(OutputFileTest, LeavesNothingBehindWithoutCommit) {
  { ASSERT_TRUE(OutputFile::create(path())->write(bytes("half")).ok()); }
  EXPECT_EQ(files(), 0u);
}

TEST_F(OutputFileTest, TheModeOfAReplacedFileIsKept) {
  write_file(path(), "old");
  ::chmod(path().c_str(), 0640);
  write_with(Readers::as_umask_says);
  EXPECT_EQ(mode(), 0640u);
  EXPECT_EQ(content_of(path()), "new");
}

TEST_F(OutputFileTest, WhatIsForItsOwnerNobodyElseCanRead) {
  write_with(Readers::owner);
  EXPECT_EQ(mode(), 0600u);
  ::chmod(path().c_str(), 0644);
  write_with(Readers::owner);
  EXPECT_EQ(mode(), 0600u);
}

TEST_F(OutputFileTest, ALinkIsReplacedAndNotFollowed) {
  write_file(directory_ / "precious", "precious");
  fs::create_symlink("precious", path());
  write_with(Readers::as_umask_says);
  EXPECT_EQ(content_of(directory_ / "precious"), "precious");
  EXPECT_FALSE(fs::is_symlink(path()));
}

TEST_F(OutputFileTest, ADescriptorsFileIsWrittenInPlaceWhereItEnds) {
  write_file(path(), "old ");
  const int descriptor = ::open(path().c_str(), O_WRONLY | O_APPEND | O_CLOEXEC);
  const fs::path link = directory_ / "link";
  fs::create_symlink("/proc/self/fd/" + std::to_string(descriptor), link);
  Result<OutputFile, Error> file = OutputFile::create(link);
  ASSERT_TRUE(file.ok() && file->write(bytes("new")).ok());
  EXPECT_FALSE(file->seekable());
  ASSERT_TRUE(file->commit().ok());
  ::close(descriptor);
  EXPECT_TRUE(fs::is_symlink(link));
  EXPECT_EQ(content_of(path()), "old new");
}

TEST_F(OutputFileTest, AFileThatIsToBeReplacedStaysUntilCommit) {
  write_file(path(), "old");
  {
    Result<OutputFile, Error> file = OutputFile::create(path());
    ASSERT_TRUE(file.ok() && file->write(bytes("half")).ok() && file->publish().ok());
    EXPECT_FALSE(file->published());
  }
  EXPECT_EQ(content_of(path()), "old");
  EXPECT_EQ(files(), 1u);
  Result<OutputFile, Error> file = OutputFile::create(path());
  ASSERT_TRUE(file.ok() && file->write(bytes("new")).ok() && file->publish().ok() && file->commit().ok());
  EXPECT_EQ(content_of(path()), "new");
  EXPECT_EQ(files(), 1u);
}

TEST_F(OutputFileTest, APublishedFileStaysWithoutCommit) {
  {
    Result<OutputFile, Error> file = OutputFile::create(path());
    ASSERT_TRUE(file.ok() && file->write(bytes("stored")).ok() && file->publish().ok());
    EXPECT_TRUE(file->published());
    EXPECT_EQ(content_of(path()), "stored");
    ASSERT_TRUE(file->write(bytes(" only in a buffer")).ok());
  }
  EXPECT_EQ(content_of(path()), "stored");
  EXPECT_EQ(files(), 1u);
}

TEST_F(OutputFileTest, WhatIsCutIsGoneStoredOrNot) {
  Result<OutputFile, Error> file = OutputFile::create(path());
  ASSERT_TRUE(file.ok() && file->write(bytes("0123456789")).ok() && file->cut(8).ok());
  ASSERT_TRUE(file->publish().ok() && file->write(bytes("abc")).ok() && file->publish().ok());
  ASSERT_TRUE(file->cut(4).ok());
  EXPECT_EQ(file->position(), 4u);
  ASSERT_TRUE(file->write(bytes("x")).ok() && file->commit().ok());
  EXPECT_EQ(content_of(path()), "0123x");
}

TEST_F(OutputFileTest, ANameIsAskedFor) {
  EXPECT_THAT(OutputFile::create("").error().message, testing::StartsWith("\"\": cannot be written"));
  EXPECT_FALSE(OutputFile::create(directory_.string() + "/").ok());
}

TEST_F(OutputFileTest, ADirectoryThatDoesNotExistIsNamed) {
  const Result<OutputFile, Error> file = OutputFile::create(directory_ / "no" / "file");
  ASSERT_FALSE(file.ok());
  EXPECT_THAT(file.error().message, testing::HasSubstr("no/file"));
}

TEST_F(OutputFileTest, AFullDeviceIsAnErrorWithTheOffset) {
  Result<OutputFile, Error> file = OutputFile::create("/dev/full");
  ASSERT_TRUE(file.ok() && file->write(bytes("12345678")).ok()) << "buffered";
  const Result<Done, Error> done = file->commit();
  ASSERT_FALSE(done.ok());
  EXPECT_THAT(done.error().message,
              testing::AllOf(testing::HasSubstr("/dev/full"), testing::HasSubstr("offset 0")));
}

}  // namespace
}  // namespace pmusim
