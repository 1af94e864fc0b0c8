// SPDX-License-Identifier: MIT
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include <zstd.h>

#include <csignal>
#include <fstream>
#include <functional>
#include <random>

#include "formats/input_stream.h"
#include "tests/formats/imported.h"
#include "tests/formats/packed.h"

namespace pmusim::formats {
namespace {

using test::Packing;
using testing::ElementsAre;
using testing::HasSubstr;
using trace::OwnedItem;

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
  const std::vector<OwnedItem> expected = Imported(Format::champsim, plain).runs;
  for (const Packing packing : {Packing::gzip, Packing::xz, Packing::zstd}) {
    const std::string packed = test::packed(plain, packing);
    EXPECT_EQ(Imported(Format::champsim, packed).runs, expected);
    EXPECT_EQ(Imported(Format::champsim, packed + packed).instructions, 16u)
        << "two files, one behind the other";
    const Imported half(Format::champsim, packed.substr(0, packed.size() - packed.size() / 3));
    EXPECT_THAT(half.error, testing::AnyOf("", HasSubstr("no instruction in it: the packed data end early")));
    EXPECT_LE(half.instructions, 8u);
    std::string broken = packed;
    for (std::size_t at = packed.size() / 2; at < packed.size() / 2 + 8; ++at) broken[at] = 'x';
    EXPECT_THAT(Imported(Format::champsim, broken).error, HasSubstr("damaged at offset"));
  }
}

TEST(Import, OfAPackedFileThatEndsEarlyHasWhatLiesBefore) {
  std::mt19937_64 random(1);
  std::vector<ChampSimRecord> records;
  for (u64 n = 0; n < 10'000; ++n) records.push_back(load(0x401000 + n * 4, random() % 0x7FFF'FFFF'0000));
  const std::string plain = text_of(records);
  std::string packed(ZSTD_compressBound(plain.size()), 0);
  packed.resize(ZSTD_compress(packed.data(), packed.size(), plain.data(), plain.size(), 1));
  const Imported imported(Format::champsim, packed.substr(0, packed.size() - 10));
  EXPECT_EQ(imported.error, "");
  EXPECT_GT(imported.instructions, 1'000u);
  EXPECT_LT(imported.instructions, 10'000u);
  EXPECT_THAT(imported.remarks, testing::Contains(HasSubstr("the packed data end early")));
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

TEST(Import, OfDamagedFilesEndsWithTheOffset) {
  const std::string records = text_of(small_program());
  EXPECT_THAT(Imported(Format::champsim, records + std::string(64, 0)).error,
              HasSubstr("damaged at offset 512: 0x0 is no address of code"));
  std::string flags = records;
  flags[5 * 64 + 8] = 2;
  EXPECT_THAT(Imported(Format::champsim, flags).error,
              HasSubstr("damaged at offset 320: is_branch 2, taken 0; expected 0 or 1"));
  EXPECT_THAT(Imported(Format::champsim, "").error, HasSubstr("no instruction in it"));
  EXPECT_THAT(Imported(Format::lackey, "I  401000,3\n L zz,4\n").error,
              HasSubstr("damaged at offset 12: expected"));
  EXPECT_THAT(Imported(Format::lackey, "I  401000,99\n").error,
              HasSubstr("no user's instruction has 99 bytes"));
  EXPECT_THAT(Imported(Format::insn_trace, "# a remark\nls 1 [0] 1.0: 401000 main insn: zz\n").error,
              HasSubstr("damaged at offset 11: expected 'COMMAND TID [CPU] TIME:"));
}

TEST(Import, LeavesNoFileBehindWhatCouldNotBeImported) {
  EXPECT_EQ(Imported(Format::champsim, text_of(small_program()) + std::string(64, 0)).files(), 1u);
  EXPECT_EQ(Imported(Format::insn_trace, "ls 1 [0] 1.0: 401000 main insn: 90\nls 1 [0] 1.1: 401001 insn: x\n")
                .files(),
            1u);
}

TEST(Import, OfNoFormatSaysSo) {
  EXPECT_THAT(Imported(Format::count, "x").error,
              HasSubstr(fmt::format("there is no format of number {}", all_formats().size())));
}

TEST(Import, OfAnotherProgramsFileDoesNotCallItDamaged) {
  const std::string text = "#!/bin/sh\nexit 0\n" + std::string(200, 'x') + "\n";
  EXPECT_THAT(
      Imported(Format::champsim, text).error,
      HasSubstr("in: does not begin with records of 64 bytes (champsim's have 64, cloudsuite's 96 or 88)"));
  EXPECT_THAT(Imported(Format::lackey, text).error, HasSubstr("no instruction in it: 3 lines that are not"));
  EXPECT_THAT(Imported(Format::insn_trace, text).error, HasSubstr("no instruction in it: 2 lines that are"));
}

/// Longer than what is looked at to find where records begin.
std::vector<ChampSimRecord> long_program() {
  std::vector<ChampSimRecord> records;
  for (u64 n = 0; n < 200; ++n) {
    records.push_back(load(0x401000 + n * 8, 0x7000 + n * 8));
    records.push_back(record(0x401004 + n * 8, {10, 25}, {9, 10}));
  }
  return records;
}

TEST(Import, OfChampSimCutAnywhereHasItsWholeRecords) {
  const std::string records = text_of(long_program());
  for (const std::size_t begin :
       {std::size_t{0}, std::size_t{1}, std::size_t{8}, std::size_t{40}, std::size_t{63}})
    for (const std::size_t end : {std::size_t{0}, std::size_t{1}, std::size_t{63}}) {
      const Imported imported(Format::champsim, records.substr(begin, records.size() - begin - end));
      EXPECT_EQ(imported.error, "");
      EXPECT_EQ(imported.instructions, 400u - (begin != 0 ? 1 : 0) - (end != 0 ? 1 : 0))
          << begin << ' ' << end;
      const auto says = [&](std::size_t bytes, const char* what) {
        return testing::Contains(
            fmt::format("{} bytes were left out: the file {} within a record", bytes, what));
      };
      std::vector<testing::Matcher<const std::vector<std::string>&>> said{
          testing::Not(testing::Contains(HasSubstr("damaged")))};
      if (begin != 0) said.emplace_back(says(64 - begin, "begins"));
      if (end != 0) said.emplace_back(says(64 - end, "ends"));
      EXPECT_THAT(imported.remarks, testing::AllOfArray(said)) << begin << ' ' << end;
    }
}

// `cloudsuite_instr` of ChampSim's inc/trace_instruction.h, as a compiler lays it out.
struct CloudSuiteInstruction {
  u64 ip;
  u8 is_branch, branch_taken, destination_registers[4], source_registers[4];
  u64 destination_memory[4], source_memory[4];
  u8 asid[2];
};
static_assert(sizeof(CloudSuiteInstruction) == 96);

std::string cloudsuite(const std::vector<ChampSimRecord>& records) {
  std::string result;
  for (const ChampSimRecord& from : records) {
    CloudSuiteInstruction to{};
    to.ip = from.ip;
    to.is_branch = from.is_branch;
    to.branch_taken = from.taken;
    // The last places are used as well as the first.
    for (std::size_t n = 0; n < 2; ++n) to.destination_registers[3 - n] = from.written[n];
    for (std::size_t n = 0; n < 2; ++n) to.destination_memory[3 - n] = from.stores[n];
    for (std::size_t n = 0; n < 4; ++n) to.source_registers[n] = from.read[n];
    for (std::size_t n = 0; n < 4; ++n) to.source_memory[n] = from.loads[n];
    to.asid[0] = to.asid[1] = 1;
    result.append(reinterpret_cast<const char*>(&to), sizeof to);
  }
  return result;
}

TEST(Import, OfCloudSuitesRecordsIsThatOfChampSims) {
  for (const auto& program : {small_program(), long_program()}) {
    const Imported expected(Format::champsim, text_of(program));
    const Imported imported(Format::cloudsuite, cloudsuite(program));
    EXPECT_EQ(imported.error, "");
    EXPECT_EQ(imported.runs, expected.runs);
  }
  const std::string records = cloudsuite(long_program());
  EXPECT_EQ(Imported(Format::cloudsuite, records.substr(50, records.size() - 60)).instructions, 398u);
}

/// Without the address space and what aligns it.
TEST(Import, OfCloudSuitesShorterRecordsIsTheSame) {
  for (const auto& program : {small_program(), long_program()}) {
    const std::string longer = cloudsuite(program);
    std::string records;
    for (std::size_t at = 0; at < longer.size(); at += 96) records += longer.substr(at, 88);
    const Imported expected(Format::cloudsuite, longer), imported(Format::cloudsuite, records);
    EXPECT_EQ(imported.error, "");
    EXPECT_EQ(imported.runs, expected.runs);
    EXPECT_EQ(Imported(Format::cloudsuite, records.substr(88)).instructions, expected.instructions - 1);
  }
}

TEST(Import, OfRecordsOfTheOtherSizeSaysWhichThereAre) {
  const auto says = HasSubstr("(champsim's have 64, cloudsuite's 96 or 88): at offset ");
  EXPECT_THAT(Imported(Format::champsim, cloudsuite(long_program())).error, says);
  EXPECT_THAT(Imported(Format::cloudsuite, text_of(long_program())).error, says);
}

TEST(Import, OfChampSimLeavesTheKernelsInstructionsOut) {
  auto program = small_program();
  program.insert(program.begin() + 4, record(0xFFFF'FFFF'8100'0000));
  const Imported imported(Format::champsim, text_of(program));
  EXPECT_EQ(imported.instructions, 8u);
  EXPECT_THAT(imported.remarks, testing::Contains("1 instructions of the kernel were left out"));
}

TEST(Import, OfLackeyTakesFilesAsValgrindAndTerminalsLeaveThem) {
  const std::string whole =
      "==7== Lackey, an example Valgrind tool\n==7== \n--7-- warning\n\nI  00401000,3\n L 7010,4\n"
      "SB 00401003\nI  00401003,3\r\nhello, world\n S 7018,8\nI  00401006,2\n"
      "==7== \n==7== Counted 1 call to main()\n";
  const Imported imported(Format::lackey, whole);
  EXPECT_EQ(imported.error, "");
  EXPECT_EQ(imported.instructions, 3u);
  EXPECT_THAT(imported.runs.at(0).addresses, ElementsAre(0x7010u, 0x7018u));
  EXPECT_THAT(imported.remarks, testing::Contains(fmt::format(
                                    "1 lines that are not lackey's were left out, the first at offset {}",
                                    whole.find("hello"))));
}

TEST(Import, OfLackeyPassesOverLongLinesOfTheProgram) {
  const std::string output(3 * LineReader::max_line_bytes + 5, 'x');
  const Imported imported(Format::lackey, "I  00401000,3\n" + output + "\nI  00401003,3\n" + output);
  EXPECT_EQ(imported.error, "");
  EXPECT_EQ(imported.instructions, 2u);
  EXPECT_THAT(imported.remarks,
              testing::Contains("2 lines that are not lackey's were left out, the first at offset 14"));
}

TEST(Import, OfLackeyCountsAccessesThatItHasNoRoomFor) {
  std::string gather = "I  00401000,3\n";
  for (int n = 0; n < 11; ++n) gather += fmt::format(" L {:x},4\n", 0x7000 + n * 64);
  const Imported imported(Format::lackey, gather + "I  00401003,3\n");
  EXPECT_EQ(imported.error, "");
  EXPECT_THAT(imported.remarks,
              testing::Contains("3 accesses were left out: more than 8 of one instruction"));
}

TEST(Import, OfLackeyCutAnywhereHasItsWholeLines) {
  const std::string whole = "I  00401000,3\n L 7010,4\n L 7014,4\nI  00401003,3\n S 7018,8\nI  00401006,12\n";
  for (std::size_t cut = 1; cut < whole.size() - 16; ++cut) {
    const Imported front(Format::lackey, whole.substr(cut));
    EXPECT_EQ(front.error, "") << cut;
    EXPECT_EQ(front.instructions, cut <= 34 ? 2u : 1u) << cut;
    const bool between_lines = cut == 33 || cut == 34;
    EXPECT_EQ(front.remarks.size() > 2, !between_lines) << cut;  // two are of every file
  }
  for (std::size_t size = 15; size < whole.size(); ++size) {
    const Imported end(Format::lackey, whole.substr(0, size));
    EXPECT_EQ(end.error, "") << size;
    EXPECT_EQ(end.instructions, size < 48 ? 1u : 2u) << size;
  }
}

TEST(Import, OfLackeyWithoutItsMemoryTraceSaysWhatIsInTheFile) {
  EXPECT_THAT(Imported(Format::lackey, "==7== Counted\nhello\n").error,
              HasSubstr("no instruction in it: 1 lines that are not lackey's"));
}

TEST(Import, OfLackeyInfersBranchesFromWhereTheyWent) {
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
  for (const OwnedItem& item : imported.records) {
    if (const auto* map = std::get_if<trace::Map>(&*item.side_band)) mappings.push_back(map->mapping);
    if (const auto* change = std::get_if<trace::ThreadSwitch>(&*item.side_band))
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

// Fields that `perf script -F` leaves out or adds.
TEST(Import, OfInsnTraceTakesAnyFieldsThatPerfPrints) {
  for (const std::string line :
       {"ls  7/7  [001]  5.001:  401000 main+0x0 (/bin/ls) insn: 48 89 e5",
        "ls  7/7  5.001:  401000 main insn: 48 89 e5", "ls 7 401000 main insn: 48 89 e5",
        "cc 7 401000 add insn: 48 89 e5 ", "7/7 401000 insn: 48 89 e5", "  401000 insn: 48 89 e5",
        "  401000 operator new+0x10 (/lib/a b.so) insn: 48 89 e5",
        "ls 7 [001] 401000 [unknown] insn: 48 89 e5",
        "ls  7/7  [001] 5.001:  1  instructions:uH:  401000 main (/bin/ls) insn: 48 89 e5",
        "ls  7/7  [001] 5.001:   call   401000 main (/bin/ls) ilen: 3 insn: 48 89 e5",
        "5.000000001:  401000 insn: 48 89 e5", "[000] 401000 insn: 48 89 e5",
        "          401000 facade insn: 48 89 e5", "cc               401000 facade insn: 48 89 e5"}) {
    const Imported imported(Format::insn_trace, line + "\n" + line + "\n");
    ASSERT_EQ(imported.error, "") << line;
    EXPECT_EQ(imported.instructions, 2u) << line;
    EXPECT_EQ(imported.runs.at(0).start, 0x401000u) << line;
    EXPECT_EQ(imported.runs.at(0).code.size(), 3u) << line;
  }
}

TEST(Import, OfInsnTraceCountsWhatItLeavesOut) {
  const Imported imported(Format::insn_trace,
                          "# captured on: Mon\n\nWarning:\n"
                          "  ls 7/7 [001] 5.001: 401000 main (/bin/ls) insn: 48 89 e5\n"
                          "  ls 7/7 [001] 5.002: 401003 main (/bin/ls)\n"
                          "  ls 7/7 [001] 5.003: 401010 main (/bin/ls) insn: 90\n");
  EXPECT_EQ(imported.error, "");
  EXPECT_EQ(imported.instructions, 2u);
  EXPECT_EQ(imported.runs.size(), 2u);
  EXPECT_THAT(imported.remarks, testing::Contains("1 lines that are not perf script's were left out"));
  EXPECT_THAT(imported.remarks, testing::Contains(HasSubstr("1 lines without code bytes were left out")));
}

TEST(Import, OfInsnTraceCutAnywhereHasItsWholeLines) {
  const std::string line = "  ls 7/7 [001] 5.001:           401000 main+0x0 (/bin/ls) insn: 48 89 e5 \n";
  const std::string whole = line + line + line;
  for (std::size_t cut = 1; cut < line.size() - 2; ++cut) {  // in front of two blanks
    const Imported front(Format::insn_trace, whole.substr(cut));
    EXPECT_EQ(front.error, "") << cut;
    EXPECT_THAT(front.instructions, testing::AnyOf(2u, 3u)) << cut;
    for (const OwnedItem& run : front.runs) {
      EXPECT_EQ(run.start, 0x401000u) << cut;
      EXPECT_EQ(run.code.size(), 3u) << cut;
    }
    const Imported end(Format::insn_trace, whole.substr(0, whole.size() - cut));
    EXPECT_EQ(end.error, "") << cut;
    EXPECT_EQ(end.instructions, 2u) << cut;
    EXPECT_THAT(end.remarks, testing::Contains(HasSubstr("the file begins or ends within them"))) << cut;
  }
}

TEST(Import, TakesBytesOfSeveralInstructionsAsOneUnknown) {
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

// The table of docs/traces.md is the one that readers and writers are found by.
TEST(Formats, AreAllInTheDocumentation) {
  std::ifstream page(PMUSIM_SOURCE_DIR "/docs/traces.md");
  const std::string text{std::istreambuf_iterator<char>(page), {}};
  for (const FormatInfo& info : all_formats()) {
    const std::string row = fmt::format("\n| `{}` | {} | {} | {} | {} |\n", info.name, info.source, info.code,
                                        info.accesses, info.lost);
    EXPECT_THAT(text, HasSubstr(row));
  }
}

TEST(Formats, AreEachReadAndWritten) {
  const SmallTrace trace;
  for (const FormatInfo& info : all_formats()) {
    const Imported again(info.format, trace.exported(info.format), 0, trace.path());
    EXPECT_EQ(again.error, "") << info.name;
    EXPECT_EQ(again.instructions, 8u) << info.name;
  }
}

/// What a process whose files may not grow leaves of one that it was to replace.
bool replaces_without_room(const std::function<bool()>& convert) {
  const pid_t child = ::fork();
  if (child == 0) {
    std::signal(SIGXFSZ, SIG_IGN);
    const rlimit no_bytes{0, RLIM_INFINITY};
    ::setrlimit(RLIMIT_FSIZE, &no_bytes);
    ::_exit(convert() ? 0 : 1);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

TEST(Formats, LeaveTheFileThatIsThereOnAFullDisk) {
  const SmallTrace trace;
  const std::vector<char> old{'o', 'l', 'd'};
  for (const FormatInfo& info : all_formats()) {
    trace::TemporaryDirectory directory;
    const std::string content = trace.exported(info.format), in = directory.file("in"),
                      out = directory.file("out");
    trace::write_content(in, {content.begin(), content.end()});
    trace::write_content(out, old);
    const auto read = [&] { return import_trace({info.format, in, out, 0, trace.path()}).ok(); };
    const auto write = [&] { return export_trace({info.format, trace.path(), out}).ok(); };
    EXPECT_FALSE(replaces_without_room(read)) << info.name;
    EXPECT_FALSE(replaces_without_room(write)) << info.name;
    EXPECT_EQ(trace::file_content(out), old) << info.name;
    EXPECT_EQ(directory.entries(), 2u) << info.name;
  }
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
