#include "pmusim/base/output_file.h"

#include <gmock/gmock.h>

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

TEST_F(OutputFileTest, LeavesNothingBehindWithoutCommit) {
  { ASSERT_TRUE(OutputFile::create(path())->write(bytes("half")).ok()); }
  EXPECT_EQ(files(), 0u);
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
