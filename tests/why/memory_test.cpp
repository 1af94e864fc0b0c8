// SPDX-License-Identifier: MIT
// pmusim mem report: accesses of programs whose accesses are known.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <filesystem>

#include "pmusim/base/types.h"
#include "tests/end_to_end/command.h"
#include "tests/support/json.h"

namespace pmusim::test::why_memory_test {
namespace {

using nlohmann::json;
using testing::HasSubstr;

std::string recorded_cause(const std::string& cause) {
  static const ScratchDirectory scratch;
  std::string trace = scratch.file(cause);
  if (std::filesystem::exists(trace)) return trace;
  EXPECT_EQ(run({pmusim(), "trace", "record", "-o", trace, "--", TEST_PLANTED, cause}).status, 0);
  return trace;
}

json mem_report(const std::string& cause) {
  const Output output = run({pmusim(), "mem", "report", "-q", "--json", recorded_cause(cause)});
  EXPECT_EQ(output.status, 0) << output.err;
  return parse_json(output.out);
}

unsigned planted_line(const std::string& cause) {
  const std::vector<std::string> source = lines(read_file(TEST_PLANTED_SOURCE));
  for (unsigned n = 0; n < source.size(); ++n)
    if (source[n].ends_with("// planted: " + cause)) return n + 1;
  return 0;
}

u64 object_accesses(const json& report, const std::string& name) {
  for (const json& object : report["objects"])
    if (object["name"] == name)
      return object["accesses"]["loads"].get<u64>() + object["accesses"]["stores"].get<u64>();
  return 0;
}

const json* block_asked_for_at(const json& report, unsigned line) {
  for (const json& object : report["objects"])
    if (object.contains("asked_for_in") && object["asked_for_in"]["line"] == line) return &object;
  return nullptr;
}

unsigned heap_line(const std::string& what) {
  const std::vector<std::string> source = lines(read_file(TEST_HEAP_SOURCE));
  for (unsigned n = 0; n < source.size(); ++n)
    if (source[n].ends_with("// planted: " + what)) return n + 1;
  return 0;
}

/// With registers a trace shows the calls of malloc and its like.
TEST(MemReport, DividesTheHeapByWhoAskedForIt) {
  const ScratchDirectory scratch;
  const std::string trace = scratch.file("heap");
  ASSERT_EQ(run({pmusim(), "trace", "record", "-q", "--regs", "gpr", "-o", trace, "--", TEST_HEAP}).status,
            0);
  const json report = parse_json(run({pmusim(), "mem", "report", "-q", "--json", trace}).out);
  struct Expected {
    std::string what, function;
    u64 blocks, bytes, loads, stores;
  };
  // What realloc() does to the block that it takes is not exact.
  for (const Expected& expected :
       {Expected{"array", "main", 1, 4096, 3 * 512, 0}, Expected{"grown", "main", 1, 16384, 0, 512},
        Expected{"nodes", "prepend", 40, 640, 3 * 40, 2 * 40}}) {
    SCOPED_TRACE(expected.what);
    const json* const block = block_asked_for_at(report, heap_line(expected.what));
    ASSERT_NE(block, nullptr) << report["objects"].dump(1);
    EXPECT_EQ((*block)["kind"], "heap");
    EXPECT_EQ((*block)["asked_for_in"]["function"], expected.function);
    EXPECT_EQ((*block)["blocks"], expected.blocks);
    EXPECT_EQ((*block)["bytes"], expected.bytes);
    EXPECT_GE((*block)["accesses"]["loads"], expected.loads);
    if (expected.what == "array") continue;
    EXPECT_EQ((*block)["accesses"]["loads"], expected.loads);
    EXPECT_EQ((*block)["accesses"]["stores"], expected.stores);
  }
  EXPECT_THAT(run({pmusim(), "mem", "report", "-q", trace}).out,
              HasSubstr("heap: 40 blocks of 640 bytes in all, asked for in prepend (heap.c:"));
}

/// Three rounds over 64 MiB, a load for each 4160 bytes.
TEST(MemReport, NamesTheLineAndTheVariableOfItsLoads) {
  const json report = mem_report("cache_misses");
  const u64 loads = 3 * (((64u << 20) - 8) / 4160 + 1);
  EXPECT_EQ(report["lines"][0]["line"], planted_line("cache_misses"));
  EXPECT_EQ(report["lines"][0]["accesses"]["loads"], loads);
  EXPECT_EQ(report["lines"][0]["stride"]["bytes"], 4160);
  EXPECT_EQ(report["objects"][0]["name"], "large");
  EXPECT_EQ(report["objects"][0]["kind"], "global");
  EXPECT_EQ(report["objects"][0]["bytes"], 64 << 20);
  EXPECT_EQ(report["objects"][0]["accesses"]["loads"], loads);
  EXPECT_EQ(report["functions"][0]["function"], "cache_misses");
  const json& from = report["lines"][0]["accesses"]["loads_from"];
  EXPECT_GE(from["memory"], loads / 3) << "the first round";
}

TEST(MemReport, AddsUpToWhatStatCounts) {
  for (const char* const cause : {"cache_misses", "store_forwarding", "locked"}) {
    const json report = mem_report(cause);
    const Output stat =
        run({pmusim(), "stat", "--json", "-e", "mem_load_retired.l1_hit:u", "-e",
             "mem_load_retired.l3_miss:u", "-e", "mem_inst_retired.all_stores:u", recorded_cause(cause)});
    ASSERT_EQ(stat.status, 0) << stat.err;
    const json counted = parse_json(stat.out)["events"];
    EXPECT_EQ(report["total"]["loads_from"]["L1"], counted[0]["value"]) << cause;
    EXPECT_EQ(report["total"]["loads_from"]["memory"], counted[1]["value"]) << cause;
    for (const char* const table : {"functions", "lines", "objects"}) {
      u64 loads = 0, stores = 0;
      for (const json& row : report[table]) {
        loads += row["accesses"]["loads"].get<u64>();
        stores += row["accesses"]["stores"].get<u64>();
      }
      EXPECT_EQ(loads, report["total"]["loads"]) << table;
      EXPECT_EQ(stores, report["total"]["stores"]) << table;
    }
    u64 latencies = 0;
    for (const auto& [source, buckets] : report["latency"].items())
      for (const json& bucket : buckets) latencies += bucket["count"].get<u64>();
    EXPECT_EQ(latencies, report["total"]["loads"]);
  }
}

TEST(MemReport, KnowsStackAndVariables) {
  const json report = mem_report("false_sharing");
  EXPECT_NEAR(static_cast<double>(object_accesses(report, "side_by_side")), 120000, 10);
  bool has_stack = false;
  for (const json& object : report["objects"]) has_stack |= object["kind"] == "stack";
  EXPECT_TRUE(has_stack);
}

TEST(MemReport, NamesTheLineThatThreadsShareFalsely) {
  const json report = mem_report("false_sharing");
  ASSERT_FALSE(report["sharing"].empty());
  const json& first = report["sharing"][0];
  EXPECT_EQ(first["object"], "side_by_side");
  EXPECT_EQ(first["false_sharing"], true);
  std::vector<std::string> written;
  for (const json& user : first["users"])
    if (user["accesses"].get<u64>() > 100) {  // main reads both, and writes its own beside them
      written.push_back(user["written_bytes"]);
      EXPECT_EQ(user["place"], fmt::format("planted.c:{}", planted_line("false_sharing")));
      EXPECT_EQ(user["accesses"], 60000);
    }
  EXPECT_THAT(written, testing::UnorderedElementsAre("00000000000000ff", "000000000000ff00"));
  EXPECT_THAT(report["notes"].dump(), HasSubstr("one CPU"));
  EXPECT_TRUE(mem_report("locked")["sharing"].empty()) << "one thread shares with nobody";
}

/// 16133 lines in turn: any cache of fewer drops each before it is used again.
TEST(MemReport, WorkingSetIsThatOfTheProgram) {
  const json set = mem_report("cache_misses")["working_set"];
  const u64 loads = ((64u << 20) - 8) / 4160 + 1;
  EXPECT_GE(set["lines"], loads);
  EXPECT_LE(set["lines"], loads + 1000);
  u64 far = 0;
  for (const json& bucket : set["reuse_distances"])
    if (bucket["to"].get<u64>() >= loads - loads / 32) far += bucket["count"].get<u64>();
  EXPECT_NEAR(static_cast<double>(far), static_cast<double>(2 * loads), 100);
  for (const json& size : set["hits_by_cache_size"]) {
    const u64 missed = set["accesses"].get<u64>() - size["hits"].get<u64>();
    const u64 lines_held = size["bytes"].get<u64>() / 64;
    if (lines_held < loads / 2) {
      EXPECT_GE(missed, 3 * loads);
    }
    if (lines_held > 2 * loads) {
      EXPECT_EQ(missed, set["lines"].get<u64>());
    }
  }
}

TEST(MemReport, TextHasItsTables) {
  const Output text = run({pmusim(), "mem", "report", "-q", recorded_cause("false_sharing")});
  EXPECT_EQ(text.status, 0) << text.err;
  for (const char* const title : {"Where loads had their data from", "Cycles of loads", "Functions", "Lines",
                                  "Data", "Lines of memory that threads share", "Working set"})
    EXPECT_THAT(text.out, HasSubstr(title));
  EXPECT_THAT(text.err, HasSubstr("one CPU"));
}

TEST(MemReport, WithoutATraceIsRefused) {
  const Output none = run({pmusim(), "mem", "report"});
  EXPECT_EQ(none.status, 2);
  EXPECT_THAT(none.err, HasSubstr("expected 'pmusim mem report [OPTIONS] TRACE'"));
  const Output missing = run({pmusim(), "mem", "report", "-q", "no-such-trace"});
  EXPECT_EQ(missing.status, 2);
  EXPECT_THAT(missing.err, HasSubstr("no-such-trace"));
}

}  // namespace
}  // namespace pmusim::test::why_memory_test
