// SPDX-License-Identifier: MIT
// `pmusim scenario`: what it prints of files that hold and of those that do not.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "command.h"

namespace pmusim::test {
namespace {

class ScenarioCommand : public testing::Test {
 protected:
  std::string file(const char* name, const char* text) const {
    std::ofstream(scratch_.file(name)) << text;
    return scratch_.file(name);
  }

 private:
  ScratchDirectory scratch_;
};

TEST_F(ScenarioCommand, AWrongExpectationPrintsLineExpectedAndFound) {
  const std::string right = file("right.pmu", "model skylake\nwrmsr IA32_PMC0 5\nrdmsr IA32_PMC0 = 5\n");
  const std::string wrong = file("wrong.pmu", "model skylake\nwrmsr IA32_PMC0 5\nrdmsr IA32_PMC0 = 6\n");
  const Output output = run({pmusim(), "scenario", right, wrong});
  EXPECT_EQ(output.status, 2);
  EXPECT_EQ(output.out, wrong + ":3: rdmsr IA32_PMC0 = 6\n  expected  0x6\n  found     0x5 on skylake\n");
  EXPECT_EQ(output.err, "pmusim: 1 of 2 scenarios do not hold\n");
  EXPECT_EQ(run({pmusim(), "scenario", right}).out, "1 of 1 scenarios hold\n");
}

}  // namespace
}  // namespace pmusim::test
