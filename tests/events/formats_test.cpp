// SPDX-License-Identifier: MIT
// What /sys/bus/event_source/devices/cpu/format has on machines with these cores.
#include "events/formats.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

namespace pmusim::events {
namespace {

using testing::ElementsAre;
using testing::Pair;
using testing::UnorderedElementsAre;

std::vector<std::string> names(const char* model) {
  std::vector<std::string> found;
  for (const Format& f : formats(*find_cpu_model(model))) found.emplace_back(f.name);
  return found;
}

std::string text(const char* model, std::string_view name) {
  for (const Format& f : formats(*find_cpu_model(model)))
    if (f.name == name) return f.text();
  return "none";
}

TEST(Formats, OfNehalemAreTheEventSelectOffCoreAndLatency) {
  EXPECT_THAT(names("nehalem"), UnorderedElementsAre("any", "cmask", "edge", "event", "inv", "ldlat",
                                                     "offcore_rsp", "pc", "umask"));
}

TEST(Formats, OfSkylakeHaveTransactionsAndTheFrontEnd) {
  EXPECT_THAT(names("skylake"),
              UnorderedElementsAre("any", "cmask", "edge", "event", "frontend", "in_tx", "in_tx_cp", "inv",
                                   "ldlat", "offcore_rsp", "pc", "umask"));
}

TEST(Formats, OfCore2AreTheEventSelectAlone) {
  EXPECT_THAT(names("core2"), UnorderedElementsAre("any", "cmask", "edge", "event", "inv", "pc", "umask"));
}

TEST(Formats, SayWhichBitsTheyAre) {
  EXPECT_EQ(text("skylake", "event"), "config:0-7");
  EXPECT_EQ(text("skylake", "edge"), "config:18");
  EXPECT_EQ(text("skylake", "in_tx_cp"), "config:33");
  EXPECT_EQ(text("skylake", "ldlat"), "config1:0-15");
  EXPECT_EQ(text("skylake", "frontend"), "config1:0-23");
  EXPECT_EQ(text("skylake", "umask"), "config:8-15");
}

// CPUID.23H.0:EBX enumerates them.
TEST(Formats, HaveASecondByteOfTheUmaskAndEqWhereTheLeafSaysSo) {
  CpuModel model = *find_cpu_model("skylake");
  model.perfmon_ext_ebx = 3;
  std::vector<std::pair<std::string, std::string>> found;
  for (const Format& f : formats(model))
    if (f.name == "umask" || f.name == "eq") found.emplace_back(f.name, f.text());
  EXPECT_THAT(found, ElementsAre(Pair("umask", "config:8-15,40-47"), Pair("eq", "config:36")));
}

// Linux 7.3 shows the term of the four OMR registers in place of that of OFFCORE_RSP, and that of slots whose
// RDPMC clears the metrics where PERF_CAPABILITIES[19] is set.
TEST(Formats, OfOmrCoresAskForOffModuleResponses) {
  for (const char* model : {"diamondrapids", "coyotecove", "arcticwolf"}) {
    EXPECT_EQ(text(model, "offmodule_rsp"), "config1:0-63") << model;
    EXPECT_EQ(text(model, "offcore_rsp"), "none") << model;
  }
  EXPECT_EQ(text("lioncove", "offmodule_rsp"), "none");
  EXPECT_EQ(text("diamondrapids", "metrics_clear"), "config1:0");
  EXPECT_EQ(text("lioncove", "metrics_clear"), "none");
}

}  // namespace
}  // namespace pmusim::events
