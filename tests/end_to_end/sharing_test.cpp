// SPDX-License-Identifier: MIT
// False sharing between two CPUs, as perf and pmusim c2c show it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <vector>

#include "command.h"
#include "tests/support/json.h"

namespace pmusim::test::sharing_test {
namespace {

using testing::HasSubstr;

std::string sharing(const std::string& layout) { return recorded("sharing", {"100", layout}); }

/// A file of every load and store on a machine.
class SharingFile {
 public:
  explicit SharingFile(const std::string& layout, const std::string& machine = "icelake:4c") {
    const Output output =
        run({pmusim(), "record", "--machine", machine, "-e", "cpu/mem-loads,ldlat=30/P,cpu/mem-stores/P",
             "-c", "1", "-d", "-W", "-o", file_, sharing(layout)});
    EXPECT_EQ(output.status, 0) << output.err;
  }
  const std::string& path() const { return file_; }
  std::string perf(std::vector<std::string> arguments) const {
    const Output output = run_perf(std::move(arguments), file_);
    EXPECT_EQ(output.status, 0) << output.err;
    return output.out;
  }
  nlohmann::json c2c() const {
    const Output output = run({pmusim(), "c2c", "report", "--json", file_});
    EXPECT_EQ(output.status, 0) << output.err;
    return parse_json(output.out);
  }

 private:
  ScratchDirectory scratch_;
  std::string file_ = scratch_.file("perf.data");
};

bool is_counter(const nlohmann::json& access) {
  const std::string symbol = access["symbol"];
  return access["stores"] != 0 && (symbol == "count_first" || symbol == "count_second");
}

/// HITMs of loads by a counting function, in lines that it writes.
std::set<std::string> functions_with_hitms(const nlohmann::json& line) {
  std::set<std::string> functions;
  bool writes = false;
  for (const auto& access : line["accesses"]) {
    writes = writes || is_counter(access);
    if (access["hitm"] != 0) functions.insert(access["symbol"]);
  }
  return writes ? functions : std::set<std::string>();
}

unsigned long hitms(const std::string& layout, const std::string& machine) {
  const Output output = run({pmusim(), "stat", "--machine", machine, "--json", "-e",
                             "mem_load_l3_hit_retired.xsnp_hitm", sharing(layout)});
  EXPECT_EQ(output.status, 0) << output.err;
  return parse_json(output.out)["events"][0]["counted"];
}

TEST(FalseSharing, CountsAsHitmsThatPaddingRemoves) {
  EXPECT_GT(hitms("neighbours", "skylake:4c"), hitms("padded", "skylake:4c") + 100);
}

TEST(FalseSharing, AnswersOfOtherCoresAddUpToTheHits) {
  const Output output = run({pmusim(), "stat", "--machine", "skylake:4c", "--json", "-e",
                             "mem_load_retired.l3_hit,mem_load_l3_hit_retired.xsnp_none,"
                             "mem_load_l3_hit_retired.xsnp_miss,mem_load_l3_hit_retired.xsnp_hit,"
                             "mem_load_l3_hit_retired.xsnp_hitm,"
                             "cpu/event=0xb7,umask=0x1,offcore_rsp=0x3FC01C0001/",
                             sharing("neighbours")});
  ASSERT_EQ(output.status, 0) << output.err;
  std::vector<unsigned long> counts;
  const auto document = parse_json(output.out);
  for (const auto& event : document["events"]) counts.push_back(event["counted"]);
  ASSERT_EQ(counts.size(), 6u);
  EXPECT_EQ(counts[0], counts[1] + counts[2] + counts[3] + counts[4]);
  EXPECT_EQ(counts[0], counts[5]);
}

TEST(FalseSharing, SomeAnswersOfSnoopsAloneAreRefused) {
  const Output output = run({pmusim(), "stat", "--machine", "skylake:4c", "-e",
                             "cpu/event=0xb7,umask=0x1,offcore_rsp=0x1001C0001/", sharing("neighbours")});
  EXPECT_EQ(output.status, 2);
  EXPECT_THAT(output.err, HasSubstr("beside other cores"));
}

TEST(FalseSharing, IsTheSameByBlocksAndExactly) {
  const auto count = [](std::vector<std::string> more) {
    std::vector<std::string> command{pmusim(),
                                     "stat",
                                     "--machine",
                                     "icelake:4c",
                                     "-x,",
                                     "-e",
                                     "cycles,mem_load_l3_hit_retired.xsnp_fwd,mem_load_retired.l2_miss"};
    command.insert(command.end(), more.begin(), more.end());
    command.push_back(sharing("neighbours"));
    return run(command).out + run(command).err;
  };
  EXPECT_EQ(count({}), count({"--exact"}));
  EXPECT_EQ(count({}), count({"--jobs", "1"}));
}

TEST(FalseSharing, IsRefusedAsAnEventOfALoneCore) {
  const Output output =
      run({pmusim(), "stat", "-e", "mem_load_l3_hit_retired.xsnp_fwd", sharing("neighbours")});
  EXPECT_EQ(output.status, 2);
  EXPECT_THAT(output.err, HasSubstr("--machine"));
}

TEST(FalseSharing, ShowsInC2cWithLineSymbolsSourcesAndCpus) {
  const SharingFile file("neighbours");
  const nlohmann::json worst = file.c2c()["lines"][0];
  EXPECT_GT(worst["hitm"], 50);
  EXPECT_EQ(worst["remote_hitm"], 0);
  EXPECT_EQ(functions_with_hitms(worst), (std::set<std::string>{"count_first", "count_second"}));
  std::set<unsigned> offsets, cpus;
  for (const auto& access : worst["accesses"]) {
    EXPECT_THAT(std::string(access["file"]), HasSubstr("sharing.c"));
    EXPECT_NE(access["line"], 0);
    offsets.insert(static_cast<unsigned>(access["offset"]));
    for (const auto& cpu : access["cpus"]) cpus.insert(static_cast<unsigned>(cpu));
  }
  EXPECT_EQ(offsets, (std::set<unsigned>{0, 8}));
  EXPECT_EQ(cpus.size(), 2u);
}

TEST(FalseSharing, IsGoneFromPaddedCounters) {
  const SharingFile file("padded");
  for (const auto& line : file.c2c()["lines"])
    for (const auto& access : line["accesses"])
      EXPECT_FALSE(is_counter(access) && line["hitm"] != 0) << line.dump(1);
}

TEST(FalseSharing, ShowsInC2cAsText) {
  const SharingFile file("neighbours");
  const Output output = run({pmusim(), "c2c", "report", file.path()});
  EXPECT_EQ(output.status, 0);
  EXPECT_THAT(output.out, HasSubstr("count_first"));
  EXPECT_THAT(output.out, HasSubstr("sharing.c:"));
}

TEST(FalseSharing, ShowsInPerfC2cReport) {
  const SharingFile file("neighbours");
  const std::string report = file.perf({"c2c", "report", "--stdio"});
  const std::size_t pareto = report.find("Shared Cache Line Distribution Pareto");
  ASSERT_NE(pareto, report.npos) << report;
  const std::string worst = report.substr(pareto, 2500);  // the first line of memory is the worst
  EXPECT_THAT(worst, HasSubstr("count_first"));
  EXPECT_THAT(worst, HasSubstr("count_second"));
  EXPECT_THAT(worst, HasSubstr("sharing.c:"));
}

TEST(FalseSharing, ShowsInPerfMemReport) {
  const SharingFile file("neighbours");
  const std::string report = file.perf({"mem", "report", "--stdio"});
  bool is_hitm = false;
  for (const std::string& line : lines(report))
    is_hitm = is_hitm || (line.find("HitM") != line.npos && line.find("count_second") != line.npos);
  EXPECT_TRUE(is_hitm) << report;
}

TEST(FalseSharing, IsRemoteBetweenPackages) {
  const SharingFile file("neighbours", "skylake-x:2s2c");
  const nlohmann::json total = file.c2c()["total"];
  EXPECT_GT(total["remote_hitm"], 50);
}

TEST(C2cReport, RefusesAProfileWithoutAddresses) {
  const ScratchDirectory scratch;
  const std::string file = scratch.file("perf.data");
  run({pmusim(), "record", "-o", file, recorded("branches", {"27"})});
  const Output output = run({pmusim(), "c2c", "report", file});
  EXPECT_EQ(output.status, 2);
  EXPECT_THAT(output.err, HasSubstr("no event samples memory accesses"));
}

}  // namespace
}  // namespace pmusim::test::sharing_test
