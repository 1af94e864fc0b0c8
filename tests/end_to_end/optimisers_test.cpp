// SPDX-License-Identifier: MIT
// BOLT, llvm-profgen and create_llvm_prof take what `pmusim record -b` writes without further options.
#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>

#include "command.h"

namespace pmusim::test {
namespace {

using testing::HasSubstr;
using testing::Not;

/// The newest of Debian's LLVM packages that has a tool; empty if none has.
std::string llvm_tool(const std::string& name) {
  for (const char* version : {"19", "16", "14"}) {
    const std::string path = std::string("/usr/lib/llvm-") + version + "/bin/" + name;
    if (std::filesystem::exists(path)) return path;
  }
  return "";
}

/// Debian's Lua, linked from its archive so that relocations can be kept.
std::string build_lua(const ScratchDirectory& scratch) {
  std::string source = scratch.file("lua.c"), program = scratch.file("lua");
  std::ofstream(source) << "#include <lua5.4/lauxlib.h>\n#include <lua5.4/lualib.h>\n"
                           "int main(int argc, char** argv) {\n"
                           "  lua_State* L = luaL_newstate();\n  luaL_openlibs(L);\n"
                           "  return argc < 2 || luaL_dostring(L, argv[1]);\n}\n";
  const Output output = run({"cc", "-O2", "-fno-reorder-blocks-and-partition", "-Wl,--emit-relocs", "-o",
                             program, source, "-l:liblua5.4.a", "-lm", "-ldl"});
  return output.status == 0 ? program : "";
}

constexpr const char* lua_script =
    "local words = {} for i = 1, 40 do words[i] = tostring(i * 7919 % 1009) end table.sort(words) "
    "local sum = 0 for i, w in ipairs(words) do sum = sum + #w * i end print(sum)";

class ForeignProgram : public testing::Test {
 protected:
  std::string profile(const std::string& trace, const std::vector<std::string>& options) const {
    const std::string file = scratch_.file("perf.data");
    std::vector<std::string> command{pmusim(), "record", "-q", "-b", "-o", file};
    command.insert(command.end(), options.begin(), options.end());
    command.push_back(trace);
    const Output output = run(command);
    EXPECT_EQ(output.status, 0) << output.err;
    return file;
  }
  void expect_bolt_agrees(const std::string& program, const std::string& trace,
                          const std::vector<std::string>& options = {}) const {
    const std::string perf2bolt = llvm_tool("perf2bolt"), counts = scratch_.file("fdata");
    if (perf2bolt.empty()) GTEST_SKIP() << "perf2bolt is not installed (package bolt-16)";
    const Output output = run({perf2bolt, "-p", profile(trace, options), "-o", counts, program});
    ASSERT_EQ(output.status, 0) << output.err;
    EXPECT_THAT(output.out + output.err, HasSubstr("traces mismatching disassembled function contents: 0"));
    EXPECT_GT(std::filesystem::file_size(counts), 100u);
  }
  ScratchDirectory scratch_;
};

TEST_F(ForeignProgram, BoltFindsNoMismatchInLua) {
  const std::string lua = build_lua(scratch_), trace = scratch_.file("trace");
  if (lua.empty()) GTEST_SKIP() << "liblua5.4.a is not installed (package liblua5.4-dev)";
  ASSERT_EQ(run({pmusim(), "trace", "record", "-o", trace, lua, lua_script}).status, 0);
  expect_bolt_agrees(lua, trace);
  // More branches than the stack has between samples: a freeze leaves those before it.
  expect_bolt_agrees(lua, trace, {"--model", "genoa", "-e", "rc4", "-c", "97"});
}

class Optimisers : public ForeignProgram, public testing::WithParamInterface<std::vector<std::string>> {};

TEST_P(Optimisers, BoltFindsNoMismatch) {
  expect_bolt_agrees(workload("optimizable"), recorded("optimizable", {"3000"}), GetParam());
}

TEST_P(Optimisers, LlvmProfgenTakesTheProfile) {
  const std::string profgen = llvm_tool("llvm-profgen"), text = scratch_.file("profile");
  if (profgen.empty()) GTEST_SKIP() << "llvm-profgen is not installed (package llvm-16)";
  const std::string program = workload("optimizable");
  const Output output = run({profgen, "--perfdata=" + profile(recorded("optimizable", {"3000"}), GetParam()),
                             "--binary=" + program, "--format=text", "-o", text});
  ASSERT_EQ(output.status, 0) << output.err;
  EXPECT_THAT(output.out + output.err, Not(HasSubstr("Invalid perf script")));
  EXPECT_THAT(read_file(text), HasSubstr("branches:"));
}

TEST_P(Optimisers, CreateLlvmProfFindsNoBogusBranchData) {
  if (!installed("create_llvm_prof")) GTEST_SKIP() << "create_llvm_prof is not installed (package autofdo)";
  const std::string text = scratch_.file("profile");
  const Output output = run({"create_llvm_prof", "--binary=" + workload("optimizable"),
                             "--profile=" + profile(recorded("optimizable", {"3000"}), GetParam()),
                             "--out=" + text, "--format=text", "--logtostderr"});
  ASSERT_EQ(output.status, 0) << output.err;
  EXPECT_THAT(output.err, Not(HasSubstr("Bogus LBR")));
  EXPECT_THAT(read_file(text), HasSubstr("branches:"));
}

INSTANTIATE_TEST_SUITE_P(Profiles, Optimisers,
                         testing::Values(std::vector<std::string>{}, std::vector<std::string>{"-c", "211"},
                                         std::vector<std::string>{"--model", "skylake"},
                                         std::vector<std::string>{"--model", "lioncove", "-c", "211"},
                                         std::vector<std::string>{"--model", "genoa"},
                                         std::vector<std::string>{"--model", "turin", "-c", "211"},
                                         std::vector<std::string>{"--model", "milan", "-e", "branch-brs",
                                                                  "-c", "97"}));

}  // namespace
}  // namespace pmusim::test
