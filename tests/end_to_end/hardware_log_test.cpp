// SPDX-License-Identifier: MIT
// --hw-log and --hw-timeline (docs/observer.md).
#include <gmock/gmock.h>

#include <cstdint>
#include <cstring>
#include <filesystem>
#include <map>
#include <sstream>

#include "tests/end_to_end/command.h"
#include "tests/support/json.h"

namespace pmusim::test {
namespace {

using testing::HasSubstr;
using Json = nlohmann::json;

/// How often each event is in a log.
std::map<std::string, unsigned> events_in(const std::string& log) {
  std::map<std::string, unsigned> events;
  std::istringstream lines(log);
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with('#')) continue;
    std::istringstream words(line);
    std::string cycle, event;
    words >> cycle >> event;
    ++events[event];
  }
  return events;
}

/// A timeline as a tool loads it.
class Timeline {
 public:
  explicit Timeline(const std::string& path) : events_(parse_json(read_file(path)).at("traceEvents")) {
    for (const Json& event : events_)
      if (event.at("name") == "thread_name") tracks_[event.at("tid")] = event.at("args").at("name");
  }
  unsigned count(const std::string& track, const std::string& name) const {
    unsigned count = 0;
    for (const Json& event : events_)
      count += event.at("ph") != "M" && tracks_.at(event.at("tid")) == track && event.at("name") == name;
    return count;
  }
  unsigned count(const std::string& track) const {
    unsigned count = 0;
    for (const Json& event : events_) count += event.at("ph") != "M" && tracks_.at(event.at("tid")) == track;
    return count;
  }
  const Json& events() const { return events_; }

 private:
  Json events_;
  std::map<unsigned, std::string> tracks_;
};

class HardwareLog : public testing::Test {
 protected:
  Output record(std::vector<std::string> options, const std::string& data) {
    std::vector<std::string> all{pmusim(), "record", "-q", "-o", scratch_.file(data)};
    all.insert(all.end(), options.begin(), options.end());
    all.push_back(recorded("branches", {"200"}));
    return run(all);
  }
  ScratchDirectory scratch_;
};

TEST_F(HardwareLog, AndTimelineShowTheSameEvents) {
  const std::string log = scratch_.file("log"), json = scratch_.file("json");
  const Output output =
      record({"-e", "branches:upp", "-c", "50", "-b", "--hw-log", log, "--hw-timeline", json}, "a");
  ASSERT_EQ(output.status, 0) << output.err;
  auto events = events_in(read_file(log));
  const Timeline timeline(json);
  EXPECT_GT(events["overflow"], 3u);
  EXPECT_GT(events["record"], 3u);
  EXPECT_GT(events["lbr"], 100u);
  EXPECT_EQ(timeline.count("gp0", "overflow"), events["overflow"]);
  EXPECT_EQ(timeline.count("gp0", "reload"), events["reload"]);
  EXPECT_EQ(timeline.count("gp0", "PEBS assist"), events["record"]);
  EXPECT_EQ(timeline.count("PEBS", "written"), events["record"]);
  EXPECT_EQ(timeline.count("LBR"), events["lbr"]);
  EXPECT_EQ(timeline.count("driver", "PMI handler"), events["pmi-return"]);
  EXPECT_EQ(timeline.count("driver") - timeline.count("driver", "PMI handler"),
            events["write"] + events["fault"]);
}

TEST_F(HardwareLog, TimelineHasSlicesThatEndAfterTheyBegin) {
  const std::string json = scratch_.file("json");
  const Output output = record({"-e", "branches:u", "-c", "50", "--hw-timeline", json}, "a");
  ASSERT_EQ(output.status, 0) << output.err;
  unsigned waits = 0;
  const Timeline timeline(json);
  for (const Json& event : timeline.events()) {
    if (event.at("ph") == "M") continue;
    EXPECT_TRUE(event.at("ts").is_number_unsigned()) << event;
    if (event.at("ph") != "X") continue;
    EXPECT_TRUE(event.at("dur").is_number_unsigned()) << event;
    waits += event.at("name") == "overflow" && event.at("dur") > 0;
  }
  EXPECT_GT(waits, 3u) << "from the request for a PMI to its delivery";
}

/// The records of a perf.data file: its header knows where they are (struct perf_file_header). What is behind
/// them has the command line, which names the log.
std::string records_in(const std::string& path) {
  constexpr std::size_t data_section = 40;
  const std::string file = read_file(path);
  std::uint64_t offset = 0, bytes = 0;
  std::memcpy(&offset, &file.at(data_section), sizeof offset);
  std::memcpy(&bytes, &file.at(data_section + sizeof offset), sizeof bytes);
  return file.substr(offset, bytes);
}

TEST_F(HardwareLog, ChangesNeitherTheFileNorItself) {
  const std::string log = scratch_.file("log"), json = scratch_.file("json");
  const auto records = [&](const std::vector<std::string>& watching) {
    std::vector<std::string> options{"-e", "branches:upp", "-c", "50", "-b"};
    options.insert(options.end(), watching.begin(), watching.end());
    EXPECT_EQ(record(options, "perf.data").status, 0);
    return records_in(scratch_.file("perf.data"));
  };
  const std::vector<std::string> watching{"--hw-log", log, "--hw-timeline", json};
  const std::string alone = records({});
  EXPECT_GT(alone.size(), 1000u);
  EXPECT_TRUE(records(watching) == alone);
  const std::string first_log = read_file(log), first_timeline = read_file(json);
  EXPECT_FALSE(first_log.empty());
  EXPECT_TRUE(records(watching) == alone);
  EXPECT_TRUE(read_file(log) == first_log);
  EXPECT_TRUE(read_file(json) == first_timeline);
}

TEST_F(HardwareLog, OfStatIsOfItsFirstReplay) {
  const std::string log = scratch_.file("log");
  const Output output = run({pmusim(), "stat", "--hw-log", log, recorded("branches", {"200"})});
  ASSERT_EQ(output.status, 0) << output.err;
  EXPECT_THAT(read_file(log), HasSubstr(" write register=IA32_PERF_GLOBAL_CTRL "));
}

TEST_F(HardwareLog, OfAScenarioGoesToStandardOutputToo) {
  const Output output = run({pmusim(), "scenario", "--hw-log", "-",
                             PMUSIM_SOURCE_DIR "/tests/scenarios/overflow-asks-for-a-pmi.pmu"});
  ASSERT_EQ(output.status, 0) << output.err;
  EXPECT_THAT(output.out, HasSubstr("# model icelake\n"));
  EXPECT_THAT(output.out, HasSubstr("overflow counter=gp0 status=yes pmi=yes record=no\n"));
}

TEST(ObserverExample, PrintsHowLongEachInterruptWasOnItsWay) {
  const Output output = run({PMUSIM_EXAMPLES "/observe"});
  EXPECT_EQ(output.status, 0);
  EXPECT_EQ(lines(output.out).front(), "asked for in cycle 1000, delivered 24 cycles later");
}

TEST(ObserverExample, IsShownByItsPageAsItIs) {
  const std::string example = read_file(PMUSIM_SOURCE_DIR "/examples/observe.cpp");
  EXPECT_THAT(read_file(PMUSIM_SOURCE_DIR "/docs/observer.md"),
              HasSubstr(example.substr(example.find("struct Latency"))));
}

TEST_F(HardwareLog, RefusesUnwritableNamesBeforeTheReplay) {
  const std::string trace = recorded("branches", {"200"});
  Output output = run({pmusim(), "record", "--hw-log", "/no/such/log", trace});
  EXPECT_EQ(output.status, 2);
  EXPECT_THAT(output.err, HasSubstr("--hw-log /no/such/log"));
  const std::string same = scratch_.file("same");
  output = run({pmusim(), "record", "-o", same, "--hw-timeline", same, trace});
  EXPECT_EQ(output.status, 2);
  EXPECT_THAT(output.err, HasSubstr("name the same file"));
  EXPECT_FALSE(std::filesystem::exists(same));
}

}  // namespace
}  // namespace pmusim::test
