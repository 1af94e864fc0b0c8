// SPDX-License-Identifier: MIT
// Traces as Intel PT: other decoders find what was recorded.
#include <gmock/gmock.h>

#include <fstream>
#include <sstream>

#include "pmusim/trace/trace.h"
#include "tests/end_to_end/command.h"
#include "tests/support/json.h"

namespace pmusim::test {
namespace {

u64 number(const std::string& hex) { return std::stoull(hex, nullptr, 16); }

/// An instruction that retired, as the trace has it.
struct Executed {
  u64 ip = 0;
  std::string branch;  // "FROM/TO" if it is one that was taken
  bool calls_system = false;
};

/// All instructions of a trace, in order.
std::vector<Executed> instructions_of(const std::string& trace) {
  std::vector<Executed> result;
  for (const std::string& line : lines(run({pmusim(), "trace", "dump", "--json", trace}).out)) {
    const auto item = parse_json(line);
    if (!item.contains("ip")) continue;
    const std::string ip = item["ip"];
    Executed executed{number(ip), "", item.value("branch", "") == "system call"};
    if (item.value("taken", false)) executed.branch = ip + "/" + item["target"].get<std::string>();
    result.push_back(std::move(executed));
  }
  return result;
}
std::vector<u64> addresses_of(const std::vector<Executed>& instructions) {
  std::vector<u64> result;
  for (const Executed& each : instructions) result.push_back(each.ip);
  return result;
}

/// A branch as perf prints it: "FROM/TO".
using Stack = std::vector<std::string>;
struct StackSample {
  u64 ip = 0;
  Stack branches;  // newest first
};

std::vector<StackSample> stacks_in(const std::string& file) {
  std::vector<StackSample> result;
  for (const std::string& line : lines(perf_output({"script", "-F", "ip,brstack"}, file))) {
    std::istringstream words(line);
    std::string word;
    if (!(words >> word)) continue;
    StackSample sample{number(word), {}};
    while (words >> word) sample.branches.push_back(word.substr(0, word.find('/', word.find('/') + 1)));
    result.push_back(std::move(sample));
  }
  return result;
}

constexpr std::size_t depth = 32, sampling_period = 1000;

/// Every branch that a program took, and the newest of them at any time.
class Taken {
 public:
  void add(std::string branch) { all_.push_back(std::move(branch)); }
  Stack newest() const {
    return {all_.rbegin(), all_.rbegin() + static_cast<std::ptrdiff_t>(std::min(depth, all_.size()))};
  }

 private:
  Stack all_;
};

/// What the LBR holds when the instruction that makes the count full has retired. Calls of the system leave
/// for where the filter does not look.
std::vector<StackSample> lbr_stacks_of(const std::vector<Executed>& program) {
  std::vector<StackSample> result;
  Taken taken;
  for (std::size_t n = 0; n < program.size(); ++n) {
    if (!program[n].branch.empty() && !program[n].calls_system) taken.add(program[n].branch);
    if ((n + 1) % sampling_period == 0) result.push_back({program[n].ip, taken.newest()});
  }
  return result;
}

/// What perf's decoder has seen before that instruction: all the same branches, and two entries where tracing
/// ends at a call of the system and begins anew.
std::vector<StackSample> pt_stacks_of(const std::vector<Executed>& program) {
  std::vector<StackSample> result;
  Taken taken;
  for (std::size_t n = 0; n < program.size(); ++n) {
    if ((n + 1) % sampling_period == 0) result.push_back({program[n].ip, taken.newest()});
    const std::string& branch = program[n].branch;
    if (program[n].calls_system) {
      taken.add(branch.substr(0, branch.find('/')) + "/0x0");
      taken.add("0x0" + branch.substr(branch.find('/')));
    } else if (!branch.empty()) {
      taken.add(branch);
    }
  }
  return result;
}

void expect_equal(const std::vector<StackSample>& seen, const std::vector<StackSample>& expected) {
  ASSERT_EQ(seen.size(), expected.size());
  for (std::size_t n = 0; n < seen.size(); ++n) {
    ASSERT_EQ(seen[n].ip, expected[n].ip) << n;
    ASSERT_EQ(seen[n].branches, expected[n].branches) << n;
  }
}

class ProcessorTrace : public testing::Test {
 protected:
  std::string exported(const std::string& trace) {
    const std::string file = scratch_.file("pt.data");
    EXPECT_EQ(run({pmusim(), "trace", "export", "-f", "pt", "-o", file, trace}).status, 0);
    return file;
  }
  /// Branch stacks that perf makes of a PT file, as each instruction that is a multiple of 1000 retires.
  std::vector<StackSample> perfs_stacks(const std::string& file) {
    const std::string samples = scratch_.file("injected.data");
    EXPECT_EQ(run_perf({"inject", "--itrace=i1000il32", "--strip", "-o", samples}, file).status, 0);
    return stacks_in(samples);
  }
  /// The LBR's contents when the same instructions have retired.
  std::vector<StackSample> emulated_stacks(const std::string& trace) {
    const std::string samples = scratch_.file("samples.data");
    EXPECT_EQ(run({pmusim(), "record", "-e", "inst_retired.prec_dist:uppp", "-c", "1000", "-b", "-o", samples,
                   trace})
                  .status,
              0);
    return stacks_in(samples);
  }

  ScratchDirectory scratch_;
};

TEST_F(ProcessorTrace, IsDecodedByPerfToEveryInstructionOfTheTrace) {
  const std::string trace = recorded("branches", {"400"});
  std::vector<u64> decoded;
  for (const std::string& line : lines(perf_output({"script", "--itrace=i0ns", "-F", "ip"}, exported(trace))))
    if (!line.empty()) decoded.push_back(number(line));
  EXPECT_EQ(decoded, addresses_of(instructions_of(trace)));
}

TEST_F(ProcessorTrace, IsDecodedByLibiptToEveryInstructionOfTheTrace) {
  const std::string trace = recorded("branches", {"400"}), back = scratch_.file("back");
  const Output imported = run({pmusim(), "trace", "import", "-f", "pt", "-o", back, exported(trace)});
  ASSERT_EQ(imported.status, 0) << imported.err;
  EXPECT_EQ(addresses_of(instructions_of(back)), addresses_of(instructions_of(trace)));
}

/// Copies a trace and gives its blocks 1 to 23 cycles; how many these are.
u64 copy_with_cycles(const std::string& from, const std::string& to) {
  auto reader = trace::Reader::open(from);
  auto writer = trace::Writer::create(to, {.timing = true});
  std::map<u32, const trace::Block*> blocks;
  u64 cycles = 0;
  for (auto item = reader->next(); item.ok() && *item; item = reader->next()) {
    if (const auto* record = std::get_if<trace::SideBandRecord>(&**item)) {
      EXPECT_TRUE(writer->side_band(*record));
      continue;
    }
    trace::BlockRun run = std::get<trace::BlockRun>(**item);
    const trace::Block*& block = blocks[run.block->id];
    if (block == nullptr) {
      std::vector<u8> lengths;
      for (const auto& i : run.block->instructions) lengths.push_back(i.length);
      block = &writer->add_block(run.block->start(), run.block->code, lengths);
    }
    run = {.block = block, .next_ip = run.next_ip, .rep_counts = run.rep_counts};
    run.cycles = static_cast<u32>(cycles * 7919 % 97 % 23 + 1);
    cycles += *run.cycles;
    EXPECT_TRUE(writer->run(run));
  }
  EXPECT_TRUE(writer->finish());
  return cycles;
}

TEST_F(ProcessorTrace, WithCyclePacketsGivesAReplayTheRecordedCycles) {
  const std::string timed = scratch_.file("timed"), back = scratch_.file("back");
  const u64 cycles = copy_with_cycles(recorded("branches", {"400"}), timed);
  const std::string file = exported(timed);
  EXPECT_EQ(lines(perf_output({"script", "--itrace=i0ns", "-F", "ip"}, file)).size(),
            instructions_of(timed).size());
  ASSERT_EQ(run({pmusim(), "trace", "import", "-f", "pt", "-o", back, file}).status, 0);
  const auto info = parse_json(run({pmusim(), "trace", "info", "--json", back}).out);
  EXPECT_EQ(info["cycles"], cycles);
  const Output counted = run({pmusim(), "stat", "-x,", "-e", "cycles", back});
  EXPECT_THAT(counted.out + counted.err, testing::StartsWith(std::to_string(cycles) + ","));
  const Output refused = run({pmusim(), "stat", "-e", "{slots,topdown-be-bound}", back});
  EXPECT_EQ(refused.status, 2);
  EXPECT_THAT(refused.err, testing::HasSubstr("goes by recorded time"));
}

// docs/traces.md, "Intel PT": perf samples before the instruction that makes the count full, the LBR has it
// where it is a branch; entries where tracing ends and begins are perf's alone. Which branches there are is
// taken from the instructions themselves.
TEST_F(ProcessorTrace, HasTheEmulatedLbrsStacksAtTheSameCounts) {
  const std::string trace = recorded("branches", {"2000"});
  const std::vector<Executed> program = instructions_of(trace);
  ASSERT_GT(program.size(), 200 * sampling_period);
  {
    SCOPED_TRACE("Intel PT");
    expect_equal(perfs_stacks(exported(trace)), pt_stacks_of(program));
  }
  SCOPED_TRACE("LBR");
  expect_equal(emulated_stacks(trace), lbr_stacks_of(program));
}

}  // namespace
}  // namespace pmusim::test
