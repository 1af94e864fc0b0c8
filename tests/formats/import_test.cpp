// SPDX-License-Identifier: MIT
#include <gmock/gmock.h>
#include <lzma.h>
#include <zlib.h>
#include <zstd.h>

#include "formats/champsim.h"
#include "formats/input_stream.h"
#include "pmusim/formats/formats.h"
#include "tests/trace/sample_trace.h"

namespace pmusim::formats {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using trace::OwnedItem;

/// A file of these bytes, imported.
class Imported {
 public:
  Imported(Format format, const std::string& content, u64 max_instructions = 0) {
    trace::write_content(directory_.file("in"), {content.begin(), content.end()});
    const auto conversion =
        import_trace({format, directory_.file("in"), directory_.file("t"), max_instructions});
    if (!conversion.ok()) {
      error = conversion.error().message;
      return;
    }
    instructions = conversion->instructions;
    remarks = conversion->remarks;
    const auto items = trace::read_all(directory_.file("t"));
    for (const OwnedItem& item : items.value()) (item.happening ? happenings : runs).push_back(item);
    contents = trace::Reader::open(directory_.file("t"))->contents();
  }
  std::vector<x86::Instruction> instructions_of(const OwnedItem& run) const {
    std::vector<x86::Instruction> result;
    for (std::size_t at = 0; at < run.code.size(); at += result.back().length)
      result.push_back(x86::decode(std::span(run.code).subspan(at), run.start + at));
    return result;
  }
  std::size_t files() const { return directory_.entries(); }

  u64 instructions = 0;
  std::vector<OwnedItem> runs, happenings;
  std::vector<std::string> remarks;
  trace::Contents contents;
  std::string error;

 private:
  trace::TemporaryDirectory directory_;
};

std::string text_of(const std::vector<ChampSimRecord>& records) {
  return {reinterpret_cast<const char*>(records.data()), records.size() * sizeof(ChampSimRecord)};
}

ChampSimRecord record(u64 ip, std::array<u8, 2> written = {}, std::array<u8, 4> read = {}, u8 taken = 0) {
  ChampSimRecord result{};
  result.ip = ip;
  result.written = written;
  result.read = read;
  result.taken = taken;
  return result;
}
ChampSimRecord load(u64 ip, u64 address) {
  ChampSimRecord result = record(ip);
  result.loads[0] = address;
  return result;
}

/// A call, in it a load, the return; a branch that is taken once.
std::vector<ChampSimRecord> small_program() {
  return {record(0x401000, {6, 26}, {26, 6}, 1), load(0x402000, 0x7010),
          record(0x402004, {6, 26}, {6}, 1),     record(0x401005),
          record(0x401008, {26}, {26, 25}, 1),   record(0x401005),
          record(0x401008, {26}, {26, 25}, 0),   record(0x40100A)};
}

TEST(Import, OfChampSimKeepsBranchesOutcomesAndAddresses) {
  const Imported imported(Format::champsim, text_of(small_program()));
  EXPECT_EQ(imported.error, "");
  EXPECT_EQ(imported.instructions, 8u);
  ASSERT_EQ(imported.runs.size(), 5u);
  const auto kind = [&](std::size_t n) { return imported.instructions_of(imported.runs[n]).back().branch; };
  EXPECT_EQ(kind(0), BranchKind::direct_call);
  EXPECT_EQ(imported.runs[0].code.size(), 5u) << "where the return came back to";
  EXPECT_EQ(imported.runs[0].next_ip, 0x402000u);
  EXPECT_EQ(kind(1), BranchKind::near_return);
  EXPECT_EQ(imported.runs[1].addresses.front(), 0x7010u);
  EXPECT_EQ(kind(2), BranchKind::conditional);
  EXPECT_EQ(imported.runs[2].next_ip, 0x401005u);
  EXPECT_EQ(imported.runs[3].next_ip, 0x40100Au);
  EXPECT_EQ(imported.instructions_of(imported.runs[3]).front().length, 3);
}

TEST(Import, SaysThatChampSimCodeOnlyStandsForThePrograms) {
  const Imported imported(Format::champsim, text_of(small_program()));
  EXPECT_TRUE(imported.contents.stand_in_code);
  EXPECT_TRUE(imported.contents.addresses);
  EXPECT_THAT(imported.remarks, testing::Contains(HasSubstr("replays refuse events that need more")));
}

TEST(Import, MakesOneInstructionOfTheRecordsOfAString) {
  const Imported imported(Format::champsim, text_of({load(0x401000, 0x7000), load(0x401000, 0x7008),
                                                     load(0x401000, 0x7010), record(0x401003)}));
  EXPECT_EQ(imported.instructions, 2u);
  ASSERT_EQ(imported.runs.size(), 1u);
  EXPECT_THAT(imported.runs[0].rep_counts, ElementsAre(3u));
  EXPECT_THAT(imported.runs[0].addresses, ElementsAre(0x7000u));
}

TEST(Import, StopsAfterAsManyInstructionsAsAskedFor) {
  EXPECT_EQ(Imported(Format::champsim, text_of(small_program()), 3).instructions, 3u);
}

TEST(Import, UnpacksGzipXzAndZstd) {
  const std::string plain = text_of(small_program());
  std::string gzip(compressBound(plain.size()) + 64, 0), xz(lzma_stream_buffer_bound(plain.size()), 0),
      zstd(ZSTD_compressBound(plain.size()), 0);
  z_stream deflated{};
  deflateInit2(&deflated, 6, Z_DEFLATED, MAX_WBITS + 16, 8, Z_DEFAULT_STRATEGY);
  deflated.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(plain.data()));
  deflated.avail_in = static_cast<uInt>(plain.size());
  deflated.next_out = reinterpret_cast<Bytef*>(gzip.data());
  deflated.avail_out = static_cast<uInt>(gzip.size());
  ASSERT_EQ(deflate(&deflated, Z_FINISH), Z_STREAM_END);
  gzip.resize(deflated.total_out);
  deflateEnd(&deflated);
  std::size_t xz_bytes = 0;
  ASSERT_EQ(
      lzma_easy_buffer_encode(6, LZMA_CHECK_CRC64, nullptr, reinterpret_cast<const uint8_t*>(plain.data()),
                              plain.size(), reinterpret_cast<uint8_t*>(xz.data()), &xz_bytes, xz.size()),
      LZMA_OK);
  xz.resize(xz_bytes);
  zstd.resize(ZSTD_compress(zstd.data(), zstd.size(), plain.data(), plain.size(), 3));
  const std::vector<OwnedItem> expected = Imported(Format::champsim, plain).runs;
  for (const std::string& packed : {gzip, xz, zstd}) {
    EXPECT_EQ(Imported(Format::champsim, packed).runs, expected);
    EXPECT_EQ(Imported(Format::champsim, packed + packed).instructions, 16u)
        << "two files, one behind the other";
    const std::string half = packed.substr(0, packed.size() - packed.size() / 3);
    EXPECT_THAT(Imported(Format::champsim, half).error, HasSubstr("damaged at offset"));
  }
}

TEST(Import, RefusesAFileThatUnpacksWithoutEnd) {
  trace::TemporaryDirectory directory;
  const std::string zeros(1 << 20, 0);
  std::string frame(ZSTD_compressBound(zeros.size()), 0);
  frame.resize(ZSTD_compress(frame.data(), frame.size(), zeros.data(), zeros.size(), 19));
  std::string bomb;
  for (int n = 0; n < 512; ++n) bomb += frame;
  trace::write_content(directory.file("bomb"), {bomb.begin(), bomb.end()});
  auto stream = InputStream::open(directory.file("bomb"));
  ASSERT_TRUE(stream.ok());
  std::vector<std::byte> out(1 << 20);
  for (;;) {
    const auto got = stream->read(out);
    if (!got.ok()) {
      EXPECT_THAT(got.error().message, HasSubstr("it unpacks to more than 16384 times its size"));
      return;
    }
    ASSERT_NE(*got, 0u) << "it came to an end";
  }
}

TEST(Import, OfBrokenFilesEndsWithTheOffset) {
  const std::string records = text_of(small_program());
  EXPECT_THAT(Imported(Format::champsim, records.substr(0, 100)).error,
              HasSubstr("damaged at offset 64: the file ends within a record of 64 bytes"));
  EXPECT_THAT(Imported(Format::champsim, records + std::string(64, 0)).error,
              HasSubstr("damaged at offset 512: 0x0 is no address of a user's code"));
  EXPECT_THAT(Imported(Format::champsim, "").error, HasSubstr("no instruction in it"));
  EXPECT_THAT(Imported(Format::lackey, "I  401000,3\n L zz,4\n").error,
              HasSubstr("damaged at offset 12: expected"));
  EXPECT_THAT(Imported(Format::lackey, " L 401000,3\n").error, HasSubstr("offset 0: an access without"));
  EXPECT_THAT(Imported(Format::lackey, "I  401000,99\n").error,
              HasSubstr("no user's instruction has 99 bytes"));
  EXPECT_THAT(Imported(Format::lackey, std::string(100'000, 'I')).error, HasSubstr("a line longer than"));
  EXPECT_THAT(Imported(Format::insn_trace, "# a remark\nls 1 [0] 1.0: 401000 main\n").error,
              HasSubstr("damaged at offset 11: expected 'COMMAND TID [CPU] TIME:"));
}

TEST(Import, LeavesNoFileBehindWhatCouldNotBeImported) {
  EXPECT_EQ(Imported(Format::champsim, text_of(small_program()) + "x").files(), 1u);
  EXPECT_EQ(Imported(Format::insn_trace, "ls 1 [0] 1.0: 401000 main insn: 90\nwhat\n").files(), 1u);
}

TEST(Import, OfLackeyTellsBranchesFromWhereTheyWent) {
  const Imported imported(Format::lackey,
                          "==7== Lackey\n"
                          "I  00401000,5\n S 7ff0,8\n"  // call
                          "I  00402000,4\n L 7010,4\nI  00402004,1\n L 7ff0,8\n"
                          "I  00401005,3\n M 7020,4\nI  00401008,2\n"
                          "I  00401005,3\n M 7020,4\nI  00401008,2\nI  0040100a,5\nI  00403000,1\n");
  EXPECT_EQ(imported.error, "");
  std::vector<BranchKind> kinds;
  for (const OwnedItem& run : imported.runs) kinds.push_back(imported.instructions_of(run).back().branch);
  EXPECT_THAT(kinds, ElementsAre(BranchKind::direct_call, BranchKind::near_return, BranchKind::conditional,
                                 BranchKind::conditional, BranchKind::direct_jump, BranchKind::none));
  EXPECT_THAT(imported.runs[1].addresses, ElementsAre(0x7010u, 0x7FF0u));
  EXPECT_EQ(imported.instructions_of(imported.runs[1]).front().memory[0].bytes, 4);
  const auto add = imported.instructions_of(imported.runs[2]).front().memory[0];
  EXPECT_TRUE(add.load && add.store);
}

TEST(Import, OfLackeyTakesWhatIsTooShortForItsWayAsIndirect) {
  const Imported imported(Format::lackey,
                          "I  00401000,2\n S 7ff0,8\nI  00402000,2\nI  00403000,5\nI  00404000,1\n");
  ASSERT_EQ(imported.runs.size(), 4u);
  EXPECT_EQ(imported.instructions_of(imported.runs[0]).back().branch, BranchKind::indirect_call);
  EXPECT_EQ(imported.instructions_of(imported.runs[1]).back().branch, BranchKind::indirect_jump);
  EXPECT_EQ(imported.instructions_of(imported.runs[2]).back().branch, BranchKind::direct_jump);
  EXPECT_EQ(imported.runs[0].code.size(), 2u);
}

TEST(Import, OfInsnTraceTakesTheProgramsOwnCodeAndItsFiles) {
  const Imported imported(Format::insn_trace,
                          "a prog 10/10 [001] 5.000: PERF_RECORD_MMAP2 10/10: [0x401000(0x2000) @ 0x1000 "
                          "08:01 12 0]: r-xp /bin/a b\n"
                          "a prog 10/10 [001] 5.001:           401000 main+0x0 (/bin/a b) insn: 48 89 e5 \n"
                          "a prog 10/10 [001] 5.001:           401003 main+0x3 (/bin/a b) insn: eb 0b\n"
                          "a prog 10/11 [000] 5.002:           401003 [unknown] insn: eb 0b\n"
                          "a prog 10/10 [001] 5.003: ffffffff81000000 entry ([kernel.kallsyms]) insn: 90\n"
                          " instruction trace error type 1 time 5.0 cpu 1 pid 10 tid 10 ip 0 code 5: lost\n"
                          "a prog 10/10 [001] 5.004:           500010 f+0x0 (/lib/c) insn: c3\n");
  EXPECT_EQ(imported.error, "");
  EXPECT_EQ(imported.instructions, 4u);
  EXPECT_FALSE(imported.contents.stand_in_code);
  EXPECT_FALSE(imported.contents.addresses);
  std::vector<trace::Mapping> mappings;
  std::vector<u32> threads;
  for (const OwnedItem& item : imported.happenings) {
    if (const auto* map = std::get_if<trace::Map>(&*item.happening)) mappings.push_back(map->mapping);
    if (const auto* change = std::get_if<trace::ThreadSwitch>(&*item.happening))
      threads.push_back(change->tid);
  }
  ASSERT_EQ(mappings.size(), 2u);
  EXPECT_EQ(mappings[0].path, "/bin/a b");
  EXPECT_EQ(mappings[0].file_offset, 0x1000u);
  EXPECT_EQ(mappings[1].path, "//anon") << "none was printed for it";
  EXPECT_THAT(threads, ElementsAre(10u, 11u, 10u));
  EXPECT_THAT(imported.remarks, testing::Contains("1 instructions of the kernel were left out"));
  EXPECT_THAT(imported.remarks, testing::Contains("1 gaps where perf could not decode"));
}

TEST(Import, OfBytesThatAreMoreThanOneInstructionTakesThemAsOneThatNothingIsKnownOf) {
  const Imported imported(Format::insn_trace,
                          "ls 1 [0] 1.0: 401000 main insn: f3 a4 04 ce\n"
                          "ls 1 [0] 1.1: 401004 main insn: f3 a4\n");
  ASSERT_EQ(imported.error, "");
  ASSERT_EQ(imported.runs.size(), 1u);
  EXPECT_EQ(imported.instructions, 2u);
  EXPECT_EQ(imported.runs[0].rep_counts, (std::vector<u32>{1}));
}

TEST(Import, OfTheSameBytesDividedInAnotherWayIsOtherCode) {
  const Imported imported(Format::insn_trace,
                          "ls 1 [0] 1.0: 401000 main insn: f3 a4\n"
                          "ls 1 [0] 1.1: 401002 main insn: eb fc\n"
                          "ls 1 [0] 1.2: 401000 main insn: f3 a4 eb fc\n");
  ASSERT_EQ(imported.error, "");
  EXPECT_EQ(imported.instructions, 3u);
  ASSERT_EQ(imported.runs.size(), 2u);
  EXPECT_EQ(imported.runs[0].rep_counts, (std::vector<u32>{1}));
  EXPECT_TRUE(imported.runs[1].rep_counts.empty());
}

/// Exports a trace, imports that, exports again.
TEST(Export, OfWhatWasImportedIsTheSameFile) {
  for (const Format format : {Format::champsim, Format::lackey}) {
    trace::TemporaryDirectory directory;
    const std::string records = text_of(small_program());
    trace::write_content(directory.file("in"), {records.begin(), records.end()});
    ASSERT_TRUE(import_trace({Format::champsim, directory.file("in"), directory.file("t")}).ok());
    ASSERT_TRUE(export_trace({format, directory.file("t"), directory.file("first")}).ok());
    ASSERT_TRUE(import_trace({format, directory.file("first"), directory.file("t2")}).ok());
    ASSERT_TRUE(export_trace({format, directory.file("t2"), directory.file("second")}).ok());
    EXPECT_EQ(trace::file_content(directory.file("first")), trace::file_content(directory.file("second")));
  }
}

}  // namespace
}  // namespace pmusim::formats
