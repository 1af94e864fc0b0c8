// SPDX-License-Identifier: MIT
// `pmusim sweep`: every trace on every model with every set of events, in one process or in many.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>

#include "command.h"
#include "tests/support/json.h"

namespace pmusim::test {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::SizeIs;

/// Two traces on two models with two sets of events.
class Sweep : public testing::Test {
 protected:
  Sweep() {
    fs::copy_file(recorded("branches", {"400"}), scratch_.file("one.pmutrace"));
    fs::copy_file(recorded("branches", {"27"}), scratch_.file("two.pmutrace"));
    write(R"({"traces": ["one.pmutrace", "two.pmutrace"], "models": ["icelake", "skylake"],
              "events": {"branches": "branches,branch-misses", "time": "cycles,instructions"}})");
  }
  void write(const std::string& text) const { std::ofstream(file()) << text; }
  std::string file() const { return scratch_.file("sweep.json"); }
  std::string folder(const std::string& name) const { return scratch_.file(name); }
  Output sweep(const std::string& results, std::vector<std::string> options = {}) const {
    std::vector<std::string> arguments{pmusim(), "sweep", file(), "-o", folder(results)};
    arguments.insert(arguments.end(), options.begin(), options.end());
    return run(arguments);
  }
  std::map<std::string, std::string> files_of(const std::string& results) const {
    std::map<std::string, std::string> files;
    for (const fs::directory_entry& entry : fs::directory_iterator(folder(results)))
      files[entry.path().filename().string()] = read_file(entry.path().string());
    return files;
  }

  ScratchDirectory scratch_;
};

TEST_F(Sweep, HasOneFileForEachJobWhateverTheNumberOfThreads) {
  EXPECT_EQ(sweep("alone").status, 0);
  EXPECT_EQ(sweep("four", {"-j", "4"}).status, 0);
  EXPECT_THAT(files_of("alone"), SizeIs(8));
  EXPECT_EQ(files_of("alone"), files_of("four"));
}

TEST_F(Sweep, CountsWhatStatCounts) {
  ASSERT_EQ(sweep("results").status, 0);
  const Output counted = run(
      {pmusim(), "stat", "-x", ",", "-e", "branches", "--model", "skylake", scratch_.file("two.pmutrace")});
  const std::string count = counted.err.substr(0, counted.err.find(','));
  EXPECT_THAT(sweep("results", {"--merge"}).out, HasSubstr("two,skylake,branches,branches," + count + ","));
}

TEST_F(Sweep, ShardsTogetherAreTheWholeSweep) {
  ASSERT_EQ(sweep("whole").status, 0);
  EXPECT_EQ(sweep("shards", {"--shard", "1/2"}).status, 0);
  EXPECT_THAT(files_of("shards"), SizeIs(4));
  const Output early = sweep("shards", {"--merge"});
  EXPECT_EQ(early.status, 2);
  EXPECT_EQ(
      early.err,
      "pmusim: " + folder("shards") +
          "/one.skylake.branches.json: is missing; run the sweep without --merge until all jobs are done\n");
  EXPECT_EQ(sweep("shards", {"--shard", "2/2"}).status, 0);
  EXPECT_EQ(files_of("shards"), files_of("whole"));
  const Output merged = sweep("shards", {"--merge"});
  EXPECT_EQ(merged.status, 0);
  EXPECT_EQ(merged.out, sweep("whole", {"--merge"}).out);
  EXPECT_THAT(lines(merged.out), SizeIs(1 + 8 * 2));
}

TEST_F(Sweep, GoesOnWithTheJobsThatAreNotDone) {
  const Output first = sweep("results");
  EXPECT_THAT(first.err, HasSubstr("pmusim: 4 of 4 replays, "));
  fs::remove(folder("results") + "/two.icelake.time.json");
  std::ofstream(folder("results") + "/.part-killed") << "{";  // of a process that was killed
  const Output second = sweep("results");
  EXPECT_THAT(second.err, HasSubstr("pmusim: 1 of 1 replays, "));
  EXPECT_THAT(second.err, HasSubstr(" s left: two.icelake\n"));
  EXPECT_EQ(sweep("results", {"--quiet"}).err, "");
}

TEST_F(Sweep, DoesNotTakeTheResultsOfOtherEventsForItsOwn) {
  ASSERT_EQ(sweep("results").status, 0);
  write(R"({"traces": ["one.pmutrace"], "models": ["icelake"], "events": {"branches": "branches"}})");
  const Output other = sweep("results");
  EXPECT_EQ(other.status, 2);
  EXPECT_EQ(other.err,
            "pmusim: " + folder("results") +
                "/one.icelake.branches.json: is the result of another sweep, of other events or another "
                "trace; give another folder\n");
}

TEST_F(Sweep, KeepsTheResultsOfOtherJobsWhereATraceIsDamaged) {
  fs::resize_file(scratch_.file("two.pmutrace"), 3);
  const Output output = sweep("results", {"-j", "2", "--quiet"});
  EXPECT_EQ(output.status, 2);
  EXPECT_THAT(output.err, HasSubstr("pmusim: two.skylake: "));
  EXPECT_THAT(output.err, HasSubstr("pmusim: 2 of 4 replays failed; the results of the others are in "));
  EXPECT_THAT(files_of("results"), SizeIs(4));
}

TEST_F(Sweep, SaysWhatInTheFileIsWrong) {
  const auto refused = [&](const std::string& text) {
    write(text);
    const Output output = sweep("results");
    EXPECT_EQ(output.status, 2) << text;
    return output.err;
  };
  const std::string begin = "pmusim: " + file() + ": ";
  EXPECT_THAT(refused("{"), HasSubstr(begin + "is not JSON: line 1, column 2: "));
  EXPECT_EQ(refused("[]"), begin + "expected an object with \"traces\", \"models\" and \"events\"\n");
  EXPECT_EQ(refused(R"({"trace": []})"),
            begin + "\"trace\": expected one of traces, models, events, metrics, core, start, core_sets\n");
  EXPECT_EQ(refused(R"({"traces": []})"),
            begin + "\"traces\": expected a list of strings, with one at least\n");
  EXPECT_EQ(
      refused(
          R"({"traces": ["one.pmutrace", "../one.x"], "models": ["icelake"], "events": {"a": "cycles"}})"),
      begin + "\"traces\": two are called one, and would have the same results\n");
  EXPECT_EQ(refused(R"({"traces": ["one.pmutrace"], "models": ["icelake"], "events": {"a/b": "cycles"}})"),
            begin + "\"a/b\": expected a name of letters, digits, '_', '-', '+' and '@'\n");
  EXPECT_THAT(refused(R"({"traces": ["one.pmutrace"], "models": ["icelake"], "events": {"a": "nonsense"}})"),
              HasSubstr(begin + "\"events\": \"a\" on icelake: "));
  EXPECT_THAT(refused(R"({"traces": ["one.pmutrace"], "models": ["iicelake"], "events": {"a": "cycles"}})"),
              HasSubstr(begin + "unknown CPU model 'iicelake'"));
  EXPECT_THAT(refused(R"({"traces": ["none.pmutrace"], "models": ["icelake"], "events": {"a": "cycles"}})"),
              HasSubstr("none.pmutrace: cannot be read: "));
}

TEST_F(Sweep, ReplaysATraceOnAModelOnceForAllSets) {
  const Output output = sweep("results");
  EXPECT_THAT(lines(output.err), SizeIs(4));
  EXPECT_THAT(files_of("results"), SizeIs(8));
}

TEST_F(Sweep, AnEventThatAModelLacksIsNullAndHasAReason) {
  write(R"({"traces": ["one.pmutrace"], "models": ["skylake", "goldmont"],
            "events": {"loads": "{branches,mem_load_retired.l1_miss}:u,cycles"}})");
  ASSERT_EQ(sweep("results").status, 0);
  const auto counts = [&](const std::string& name) {
    return parse_json(read_file(folder("results") + "/" + name))["counts"];
  };
  const auto has = counts("one.skylake.loads.json"), lacks = counts("one.goldmont.loads.json");
  ASSERT_THAT(has, SizeIs(3));
  ASSERT_THAT(lacks, SizeIs(3));
  for (unsigned n = 0; n < 3; ++n) EXPECT_EQ(has[n]["event"], lacks[n]["event"]);
  EXPECT_TRUE(has[1]["count"].is_number());
  EXPECT_FALSE(has[1].contains("reason"));
  EXPECT_TRUE(lacks[1]["count"].is_null());
  EXPECT_THAT(lacks[1]["reason"].get<std::string>(), HasSubstr("on Goldmont"));
  EXPECT_EQ(lacks[0]["count"], has[0]["count"]);
  EXPECT_THAT(sweep("results", {"--merge"}).out,
              HasSubstr("one,goldmont,loads,mem_load_retired.l1_miss:u,,"));
}

TEST_F(Sweep, AnEventOfRingZeroIsNullInEveryResult) {
  write(R"({"traces": ["one.pmutrace"], "models": ["skylake"], "events": {"kernel": "cycles:k,branches"}})");
  ASSERT_EQ(sweep("results").status, 0);
  const auto counts = parse_json(read_file(folder("results") + "/one.skylake.kernel.json"))["counts"];
  EXPECT_TRUE(counts[0]["count"].is_null());
  EXPECT_THAT(counts[0]["reason"].get<std::string>(), HasSubstr("cannot be counted here"));
  EXPECT_TRUE(counts[1]["count"].is_number());
}

TEST_F(Sweep, MetricsFollowFromCountsOfTheSameReplay) {
  write(R"({"traces": ["one.pmutrace"], "models": ["icelake"], "metrics": ["insn_per_cycle"],
            "events": {"time": "cycles,instructions"}})");
  ASSERT_EQ(sweep("results").status, 0);
  const auto result = [&](const std::string& set) {
    return parse_json(read_file(folder("results") + "/one.icelake." + set + ".json"));
  };
  const auto counts = result("time")["counts"], metrics = result("metrics")["metrics"];
  ASSERT_THAT(metrics, SizeIs(1));
  EXPECT_EQ(metrics[0]["metric"], "insn_per_cycle");
  EXPECT_DOUBLE_EQ(metrics[0]["value"].get<double>(),
                   counts[1]["count"].get<double>() / counts[0]["count"].get<double>());
  write(R"({"traces": ["one.pmutrace"], "models": ["icelake"], "metrics": ["insn_per_cycel"]})");
  EXPECT_THAT(sweep("results").err,
              HasSubstr(": \"metrics\": unknown metric 'insn_per_cycel'; did you mean"));
}

/// Names of the columns, and the fields of each line by them.
std::vector<std::map<std::string, std::string>> rows_of(const std::string& csv) {
  const auto split = [](const std::string& line) {
    std::vector<std::string> fields;
    std::istringstream stream(line);
    for (std::string field; std::getline(stream, field, ',');) fields.push_back(field);
    return fields;
  };
  std::vector<std::map<std::string, std::string>> rows;
  const std::vector<std::string> all = lines(csv);
  const std::vector<std::string> names = split(all.front());
  for (auto line = all.begin() + 1; line != all.end(); ++line) {
    const std::vector<std::string> fields = split(*line);
    auto& row = rows.emplace_back();
    for (std::size_t n = 0; n < fields.size(); ++n) row[names.at(n)] = fields[n];
  }
  return rows;
}

TEST_F(Sweep, MergesIntoALineForEachTraceOnEachModel) {
  write(R"({"traces": ["one.pmutrace", "two.pmutrace"], "models": ["icelake", "skylake"],
            "events": {"branches": "branches,branch-misses", "time": "cycles"}, "metrics": ["insn_per_cycle"]})");
  ASSERT_EQ(sweep("results").status, 0);
  const auto wide = rows_of(sweep("results", {"--merge", "--wide"}).out);
  ASSERT_THAT(wide, SizeIs(4));
  for (const auto& line : rows_of(sweep("results", {"--merge"}).out)) {
    if (line.at("set") == "metrics" && line.at("event") != "insn_per_cycle") continue;
    const auto row = std::ranges::find_if(wide, [&](const auto& r) {
      return r.at("trace") == line.at("trace") && r.at("model") == line.at("model");
    });
    ASSERT_NE(row, wide.end());
    EXPECT_EQ(row->at(line.at("set") + "." + line.at("event")), line.at("count"));
    EXPECT_EQ(row->at("instructions"), line.at("instructions"));
  }
  EXPECT_EQ(sweep("results", {"--wide"}).status, 2);
}

TEST_F(Sweep, FillsASqliteDatabaseThatSqliteReads) {
  if (!installed("sqlite3")) FAIL() << "sqlite3 is not installed";
  write(R"({"traces": ["one.pmutrace", "two.pmutrace"], "models": ["skylake", "goldmont"],
            "events": {"loads": "branches,mem_load_retired.l1_miss"}, "metrics": ["insn_per_cycle"]})");
  ASSERT_EQ(sweep("results").status, 0);
  const Output made = sweep("results", {"--sqlite", folder("results.db")});
  EXPECT_EQ(made.status, 0) << made.err;
  EXPECT_EQ(made.out, "");
  const auto query = [&](const std::string& sql) {
    const Output output = run({"sqlite3", "-csv", folder("results.db"), sql});
    EXPECT_EQ(output.err, "");
    return output.out;
  };
  EXPECT_EQ(query("PRAGMA integrity_check"), "ok\n");
  EXPECT_EQ(query("SELECT trace, model, core FROM runs ORDER BY id"),
            "one,skylake,interval\none,goldmont,interval\ntwo,skylake,interval\ntwo,goldmont,interval\n");
  EXPECT_EQ(query("SELECT model, event, count IS NULL, reason LIKE '%on Goldmont%' FROM runs, counts "
                  "WHERE run = id AND count IS NULL AND trace = 'two'"),
            "goldmont,mem_load_retired.l1_miss,1,1\n");
  const std::string count = query(
      "SELECT count FROM runs, counts WHERE run = id AND trace = 'two' AND model = 'skylake' "
      "AND event_set = 'loads' AND event = 'branches'");
  EXPECT_THAT(sweep("results", {"--merge"}).out,
              HasSubstr("two,skylake,loads,branches," + count.substr(0, count.find('\n')) + ","));
  EXPECT_EQ(query("SELECT COUNT(*) FROM metrics WHERE value > 0 AND unit = 'insn per cycle'"), "4\n");
  EXPECT_EQ(sweep("results", {"--sqlite", folder("again.db")}).status, 0);
  EXPECT_EQ(read_file(folder("again.db")), read_file(folder("results.db")));
  EXPECT_EQ(sweep("results", {"--sqlite", file()}).status, 2);
}

/// Instructions that the results of a folder were counted over, a replay's once.
std::uint64_t instructions_in(const std::map<std::string, std::string>& files, const std::string& set) {
  std::uint64_t sum = 0;
  for (const auto& [name, text] : files)
    if (name.ends_with("." + set + ".json")) sum += parse_json(text)["instructions"].get<std::uint64_t>();
  return sum;
}

TEST_F(Sweep, ShardsHaveAsMuchToDoWhateverTheSetsAndTraces) {
  fs::copy_file(recorded("branches", {"1200"}), scratch_.file("three.pmutrace"));
  write(
      R"({"traces": ["one.pmutrace", "two.pmutrace", "three.pmutrace"], "models": ["icelake", "sapphirerapids"],
            "events": {"few": "cycles",
                       "many": "branches,branch-misses,instructions,r00c4,r01c4,r04c4,r08c4,r10c4,r20c4"}})");
  std::vector<std::uint64_t> few, many;
  for (const std::string shard : {"1/2", "2/2"}) {
    const std::string results = "part" + shard.substr(0, 1);
    ASSERT_EQ(sweep(results, {"--shard", shard, "--quiet"}).status, 0);
    few.push_back(instructions_in(files_of(results), "few"));
    many.push_back(instructions_in(files_of(results), "many"));
  }
  EXPECT_EQ(few, many);
  EXPECT_EQ(few[0], few[1]);
}

TEST_F(Sweep, RefusesPartsThatAreNone) {
  for (const std::string shard : {"0/2", "3/2", "1", "1/", "/2", "a/b", "1/0", "1/2x"}) {
    const Output output = sweep("results", {"--shard", shard});
    EXPECT_EQ(output.status, 2) << shard;
    EXPECT_EQ(output.err,
              "pmusim: --shard " + shard + ": expected I/N, the I-th of N parts, for example 2/8\n");
  }
}

}  // namespace
}  // namespace pmusim::test
