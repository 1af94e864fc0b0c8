// What a reader makes of files that are not whole traces: a sentence with the file's name and an offset.
#include <boost/crc.hpp>

#include "tests/trace/sample_trace.h"
#include "trace/format.h"

namespace pmusim::trace {
namespace {

class Damage : public testing::Test {
 protected:
  void SetUp() override {
    trace.write(path, 30);
    content = file_content(path);
  }
  Result<std::vector<OwnedItem>, Error> read(const std::vector<char>& bytes) {
    write_content(damaged, bytes);
    return read_all(damaged);
  }
  std::string message(const std::vector<char>& bytes) {
    const auto result = read(bytes);
    return result.ok() ? "no error" : result.error().message;
  }

  TemporaryDirectory directory;
  std::string path = directory.file("whole");
  std::string damaged = directory.file("damaged");
  RandomTrace trace{1, {true, true}};
  std::vector<char> content;
};

TEST_F(Damage, EveryTruncationIsNoticed) {
  for (std::size_t size = 0; size < content.size(); ++size) {
    const std::string text = message({content.begin(), content.begin() + static_cast<std::ptrdiff_t>(size)});
    EXPECT_EQ(text.find(damaged), 0u) << size << ": " << text;
  }
}

TEST_F(Damage, EveryFlippedBitIsNoticed) {
  for (std::size_t n = 0; n < content.size(); ++n) {
    auto bytes = content;
    bytes[n] = static_cast<char>(bytes[n] ^ 1 << n % 8);
    const std::string text = message(bytes);
    EXPECT_EQ(text.find(damaged), 0u) << n << ": " << text;
  }
}

TEST_F(Damage, EachKindOfWrongFileHasItsSentence) {
  EXPECT_EQ(message({}), damaged + ": not a trace: the file is empty");
  EXPECT_EQ(message(std::vector<char>(100, 'x')),
            damaged + ": not a trace: it does not begin with \"PMUTRACE\"");
  content.pop_back();
  EXPECT_NE(message(content).find("truncated: no end mark at offset"), std::string::npos);
  EXPECT_NE(read_all(directory.file("missing")).error().message.find("cannot read: No such file"),
            std::string::npos);
  EXPECT_NE(read_all("/").error().message.find("Is a directory"), std::string::npos);
}

TEST_F(Damage, ANewerVersionSaysSo) {
  FileHeader header{};
  std::memcpy(&header, content.data(), sizeof header);
  header.version = format_version + 1;
  header.crc = crc_of(header);
  std::memcpy(content.data(), &header, sizeof header);
  EXPECT_EQ(message(content), damaged + ": trace format version 2 at offset 8, this build reads version 1");
}

// A hostile file has right checksums.
TEST_F(Damage, AChunkThatAsksForMuchMemoryIsRefused) {
  ChunkHeader header{};
  std::memcpy(&header, content.data() + sizeof(FileHeader), sizeof header);
  header.streams[0].raw_bytes = 0xFFFFFFFF;
  header.crc = crc_of(header);
  std::memcpy(content.data() + sizeof(FileHeader), &header, sizeof header);
  EXPECT_EQ(message(content), damaged + ": damaged at offset 24: chunk is too big");
}

TEST_F(Damage, AStreamThatExpandsToAnotherSizeIsRefused) {
  ChunkHeader header{};
  std::memcpy(&header, content.data() + sizeof(FileHeader), sizeof header);
  header.streams[0].raw_bytes -= 1;
  header.crc = crc_of(header);
  std::memcpy(content.data() + sizeof(FileHeader), &header, sizeof header);
  EXPECT_EQ(message(content), damaged + ": damaged at offset 24: stream 'code' does not expand");
}

}  // namespace
}  // namespace pmusim::trace
