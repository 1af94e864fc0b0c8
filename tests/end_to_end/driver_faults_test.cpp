// SPDX-License-Identifier: MIT
// A driver whose accesses fault says so in the end: what it counted may be wrong.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "command.h"
#include "pmusim/session/record.h"
#include "pmusim/session/stat.h"

namespace pmusim::test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using Sentences = std::vector<std::string>;

/// DS_AREA takes canonical addresses only.
constexpr u64 impossible_address = 0x8000'0000'0000'1000;
constexpr const char* fault_of_it =
    "1 of the driver's accesses to the PMU faulted, first WRMSR of 0x8000000000001000 to 0x600: counts and "
    "samples may be wrong";

SessionOptions with_area_at(u64 address) {
  SessionOptions options{.model = *find_cpu_model("icelake")};
  options.driver.debug_store_address = address;
  return options;
}

Sentences warnings_of_stat(const SessionOptions& options) {
  auto session = std::move(*Session::open(recorded("branches", {"4000"}), options));
  const auto report = stat(session, {.events = *events::parse_events("instructions", options.model)});
  return report.ok() ? warnings(report->driver) : Sentences{report.error().message};
}

Sentences warnings_of_record(const SessionOptions& options) {
  auto session = std::move(*Session::open(recorded("branches", {"4000"}), options));
  const ScratchDirectory directory;
  const auto summary = record(session, {.events = *events::parse_events("instructions", options.model),
                                        .period = 1009,
                                        .output = directory.file("perf.data")});
  return summary.ok() ? warnings(summary->driver) : Sentences{summary.error().message};
}

TEST(DriverFaults, AreReportedWithTheFirstAccessAndItsValue) {
  EXPECT_THAT(warnings_of_stat(with_area_at(impossible_address)), ElementsAre(fault_of_it));
  EXPECT_THAT(warnings_of_record(with_area_at(impossible_address)), ElementsAre(fault_of_it));
}

TEST(DriverFaults, AreNoneOnAWorkingMachine) {
  const SessionOptions works = with_area_at(driver::DriverOptions{}.debug_store_address);
  EXPECT_THAT(warnings_of_stat(works), IsEmpty());
  EXPECT_THAT(warnings_of_record(works), IsEmpty());
}

}  // namespace
}  // namespace pmusim::test
