// SPDX-License-Identifier: MIT
#include "live/machine_view.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

namespace pmusim::live {
namespace {

using testing::Contains;
using testing::Key;
using testing::Not;
using testing::Pair;

std::map<std::string, std::string> files_of(std::string_view model, perf::PmuCapabilities pmu = {}) {
  const MachineView view = view_of(find_cpu_model(model).value(), pmu, {});
  return {view.pmu_files.begin(), view.pmu_files.end()};
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
