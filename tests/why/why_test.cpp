// SPDX-License-Identifier: MIT
// pmusim why: the cause that was put into a program, and sums that pmusim stat counts too.
#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>
#include <map>

#include "pmusim/base/types.h"
#include "tests/end_to_end/command.h"
#include "tests/support/json.h"

namespace pmusim::test::why_test {
namespace {

using nlohmann::json;
using testing::HasSubstr;

/// The loop of planted.c with this cause, recorded once for all tests.
std::string planted(const std::string& cause) {
  static const ScratchDirectory scratch;
  std::string trace = scratch.file(cause + ".pmutrace");
  if (std::filesystem::exists(trace)) return trace;
  const Output output = run({pmusim(), "trace", "record", "-o", trace, "--", TEST_PLANTED, cause});
  EXPECT_EQ(output.status, 0) << output.err;
  return trace;
}

unsigned marked_line(const std::string& cause) {
  const std::vector<std::string> source = lines(read_file(TEST_PLANTED_SOURCE));
  for (unsigned n = 0; n < source.size(); ++n)
    if (source[n].ends_with("// planted: " + cause)) return n + 1;
  throw std::runtime_error("no line is marked " + cause);
}

json why(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), {pmusim(), "why", "-q", "--json"});
  const Output output = run(arguments);
  EXPECT_EQ(output.status, 0) << output.err;
  return parse_json(output.out);
}

class WhyPlanted : public testing::TestWithParam<const char*> {};

TEST_P(WhyPlanted, LineComesFirstWithItsCause) {
  const std::string cause = GetParam();
  const json report = why({planted(cause)});
  ASSERT_FALSE(report["findings"].empty());
  const json& first = report["findings"][0];
  EXPECT_EQ(first["line"], marked_line(cause)) << first;
  EXPECT_EQ(first["cause"], cause) << first;
  EXPECT_EQ(first["function"], cause);
  EXPECT_GT(4 * first["cycles"].get<u64>(), report["total"]["cycles"].get<u64>()) << first;
  EXPECT_EQ(report["functions"][0]["lines"][0]["line"], marked_line(cause));

  const Output text = run({pmusim(), "why", "-q", planted(cause)});
  EXPECT_EQ(text.status, 0) << text.err;
  const std::string sentence = first["sentence"];
  const std::size_t found = text.out.find("  1. ");
  ASSERT_NE(found, text.out.npos);
  EXPECT_THAT(text.out.substr(found, text.out.find('\n', found) - found), HasSubstr(sentence));
  EXPECT_THAT(sentence, HasSubstr("planted.c:" + std::to_string(marked_line(cause))));
}

INSTANTIATE_TEST_SUITE_P(Causes, WhyPlanted,
                         testing::Values("page_walks", "mispredicts", "division", "dependency_chain",
                                         "store_forwarding", "split_accesses", "address_aliasing", "locked",
                                         "front_end", "load_latency", "tlb_misses"),
                         [](const auto& cause) { return std::string(cause.param); });

/// Their pages are as many as their lines, so that walks are a cause as well.
std::string sentence_of_marked(const std::string& cause) {
  const json report = why({planted(cause)});
  EXPECT_EQ(report["findings"][0]["line"], marked_line(cause));
  for (const json& finding : report["findings"])
    if (finding["line"] == marked_line(cause) && finding["cause"] == cause) return finding["sentence"];
  return "";
}

TEST(WhyStride, OfLoadsIsNamedWithTheirMisses) {
  const std::string sentence = sentence_of_marked("cache_misses");
  EXPECT_THAT(sentence, HasSubstr(" wait for loads that miss L3: "));
  EXPECT_THAT(sentence, HasSubstr("stride 4160 bytes (100 % of them)"));
}

TEST(WhyStride, OfStoresIsNamedWithTheFullStoreBuffer) {
  const std::string sentence = sentence_of_marked("store_buffer");
  EXPECT_THAT(sentence, HasSubstr(" wait for a free place in the store buffer: 48396 stores"));
  EXPECT_THAT(sentence, HasSubstr("stride 4160 bytes (100 % of them)"));
}

/// Its line is the hottest; that it is shared shows between CPUs only, and a note says where to look.
TEST(WhyThreads, OnOneCpuShowNoFalseSharingAndANoteSaysSo) {
  const json report = why({planted("false_sharing")});
  EXPECT_EQ(report["functions"][0]["lines"][0]["line"], marked_line("false_sharing"));
  EXPECT_THAT(report["notes"].dump(), HasSubstr("false sharing costs nothing"));
  const Output text = run({pmusim(), "why", "-q", planted("false_sharing")});
  EXPECT_THAT(text.err, HasSubstr("pmusim mem report names the lines of memory that they share"));
  EXPECT_EQ(why({planted("locked")})["notes"].size(), 0u);
}

/// Three loads over 64 MiB, one for every 4160 bytes; 30000 branches on a bit of a shift register.
TEST(WhyCounts, OfALineAreThoseOfItsLoop) {
  const auto line_of = [](const std::string& cause) {
    const json report = why({planted(cause), cause});
    for (const json& line : report["functions"][0]["lines"])
      if (line["line"] == marked_line(cause)) return line["counts"];
    return json();
  };
  const u64 loads = 3 * (((64u << 20) - 8) / 4160 + 1);
  EXPECT_EQ(line_of("cache_misses")["loads"], loads);
  EXPECT_EQ(line_of("mispredicts")["branches"], 30000);
  EXPECT_NEAR(line_of("mispredicts")["mispredicts"].get<double>(), 15000, 3000);
  EXPECT_EQ(line_of("division")["divisions"], 30000);
  EXPECT_EQ(line_of("locked")["locked"], 30000);
  EXPECT_EQ(line_of("split_accesses")["split_loads"], 30000);
  EXPECT_NEAR(line_of("store_forwarding")["forward_blocks"].get<double>(), 30000, 10);
}

/// What stat calls the columns of why.
const std::vector<std::pair<std::string, std::string>>& events() {
  static const std::vector<std::pair<std::string, std::string>> all{
      {"cycles", "cycles:u"},
      {"instructions", "instructions:u"},
      {"branches", "branches:u"},
      {"mispredicts", "branch-misses:u"},
      {"loads", "mem_inst_retired.all_loads:u"},
      {"stores", "mem_inst_retired.all_stores:u"},
      {"l1_misses", "mem_load_retired.l1_miss:u"},
      {"l2_misses", "mem_load_retired.l2_miss:u"},
      {"l3_misses", "mem_load_retired.l3_miss:u"},
      {"load_walks", "mem_inst_retired.stlb_miss_loads:u"},
      {"store_walks", "mem_inst_retired.stlb_miss_stores:u"},
      {"split_loads", "mem_inst_retired.split_loads:u"},
      {"split_stores", "mem_inst_retired.split_stores:u"},
      {"locked", "mem_inst_retired.lock_loads:u"},
      {"forward_blocks", "ld_blocks.store_forward:u"},
      {"address_aliases", "ld_blocks_partial.address_alias:u"},
      {"frontend_slots", "idq_uops_not_delivered.core:u"}};
  return all;
}

std::map<std::string, u64> counted_by_stat(const std::string& trace, const std::string& model) {
  std::vector<std::string> command{pmusim(), "stat", "--json", "--model", model};
  for (const auto& [column, event] : events()) command.insert(command.end(), {"-e", event});
  command.push_back(trace);
  const Output output = run(command);
  EXPECT_EQ(output.status, 0) << output.err;
  const json report = parse_json(output.out);
  std::map<std::string, u64> counts;
  const json& counted = report["events"];
  EXPECT_EQ(counted.size(), events().size());
  for (std::size_t n = 0; n < counted.size(); ++n) counts[events()[n].first] = counted[n]["value"];
  return counts;
}

using Sums = std::map<std::string, u64>;

void add_counts(Sums& sums, const json& counts) {
  for (const auto& [column, event] : events()) sums[column] += counts[column].get<u64>();
}

void expect_sums_of_stat(const std::string& trace, const std::string& model) {
  const json report = why({"--model", model, trace});
  Sums total, of_functions, of_lines, of_instructions;
  add_counts(total, report["total"]);
  for (const json& function : report["functions"]) {
    add_counts(of_functions, function["counts"]);
    for (const json& line : function["lines"]) {
      add_counts(of_lines, line["counts"]);
      for (const json& instruction : line["instructions"]) add_counts(of_instructions, instruction["counts"]);
    }
  }
  EXPECT_EQ(total, counted_by_stat(trace, model)) << trace << " on " << model;
  EXPECT_EQ(of_functions, total);
  EXPECT_EQ(of_lines, total);
  EXPECT_EQ(of_instructions, total);
}

TEST(WhySums, AreWhatStatCounts) {
  for (const char* const model : {"icelake", "skylake"}) {
    expect_sums_of_stat(recorded("branches", {"400"}), model);
    for (const char* const cause : {"cache_misses", "mispredicts", "store_forwarding", "front_end",
                                    "tlb_misses", "split_accesses", "locked"})
      expect_sums_of_stat(planted(cause), model);
  }
}

TEST(WhySums, AreWhatStatCountsWithThreadsAndSignals) {
  const ScratchDirectory scratch;
  for (const char* const program : {"threads", "signals", "processes"}) {
    const std::string trace = scratch.file(program);
    ASSERT_EQ(
        run({pmusim(), "trace", "record", "-o", trace, "--", std::string(TEST_TRACE_PROGRAMS "/") + program})
            .status,
        0);
    expect_sums_of_stat(trace, "icelake");
  }
}

TEST(WhySymbol, ShowsItsLinesAndInstructionsAlone) {
  const json report = why({planted("division"), "division"});
  ASSERT_EQ(report["functions"].size(), 1u);
  for (const json& finding : report["findings"]) EXPECT_EQ(finding["function"], "division");
  const Output text = run({pmusim(), "why", "-q", planted("division"), "division"});
  EXPECT_THAT(text.out, testing::ContainsRegex("[0-9a-f]+: div "));
  EXPECT_THAT(text.out, testing::Not(HasSubstr("main")));
}

TEST(WhySymbol, ThatNeverRanIsRefusedWithWhatIsNear) {
  const Output refused = run({pmusim(), "why", "-q", planted("division"), "divisoin"});
  EXPECT_EQ(refused.status, 2);
  EXPECT_THAT(refused.err, HasSubstr("no function 'divisoin' ran; did you mean division"));
}

TEST(WhyNames, FromHostileFilesAreShownSafely) {
  const ScratchDirectory scratch;
  const std::string program = scratch.file("\x1b[31m<script>&\xff");
  std::filesystem::copy_file(TEST_PLANTED, program);
  const std::string trace = scratch.file("T");
  ASSERT_EQ(run({pmusim(), "trace", "record", "-o", trace, "--", program, "division"}).status, 0);
  const Output text = run({pmusim(), "why", "-q", trace});
  EXPECT_EQ(text.status, 0) << text.err;
  EXPECT_THAT(text.out, HasSubstr("division ("));
  EXPECT_THAT(text.out + text.err, testing::Not(HasSubstr("\x1b")));
  EXPECT_FALSE(why({trace})["functions"].empty()) << "JSON that can be parsed";
}

TEST(WhyFiles, ThatAreMissingLeaveAddressesAndInstructions) {
  const ScratchDirectory scratch;
  const std::string program = scratch.file("program"), trace = scratch.file("T");
  std::filesystem::copy_file(TEST_PLANTED, program);
  ASSERT_EQ(run({pmusim(), "trace", "record", "-o", trace, "--", program, "division"}).status, 0);
  std::filesystem::remove(program);
  const json report = why({trace});
  const json& first = report["findings"][0];
  EXPECT_EQ(first["cause"], "division");
  EXPECT_EQ(first["line"], 0);
  EXPECT_NE(report["functions"][0]["problem"], "");
}

TEST(WhyTrace, ThatIsMissingOrCutIsRefusedWithASentence) {
  const Output missing = run({pmusim(), "why", "-q", "no-such-trace"});
  EXPECT_EQ(missing.status, 2);
  EXPECT_THAT(missing.err, HasSubstr("no-such-trace"));
  const Output none = run({pmusim(), "why"});
  EXPECT_EQ(none.status, 2);
  EXPECT_THAT(none.err, HasSubstr("no trace"));
}

}  // namespace
}  // namespace pmusim::test::why_test
