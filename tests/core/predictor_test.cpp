// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <functional>

#include "core/branch_unit.h"
#include "core/direction_predictor.h"
#include "pmusim/base/types.h"
#include "tests/core/program.h"

namespace pmusim {
namespace {

DirectionPredictor predictor(const std::string& name) { return DirectionPredictor::by_name(name).value(); }

// Mispredicts of the last `measured` of `total` outcomes of one branch.
unsigned misses(DirectionPredictor p, unsigned total, unsigned measured,
                const std::function<bool(unsigned)>& outcome) {
  unsigned wrong = 0;
  for (unsigned n = 0; n < total; ++n) {
    const bool right = p.train(0x401000, outcome(n)) == outcome(n);
    if (n >= total - measured && !right) ++wrong;
  }
  return wrong;
}

TEST(DirectionPredictor, EveryKindLearnsABias) {
  for (const char* name : {"bimodal", "gshare", "tage"})
    EXPECT_EQ(misses(predictor(name), 200, 100, [](unsigned) { return true; }), 0u) << name;
}

TEST(DirectionPredictor, OnlyHistoryLearnsToAlternate) {
  const auto alternate = [](unsigned n) { return n % 2 == 0; };
  EXPECT_GE(misses(predictor("bimodal"), 2000, 1000, alternate), 500u);
  EXPECT_EQ(misses(predictor("gshare"), 2000, 1000, alternate), 0u);
  EXPECT_EQ(misses(predictor("tage"), 2000, 1000, alternate), 0u);
}

TEST(DirectionPredictor, TageLearnsTheTripCountOfALongLoop) {
  const auto loop_of_100 = [](unsigned n) { return n % 100 != 99; };
  EXPECT_EQ(misses(predictor("bimodal"), 4000, 2000, loop_of_100), 20u);
  EXPECT_EQ(misses(predictor("tage"), 4000, 2000, loop_of_100), 0u);
}

// The branches workload (examples/workloads/branches.c): three branches on random bits per round, of which
// the third repeats the second the other way round.
TEST(DirectionPredictor, TageKnowsABranchFixedByAnEarlierOne) {
  DirectionPredictor tage = predictor("tage"), bimodal = predictor("bimodal");
  unsigned wrong_tage = 0, wrong_bimodal = 0, wrong_random = 0;
  u64 s = 0x9e3779b97f4a7c16;
  const auto lfsr = [](u64 v) { return v >> 1 ^ (-(v & 1) & 0xd800000000000000); };
  const auto train_both = [&](u64 ip, bool taken) {
    const bool other = bimodal.train(ip, taken);
    return std::pair(tage.train(ip, taken) != taken, other != taken);
  };
  for (int round = 0; round < 20000; ++round) {
    train_both(0x401100, (s & 1) == 0);
    s = lfsr(s);
    train_both(0x401110, true);  // the block that is never run
    const bool odd = (s & 1) != 0;
    const bool random = train_both(0x401120, odd).first;
    const auto [by_tage, by_bimodal] = train_both(0x401130, !odd);
    s = lfsr(s);
    train_both(0x401140, true);  // the loop
    if (round < 10000) continue;
    wrong_random += random;
    wrong_tage += by_tage;
    wrong_bimodal += by_bimodal;
  }
  EXPECT_LE(wrong_tage, 100u);                    // 1 % of 10000
  EXPECT_NEAR(wrong_bimodal / 10000., 0.5, 0.1);  // as two random bits give
  EXPECT_NEAR(wrong_random / 10000., 0.5, 0.1);
}

// Miss rates of the two loops of examples/workloads/mispredict.c, of all branches.
struct Rates {
  double loop1, loop2;
};
Rates mispredict_workload(DirectionPredictor p, unsigned elements, unsigned passes) {
  u64 state = 0x2545f4914f6cdd1d;
  std::vector<unsigned> data(elements);
  for (unsigned& value : data) {
    state ^= state >> 12;
    state ^= state << 25;
    state ^= state >> 27;
    value = static_cast<unsigned>((state * 0x2545f4914f6cdd1d) >> 33) % 256;
  }
  const auto scan = [&](u64 ip, unsigned limit) {
    unsigned branches = 0, wrong = 0;
    const auto train = [&](u64 at, bool taken) {
      ++branches;
      wrong += p.train(at, taken) != taken;
    };
    for (unsigned pass = 0; pass < passes; ++pass) {
      for (unsigned n = 0; n < elements; ++n) {
        train(ip, data[n] < limit);
        train(ip + 0x30, n + 1 < elements);
      }
    }
    return 100. * wrong / branches;
  };
  return {scan(0x401200, 64), scan(0x401280, 128)};
}

// Published: about 11 and 21 % (docs/core-model.md).
TEST(DirectionPredictor, TageMissesRandomDataAsOftenAsPublished) {
  for (const unsigned elements : {4096u, 8192u, 32768u}) {
    for (const unsigned passes : {2u, 8u}) {
      const Rates rates = mispredict_workload(predictor("tage"), elements, passes);
      EXPECT_GT(rates.loop1, 8) << elements << " x " << passes;
      EXPECT_LT(rates.loop1, 16) << elements << " x " << passes;
      EXPECT_GT(rates.loop2, 18) << elements << " x " << passes;
      EXPECT_LT(rates.loop2, 27) << elements << " x " << passes;
    }
  }
}

// Computed elsewhere: a two-bit counter per branch, 4096 elements: 15.6 and 24.7 %.
// A random branch, others that always go one way, and a branch that does what the random one did.
unsigned misses_behind(const Tage::Shape& shape, unsigned others) {
  Tage tage(shape);
  u64 s = 0x9e3779b97f4a7c16;
  unsigned wrong = 0;
  constexpr unsigned rounds = 3000, measured = 1000;
  for (unsigned round = 0; round < rounds; ++round) {
    s = s >> 1 ^ (-(s & 1) & 0xd800000000000000);
    const bool random = (s & 1) != 0;
    tage.train(0x401000, random);
    for (unsigned n = 0; n < others; ++n) tage.train(0x402000 + 16 * n, n % 2 == 0);
    if (tage.train(0x403000, random) != random && round >= rounds - measured) ++wrong;
  }
  return wrong;
}

TEST(DirectionPredictor, TageSeesAsFarBackAsItsLongestHistory) {
  const Tage::Shape shorter{}, longer{.tables = 6, .entries = 1024, .longest_history = 194};
  EXPECT_LT(misses_behind(shorter, 20), 50u);
  EXPECT_GT(misses_behind(shorter, 100), 350u);
  EXPECT_LT(misses_behind(longer, 100), 50u);
  EXPECT_GT(misses_behind(longer, 220), 350u);
}

// Of a core and the one before it: no vendor says sizes, but histories have become longer.
TEST(DirectionPredictor, NewerCoresSeeFartherBack) {
  unsigned before = 0;
  for (const char* const name : {"core2", "nehalem", "sandybridge", "goldencove"}) {
    const unsigned history = find_cpu_model(name)->core.predictor_history;
    EXPECT_GT(history, before) << name;
    before = history;
  }
}

TEST(DirectionPredictor, BimodalMissesRandomDataAsMeasured) {
  const Rates rates = mispredict_workload(predictor("bimodal"), 4096, 50);
  EXPECT_NEAR(rates.loop1, 15.6, 0.1);
  EXPECT_NEAR(rates.loop2, 24.7, 0.1);
}

TEST(DirectionPredictor, ACopyGoesItsOwnWay) {
  DirectionPredictor trained = predictor("tage");
  for (int n = 0; n < 100; ++n) trained.train(0x401000, true);
  DirectionPredictor copy = trained;
  for (int n = 0; n < 100; ++n) copy.train(0x401000, false);
  EXPECT_TRUE(trained.train(0x401000, true));
  EXPECT_FALSE(copy.train(0x401000, true));
}

TEST(DirectionPredictor, AnUnknownNameIsAnError) { EXPECT_FALSE(DirectionPredictor::by_name("").ok()); }

BranchUnit unit(CoreParameters parameters = {}) { return BranchUnit::create(parameters).value(); }

x86::Instruction at(u64 ip, BranchKind kind, u64 target = 0) {
  x86::Instruction made = test::branch(kind, target);
  made.ip = ip;
  return made;
}

TEST(BranchUnit, ADirectJumpIsNewOnceAndThenKnown) {
  BranchUnit branches = unit();
  const x86::Instruction jump = at(0x1000, BranchKind::direct_jump, 0x2000);
  EXPECT_EQ(branches.resolve(jump, true, 0x2000), Prediction::resteer);
  EXPECT_EQ(branches.resolve(jump, true, 0x2000), Prediction::right);
}

TEST(BranchUnit, AnIndirectCallFollowsThePathThatLeadsToIt) {
  BranchUnit branches = unit();
  const x86::Instruction call = at(0x3000, BranchKind::indirect_call);
  unsigned wrong = 0;
  for (unsigned n = 0; n < 400; ++n) {
    const u64 target = n % 2 == 0 ? 0x5000 : 0x6000;
    branches.resolve(at(0x1000 + n % 2 * 0x100, BranchKind::direct_jump), true, 0x2000 + n % 2 * 0x40);
    if (branches.resolve(call, true, target) == Prediction::wrong && n >= 200) ++wrong;
  }
  EXPECT_EQ(wrong, 0u);
}

TEST(BranchUnit, CallsBeyondTheReturnStackLoseTheOldestReturns) {
  CoreParameters parameters;
  parameters.return_stack_entries = 4;
  BranchUnit branches = unit(parameters);
  for (u64 n = 0; n < 6; ++n) branches.resolve(at(0x1000 * (n + 1), BranchKind::direct_call), true, 0);
  unsigned right = 0;
  for (u64 n = 6; n-- > 0;)
    right += branches.resolve(at(0x9000, BranchKind::near_return), true, 0x1000 * (n + 1) + 2) ==
             Prediction::right;
  EXPECT_EQ(right, 4u);
}

TEST(BranchUnit, FarBranchesAreNotPredicted) {
  BranchUnit branches = unit();
  EXPECT_EQ(branches.resolve(at(0x1000, BranchKind::far_jump), true, 0x2000), Prediction::right);
}

}  // namespace
}  // namespace pmusim
