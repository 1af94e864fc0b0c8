// SPDX-License-Identifier: MIT
// A driver whose accesses fault says so in the end: what it counted may be wrong.
#include <gtest/gtest.h>

#include "command.h"
#include "pmusim/session/record.h"
#include "pmusim/session/stat.h"

namespace pmusim::test {
namespace {

/// DS_AREA takes canonical addresses only.
SessionOptions with_area_at(u64 address) {
  SessionOptions options{.model = *find_cpu_model("icelake")};
  options.driver.debug_store_address = address;
  return options;
}

std::string faults_of_stat(const SessionOptions& options) {
  auto session = std::move(*Session::open(recorded("branches", {"4000"}), options));
  const auto report = stat(session, {.events = *events::parse_events("instructions", options.model)});
  return report.ok() ? describe(report->driver_faults) : report.error().message;
}

TEST(DriverFaults, AreToldWithTheFirstAccessAndItsValue) {
  EXPECT_EQ(
      faults_of_stat(with_area_at(0x8000'0000'0000'1000)),
      "1 of the driver's accesses to the PMU faulted, first WRMSR of 0x8000000000001000 to 0x600: counts "
      "and samples may be wrong");
}

TEST(DriverFaults, AreNoneOnAWorkingMachine) {
  EXPECT_EQ(faults_of_stat(with_area_at(driver::DriverOptions{}.debug_store_address)), "");
}

}  // namespace
}  // namespace pmusim::test
