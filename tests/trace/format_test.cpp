// SPDX-License-Identifier: MIT
#include "trace/format.h"

#include <sys/resource.h>

#include <csignal>

#include "tests/trace/sample_trace.h"
#include "trace/bytes.h"
#include "trace/side_band_codec.h"

namespace pmusim::trace {
namespace {

class RoundTrip : public testing::TestWithParam<Contents> {};

TEST_P(RoundTrip, WhatIsReadIsWhatWasWritten) {
  TemporaryDirectory directory;
  for (unsigned seed = 1; seed <= 20; ++seed) {
    RandomTrace trace(seed, GetParam());
    const std::string path = directory.file("t");
    trace.write(path, 1000);
    const auto items = read_all(path);
    ASSERT_TRUE(items.ok()) << items.error().message;
    ASSERT_EQ(*items, trace.items) << "seed " << seed;
    const auto reader = Reader::open(path);
    EXPECT_EQ(reader->instruction_count(), trace.instructions);
    EXPECT_EQ(reader->contents(), GetParam());
  }
}

INSTANTIATE_TEST_SUITE_P(Contents, RoundTrip,
                         testing::Values(Contents{false, false}, Contents{true, false}, Contents{true, true},
                                         Contents{.timing = true},
                                         Contents{.addresses = true, .timing = true},
                                         Contents{.kernel = true},
                                         Contents{.addresses = true, .registers = true, .kernel = true}));

constexpr std::array one_nop_code{std::byte{0x90}};
constexpr std::array one_nop_length{u8{1}};

TEST(Trace, WithTimingCutWithinItsLastChunkHasTheOnesBefore) {
  TemporaryDirectory directory;
  const std::string path = directory.file("t");
  auto writer = Writer::create(path, {.timing = true});
  const Block& nop = writer->add_block(0x1000, one_nop_code, one_nop_length);
  BlockRun run{.block = &nop, .next_ip = 0x1000};
  for (u64 n = 0; n < chunk_instructions + 10; ++n) {
    run.cycles = static_cast<u32>(n % 3);
    ASSERT_TRUE(writer->run(run).ok());
  }
  ASSERT_TRUE(writer->finish().ok());
  EXPECT_EQ(file_content(path).at(8), 4) << "version";
  const auto whole = Reader::open(path)->streams();
  EXPECT_EQ(whole.back().name, "cycles");
  EXPECT_EQ(whole.back().raw_bytes, chunk_instructions + 10u);
  auto content = file_content(path);
  constexpr std::size_t end_mark_index_and_totals = 32 + 168 + 2 * 16 + 16;
  content.resize(content.size() - end_mark_index_and_totals - 1);
  write_content(path, content);
  const auto reader = Reader::open(path);
  ASSERT_TRUE(reader.ok()) << reader.error().message;
  EXPECT_EQ(reader->instruction_count(), chunk_instructions);
  EXPECT_TRUE(reader->truncation().has_value());
  EXPECT_EQ(reader->streams().back().raw_bytes, chunk_instructions);
}

TEST(Trace, ManyChunksReadAsOne) {
  TemporaryDirectory directory;
  const std::string path = directory.file("t");
  constexpr u64 runs = chunk_instructions + 12345;
  auto writer = Writer::create(path, {});
  const Block& nop = writer->add_block(0x1000, one_nop_code, one_nop_length);
  ASSERT_TRUE(writer->side_band(ThreadSwitch{7, 8}).ok());
  for (u64 n = 0; n < runs; ++n) ASSERT_TRUE(writer->run({&nop, 0x1000, {}, {}, {}}).ok());
  ASSERT_TRUE(writer->finish().ok());

  auto reader = Reader::open(path);
  EXPECT_EQ(reader->instruction_count(), runs);
  u64 read = 0;
  for (auto item = reader->next(); item->has_value(); item = reader->next()) {
    if (const auto* run = std::get_if<BlockRun>(&**item)) {
      ASSERT_EQ(run->next_ip, 0x1000u);
      ++read;
    }
  }
  EXPECT_EQ(read, runs);
}

// docs/traces.md: a trace is the same bytes whoever wrote it.
TEST(Trace, SideBandRecordsAreTheirNumberAndTheirMembers) {
  const auto bytes_of = [](const SideBandRecord& record) {
    ByteWriter out;
    encode(record, out);
    return std::vector<u8>(out.data());
  };
  using Bytes = std::vector<u8>;
  EXPECT_EQ(bytes_of(ProcessStart{5, 6, "ab", true}), (Bytes{0, 5, 6, 2, 'a', 'b', 1}));
  EXPECT_EQ(bytes_of(ProcessStart{5, 6, "", false}), (Bytes{0, 5, 6, 0, 0}));
  EXPECT_EQ(bytes_of(ThreadStart{5, 6, 7, 8}), (Bytes{1, 5, 6, 7, 8}));
  EXPECT_EQ(bytes_of(ThreadSwitch{5, 6}), (Bytes{3, 5, 6}));
  EXPECT_EQ(bytes_of(Unmap{5, 6, 7}), (Bytes{5, 5, 6, 7}));
  EXPECT_EQ(bytes_of(ThreadName{5, 6, "ab"}), (Bytes{9, 5, 6, 2, 'a', 'b'}));
}

/// Gives the file another version, with its right checksum.
void set_version(const std::string& path, u32 version) {
  std::vector<char> content = file_content(path);
  FileHeader header{};
  std::memcpy(&header, content.data(), sizeof header);
  header.version = version;
  header.crc = crc_of(header);
  std::memcpy(content.data(), &header, sizeof header);
  write_content(path, content);
}

TEST(Trace, ItsVersionSaysWhatItMayHaveAndItsHeaderWhatItHas) {
  TemporaryDirectory directory;
  const std::string path = directory.file("t");
  RandomTrace trace(1, {.addresses = true});
  trace.write(path, 100);
  for (u32 version = 1; version <= format_version; ++version) {
    set_version(path, version);
    const auto items = read_all(path);
    ASSERT_TRUE(items.ok()) << items.error().message;
    EXPECT_EQ(*items, trace.items) << version;
    EXPECT_EQ(Reader::open(path)->contents(), Contents{.addresses = true}) << version;
  }
}

TEST(Trace, WithRing0IsReadAsItWasWrittenBeforeThreadsHadNames) {
  TemporaryDirectory directory;
  const std::string path = directory.file("t");
  RandomTrace trace(1, {.kernel = true});
  trace.write(path, 100);
  EXPECT_EQ(file_content(path).at(8), 6) << "version";
  set_version(path, 5);
  const auto items = read_all(path);
  ASSERT_TRUE(items.ok()) << items.error().message;
  EXPECT_EQ(*items, trace.items);
  EXPECT_EQ(Reader::open(path)->contents(), Contents{.kernel = true});
}

TEST(Trace, WhatFollowsAFullChunkIsKeptHoweverLittle) {
  TemporaryDirectory directory;
  const std::string path = directory.file("t");
  auto writer = Writer::create(path, {});
  const Block& nop = writer->add_block(0x1000, one_nop_code, one_nop_length);
  const Block& many = writer->add_block(0x2000, std::vector(64, std::byte{0x90}), std::vector<u8>(64, 1));
  for (u32 n = 0; n < chunk_instructions; n += 64) ASSERT_TRUE(writer->run({&many, 0x1000, {}, {}, {}}).ok());
  ASSERT_TRUE(writer->run({&nop, 0x1001, {}, {}, {}}).ok());
  const auto written = writer->finish();
  ASSERT_TRUE(written.ok());
  EXPECT_EQ(written->instructions, chunk_instructions + 1);
  const auto items = read_all(path);
  ASSERT_TRUE(items.ok()) << items.error().message;
  EXPECT_EQ(items->size(), chunk_instructions / 64 + 1);
  EXPECT_EQ(items->back().next_ip, 0x1001u);
}

TEST(Trace, AnEndlessLoopTakesNextToNothing) {
  TemporaryDirectory directory;
  const std::string path = directory.file("t");
  auto writer = Writer::create(path, {});
  const Block& nop = writer->add_block(0x1000, one_nop_code, one_nop_length);
  for (u64 n = 0; n < 1'000'000; ++n) ASSERT_TRUE(writer->run({&nop, 0x1000, {}, {}, {}}).ok());
  EXPECT_LT(writer->finish()->file_bytes, 1000u);
}

TEST(Trace, TheSameAddressWithOtherBytesIsAnotherBlock) {
  TemporaryDirectory directory;
  auto writer = Writer::create(directory.file("t"), {});
  const std::array pause{std::byte{0xF3}, std::byte{0x90}};
  const std::array two{u8{2}};
  const Block& first = writer->add_block(0x1000, one_nop_code, one_nop_length);
  const Block& second = writer->add_block(0x1000, pause, two);
  ASSERT_TRUE(writer->side_band(ProcessStart{1, 1, "x", true}).ok());
  for (const Block* block : {&first, &second}) ASSERT_TRUE(writer->run({block, 0x1000, {}, {}, {}}).ok());
  ASSERT_TRUE(writer->finish().ok());

  auto reader = Reader::open(directory.file("t"));
  ASSERT_TRUE(reader->next()->has_value());
  EXPECT_EQ(std::get<BlockRun>(**reader->next()).block->end(), 0x1001u);
  EXPECT_EQ(reader->code(1, 0x1000, 15).size(), 1u);
  EXPECT_EQ(std::get<BlockRun>(**reader->next()).block->end(), 0x1002u);
  EXPECT_EQ(reader->code(1, 0x1000, 15), std::vector(pause.begin(), pause.end()));
  EXPECT_TRUE(reader->code(2, 0x1000, 15).empty());
}

TEST(Trace, AllOfALongBlocksCodeIsKnownWhereverItBegins) {
  std::vector<std::byte> code;
  for (unsigned n = 0; n < 64; ++n)  // mov eax, imm32
    for (const unsigned byte : {0xB8u, n, n + 1, n + 2, n + 3}) code.push_back(static_cast<std::byte>(byte));
  for (const u64 start : {0x1000u, 0x1033u, 0x10FFu}) {
    TemporaryDirectory directory;
    auto writer = Writer::create(directory.file("t"), {});
    const Block& block = writer->add_block(start, code, std::vector<u8>(64, 5));
    ASSERT_TRUE(writer->side_band(ProcessStart{1, 1, "x", true}).ok());
    ASSERT_TRUE(writer->run({&block, start, {}, {}, {}}).ok());
    ASSERT_TRUE(writer->finish().ok());
    auto reader = Reader::open(directory.file("t"));
    while (reader->next()->has_value()) continue;
    EXPECT_EQ(reader->code(1, start, 1000), code);
    EXPECT_TRUE(reader->code(1, start - 1, 1000).empty());
  }
}

TEST(Trace, AForkKnowsItsParentsCodeAndAnExecForgetsIt) {
  TemporaryDirectory directory;
  auto writer = Writer::create(directory.file("t"), {});
  const Block& nop = writer->add_block(0x1000, one_nop_code, one_nop_length);
  ASSERT_TRUE(writer->side_band(ProcessStart{1, 1, "x", true}).ok());
  ASSERT_TRUE(writer->run({&nop, 0x1000, {}, {}, {}}).ok());
  ASSERT_TRUE(writer->side_band(ThreadStart{2, 2, 1, 1}).ok());
  ASSERT_TRUE(writer->side_band(ProcessStart{1, 1, "y", true}).ok());
  ASSERT_TRUE(writer->finish().ok());
  auto reader = Reader::open(directory.file("t"));
  while (reader->next()->has_value()) continue;
  EXPECT_EQ(reader->code(2, 0x1000, 4).size(), 1u);
  EXPECT_TRUE(reader->code(1, 0x1000, 4).empty());
}

// --- output ------------------------------------------------------------------------------------------------

TEST(Output, NothingIsThereUntilTheTraceIsComplete) {
  TemporaryDirectory directory;
  {
    auto writer = Writer::create(directory.file("t"), {});
    writer->add_block(0x1000, one_nop_code, one_nop_length);
    EXPECT_FALSE(std::filesystem::exists(directory.file("t")));
  }
  EXPECT_EQ(directory.entries(), 0u);
}

// A file-size limit fails a write as a full disk does.
TEST(Output, AFullDiskLeavesNothingBehind) {
  TemporaryDirectory directory;
  std::signal(SIGXFSZ, SIG_IGN);
  rlimit before{};
  getrlimit(RLIMIT_FSIZE, &before);
  auto writer = Writer::create(directory.file("t"), {});
  const rlimit full{10, before.rlim_max};
  setrlimit(RLIMIT_FSIZE, &full);
  ASSERT_TRUE(writer->side_band(ThreadSwitch{1, 1}).ok());
  const auto finished = writer->finish();
  setrlimit(RLIMIT_FSIZE, &before);
  ASSERT_FALSE(finished.ok());
  EXPECT_NE(finished.error().message.find(directory.file("t") + ": cannot write at offset 10"),
            std::string::npos)
      << finished.error().message;
  *writer = *Writer::create(directory.file("other"), {});
  EXPECT_FALSE(std::filesystem::exists(directory.file("t")));
}

TEST(Output, ADirectoryThatDoesNotExistIsRefused) {
  TemporaryDirectory directory;
  EXPECT_FALSE(Writer::create(directory.file("missing/t"), {}).ok());
}

}  // namespace
}  // namespace pmusim::trace
