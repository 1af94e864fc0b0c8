// SPDX-License-Identifier: MIT
#include "symbols/module.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <random>
#include <sstream>

namespace pmusim::symbols {

namespace {

using testing::HasSubstr;
namespace fs = std::filesystem;

/// Copies of a program in a directory that is gone with the test.
class ModuleTest : public testing::Test {
 protected:
  ModuleTest() {
    std::string name = (fs::temp_directory_path() / "pmusim-symbols-XXXXXX").string();
    if (mkdtemp(name.data()) != nullptr) directory = name;
  }
  ~ModuleTest() override { fs::remove_all(directory); }

  static bool shell(const std::string& command) {
    return std::system((command + " 2>/dev/null").c_str()) == 0;
  }
  std::string file(const std::string& name) const { return (directory / name).string(); }
  Module open(const std::string& path, std::vector<std::byte> build_id = {}) const {
    return Module::open({path, std::move(build_id)}, directory);
  }
  /// The program with its debug information moved to where distributions keep it.
  void split_program() {
    const std::string id = open(program).build_id();
    fs::create_directories(directory / ".build-id" / id.substr(0, 2));
    const std::string debug = file(".build-id/" + id.substr(0, 2) + "/" + id.substr(2) + ".debug");
    ASSERT_TRUE(shell(std::string("objcopy --only-keep-debug ") + program + " " + debug));
    ASSERT_TRUE(shell(std::string("strip -o ") + file("stripped") + " " + program));
  }

  static constexpr const char* program = TEST_SHAPES;
  static constexpr const char* area = "_ZNK8geometry7PolygonIiLi3EE4areaEm";
  fs::path directory;
};

std::vector<std::byte> bytes_of(const std::string& hexadecimal) {
  std::vector<std::byte> bytes;
  for (std::size_t i = 0; i + 1 < hexadecimal.size(); i += 2)
    bytes.push_back(static_cast<std::byte>(std::stoi(hexadecimal.substr(i, 2), nullptr, 16)));
  return bytes;
}

void expect_area_of(Module& module) {
  const Symbol* const symbol = module.find("_ZNK8geometry7PolygonIiLi3EE4areaEm");
  ASSERT_NE(symbol, nullptr);
  EXPECT_EQ(module.find(symbol->start), symbol);
  EXPECT_EQ(module.find(symbol->end - 1), symbol);
  const auto position = module.position(symbol->start);
  ASSERT_TRUE(position.has_value());
  EXPECT_TRUE(position->file.ends_with("shapes.cpp"));
}

TEST_F(ModuleTest, AProgramHasSymbolsLinesAndCode) {
  Module module = open(program);
  EXPECT_EQ(module.problem(), "");
  expect_area_of(module);
  const Symbol* const symbol = module.find(area);
  EXPECT_EQ(module.code(symbol->start, symbol->end - symbol->start).size(), symbol->end - symbol->start);
}

TEST_F(ModuleTest, SymbolsAreInOrderAndDoNotOverlap) {
  const Module module = open(program);
  const auto symbols = module.symbols();
  ASSERT_GT(symbols.size(), 10u);
  for (std::size_t i = 1; i < symbols.size(); ++i) EXPECT_LE(symbols[i - 1].end, symbols[i].start);
}

TEST_F(ModuleTest, StubsOfTheLinkageTableHaveTheNameOfWhatTheyCall) {
  EXPECT_NE(open(program).find("strtoul@plt"), nullptr);
}

TEST_F(ModuleTest, InlinedFunctionsAreFoundInsideOutermostFirst) {
  Module module = open(program);
  const auto all = module.symbols();
  const auto total =
      std::ranges::find_if(all, [](const Symbol& s) { return s.name.find("5total") != std::string::npos; });
  ASSERT_NE(total, all.end());
  const auto calls = module.inlined_calls(total->start, total->end);
  const auto twice = std::ranges::find_if(
      calls, [](const InlinedCall& c) { return c.function.find("mixed_twice") != std::string::npos; });
  ASSERT_NE(twice, calls.end());
  EXPECT_EQ(twice->depth, 0u);
  EXPECT_TRUE(twice->call.file.ends_with("shapes.cpp"));
  const auto inner = std::ranges::find_if(calls, [&](const InlinedCall& c) {
    return c.depth == 1 && c.start >= twice->start && c.function.find("mixed") != std::string::npos;
  });
  EXPECT_NE(inner, calls.end());
}

TEST_F(ModuleTest, ASeparateDebugFileIsFoundByBuildId) {
  ASSERT_NO_FATAL_FAILURE(split_program());
  Module module = open(file("stripped"));
  EXPECT_EQ(module.problem(), "");
  expect_area_of(module);
}

TEST_F(ModuleTest, ASeparateDebugFileIsFoundByItsLink) {
  ASSERT_TRUE(shell(std::string("objcopy --only-keep-debug ") + program + " " + file("shapes.debug")));
  ASSERT_TRUE(shell(std::string("cd ") + directory.string() + " && strip -o linked -R .note.gnu.build-id " +
                    program + " && objcopy --add-gnu-debuglink=shapes.debug linked"));
  Module module = open(file("linked"));
  expect_area_of(module);
}

TEST_F(ModuleTest, AStrippedProgramKeepsItsDynamicSymbolsAndSaysSo) {
  ASSERT_TRUE(shell(std::string("strip -o ") + file("bare") + " " + program));
  const Module module = open(file("bare"));
  EXPECT_THAT(module.problem(), testing::AnyOf(HasSubstr("is stripped"), HasSubstr("has no symbols")));
  EXPECT_THAT(module.problem(), HasSubstr("no debug information"));
  EXPECT_EQ(module.find(area), nullptr);
}

// Exceptions need to know where functions begin, so that stripped files still tell.
TEST_F(ModuleTest, StrippedFunctionsAreNamedByTheirAddresses) {
  ASSERT_TRUE(shell(std::string("strip -o ") + file("bare") + " " + program));
  const Module whole = open(program), bare = open(file("bare"));
  const Symbol* const known = whole.find(area);
  const Symbol* const nameless = bare.find(known->start);
  ASSERT_NE(nameless, nullptr);
  EXPECT_EQ(nameless->start, known->start);
  EXPECT_GE(nameless->end, known->end);
  std::ostringstream name;
  name << "[bare+0x" << std::hex << known->start << "]";
  EXPECT_EQ(nameless->name, name.str());
  EXPECT_EQ(bare.find("strtoul@plt")->start, whole.find("strtoul@plt")->start);
}

TEST_F(ModuleTest, CodeWithoutAnyMarkIsCutIntoPieces) {
  ASSERT_TRUE(shell(std::string("strip -R .eh_frame_hdr -R .eh_frame -o ") + file("bare") + " " + program));
  const Module bare = open(file("bare"));
  EXPECT_NE(bare.find(open(program).find(area)->start), nullptr);
  for (const Symbol& symbol : bare.symbols()) EXPECT_LE(symbol.end - symbol.start, 0x10000u);
}

TEST_F(ModuleTest, WithoutDwarfThereAreSymbolsAndNoLines) {
  ASSERT_TRUE(shell(std::string("strip -g -o ") + file("nolines") + " " + program));
  Module module = open(file("nolines"));
  EXPECT_EQ(module.problem(), "has no debug information (DWARF): no source lines and no inlined functions");
  ASSERT_NE(module.find(area), nullptr);
  EXPECT_FALSE(module.position(module.find(area)->start).has_value());
  EXPECT_TRUE(module.inlined_calls(0, ~u64{0}).empty());
}

TEST_F(ModuleTest, AnotherBuildIsNotShown) {
  const Module module = open(program, bytes_of("0123456789012345678901234567890123456789"));
  EXPECT_THAT(module.problem(), HasSubstr("is another build"));
  EXPECT_TRUE(module.symbols().empty());
}

/// As lld makes it, in the place of the linker's of 20 bytes; perf before 5.12 recorded 20 bytes and no size.
TEST_F(ModuleTest, AShortBuildIdThatWasRecordedWithZerosIsTheSame) {
  using namespace std::string_literals;
  const std::string short_id = "\x57\x2a\xc7\x24\x87\xae\x19\x66";
  std::ofstream(file("note"), std::ios::binary)
      << "\4\0\0\0\10\0\0\0\3\0\0\0GNU\0"s << short_id << std::string(12, '\0');
  ASSERT_TRUE(shell("objcopy --update-section .note.gnu.build-id=" + file("note") + " " + program + " " +
                    file("short")));
  ASSERT_EQ(open(file("short")).build_id(), "572ac72487ae1966");
  EXPECT_EQ(open(file("short"), bytes_of("572ac72487ae1966000000000000000000000000")).problem(), "");
  EXPECT_THAT(open(file("short"), bytes_of("572ac72487ae1966000000000000000000000001")).problem(),
              HasSubstr("is another build"));
}

TEST_F(ModuleTest, AMissingFileStillHasTheSymbolsOfItsDebugFile) {
  ASSERT_NO_FATAL_FAILURE(split_program());
  Module module = open(file("gone"), bytes_of(open(program).build_id()));
  EXPECT_THAT(module.problem(), HasSubstr("does not exist here"));
  expect_area_of(module);
  EXPECT_TRUE(module.code(module.find(area)->start, 16).empty());
}

TEST_F(ModuleTest, WhatIsNoProgramIsRefusedInASentence) {
  std::ofstream(file("text")) << "hello";
  EXPECT_THAT(open(file("text")).problem(), HasSubstr("is no x86-64 ELF file"));
  EXPECT_THAT(open("/dev/zero").problem(), HasSubstr("is no x86-64 ELF file"));
  EXPECT_THAT(open(file("missing")).problem(), HasSubstr("does not exist"));
}

TEST_F(ModuleTest, ACutProgramIsReadAsFarAsItGoes) {
  std::ifstream in(program, std::ios::binary);
  const std::string whole{std::istreambuf_iterator<char>(in), {}};
  for (std::size_t size = 0; size < whole.size(); size += whole.size() / 64) {
    const auto* const bytes = reinterpret_cast<const std::byte*>(whole.data());
    Module module = Module::from_memory("cut", {bytes, bytes + size});
    for (const Symbol& symbol : module.symbols()) (void)module.position(symbol.start);
  }
}

/// Everything that a module can be asked.
void ask_everything(Module& module) {
  for (const Symbol& symbol : module.symbols().first(std::min<std::size_t>(module.symbols().size(), 20))) {
    (void)module.position(symbol.start);
    (void)module.inlined_calls(symbol.start, symbol.end);
    (void)module.code(symbol.start, symbol.end - symbol.start);
  }
}

// Headers, tables of sections and symbols, DWARF: a byte anywhere may be anything.
TEST_F(ModuleTest, AProgramWithWrongBytesIsReadAsFarAsItMakesSense) {
  ASSERT_TRUE(shell(std::string("strip -g -o ") + file("nolines") + " " + program));
  ASSERT_TRUE(shell(std::string("strip -o ") + file("bare") + " " + program));
  std::mt19937 random(1);
  for (const std::string& path : {std::string(program), file("nolines"), file("bare")}) {
    std::ifstream in(path, std::ios::binary);
    const std::string whole{std::istreambuf_iterator<char>(in), {}};
    for (int i = 0; i < 40; ++i) {
      std::string wrong = whole;
      for (int n = 0; n < 200; ++n) wrong[random() % wrong.size()] = static_cast<char>(random());
      for (int n = 0; n < 4; ++n) wrong[random() % 1024] = static_cast<char>(random());
      wrong.replace(0, 20, whole, 0, 20);  // still an ELF file
      const auto* const bytes = reinterpret_cast<const std::byte*>(wrong.data());
      Module module = Module::from_memory("wrong", {bytes, bytes + wrong.size()});
      ask_everything(module);
    }
  }
}

TEST_F(ModuleTest, AFunctionIsFoundInTheProcessThatMapsTheFile) {
  const Module module = open(program);
  const Symbol* const symbol = module.find(area);
  const auto range = module.loaded_range(area, {0x7f0000000000, 0x7f0000100000, 0, 0});
  ASSERT_TRUE(range.has_value());
  EXPECT_EQ(range->end - range->first, symbol->end - symbol->start);
  EXPECT_EQ(module.address_of(range->first - 0x7f0000000000), symbol->start);
  EXPECT_FALSE(module.loaded_range(area, {0x7f0000000000, 0x7f0000000001, 0, 0}).has_value());
  EXPECT_FALSE(module.loaded_range("no such function", {0, ~u64{0}, 0, 0}).has_value());
}

TEST_F(ModuleTest, LaterLinesOfAJitMapReplaceEarlierOnes) {
  std::ofstream(file("perf-1.map")) << "1000 20 old\nnonsense\n0x2000 10 with spaces in it\n1000 30 new\n";
  const Module module = Module::from_jit_map(file("perf-1.map"));
  EXPECT_EQ(module.find(u64{0x102f})->name, "new");
  EXPECT_EQ(module.find(u64{0x2000})->name, "with spaces in it");
  EXPECT_EQ(module.symbols().size(), 2u);
  EXPECT_THAT(Module::from_jit_map(file("perf-2.map")).problem(), HasSubstr("perf-2.map"));
}

TEST_F(ModuleTest, FunctionsOfKallsymsReachToTheNext) {
  std::ofstream(file("kallsyms")) << "ffffffff81000000 T _text\nffffffff81000000 T first\n"
                                     "ffffffff81000400 D data\nffffffff81000800 t last_but_one\t[module]\n"
                                     "nonsense\nffffffff81000900 T _etext\n";
  const Module module = Module::from_kallsyms(file("kallsyms"));
  EXPECT_EQ(module.find(u64{0xFFFF'FFFF'8100'0000})->name, "first");
  EXPECT_EQ(module.find(u64{0xFFFF'FFFF'8100'07FF})->name, "first");
  EXPECT_EQ(module.find(u64{0xFFFF'FFFF'8100'08FF})->name, "last_but_one");
  EXPECT_EQ(module.find(u64{0xFFFF'FFFF'8100'0901}), nullptr);
  EXPECT_EQ(module.find(u64{0xFFFF'FFFF'80FF'FFFF}), nullptr);
  EXPECT_THAT(Module::from_kallsyms(file("none")).problem(), HasSubstr("none"));
}

}  // namespace

}  // namespace pmusim::symbols
