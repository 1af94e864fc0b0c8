// SPDX-License-Identifier: MIT
// cycles:pp and cycles:ppp on every model: samples, or Linux's errno.
#include <gtest/gtest.h>

#include <cerrno>

#include "machine.h"
#include "model_names.h"

namespace pmusim::driver {
namespace {

constexpr int samples = 0;

struct Expected {
  std::string_view models;
  int pp, ppp;
};

constexpr Expected expected[] = {
    // No PEBS; PEBS with errata that make Linux leave it off.
    {"yonah core2", EOPNOTSUPP, EOPNOTSUPP},
    // Retirement counted inverted; no precise distribution that Linux would use.
    {"penryn nehalem westmere sandybridge", samples, EOPNOTSUPP},
    {"bonnell silvermont knightslanding", samples, EOPNOTSUPP},
    // INST_RETIRED.PREC_DIST inverted for ppp.
    {"ivybridge haswell broadwell skylake skylake-x cascadelake", samples, samples},
    // Linux 7.3 does not know it.
    {"cannonlake", EINVAL, EOPNOTSUPP},
    // Any event may be precise.
    {"goldmont goldmont-plus tremont", samples, samples},
    {"icelake icelake-server tigerlake rocketlake", samples, samples},
    {"goldencove sapphirerapids emeraldrapids redwoodcove graniterapids", samples, samples},
    {"lioncove arrowlake-h cougarcove diamondrapids coyotecove", samples, samples},
    {"gracemont crestmont sierraforest skymont arrowlake-h-atom", samples, samples},
    {"darkmont clearwaterforest arcticwolf", samples, samples},
};

bool is_in(std::string_view list, const std::string& word) {
  return (" " + std::string(list) + " ").find(" " + word + " ") != std::string::npos;
}

const Expected* expectation_of(const std::string& model) {
  const auto* const found =
      std::ranges::find_if(expected, [&](const Expected& e) { return is_in(e.models, model); });
  return found == std::end(expected) ? nullptr : found;
}

class PreciseCycles : public testing::TestWithParam<std::string> {
 protected:
  /// 0 and samples, or the errno of the refusal.
  static void check(int wanted, unsigned level) {
    Machine machine(model_with_skid(GetParam(), 0));
    perf::Attr attr = hardware(perf::HardwareId::cpu_cycles, 1000);
    attr.precise_ip = level & 3;
    attr.sample_type = perf::sample::IP;
    perf::Event& cycles = machine.opened(attr);
    EXPECT_EQ(machine.refused_with, wanted) << machine.refusal;
    if (machine.refused_with != 0) return;
    unsigned taken = 0;
    machine.sink.tell = [&](perf::Event&, const perf::SampleData&, const InterruptFrame&) { ++taken; };
    ASSERT_TRUE(machine.schedule(cycles));
    constexpr unsigned rounds = 2000, instructions_of_round = 10;
    for (unsigned i = 0; i < rounds; ++i) {
      for (machine.ip = 0x1000; machine.ip < 0x1000 + 4 * (instructions_of_round - 1); machine.ip += 4)
        machine.instruction();
      machine.branch(machine.ip, 0x1000);
    }
    machine.idle();
    machine.unschedule(cycles);
    EXPECT_NEAR(taken, rounds * instructions_of_round / 1000, 2);
    EXPECT_EQ(describe(machine.driver.statistics().faults), "");
  }
};

TEST_P(PreciseCycles, GiveSamplesOrAreRefusedAsLinuxDoes) {
  const Expected* const e = expectation_of(GetParam());
  ASSERT_NE(e, nullptr) << "the table lacks this model";
  check(e->pp, 2);
  check(e->ppp, 3);
}

INSTANTIATE_TEST_SUITE_P(Presets, PreciseCycles, testing::ValuesIn(model_names()), identifier);

TEST(PreciseCyclesOfCannonLake, AreSampledByReleasesThatKnowIt) {
  using perf::Kernel;
  const std::tuple<Kernel, unsigned, int> cases[] = {
      {Kernel::v6_12, 2, EINVAL}, {Kernel::v6_12, 3, EOPNOTSUPP}, {Kernel::v7_1, 2, 0}, {Kernel::v7_1, 3, 0}};
  for (const auto& [kernel, level, wanted] : cases) {
    Machine machine(model_with_skid("cannonlake", 0), {.kernel = kernel});
    perf::Attr attr = hardware(perf::HardwareId::cpu_cycles, 1000);
    attr.precise_ip = level & 3;
    machine.opened(attr);
    EXPECT_EQ(machine.refused_with, wanted) << machine.refusal;
  }
}

TEST(PreciseFixedEvents, AreRefusedWithoutPebsOnFixedCounters) {
  perf::Attr attr = hardware(perf::HardwareId::ref_cycles, 1000);
  attr.precise_ip = 1;
  for (const char* const model : {"sandybridge", "haswell", "skylake"}) {
    Machine machine(model_with_skid(model, 0));
    machine.opened(attr);
    EXPECT_EQ(machine.refused_with, EINVAL) << model;
    EXPECT_EQ(machine.refusal, "precise_ip: PEBS of this CPU does not cover fixed counters");
  }
  Machine machine(model_with_skid("icelake", 0));
  machine.opened(attr);
  EXPECT_EQ(machine.refused_with, 0) << machine.refusal;
}

}  // namespace
}  // namespace pmusim::driver
