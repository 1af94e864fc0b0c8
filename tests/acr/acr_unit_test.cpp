// SPDX-License-Identifier: MIT
// What nothing that software reads tells of auto counter reload; the rest is in tests/scenarios/acr-*.pmu.
#include "acr/acr_unit.h"

#include <gtest/gtest.h>

#include "msr/register_file.h"

namespace pmusim {
namespace {

/// Counters and reload unit of one model behind their registers.
class AcrCounts : public testing::Test {
 protected:
  void write(u32 address, u64 value) {
    EXPECT_EQ(registers_.write(address, value, counters.now(), counters, acr).fault, Fault::none);
  }
  AcrUnit::Reloads overflow(u64 overflowed) {
    const AcrUnit::Reloads reloads = acr.reloads(overflowed, counters);
    acr.count(reloads);
    return reloads;
  }

  const CpuModel model = *find_cpu_model("skymont");
  CounterFile counters{model};
  AcrUnit acr{model};

 private:
  RegisterFile<CounterFile, AcrUnit> registers_{model};
};

TEST_F(AcrCounts, NothingWithoutCauses) {
  const AcrUnit::Reloads reloads = overflow(bit(2) | bit(3));
  EXPECT_TRUE(reloads.values.empty());
  EXPECT_EQ(reloads.without_status, 0u);
}

TEST_F(AcrCounts, ReloadsThatSoftwareCannotSee) {
  write(msr::V6_GP0_CFG_B + 2 * msr::V6_STRIDE, 0x8);  // GP 2 reloaded by GP 3
  write(msr::V6_GP0_CFG_B + 3 * msr::V6_STRIDE, 0xC);  // GP 3 by both
  overflow(bit(2));
  overflow(bit(3));
  overflow(bit(3));
  EXPECT_EQ(acr.reload_count(2), 2u);
  EXPECT_EQ(acr.reload_count(3), 3u);
}

}  // namespace
}  // namespace pmusim
