// SPDX-License-Identifier: MIT
#include "live/machine_view.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

namespace pmusim::live {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::Key;
using testing::Not;
using testing::Pair;

std::map<std::string, std::string> files_of(std::string_view model, perf::PmuCapabilities pmu = {}) {
  const MachineView view = view_of({{find_cpu_model(model).value(), pmu}}, nullptr, {});
  return {view.pmus.front().files.begin(), view.pmus.front().files.end()};
}

// Linux 6.12, arch/x86/events/intel/core.c: td_total_slots and its neighbours, without the sibling thread.
TEST(MachineView, HasTheTopdownNamesOfOlderCoresWithTheirScale) {
  for (const std::string_view model :
       {"sandybridge", "ivybridge", "haswell", "broadwell", "skylake", "skylake-x", "cascadelake"}) {
    const auto files = files_of(model);
    EXPECT_THAT(files, Contains(Pair("events/topdown-total-slots", "event=0x3c\n"))) << model;
    EXPECT_THAT(files, Contains(Pair("events/topdown-total-slots.scale", "4\n"))) << model;
    EXPECT_THAT(files, Contains(Pair("events/topdown-slots-issued", "event=0x0e,umask=0x01\n"))) << model;
    EXPECT_THAT(files, Contains(Pair("events/topdown-slots-retired", "event=0xc2,umask=0x02\n"))) << model;
    EXPECT_THAT(files, Contains(Pair("events/topdown-fetch-bubbles", "event=0x9c,umask=0x01\n"))) << model;
    EXPECT_THAT(files,
                Contains(Pair("events/topdown-recovery-bubbles", "event=0x0d,umask=0x03,cmask=0x01\n")))
        << model;
    EXPECT_THAT(files, Contains(Pair("events/topdown-recovery-bubbles.scale", "4\n"))) << model;
    EXPECT_THAT(files, Not(Contains(Key("events/topdown-fetch-bubbles.scale")))) << model;
  }
  for (const std::string_view model : {"goldmont", "goldmont-plus"}) {
    const auto files = files_of(model);
    EXPECT_THAT(files, Contains(Pair("events/topdown-total-slots.scale", "3\n"))) << model;
    EXPECT_THAT(files, Contains(Pair("events/topdown-fetch-bubbles", "event=0x9c\n"))) << model;
    EXPECT_THAT(files, Contains(Pair("events/topdown-recovery-bubbles", "event=0xca,umask=0x02\n"))) << model;
    EXPECT_THAT(files, Contains(Pair("events/topdown-slots-issued", "event=0x0e\n"))) << model;
    EXPECT_THAT(files, Contains(Pair("events/topdown-slots-retired", "event=0xc2\n"))) << model;
  }
  const auto silvermont = files_of("silvermont");
  EXPECT_THAT(silvermont, Contains(Pair("events/topdown-total-slots.scale", "2\n")));
  EXPECT_THAT(silvermont, Contains(Pair("events/topdown-fetch-bubbles", "event=0xca,umask=0x50\n")));
  EXPECT_THAT(silvermont, Contains(Pair("events/topdown-fetch-bubbles.scale", "2\n")));
  EXPECT_THAT(silvermont, Contains(Pair("events/topdown-slots-retired", "event=0xc2,umask=0x10\n")));
  EXPECT_THAT(silvermont, Not(Contains(Key("events/topdown-recovery-bubbles"))));
  for (const std::string_view model : {"nehalem", "knightslanding", "icelake", "skymont"})
    EXPECT_THAT(files_of(model), Not(Contains(Key("events/topdown-total-slots")))) << model;
}

// Linux 6.15, arch/x86/events/amd/ibs.c: attributes of the two PMUs by what CPUID.8000001BH says.
TEST(MachineView, HasTheSamplingUnitsOfAmdBesideTheCore) {
  const auto files = [](std::string_view model, std::string_view pmu) {
    std::map<std::string, std::string> found;
    for (const PmuView& view : view_of({{find_cpu_model(model).value(), {}}}, nullptr, {}).pmus)
      if (view.name == pmu) found.insert(view.files.begin(), view.files.end());
    return found;
  };
  EXPECT_THAT(files("rome", "ibs_op"),
              ElementsAre(Pair("format/cnt_ctl", "config:19\n"), Pair("format/swfilt", "config2:0\n"),
                          Pair("type", "1001\n")));
  EXPECT_THAT(files("rome", "ibs_fetch"),
              ElementsAre(Pair("format/rand_en", "config:57\n"), Pair("format/swfilt", "config2:0\n"),
                          Pair("type", "1000\n")));
  EXPECT_THAT(files("turin", "ibs_op"),
              ElementsAre(Pair("caps/ldlat", "1\n"), Pair("caps/zen4_ibs_extensions", "1\n"),
                          Pair("format/cnt_ctl", "config:19\n"), Pair("format/l3missonly", "config:16\n"),
                          Pair("format/ldlat", "config1:0-11\n"), Pair("format/swfilt", "config2:0\n"),
                          Pair("type", "1001\n")));
  EXPECT_THAT(files("genoa", "ibs_fetch"), Contains(Pair("format/l3missonly", "config:59\n")));
  EXPECT_THAT(files("naples", "ibs_op"), IsEmpty());
  EXPECT_THAT(files("skylake", "ibs_op"), IsEmpty());
}

TEST(MachineView, HasBranchCountersWhereTheLbrHasThem) {
  const auto files =
      files_of("sierraforest", {.branch_entries = 32, .branch_counter_count = 4, .branch_counter_width = 2});
  EXPECT_THAT(files, Contains(Pair("caps/branches", "32\n")));
  EXPECT_THAT(files, Contains(Pair("caps/branch_counter_nr", "4\n")));
  EXPECT_THAT(files, Contains(Pair("caps/branch_counter_width", "2\n")));
  EXPECT_THAT(files_of("skylake"), Not(Contains(Key("caps/branch_counter_nr"))));
}

}  // namespace
}  // namespace pmusim::live
