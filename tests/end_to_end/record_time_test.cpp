// SPDX-License-Identifier: MIT
// What goes by perf time in a recording: rounds, frequencies and throttling. Sessions of a short tick, so
// that a short program sees many of them.
#include <gmock/gmock.h>

#include <algorithm>

#include "command.h"
#include "perfdata/file_format.h"
#include "perfdata/sample_parser.h"
#include "pmusim/cpu/model.h"
#include "pmusim/perfdata/reader.h"
#include "pmusim/session/record.h"

namespace pmusim::test {
namespace {

using perf::RecordType;
using testing::HasSubstr;

constexpr u64 tick_ns = 10'000;

struct Entry {
  u32 type = 0;
  u64 time = 0;
  bool is(RecordType t) const { return type == static_cast<u32>(t); }
};

class RecordTime : public testing::Test {
 protected:
  /// Records `events` over the workload; the file is file().
  void record(std::string_view events, RecordOptions options, perf::Limits limits = {},
              perf::Throttling throttling = perf::Throttling::off) {
    const CpuModel model = *find_cpu_model("icelake");
    SessionOptions session_options{.model = model};
    session_options.limits = limits;
    session_options.throttling = throttling;
    session_options.tick_ns = tick_ns;
    auto session = Session::open(recorded("branches", {"4000"}), session_options);
    ASSERT_TRUE(session.ok()) << session.error().message;
    options.events = *events::parse_events(events, model);
    options.output = file();
    const auto summary = pmusim::record(*session, options);
    ASSERT_TRUE(summary.ok()) << summary.error().message;
  }
  std::string file() const { return scratch_.file("perf.data"); }

  /// Type and time of each record; user records have no time.
  std::vector<Entry> entries() const {
    perfdata::Reader reader = std::move(*perfdata::Reader::open(file()));
    std::vector<Entry> all;
    for (auto record = reader.next(); record.ok() && *record; record = reader.next()) {
      const auto& attr = reader.events().front().attr;
      const u32 type = (*record)->header.type;
      Entry& entry = all.emplace_back(Entry{type, perfdata::absent});
      if (entry.is(RecordType::sample))
        entry.time = perfdata::parse_sample(**record, attr)->who.time;
      else if (type < static_cast<u32>(perfdata::UserRecord::header_attr))
        entry.time = perfdata::parse_sample_id(**record, attr).time;
    }
    return all;
  }
  std::string perf(std::vector<std::string> arguments) const {
    return perf_output(std::move(arguments), file());
  }

 private:
  ScratchDirectory scratch_;
};

// PEBS buffers deliver their samples late: beside them the other event's records are much younger.
TEST_F(RecordTime, NoRecordIsOlderThanTheRoundsBeforeIt) {
  for (const char* events : {"instructions", "instructions,cycles:pp,branches:pp"}) {
    record(events, {.period = 211, .ring_pages = 1});
    int rounds = 0;
    u64 newest = 0, promised = 0;
    for (const Entry& entry : entries()) {
      if (entry.type == static_cast<u32>(perfdata::UserRecord::finished_round)) {
        ++rounds;
        promised = newest;
      } else if (entry.time != perfdata::absent) {
        EXPECT_GE(entry.time, promised) << events << ", round " << rounds;
        newest = std::max(newest, entry.time);
      }
    }
    EXPECT_GE(rounds, 1) << events;
    const std::string dump = perf({"report", "-D"});
    EXPECT_THAT(dump, HasSubstr("FINISHED_ROUND events:"));
    EXPECT_THAT(dump, HasSubstr("PERF_RECORD_TIME_CONV\n... Time Shift      31\n"));
  }
}

/// Samples per second of perf time, in the second half of the samples, when the period has settled.
double settled_rate(const std::vector<Entry>& entries) {
  std::vector<u64> times;
  for (const Entry& entry : entries)
    if (entry.is(RecordType::sample)) times.push_back(entry.time);
  std::ranges::sort(times);
  times.erase(times.begin(), times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2));
  return static_cast<double>(times.size() - 1) * 1e9 / static_cast<double>(times.back() - times.front());
}

// Rates per emulated second that a program of a fraction of a millisecond can show.
TEST_F(RecordTime, FrequencyModeSamplesAboutAsOftenAsAsked) {
  for (const char* event : {"cycles", "instructions", "branches:pp"})
    for (const u64 hertz : {u64{250'000}, u64{500'000}}) {
      record(event, {.frequency = hertz}, {.max_sample_rate = 1'000'000});
      EXPECT_NEAR(settled_rate(entries()) / static_cast<double>(hertz), 1, 0.25) << event << ' ' << hertz;
    }
}

TEST_F(RecordTime, PerfShowsThePeriodsOfFrequencyMode) {
  record("cycles", {.frequency = 500'000}, {.max_sample_rate = 1'000'000});
  const std::vector<std::string> periods = lines(perf({"script", "-F", "period"}));
  ASSERT_GT(periods.size(), 20u);
  const CpuModel model = *find_cpu_model("icelake");
  EXPECT_NEAR(std::stod(periods.back()), static_cast<double>(model.core.tsc_hz) / 500'000, 300);
  EXPECT_THAT(perf({"report", "--header-only", "-I"}), HasSubstr("freq = 1"));
}

// 400,000 samples per second are 4 in a tick; a period of 500 cycles would be 60.
TEST_F(RecordTime, AnEventAboveTheLimitIsThrottledUntilTheNextTick) {
  record("cycles", {.period = 500}, {.max_sample_rate = 400'000}, perf::Throttling::on);
  u64 samples_in_tick = 0, throttles = 0, unthrottles = 0, off_tick = 0;
  bool throttled = false;
  for (const Entry& entry : entries()) {
    if (entry.is(RecordType::throttle)) {
      throttled = true;
      ++throttles;
    } else if (entry.is(RecordType::unthrottle)) {
      EXPECT_TRUE(throttled);
      throttled = false;
      ++unthrottles;
      if (entry.time % tick_ns != 0) ++off_tick;
      samples_in_tick = 0;
    } else if (entry.is(RecordType::sample)) {
      EXPECT_LE(++samples_in_tick, 4u) << entry.time;
    }
  }
  EXPECT_GE(throttles, 5u);
  EXPECT_LE(throttles - unthrottles, 1u);
  EXPECT_LE(off_tick, 1u);  // the context switch when the program exits puts events on again
}

TEST_F(RecordTime, PerfDumpsThrottling) {
  record("cycles", {.period = 500}, {.max_sample_rate = 400'000}, perf::Throttling::on);
  const std::string dump = perf({"script", "-D"});
  EXPECT_THAT(dump, HasSubstr(": PERF_RECORD_THROTTLE"));
  EXPECT_THAT(dump, HasSubstr(": PERF_RECORD_UNTHROTTLE"));
}

TEST_F(RecordTime, WithoutThrottlingEveryPeriodIsSampled) {
  record("cycles", {.period = 500}, {.max_sample_rate = 400'000});
  for (const Entry& entry : entries()) EXPECT_FALSE(entry.is(RecordType::throttle));
}

}  // namespace
}  // namespace pmusim::test
