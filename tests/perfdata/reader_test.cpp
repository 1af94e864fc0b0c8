// SPDX-License-Identifier: MIT
#include "pmusim/perfdata/reader.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <algorithm>
#include <cstring>
#include <random>
#include <set>

#include "perfdata/sample_parser.h"
#include "tests/perfdata/file_fixture.h"

namespace pmusim::perfdata::reader_test {
namespace {

/// Reads to the end; the number of records, or the error.
Result<u64, Error> read_all(std::vector<std::byte> bytes) {
  auto reader = Reader::from_memory("test", std::move(bytes));
  if (!reader) return Failure(reader.error());
  for (u64 records = 0;; ++records) {
    const auto record = reader->next();
    if (!record) return Failure(record.error());
    if (!*record) return records;
    const auto* event = reader->event_of(**record);
    if (event && !parse_sample(**record, event->attr)) continue;
  }
}

struct Reading {
  u64 records = 0;
  std::vector<std::string> warnings;
};

Result<Reading, Error> read_warned(std::vector<std::byte> bytes) {
  auto reader = Reader::from_memory("test", std::move(bytes));
  if (!reader) return Failure(reader.error());
  for (Reading reading;; ++reading.records) {
    const auto record = reader->next();
    if (!record) return Failure(record.error());
    reading.warnings = reader->warnings();
    if (!*record) return reading;
  }
}

/// Where the records of a stream begin, the stored ones.
std::set<std::size_t> record_boundaries(std::span<const std::byte> stream) {
  std::set<std::size_t> all;
  for (std::size_t at = 16; at < stream.size();) {
    all.insert(at);
    perf::RecordHeader header;
    std::memcpy(&header, stream.data() + at, sizeof header);
    at += header.size;
  }
  return all;
}

class ReaderTest : public FileTest {};

struct FileKind {
  const char* name;
  Form form;
  Compression compression;
};

class EveryKindOfFile : public FileTest, public testing::WithParamInterface<FileKind> {
 protected:
  void write(u64 samples) {
    write_file(path(),
               {.form = GetParam().form, .compression = GetParam().compression, .metadata = everything()},
               samples);
  }
};

INSTANTIATE_TEST_SUITE_P(Reader, EveryKindOfFile,
                         testing::Values(FileKind{"file", Form::file, Compression::none},
                                         FileKind{"pipe", Form::pipe, Compression::none},
                                         FileKind{"compressed_file", Form::file, Compression::zstd},
                                         FileKind{"compressed_pipe", Form::pipe, Compression::zstd}),
                         [](const auto& kind) { return kind.param.name; });

TEST_P(EveryKindOfFile, WhatWasWrittenIsRead) {
  write(2000);
  auto reader = Reader::open(path());
  ASSERT_TRUE(reader) << reader.error().message;
  EXPECT_EQ(reader->form(), GetParam().form);
  EXPECT_EQ(reader->metadata(), everything());
  ASSERT_EQ(reader->events().size(), 2u);
  EXPECT_EQ(reader->events()[1].name, "event8");
  EXPECT_EQ(reader->events()[1].ids, std::vector<u64>{8});
  EXPECT_EQ(reader->groups(), (std::vector<Group>{{"{anon_group}", 0, 2}}));

  auto record = reader->next();
  ASSERT_TRUE(record && *record);
  EXPECT_EQ(parse_comm(**record)->name, "program");
  EXPECT_EQ(parse_sample_id(**record, reader->events()[0].attr).time, 1u);
  for (u64 i = 0; i < 2000; ++i) {
    record = reader->next();
    ASSERT_TRUE(record && *record) << i;
    const auto* event = reader->event_of(**record);
    ASSERT_TRUE(event);
    EXPECT_EQ(event->ids.at(0), 7 + i % 2);
    const auto sample = parse_sample(**record, event->attr);
    ASSERT_TRUE(sample);
    EXPECT_EQ(sample->who.time, 10 + i);
    EXPECT_EQ(sample->who.tid, 101u);
    EXPECT_EQ(sample->ip, 11 + i);
    EXPECT_EQ(sample->period, 1000u);
    EXPECT_EQ(sample->branches.at(1).to, 10 + i);
  }
  record = reader->next();
  ASSERT_TRUE(record);
  EXPECT_FALSE(*record);
  const BuildId build_id{"/bin/program", std::vector<std::byte>(20, std::byte{0x5a}), Space::user};
  EXPECT_EQ(reader->build_ids(), std::vector<BuildId>{build_id});
}

// A file without its data section is an error; any other cut leaves out what is behind it, and says so.
// A stream that is cut between records looks like a shorter stream.
TEST_P(EveryKindOfFile, CutAnywhereIsReadUpToThere) {
  write(20);
  const auto whole = content();
  const bool is_stream = GetParam().form == Form::pipe;
  u64 start = 16, read = 0;
  if (!is_stream) std::memcpy(&start, whole.data() + 40, sizeof start);
  std::set<std::size_t> silent_cuts;
  for (std::size_t bytes = 0; bytes < whole.size(); ++bytes) {
    const auto reading = read_warned({whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(bytes)});
    EXPECT_EQ(reading.ok(), bytes >= start) << bytes;
    if (!reading) continue;
    EXPECT_GE(reading->records, read) << bytes;
    read = reading->records;
    if (reading->warnings.empty()) silent_cuts.insert(bytes);
  }
  const u64 all = read_all(whole).value();
  EXPECT_LE(read, all);
  const bool is_compressed_stream = is_stream && GetParam().compression != Compression::none;
  if (!is_compressed_stream) {
    EXPECT_EQ(read + (is_stream ? 1 : 0), all);
  }
  EXPECT_EQ(silent_cuts, is_stream ? record_boundaries(whole) : std::set<std::size_t>());
}

TEST_F(ReaderTest, ACutFileSaysWhereItEndsAndHowMuchIsMissing) {
  write_file(path(), {}, 5);
  auto bytes = content();
  u64 data[2];
  std::memcpy(data, bytes.data() + 40, sizeof data);
  bytes.resize(data[0] + data[1] - 20);
  const auto reading = read_warned(bytes);
  ASSERT_TRUE(reading) << reading.error().message;
  EXPECT_EQ(reading->records, 5u);  // of a COMM and five samples
  const std::size_t sample_bytes = sample_at(0).size();
  EXPECT_THAT(reading->warnings,
              testing::IsSupersetOf(
                  {fmt::format("the file ends at {:#x}, within its data section; missing bytes: 20 of {}",
                               bytes.size(), data[1]),
                   fmt::format("at offset {:#x}: the last record is cut; missing bytes: 20",
                               data[0] + data[1] - sample_bytes)}));
}

// The header gets its size of the data and its features at the end; what perf has written before stays.
TEST_F(ReaderTest, AFileOfAKilledRecorderIsReadToItsEnd) {
  write_file(path(), {}, 5);
  auto bytes = content();
  u64 data[2];
  std::memcpy(data, bytes.data() + 40, sizeof data);
  std::memset(bytes.data() + 48, 0, sizeof(u64));
  std::memset(bytes.data() + 72, 0, 4 * sizeof(u64));
  const std::size_t sample_bytes = sample_at(0).size();
  for (const u64 missing : {u64{0}, u64{20}, u64{sample_bytes}}) {
    bytes.resize(data[0] + data[1] - missing);
    const auto reading = read_warned(bytes);
    ASSERT_TRUE(reading) << reading.error().message;
    EXPECT_EQ(reading->records, missing == 0 ? 6u : 5u) << missing;
    EXPECT_THAT(reading->warnings, testing::Contains(testing::HasSubstr("did not finish it"))) << missing;
  }
}

TEST_P(EveryKindOfFile, FlippedBytesDoNoHarm) {
  write(20);
  const auto whole = content();
  std::mt19937_64 random(20);
  for (int round = 0; round < 3000; ++round) {
    auto bytes = whole;
    for (u64 flips = 1 + random() % 8; flips != 0; --flips)
      bytes[random() % bytes.size()] = static_cast<std::byte>(random());
    const auto outcome = read_all(std::move(bytes));
    if (!outcome) {
      EXPECT_FALSE(outcome.error().message.empty());
    }
  }
}

TEST_P(EveryKindOfFile, TheSameInputGivesTheSameBytes) {
  write(500);
  const auto first = content();
  write(500);
  EXPECT_EQ(content(), first);
}

TEST_F(ReaderTest, TheErrorSaysWhereAndWhat) {
  const auto outcome = read_all(std::vector<std::byte>(200));
  ASSERT_FALSE(outcome);
  EXPECT_NE(outcome.error().message.find("PERFILE2"), std::string::npos);
  write_file(path(), {}, 5);
  auto bytes = content();
  bytes[6 + (104 + 16 + 2 * 144)] = std::byte{1};  // the size of the first record
  const auto cut = read_all(bytes);
  ASSERT_FALSE(cut);
  EXPECT_NE(cut.error().message.find("offset 0x198"), std::string::npos) << cut.error().message;
}

TEST_F(ReaderTest, AFileThatWasNotFinishedIsRefused) {
  write_file(path(), {}, 5);
  auto bytes = content();
  std::fill(bytes.begin() + 40, bytes.begin() + 56, std::byte{0});
  EXPECT_FALSE(read_all(bytes));
}

TEST_F(ReaderTest, AttributesOfEveryVersionAreRead) {
  for (const u32 size : {64u, 72u, 80u, 96u, 104u, 112u, 120u, 128u, 136u, 144u, 176u}) {
    perf::Attr attr;
    attr.config = 0x3c;
    auto writer = Writer::create(path(), {.attr_bytes = size});
    ASSERT_TRUE(writer && writer->add_event(attr, "x", {}) && writer->finish());
    auto reader = Reader::open(path());
    ASSERT_TRUE(reader) << reader.error().message;
    EXPECT_EQ(reader->events().at(0).attr.size, size);
    EXPECT_EQ(reader->events().at(0).attr.config, 0x3cu);
  }
}

TEST_F(ReaderTest, ASampleThatEndsWithinAFieldIsAnErrorAtEveryLength) {
  const auto bytes = sample_at(5);
  const auto attr = sampled_event().attr;
  for (std::size_t size = sizeof(perf::RecordHeader); size <= bytes.size(); ++size) {
    RecordView view;
    std::memcpy(&view.header, bytes.data(), sizeof view.header);
    view.bytes = std::span(bytes).first(size);
    EXPECT_EQ(parse_sample(view, attr).ok(), size == bytes.size()) << size;
  }
}

class AuxData : public FileTest {
 protected:
  /// A file with a sample, 16 bytes of AUX data that look like no record, and another sample.
  std::vector<std::byte> file_with_aux() {
    auto writer = Writer::create(path(), {});
    const u64 id = 7;
    EXPECT_TRUE(writer->add_event(sampled_event().attr, "event", {&id, 1}));
    EXPECT_TRUE(writer->write(sample_at(1)));
    EXPECT_TRUE(writer->write_aux({.offset = 32, .index = 3, .tid = 5}, std::vector(16, std::byte{0xFF})));
    EXPECT_TRUE(writer->write(sample_at(2)));
    EXPECT_TRUE(writer->finish());
    return content();
  }
};

TEST_F(AuxData, StandsBehindItsRecordAndIsNoRecordItself) {
  auto reader = Reader::from_memory("test", file_with_aux());
  ASSERT_TRUE(reader);
  ASSERT_TRUE(reader->next());
  const auto record = reader->next();
  ASSERT_TRUE(record && *record);
  EXPECT_EQ((*record)->header.type, 71u);
  EXPECT_EQ((*record)->header.size, 48u);
  EXPECT_EQ((*record)->aux.size(), 16u);
  EXPECT_EQ((*record)->aux.back(), std::byte{0xFF});
  const auto behind = reader->next();
  ASSERT_TRUE(behind && *behind);
  EXPECT_EQ((*behind)->header.type, static_cast<u32>(perf::RecordType::sample));
}

TEST_F(AuxData, ThatIsNotThereIsAnErrorWithTheOffset) {
  auto bytes = file_with_aux();
  const std::array<std::byte, 16> data = [] {
    std::array<std::byte, 16> all{};
    all.fill(std::byte{0xFF});
    return all;
  }();
  const auto found = std::search(bytes.begin(), bytes.end(), data.begin(), data.end());
  const auto size_field = found - 40;
  *(size_field + 5) = std::byte{1};  // a TiB
  const auto read = read_all(bytes);
  ASSERT_FALSE(read);
  EXPECT_THAT(read.error().message, testing::HasSubstr("the last record is cut; missing bytes: 10995"));
}

}  // namespace
}  // namespace pmusim::perfdata::reader_test
