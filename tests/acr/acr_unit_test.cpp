// Auto counter reload in hardware (docs/acr.md).
#include "pmusim/acr/acr_unit.h"

#include <gtest/gtest.h>

#include "pmusim/msr/register_file.h"

namespace pmusim {
namespace {

constexpr u32 cfg_b(unsigned gp) { return msr::V6_GP0_CFG_B + 4 * gp; }
constexpr u32 cfg_c(unsigned gp) { return msr::V6_GP0_CFG_C + 4 * gp; }
constexpr u32 fixed_cfg_b(unsigned m) { return msr::V6_FX0_CFG_B + 4 * m; }
constexpr u64 width48 = low_bits(48);

/// Counters and reload unit of one model behind their registers.
class Bench {
 public:
  explicit Bench(const CpuModel& cpu) : model(cpu), counters(model), acr(model), registers_(model) {}
  Bench(const Bench&) = delete;
  Bench& operator=(const Bench&) = delete;

  Fault write(u32 address, u64 value) {
    return registers_.write(address, value, counters.now(), counters, acr).fault;
  }
  bool exists(u32 address) const { return registers_.find(address) != nullptr; }

  /// The counters' values after `overflowed` have wrapped to `residue`.
  void overflow(u64 overflowed, u64 residue = 0) {
    for (const unsigned n : set_bits(overflowed)) counters.set_value(n, residue);
    last = acr.reloads(overflowed, counters);
    for (const AcrUnit::Reload& reload : last.values) counters.set_value(reload.counter, reload.value);
    acr.count(last);
  }

  const CpuModel model;
  CounterFile counters;
  AcrUnit acr;
  AcrUnit::Reloads last;

 private:
  RegisterFile<CounterFile, AcrUnit> registers_;
};

CpuModel skymont() { return *find_cpu_model("skymont"); }

/// The pair of the mispredict experiment: GP 2 reloaded by GP 3, GP 3 by both.
class Experiment : public Bench {
 public:
  explicit Experiment(const CpuModel& cpu = skymont()) : Bench(cpu) {
    EXPECT_EQ(write(cfg_b(2), 0x8), Fault::none);
    EXPECT_EQ(write(cfg_b(3), 0xC), Fault::none);
    EXPECT_EQ(write(cfg_c(2), 0xFFFC'F2C0), Fault::none);
    EXPECT_EQ(write(cfg_c(3), 0xFFF0'BDC0), Fault::none);
  }
};

// --- registers --------------------------------------------------------------------------------------------

TEST(AcrRegisters, ExistForTheCountersThatCanReload) {
  const Bench bench(skymont());
  for (unsigned n = 0; n < 8; ++n) EXPECT_EQ(bench.exists(cfg_b(n)), n >= 2) << n;
  for (unsigned m = 0; m < 7; ++m) EXPECT_EQ(bench.exists(fixed_cfg_b(m)), m <= 1) << m;
}

TEST(AcrRegisters, DoNotExistOnPartsWithoutReload) {
  for (const char* name : {"icelake", "lioncove", "sierraforest"}) {
    const Bench bench(*find_cpu_model(name));
    for (unsigned n = 0; n < 8; ++n) EXPECT_FALSE(bench.exists(cfg_b(n))) << name;
  }
}

TEST(AcrRegisters, ACauseThatCannotCauseReloadsFaults) {  // 43796f305078: FX1_CFG_B = 2_0000_0001
  Bench bench(skymont());
  EXPECT_EQ(bench.write(fixed_cfg_b(1), 0x2'0000'0001), Fault::gp);
  EXPECT_EQ(bench.write(fixed_cfg_b(1), 0x2'0000'0004), Fault::none);
}

TEST(AcrRegisters, ACounterMayNameItself) {
  Bench bench(skymont());
  EXPECT_EQ(bench.write(cfg_b(2), 0x4), Fault::none);
}

// --- reloads ----------------------------------------------------------------------------------------------

TEST(AcrUnit, WithoutCausesNothingReloads) {
  Bench bench(skymont());
  bench.overflow(bit(2) | bit(3));
  EXPECT_TRUE(bench.last.values.empty());
  EXPECT_EQ(bench.last.without_status, 0u);
}

TEST(AcrUnit, ACauseReloadsItsVictimAndKeepsItsOwnStatusAndCount) {
  Experiment bench;
  bench.overflow(bit(2));
  EXPECT_EQ(bench.counters.value(3), (0 - u64{1'000'000}) & width48);
  EXPECT_EQ(bench.counters.value(2), 0u);
  EXPECT_EQ(bench.last.without_status, 0u);
}

TEST(AcrUnit, ASelfReloadSetsNoStatus) {
  Experiment bench;
  bench.overflow(bit(3));
  EXPECT_EQ(bench.counters.value(2), (0 - u64{200'000}) & width48);
  EXPECT_EQ(bench.counters.value(3), (0 - u64{1'000'000}) & width48);
  EXPECT_EQ(bench.last.without_status, bit(3));
}

TEST(AcrUnit, ReloadWinsOverTheResidueOfALargeIncrement) {
  Experiment bench;
  bench.overflow(bit(3), 5);
  EXPECT_EQ(bench.counters.value(3), (0 - u64{1'000'000}) & width48);
}

TEST(AcrUnit, InATieBothReloadAndOnlyTheOneThatIsNotItsOwnCauseSetsStatus) {
  Experiment bench;
  bench.overflow(bit(2) | bit(3));
  EXPECT_EQ(bench.counters.value(2), (0 - u64{200'000}) & width48);
  EXPECT_EQ(bench.counters.value(3), (0 - u64{1'000'000}) & width48);
  EXPECT_EQ(bench.last.without_status, bit(3));
}

TEST(AcrUnit, ADisabledVictimReloadsToo) {
  Experiment bench;
  bench.counters.set_value(3, 77);
  bench.overflow(bit(2));
  EXPECT_EQ(bench.counters.value(3), (0 - u64{1'000'000}) & width48);
}

TEST(AcrUnit, CountsReloadsThatSoftwareCannotSee) {
  Experiment bench;
  bench.overflow(bit(2));
  bench.overflow(bit(3));
  bench.overflow(bit(3));
  EXPECT_EQ(bench.acr.reload_count(2), 2u);
  EXPECT_EQ(bench.acr.reload_count(3), 3u);
}

// --- what manuals leave open ------------------------------------------------------------------------------

TEST(AcrPolicy, AReloadValueBelowBit31ExtendsWithZerosOrWithOnes) {
  for (const u32 policy : {0u, 1u}) {
    CpuModel model = skymont();
    model.policies.acr_reload_extension = policy;
    Experiment bench(model);
    EXPECT_EQ(bench.write(cfg_c(3), 0x1), Fault::none);
    bench.overflow(bit(2));
    EXPECT_EQ(bench.counters.value(3), policy == 0 ? 0x1u : 0xFFFF'0000'0001u);
  }
}

TEST(AcrPolicy, LowestIndexFirstMeansThatALaterCauseNeverOverflowed) {
  CpuModel model = skymont();
  model.policies.acr_tie = 1;
  Experiment bench(model);
  bench.overflow(bit(2) | bit(3));
  EXPECT_EQ(bench.counters.value(3), (0 - u64{1'000'000}) & width48);
  EXPECT_EQ(bench.counters.value(2), 0u);  // not reloaded: its cause, GP 3, went first
  EXPECT_EQ(bench.last.without_status, bit(3));
}

TEST(AcrPolicy, WhatAVictimCountedPastItsWrapMaySurviveTheReload) {
  CpuModel model = skymont();
  model.policies.acr_lost_increment = 0;
  Experiment bench(model);
  bench.overflow(bit(3), 5);
  EXPECT_EQ(bench.counters.value(3), (5 - u64{1'000'000}) & width48);
}

}  // namespace
}  // namespace pmusim
