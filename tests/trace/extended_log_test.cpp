// SPDX-License-Identifier: MIT
// What a recorder writes down of an instruction that changed extended registers.
#include "trace/extended_log.h"

#include <gtest/gtest.h>

#include "tests/trace/random_extended.h"

namespace pmusim::trace::extended_log_test {
namespace {

using enum StateComponent;

struct Write {
  StateComponent component;
  std::size_t first, count;
  friend bool operator==(const Write&, const Write&) = default;
};

std::vector<Write> writes_of(const ExtendedState& before, const ExtendedState& after) {
  ExtendedLog log;
  log.begin(before);
  log.add(0, before, after);
  BlockRun run;
  log.describe(run);
  std::vector<Write> writes;
  for (const InstructionChange& change : run.extended_changes)
    for (const ExtendedWrite& write : change.change.writes)
      writes.push_back({write.component, write.first, write.values.size()});
  return writes;
}

ExtendedState with(ExtendedState state, StateComponent c, std::size_t qword) {
  state.write(c, qword, {state.component(c)[qword] + 1});
  return state;
}

/// Registers of one size in a component: so many qwords each, from `first` on.
struct Registers {
  StateComponent component;
  std::size_t first, count, qwords;
};
// SDM vol. 1, 13.4 and 13.5; of x87, FCW to FDP change together.
constexpr Registers registers_of_components[] = {
    {x87, 0, 1, 3},     {x87, 3, 8, 2},    {sse, 0, 16, 2},    {sse, 32, 1, 1},       {avx, 0, 16, 2},
    {bndregs, 0, 4, 2}, {bndcsr, 0, 8, 1}, {opmask, 0, 8, 1},  {zmm_hi256, 0, 16, 4}, {hi16_zmm, 0, 16, 8},
    {pkru, 0, 1, 1},    {cet_u, 0, 2, 1},  {tilecfg, 0, 1, 8}, {tiledata, 0, 8, 128}, {apx, 0, 16, 1},
};

// So that an instruction names the same qwords whatever it computes.
TEST(ExtendedLog, AChangeWithinARegisterIsAWriteOfAllOfIt) {
  for (const Registers& row : registers_of_components)
    for (std::size_t r = 0; r < row.count; ++r) {
      const std::size_t first = row.first + r * row.qwords;
      for (std::size_t q = first; q < first + row.qwords; ++q)
        EXPECT_EQ(writes_of({}, with({}, row.component, q)),
                  (std::vector<Write>{{row.component, first, row.qwords}}))
            << static_cast<int>(row.component) << " " << q;
    }
}

TEST(ExtendedLog, RegistersSideBySideAreOneWriteAndOthersAreNot) {
  const ExtendedState two = with(with({}, sse, 5), sse, 6), apart = with(with({}, sse, 5), sse, 8);
  EXPECT_EQ(writes_of({}, two), (std::vector<Write>{{sse, 4, 4}}));
  EXPECT_EQ(writes_of({}, apart), (std::vector<Write>{{sse, 4, 2}, {sse, 8, 2}}));
  const ExtendedState last = with(with({}, hi16_zmm, 127), avx, 31);
  EXPECT_EQ(writes_of({}, last), (std::vector<Write>{{avx, 30, 2}, {hi16_zmm, 120, 8}}));
}

// XRSTOR and VZEROUPPER do that; MXCSR does not go with the component.
TEST(ExtendedLog, AComponentThatLeavesUseNeedsNoWriteButMxcsr) {
  for (const StateComponent c : {x87, sse, avx, opmask, hi16_zmm, tiledata}) {
    const ExtendedState before = with({}, c, 1);
    ExtendedState after = before;
    after.set_in_use(0);
    EXPECT_TRUE(writes_of(before, after).empty()) << static_cast<int>(c);
    if (c != sse) continue;
    after.set_mxcsr(0x1FA0);
    EXPECT_EQ(writes_of(before, after), (std::vector<Write>{{sse, 32, 1}}));
  }
}

TEST(ExtendedLog, AppliedToWhatWasBeforeItGivesWhatIsAfter) {
  std::mt19937_64 random(5);
  ExtendedLog log;  // of one block after the other
  ExtendedState now;
  for (int block = 0; block < 100; ++block) {
    std::vector<ExtendedState> after;
    log.begin(now);
    const ExtendedState before = now;
    for (u32 n = 0; n < 5; ++n) {
      const ExtendedState next = changed(now, random);
      log.add(n, now, next);
      after.push_back(now = next);
    }
    BlockRun run;
    log.describe(run);
    ASSERT_EQ(*run.extended, before);
    ExtendedState applied = *run.extended;
    auto change = run.extended_changes.begin();
    for (u32 n = 0; n < 5; ++n) {
      if (change != run.extended_changes.end() && change->instruction == n)
        (change++)->change.apply_to(applied);
      ASSERT_EQ(applied, after[n]) << block << " " << n;
    }
    EXPECT_EQ(change, run.extended_changes.end());
    log.clear();
  }
}

}  // namespace
}  // namespace pmusim::trace::extended_log_test
