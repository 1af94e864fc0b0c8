// SPDX-License-Identifier: MIT
// The chain from a recorded program to perf: what stat counts and what record samples, held against the
// trace.
#include <gmock/gmock.h>

#include <fstream>
#include <map>
#include <set>
#include <sstream>

#include "command.h"
#include "pmusim/trace/trace.h"
#include "tests/support/json.h"

namespace pmusim::test {
namespace {

using nlohmann::json;
using testing::HasSubstr;

std::string branches_trace() { return recorded("branches", {"400"}); }

/// Calls `visit(run)` for every block run of a trace.
template <class Visit>
void for_each_run(const std::string& path, Visit visit) {
  trace::Reader reader = std::move(*trace::Reader::open(path));
  while (true) {
    Result<trace::NextItem, Error> item = reader.next();
    ASSERT_TRUE(item.ok()) << item.error().message;
    if (!item->has_value()) return;
    if (const auto* const run = std::get_if<trace::BlockRun>(&**item)) visit(*run);
  }
}

u64 stat_value(const json& document, const std::string& event) {
  for (const json& row : document["events"])
    if (row["event"] == event) return row["value"];
  ADD_FAILURE() << "no " << event;
  return 0;
}

TEST(Stat, CountsTheInstructionsAndBranchesThatTheDumpLists) {
  const Output stat = run({pmusim(), "stat", "--json", "-e", "instructions,branches", branches_trace()});
  ASSERT_EQ(stat.status, 0) << stat.err;
  const Output dump = run({pmusim(), "trace", "dump", "--json", branches_trace()});
  ASSERT_EQ(dump.status, 0) << dump.err;

  u64 instructions = 0, branches = 0;
  for (const std::string& line : lines(dump.out)) {
    const json entry = parse_json(line);
    if (!entry.contains("ip")) continue;
    ++instructions;
    if (entry.contains("branch")) ++branches;
  }
  const json document = parse_json(stat.out);
  EXPECT_EQ(stat_value(document, "instructions"), instructions);
  EXPECT_EQ(stat_value(document, "branches"), branches);
}

TEST(Record, TheSameTraceAndOptionsGiveTheSameBytes) {
  const ScratchDirectory scratch;
  const std::string out = scratch.file("perf.data");
  std::vector<std::string> files;
  for (int i = 0; i < 2; ++i) {
    const Output output =
        run({pmusim(), "record", "-e", "cycles:pp", "-c", "1009", "-b", "-o", out, branches_trace()});
    ASSERT_EQ(output.status, 0) << output.err;
    files.push_back(read_file(out));
  }
  EXPECT_GT(files[0].size(), 10000u);
  EXPECT_TRUE(files[0] == files[1]);
}

class PerfReads : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(installed("perf")) << "scripts/packages.sh test installs it";
    const Output output = run({pmusim(), "record", "-e", "cycles:pp", "-c", "1009", "-b", "-o", file(),
                               recorded("branches", {"2000"})});
    ASSERT_EQ(output.status, 0) << output.err;
  }
  std::string file() const { return scratch_.file("perf.data"); }
  std::string perf(std::vector<std::string> arguments) const {
    return perf_output(std::move(arguments), file());
  }

 private:
  ScratchDirectory scratch_;
};

TEST_F(PerfReads, ScriptNamesFunctionsAndBranches) {
  const std::string script = perf({"script", "-F", "ip,sym,brstack"});
  EXPECT_THAT(script, HasSubstr(" lfsr "));
  EXPECT_THAT(script, HasSubstr("/M/-/-/"));
  const std::string instructions = perf({"script", "-F", "+brstackinsn"});
  EXPECT_THAT(instructions, HasSubstr("# MISPRED"));
  EXPECT_THAT(instructions, HasSubstr("branches:"));
}

TEST_F(PerfReads, ReportRanksTheLoopFirst) {
  EXPECT_THAT(perf({"report", "--stdio"}), HasSubstr("[.] branches"));
  const std::string plain = perf({"report", "--stdio", "--no-branch-stack", "--sort", "symbol"});
  const std::vector<std::string> rows = lines(plain);
  const auto first = std::find_if(rows.begin(), rows.end(),
                                  [](const std::string& row) { return row.find("%") != row.npos; });
  ASSERT_NE(first, rows.end());
  EXPECT_THAT(*first, testing::AnyOf(HasSubstr("branches"), HasSubstr("lfsr")));
}

TEST_F(PerfReads, AnnotateShowsWhichWayBranchesGo) {
  const std::string annotated = perf({"annotate", "--stdio", "branches"});
  // The seed is even: the branch around the block that it decides is always taken.
  EXPECT_THAT(annotated, testing::ContainsRegex("je .*# -100.00% \\(p:"));
  EXPECT_THAT(annotated, HasSubstr("lfsr"));
}

TEST_F(PerfReads, EverySampledIpIsAnExecutedInstruction) {
  std::set<u64> executed;
  for_each_run(recorded("branches", {"2000"}), [&](const trace::BlockRun& run) {
    for (const x86::Instruction& i : run.block->instructions) executed.insert(i.ip);
  });
  int samples = 0;
  for (const std::string& line : lines(perf({"script", "-F", "ip"}))) {
    const u64 ip = std::stoull(line, nullptr, 16);
    EXPECT_TRUE(executed.contains(ip)) << line;
    ++samples;
  }
  EXPECT_GT(samples, 300);
}

/// "AX:0x1234 BX:0x..." of `perf script -F iregs`.
std::map<std::string, u64> parse_registers(const std::string& text) {
  std::map<std::string, u64> values;
  std::istringstream words(text);
  for (std::string word; words >> word;) {
    const std::size_t colon = word.find(':');
    if (colon != std::string::npos && word.compare(colon, 3, ":0x") == 0)
      values[word.substr(0, colon)] = std::stoull(word.substr(colon + 3), nullptr, 16);
  }
  return values;
}

TEST(Registers, SamplesCarryTheValuesThatTheTraceHolds) {
  const std::string trace_path = recorded("branches", {"400"}, "gpr");
  const ScratchDirectory scratch;
  const std::string file = scratch.file("perf.data");
  const Output output = run({pmusim(), "record", "-e", "instructions:pp", "-c", "47",
                             "--intr-regs=ax,bx,cx,dx,si,di,sp,bp", "-o", file, trace_path});
  ASSERT_EQ(output.status, 0) << output.err;

  // PEBS takes the state after the instruction.
  std::map<u64, std::set<std::vector<u64>>> states;
  for_each_run(trace_path, [&](const trace::BlockRun& run) {
    for (std::size_t i = 0; i < run.block->instructions.size(); ++i) {
      const Registers& r = run.registers[i];
      states[run.block->instructions[i].ip].insert({r[Gpr::rax], r[Gpr::rbx], r[Gpr::rcx], r[Gpr::rdx],
                                                    r[Gpr::rsi], r[Gpr::rdi], r[Gpr::rsp], r[Gpr::rbp]});
    }
  });
  const Output script = run({"perf", "script", "-F", "ip,iregs", "-i", file});
  ASSERT_EQ(script.status, 0) << script.err;
  int samples = 0;
  for (const std::string& line : lines(script.out)) {
    const u64 ip = std::stoull(line, nullptr, 16);
    std::map<std::string, u64> r = parse_registers(line);
    ASSERT_EQ(r.size(), 8u) << line;
    const std::vector<u64> state{r["AX"], r["BX"], r["CX"], r["DX"], r["SI"], r["DI"], r["SP"], r["BP"]};
    EXPECT_TRUE(states[ip].contains(state)) << line;
    ++samples;
  }
  EXPECT_GT(samples, 500);
}

struct BadCommand {
  std::vector<std::string> arguments;
  std::string sentence;
};

TEST(BadInput, EndsWithASentenceAndExitCodeTwo) {
  const ScratchDirectory scratch;
  const std::string trace_path = branches_trace();
  const std::string empty = scratch.file("empty"), cut = scratch.file("cut"),
                    flipped = scratch.file("flipped");
  std::string bytes = read_file(trace_path);
  std::ofstream(empty, std::ios::binary);
  std::ofstream(cut, std::ios::binary) << bytes.substr(0, bytes.size() / 2);
  bytes[bytes.size() / 3] = static_cast<char>(bytes[bytes.size() / 3] ^ 0x10);
  std::ofstream(flipped, std::ios::binary) << bytes;

  const std::string out = scratch.file("perf.data");
  const std::vector<BadCommand> commands{
      {{"stat", scratch.file("missing")}, "missing"},
      {{"stat", empty}, "empty"},
      {{"stat", cut}, "cut"},
      {{"record", "-o", out, flipped}, "flipped"},
      {{"record", "-o", out, scratch.path().string()}, scratch.path().string()},
      {{"stat", "-e", "branchez", trace_path}, "branchez"},
      {{"stat", "-e", "cycles:k", trace_path}, "user-mode"},
      {{"stat", "-e", "page-faults", trace_path}, "does not hold page faults"},
      {{"stat", "--model", "silvermont", "-e", "MACHINE_CLEARS.MEMORY_ORDERING", trace_path},
       "pass no store that they could need"},
      {{"stat", "--model", "skylark", trace_path}, "skylake"},
      {{"stat", "--kernel", "2.6", trace_path}, "6.12, 6.14"},
      {{"record", "-o", out, "-j", "any_cal", trace_path}, "any_call"},
      {{"record", "-o", out, "--intr-regs=rax", trace_path}, "rax"},
      {{"record", "-o", out, "-c", "0", trace_path}, "-c"},
      {{"record", "-o", "/dev/full", trace_path}, "/dev/full"},
      {{"record", "-o", scratch.file("no/such/directory"), trace_path}, "no/such/directory"},
      {{"trace", "record", "-o", out, "--", scratch.file("no-such-program")}, "no-such-program"},
      {{"stat", "--policy", "pmi_skid_cycles", trace_path}, "NAME=VALUE"},
      {{"stat", "--core", "round", trace_path}, "'interval', 'sampled', 'memory', 'simple' and 'flat'"},
      {{"stat", "--core", "flat", "-e", "branch-misses", trace_path}, "core 'simple' counts it"},
      {{"stat", "--core", "simple", "-e", "cache-misses", trace_path}, "core 'memory' counts it"},
      {{"stat", "--core", "memory", "-e", "idq.dsb_uops", "--model", "icelake", trace_path},
       "core 'interval' counts it"},
      {{"record", "--core", "flat", "-d", "-o", out, trace_path}, "core 'interval' does"},
      {{"frobnicate"}, "frobnicate"},
  };
  for (const BadCommand& bad : commands) {
    std::vector<std::string> arguments{pmusim()};
    arguments.insert(arguments.end(), bad.arguments.begin(), bad.arguments.end());
    const Output output = run(arguments);
    const std::string shown = testing::PrintToString(bad.arguments);
    EXPECT_EQ(output.status, 2) << shown << output.err;
    EXPECT_THAT(output.err, HasSubstr(bad.sentence)) << shown;
    EXPECT_FALSE(std::filesystem::exists(out)) << shown << " left a file behind";
  }
}

}  // namespace
}  // namespace pmusim::test
