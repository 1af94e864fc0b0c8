// SPDX-License-Identifier: MIT
// The published experiment (docs/acr.md), scaled: two loops of which only the second misses more than a fifth
// of its branches, on hardware with no latency between overflow and handler. All counts were worked out
// beforehand.
#include <gtest/gtest.h>

#include <optional>

#include "machine.h"

namespace pmusim::driver {
namespace {

using perf::HardwareId;

class SplitMix64 {
 public:
  u64 operator()() {
    u64 z = state_ += 0x9E3779B97F4A7C15;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EB;
    return z ^ (z >> 31);
  }

 private:
  u64 state_ = 1;
};

constexpr u64 iterations = 500'000;  // of each loop

/// Draws below this are misses of the data branch, of which there is one beside each loop branch.
constexpr u64 miss_limit(u64 percent_of_all_branches) { return 2 * percent_of_all_branches * bit(24) / 100; }

struct Recipe {
  const char* name;
  u64 miss_period, branch_period;
  u64 miss_mask, branch_mask;
  std::array<u64, 2> miss_samples, branch_samples;  // per loop
  std::optional<u64> ties =
      std::nullopt;  // both overflow at one branch: an interrupt, but no period has elapsed
};
void PrintTo(const Recipe& recipe, std::ostream* out) { *out << recipe.name; }

class AcrGolden : public testing::TestWithParam<Recipe> {};

TEST_P(AcrGolden, SamplesPerLoopAndEventAreThoseOfTheReference) {
  const Recipe& recipe = GetParam();
  Machine machine(model_with_skid("skymont", 0));
  perf::Attr miss_attr = hardware(HardwareId::branch_misses, recipe.miss_period);
  perf::Attr branch_attr = hardware(HardwareId::branch_instructions, recipe.branch_period);
  miss_attr.config2 = recipe.miss_mask;
  branch_attr.config2 = recipe.branch_mask;
  perf::Event& misses = machine.opened(miss_attr);
  machine.opened(branch_attr, &misses);
  ASSERT_TRUE(machine.schedule(misses)) << machine.refusal;

  std::array<u64, 2> miss_samples{}, branch_samples{}, missed{};
  std::size_t loop = 0;
  machine.sink.tell = [&](perf::Event& event, const perf::SampleData&, const InterruptFrame&) {
    ++(&event == &misses ? miss_samples : branch_samples)[loop];
  };
  SplitMix64 random;
  for (loop = 0; loop < 2; ++loop) {
    for (u64 i = 0; i < iterations; ++i) {
      const bool miss = (random() >> 40) < miss_limit(loop == 0 ? 11 : 21);
      missed[loop] += miss ? 1 : 0;
      machine.instruction(miss ? SignalSet{Signal::instruction, Signal::branch, Signal::mispredicted}
                               : SignalSet{Signal::instruction, Signal::branch});
      machine.instruction({Signal::instruction, Signal::branch});
    }
    machine.idle();
  }
  machine.unschedule(misses);

  EXPECT_EQ(missed, (std::array<u64, 2>{109'605, 209'872}));
  EXPECT_EQ(miss_samples, recipe.miss_samples);
  EXPECT_EQ(branch_samples, recipe.branch_samples);
  const u64 without_sample = machine.driver.statistics().interrupts - miss_samples[1];
  EXPECT_EQ(recipe.ties.value_or(without_sample), without_sample);
  EXPECT_EQ(describe(machine.driver.statistics().faults), "");
  EXPECT_EQ(machine.driver.statistics().unhandled_interrupts, 0u);
}

INSTANTIATE_TEST_SUITE_P(
    Reference, AcrGolden,
    testing::Values(Recipe{"traditional", 10'000, 10'000, 0, 0, {10, 21}, {100, 100}},
                    Recipe{"percent20_2000_10000", 2000, 10'000, 2, 3, {0, 104}, {0, 0}},
                    Recipe{"percent20_200_1000", 200, 1000, 2, 3, {0, 867}, {0, 0}, 13},
                    Recipe{"percent15", 1500, 10'000, 2, 3, {0, 139}, {0, 0}},
                    Recipe{"percent10", 1000, 10'000, 2, 3, {109, 210}, {0, 0}},
                    Recipe{"percent25", 2500, 10'000, 2, 3, {0, 0}, {0, 0}},
                    Recipe{"missesNeverReloaded", 2000, 10'000, 0, 3, {54, 105}, {0, 0}},
                    Recipe{"branchesNotSelfReloading", 2000, 10'000, 2, 1, {0, 104}, {100, 0}},
                    Recipe{"bothSelfReloading33", 2000, 10'000, 3, 3, {0, 0}, {0, 0}},
                    Recipe{"bothSelfReloading12", 2000, 10'000, 1, 2, {0, 0}, {0, 0}}),
    [](const auto& row) { return row.param.name; });

}  // namespace
}  // namespace pmusim::driver
