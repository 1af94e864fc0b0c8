// SPDX-License-Identifier: MIT
// record --call-graph trace: the stacks that a program kept of itself, whatever it did to them.
#include <gmock/gmock.h>

#include <algorithm>
#include <map>
#include <sstream>

#include "tests/end_to_end/command.h"
#include "tests/support/json.h"

namespace pmusim::test::exact_stacks_test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;

/// Of each thread, in the order of their numbers: a line per checkpoint, functions from the innermost on.
using Stacks = std::vector<std::vector<std::string>>;

struct Recording {
  std::string trace, printed;
};

/// kept_stacks.cpp, recorded once for all tests.
const Recording& recording() {
  static const ScratchDirectory scratch;
  static const Recording recorded = [] {
    const std::string trace = scratch.file("kept.pmutrace");
    const Output output = run({pmusim(), "trace", "record", "-o", trace, "--", TEST_KEPT_STACKS});
    EXPECT_EQ(output.status, 0) << output.err;
    return Recording{trace, output.out};
  }();
  return recorded;
}

/// A checkpoint may have a record at each of its locked instructions.
Stacks without_repetition(Stacks stacks) {
  for (auto& thread : stacks) thread.erase(std::unique(thread.begin(), thread.end()), thread.end());
  return stacks;
}

Stacks kept(const std::string& printed) {
  Stacks stacks;
  for (const std::string& line : lines(printed)) {
    const std::size_t thread = std::stoul(line);
    if (thread >= stacks.size()) stacks.resize(thread + 1);
    stacks[thread].push_back(line.substr(line.find(' ') + 1));
  }
  return without_repetition(std::move(stacks));
}

/// The functions of the program's own that each sample in st_checkpoint shows, as perf prints them.
Stacks sampled(const std::string& file) {
  std::map<unsigned, std::vector<std::string>> by_thread;
  const std::string text = perf_output({"script", "-F", "tid,ip,sym"}, file);
  std::istringstream in(text);
  unsigned thread = 0;
  std::string stack;
  const auto end_sample = [&] {
    if (stack.starts_with("st_checkpoint")) by_thread[thread].push_back(stack);
    stack.clear();
  };
  for (std::string line; std::getline(in, line);) {
    std::istringstream words(line);
    std::string address, symbol;
    if (line.empty()) {
      end_sample();
    } else if (line.front() != '\t' && line.find_first_not_of("0123456789 ") == line.npos) {
      thread = static_cast<unsigned>(std::stoul(line));
    } else if (words >> address >> symbol && (symbol.starts_with("st_") || symbol == "main")) {
      stack += (stack.empty() ? "" : " ") + symbol;
    }
  }
  end_sample();
  Stacks stacks;
  for (auto& [tid, all] : by_thread) stacks.push_back(std::move(all));
  return without_repetition(std::move(stacks));
}

class ExactStacks : public testing::Test {
 protected:
  std::string file() const { return scratch_.file("perf.data"); }
  Output record(std::vector<std::string> options) const {
    options.insert(options.begin(), {pmusim(), "record", "-q", "-o", file()});
    options.push_back(recording().trace);
    return run(options);
  }
  Output record_checkpoints(std::vector<std::string> options) const {
    options.insert(options.begin(), {"-e", "mem_inst_retired.lock_loads:upp", "-c", "1", "-g"});
    return record(options);
  }

 private:
  ScratchDirectory scratch_;
};

TEST_F(ExactStacks, AreThoseThatTheProgramKept) {
  const Output output = record_checkpoints({});
  ASSERT_EQ(output.status, 0) << output.err;
  const Stacks truth = kept(recording().printed), seen = sampled(file());
  ASSERT_EQ(truth.size(), 3u);
  ASSERT_EQ(seen.size(), truth.size());
  for (std::size_t thread = 0; thread < truth.size(); ++thread) {
    ASSERT_GT(truth[thread].size(), 15u);
    EXPECT_THAT(seen[thread], testing::ElementsAreArray(truth[thread])) << "thread " << thread;
  }
}

// Blocks that are summed up, the interrupts between them, and a core that looks at no addresses.
TEST_F(ExactStacks, AreTheSameOfEveryCore) {
  ASSERT_EQ(record_checkpoints({}).status, 0);
  const Stacks interval = sampled(file());
  for (const char* const core : {"memory", "simple", "flat"}) {
    ASSERT_EQ(record_checkpoints({"--core", core}).status, 0);
    EXPECT_EQ(sampled(file()), interval) << core;
  }
}

TEST_F(ExactStacks, StandBesideBranchStacks) {
  ASSERT_EQ(record_checkpoints({}).status, 0);
  const Stacks alone = sampled(file());
  ASSERT_EQ(record_checkpoints({"-b"}).status, 0);
  EXPECT_EQ(sampled(file()), alone);
  EXPECT_THAT(perf_output({"script", "-F", "ip,brstack"}, file()), HasSubstr("/"));
}

// An interrupt comes some instructions after the overflow: its stack is that of where it came.
TEST_F(ExactStacks, OfInterruptsEndWhereTheProgramBegan) {
  const Output output = record({"-e", "instructions:u", "-c", "997", "-g"});
  ASSERT_EQ(output.status, 0) << output.err;
  std::size_t of_main = 0;
  const std::string text = perf_output({"script", "-F", "ip,sym"}, file());
  std::istringstream in(text);
  std::vector<std::string> chain;
  for (std::string line; std::getline(in, line);) {
    std::istringstream words(line);
    std::string address, symbol;
    if (words >> address >> symbol) {
      chain.push_back(symbol);
      continue;
    }
    if (const auto main = std::ranges::find(chain, "main"); main != chain.end()) {
      EXPECT_THAT(std::vector<std::string>(main, chain.end()),
                  testing::ElementsAre("main", "__libc_start_call_main", "__libc_start_main_impl", "_start"));
      ++of_main;
    }
    chain.clear();
  }
  EXPECT_GT(of_main, 100u);
}

TEST_F(ExactStacks, AreReadByPerfWithoutAWarning) {
  ASSERT_EQ(record({"-e", "cycles:upp", "-c", "1009", "-g"}).status, 0);
  const Output report = run_perf({"report", "--stdio", "-g", "caller", "--children"}, file());
  EXPECT_EQ(report.status, 0);
  EXPECT_THAT(report.err, IsEmpty());
  EXPECT_THAT(report.out, AllOf(HasSubstr("st_even"), HasSubstr("--")));
}

// A function that calls itself, called by nobody else in the end: its children are all that it is in.
TEST_F(ExactStacks, MakeTheSumsOfReport) {
  ASSERT_EQ(record({"-e", "cycles:upp", "-c", "1009", "-g"}).status, 0);
  const Output output = run({pmusim(), "report", "-i", file(), "--json"});
  ASSERT_EQ(output.status, 0) << output.err;
  const nlohmann::json report = parse_json(output.out);
  EXPECT_EQ(report["stack_source"], "callchain");
}

TEST_F(ExactStacks, RefuseWhatATraceHasNot) {
  for (const char* const mode : {"fp", "dwarf", "dwarf,8192", "lbr,", "x"}) {
    const Output output = record({"--call-graph", mode});
    EXPECT_EQ(output.status, 2) << mode;
    EXPECT_THAT(output.err, HasSubstr("'trace' has the exact stacks"));
  }
  EXPECT_THAT(record({"--call-graph", "lbr", "-b"}).err, HasSubstr("--call-graph trace needs no LBR"));
}

}  // namespace
}  // namespace pmusim::test::exact_stacks_test
