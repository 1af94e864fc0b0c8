// SPDX-License-Identifier: MIT
#include "perfdata/writer.h"

#include <gtest/gtest.h>

#include "perfdata/file_format.h"
#include "tests/perfdata/file_fixture.h"
#include "tests/support/value_at.h"

namespace pmusim::perfdata {
namespace {

namespace fs = std::filesystem;
using test::value_at;

class WriterTest : public FileTest {};

TEST_F(WriterTest, HeaderIdsAttributesDataAndFeaturesAreInOrder) {
  auto writer = Writer::create(path(), {});
  ASSERT_TRUE(writer);
  const u64 id = 7;
  ASSERT_TRUE(writer->add_event(sampled_event().attr, "cycles", {&id, 1}));
  ASSERT_TRUE(writer->write(sample_at(5)));
  ASSERT_TRUE(writer->finish());
  const auto file = content();
  const auto header = value_at<FileHeader>(file, 0);
  EXPECT_EQ(header.attr_size, 144u);
  EXPECT_EQ(header.attrs.offset, 112u);
  EXPECT_EQ(value_at<u64>(file, 104), 7u);
  EXPECT_EQ(value_at<Section>(file, 112 + 128).offset, 104u);
  EXPECT_EQ(header.data.offset, 256u);
  EXPECT_EQ(header.data.size, 96u);
  // arch, cpu count, event description, branch stack and sample time: five rows behind the data
  EXPECT_EQ(header.features[0], bit(6) | bit(7) | bit(12) | bit(15) | bit(21));
  EXPECT_EQ(value_at<Section>(file, 352).offset, 352 + 5 * 16u);
}

TEST_F(WriterTest, SampleTimesAreFoundHoweverTheStreamIsCut) {
  std::vector<std::byte> stream;
  for (const u64 time : {300u, 100u, 200u}) {
    const auto record = sample_at(time);
    stream.insert(stream.end(), record.begin(), record.end());
  }
  for (std::size_t piece = 1; piece <= stream.size(); ++piece) {
    auto writer = Writer::create(path(), {.metadata = {.arch = "", .cpus = 0}});
    ASSERT_TRUE(writer && writer->add_event(sampled_event().attr, "cycles", {}));
    for (std::size_t i = 0; i < stream.size(); i += piece)
      ASSERT_TRUE(writer->write(std::span(stream).subspan(i, std::min(piece, stream.size() - i))));
    ASSERT_TRUE(writer->finish());
    const auto file = content();
    EXPECT_EQ(value_at<u64>(file, file.size() - 16), 100u) << piece;
    EXPECT_EQ(value_at<u64>(file, file.size() - 8), 300u) << piece;
  }
}

// perf's write_cpu_topology: lists of packages and cores, core and package of each CPU, lists of dies, die of
// each CPU.
TEST_F(WriterTest, CpuTopologyListsWhoSharesWhat) {
  auto writer = Writer::create(
      path(), {.metadata = {.arch = "", .cpus = 3, .cpu_places = {{0, 0, 0}, {0, 0, 0}, {0, 1, 7}}}});
  ASSERT_TRUE(writer && writer->finish());
  const auto file = content();
  const auto header = value_at<FileHeader>(file, 0);
  EXPECT_EQ(header.features[0], bit(7) | bit(13));
  const auto topology = value_at<Section>(file, header.data.offset + header.data.size + sizeof(Section));
  const auto text = [&](u64 offset) { return reinterpret_cast<const char*>(file.data()) + offset; };
  u64 offset = topology.offset;
  EXPECT_EQ(value_at<u32>(file, offset), 1u);  // packages
  EXPECT_STREQ(text(offset + 8), "0-2");
  offset += 4 + 68;
  EXPECT_EQ(value_at<u32>(file, offset), 2u);  // cores
  EXPECT_STREQ(text(offset + 8), "0-1");
  EXPECT_STREQ(text(offset + 68 + 8), "2");
  offset += 4 + 2 * 68;
  EXPECT_EQ(value_at<u32>(file, offset + 2 * 8), 7u);  // core of CPU 2, then its package
  EXPECT_EQ(value_at<u32>(file, offset + 2 * 8 + 4), 0u);
  offset += 3 * 8;
  EXPECT_EQ(value_at<u32>(file, offset), 2u);  // dies
  EXPECT_EQ(value_at<u32>(file, offset + 4 + 2 * 68 + 2 * 4), 1u);
  EXPECT_EQ(topology.offset + topology.size, offset + 4 + 2 * 68 + 3 * 4);
}

TEST_F(WriterTest, RoundsAndTheClockAreRecordsOfTheirOwn) {
  auto writer = Writer::create(path(), {.time_conversion = TimeConversion{31, 715827882, 5}});
  ASSERT_TRUE(writer && writer->add_event(sampled_event().attr, "cycles", {}));
  ASSERT_TRUE(writer->write(sample_at(1)) && writer->end_round() && writer->write(sample_at(2)));
  ASSERT_TRUE(writer->finish());
  const auto file = content();
  const u64 data = value_at<FileHeader>(file, 0).data.offset;
  EXPECT_EQ(value_at<u64>(file, data), u64{32} << 48 | 79);  // TIME_CONV in its short form
  EXPECT_EQ(value_at<u64>(file, data + 8), 31u);
  EXPECT_EQ(value_at<u64>(file, data + 16), 715827882u);
  EXPECT_EQ(value_at<u64>(file, data + 24), 5u);
  EXPECT_EQ(value_at<u32>(file, data + 32), 9u);
  EXPECT_EQ(value_at<u64>(file, data + 32 + 96), u64{8} << 48 | 68);  // FINISHED_ROUND
  EXPECT_EQ(value_at<u32>(file, data + 32 + 96 + 8), 9u);
}

TEST_F(WriterTest, ARoundCannotEndWithinARecord) {
  auto writer = Writer::create(path(), {});
  const auto record = sample_at(1);
  ASSERT_TRUE(writer && writer->write(std::span(record).first(90)));
  EXPECT_FALSE(writer->end_round());
}

TEST_F(WriterTest, NothingIsLeftBehindUntilTheFileIsFinished) {
  {
    auto writer = Writer::create(path(), {});
    ASSERT_TRUE(writer);
    EXPECT_FALSE(fs::exists(path()));
  }
  EXPECT_EQ(files(), 0u);
}

TEST_F(WriterTest, AFullDiskIsAnErrorFromThenOn) {
  auto writer = Writer::create("/dev/full", {.form = Form::pipe});
  ASSERT_TRUE(writer);
  const std::vector<std::byte> many = [] {
    std::vector<std::byte> bytes;
    for (int i = 0; i < 10'000; ++i) {
      const auto record = sample_at(1);
      bytes.insert(bytes.end(), record.begin(), record.end());
    }
    return bytes;
  }();
  const auto written = writer->write(many);
  ASSERT_FALSE(written);
  EXPECT_NE(written.error().message.find("No space left"), std::string::npos) << written.error().message;
  EXPECT_FALSE(writer->finish());
}

TEST_F(WriterTest, ARecordThatEndsEarlyIsRefused) {
  auto writer = Writer::create(path(), {});
  const auto record = sample_at(1);
  ASSERT_TRUE(writer && writer->write(std::span(record).first(95)));
  EXPECT_FALSE(writer->finish());
  writer = Failure(Error("closed"));
  EXPECT_EQ(files(), 0u);
}

TEST_F(WriterTest, AFieldBeyondTheChosenAttributeSizeIsRefused) {
  perf::Attr attr;
  attr.config3 = 1;
  auto small = Writer::create(path(), {.attr_bytes = 128});
  EXPECT_FALSE(small->add_event(attr, "x", {}));
  auto large = Writer::create(path(), {.attr_bytes = 136});
  EXPECT_TRUE(large->add_event(attr, "x", {}));
}

TEST_F(WriterTest, EveryAttributeSizeFromVer0ToVer10IsProduced) {
  for (const u32 bytes : attr_sizes) {
    auto writer = Writer::create(path(), {.attr_bytes = bytes});
    ASSERT_TRUE(writer && writer->add_event(perf::Attr{}, "x", {}) && writer->finish());
    const auto file = content();
    EXPECT_EQ(value_at<FileHeader>(file, 0).attr_size, bytes + 16);
    EXPECT_EQ(value_at<u32>(file, 104 + 4), bytes);
  }
  EXPECT_FALSE(Writer::create(path(), {.attr_bytes = 100}));
}

TEST_F(WriterTest, EventsCannotBeAddedBehindRecords) {
  auto writer = Writer::create(path(), {});
  ASSERT_TRUE(writer->write(sample_at(1)));
  EXPECT_FALSE(writer->add_event({}, "late", {}));
}

}  // namespace
}  // namespace pmusim::perfdata
