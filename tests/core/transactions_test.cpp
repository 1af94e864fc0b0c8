// SPDX-License-Identifier: MIT
// Transactions as a trace has them, and what ends them (SDM vol. 1, 16.3).
#include <gtest/gtest.h>

#include "tests/core/code.h"
#include "tests/core/program.h"

namespace pmusim::transactions_test {
namespace {

using namespace test;

constexpr u64 text = 0x400000, data = 0x10000000, fallback = text + 0x100;

const trace::Block begins = code(text, {0xC7, 0xF8, 0xFA, 0x00, 0x00, 0x00});  // xbegin fallback
const trace::Block stores = code(text + 6, {0x89, 0x07});                      // mov [rdi], eax
const trace::Block commits = code(text + 8, {0x0F, 0x01, 0xD5});               // xend
const trace::Block explicitly = code(text + 8, {0xC6, 0xF8, 0x01});            // xabort 1
const trace::Block asks = code(text + 8, {0x0F, 0xA2});                        // cpuid

CpuModel with_rtm() { return find_cpu_model("skylake").value(); }

std::vector<TxState> states(const std::vector<Seen>& seen) {
  std::vector<TxState> all;
  for (const Seen& each : seen) all.push_back(each.tx);
  return all;
}

TEST(Transactions, ReachFromBehindXbeginToXend) {
  Core core = make_core(with_rtm());
  const Seen begun = run(core, begins).back(), stored = run(core, stores, {data}).back();
  const Seen committed = run(core, commits).back(), after = run(core, stores, {data}).back();
  EXPECT_EQ(states({begun, stored, committed, after}),
            (std::vector{TxState::none, TxState::in_tx, TxState::in_tx, TxState::none}));
  EXPECT_TRUE(begun.signals.has(Signal::tx_start));
  EXPECT_TRUE(committed.signals.has(Signal::tx_commit));
}

TEST(Transactions, AreNotThereWithoutRtm) {
  Core core = make_core(find_cpu_model("nehalem").value());
  run(core, begins);
  EXPECT_EQ(run(core, stores, {data}).back().tx, TxState::none);
}

// The instruction, and behind it the abort: to the fallback path.
TEST(Transactions, EndWithAnAbortForAReason) {
  struct End {
    const trace::Block& block;
    Signal reason;
  };
  for (const End& end :
       {End{explicitly, Signal::tx_abort_explicit}, End{asks, Signal::tx_abort_unfriendly}}) {
    Core core = make_core(with_rtm());
    run(core, begins);
    const std::vector<Seen> seen = run(core, end.block);
    ASSERT_EQ(states(seen), (std::vector{TxState::in_tx, TxState::aborting}));
    EXPECT_EQ(seen[1].signals, (SignalSet{Signal::tx_abort, end.reason}));
    EXPECT_EQ(seen[1].branch, BranchKind::tsx_abort);
    EXPECT_EQ(seen[1].ip, end.block.start());
    EXPECT_EQ(seen[1].next_ip, fallback);
    EXPECT_FALSE(run(core, commits).back().signals.has(Signal::tx_commit)) << "nothing is left to commit";
  }
}

TEST(Transactions, AbortWhereTheTraceGoesToTheFallbackPath) {
  Core core = make_core(with_rtm());
  const std::vector<Seen> at_once = run(core, begins, {}, fallback);
  ASSERT_EQ(at_once.size(), 2u);
  EXPECT_TRUE(at_once[1].signals.has(Signal::tx_abort_event));
  run(core, begins);
  EXPECT_EQ(run(core, stores, {data}, fallback).size(), 2u);
  EXPECT_EQ(run(core, stores, {data}).back().tx, TxState::none);
}

// 8 ways of 64 sets: the ninth line of a set cannot be held back.
TEST(Transactions, HoldBackNoMoreLinesThanL1HasWays) {
  Core core = make_core(with_rtm());
  run(core, begins);
  for (u64 way = 0; way < 8; ++way) EXPECT_EQ(run(core, stores, {data + way * 4096}).size(), 1u) << way;
  EXPECT_EQ(run(core, stores, {data + 64}).size(), 1u) << "another set";
  const std::vector<Seen> ninth = run(core, stores, {data + 8 * 4096});
  ASSERT_EQ(ninth.size(), 2u);
  EXPECT_TRUE(ninth[1].signals.has(Signal::tx_abort_capacity));
}

TEST(Transactions, ConflictAsOftenAsThePolicySays) {
  CpuModel model = with_rtm();
  model.policies.tx_conflict_every = 3;
  Core core = make_core(model);
  std::vector<std::size_t> retired;
  for (int n = 0; n < 6; ++n) {
    run(core, begins);
    retired.push_back(run(core, stores, {data}).size());
    run(core, commits);
  }
  EXPECT_EQ(retired, (std::vector<std::size_t>{1, 1, 2, 1, 1, 2}));
}

TEST(Transactions, WithinAnotherOneArePartOfIt) {
  Core core = make_core(with_rtm());
  run(core, begins);
  EXPECT_FALSE(run(core, begins).back().signals.has(Signal::tx_start));
  EXPECT_FALSE(run(core, commits).back().signals.has(Signal::tx_commit));
  EXPECT_EQ(run(core, stores, {data}).back().tx, TxState::in_tx);
  EXPECT_TRUE(run(core, commits).back().signals.has(Signal::tx_commit));
}

TEST(Transactions, AreAbortedByInterrupts) {
  Core core = make_core(with_rtm());
  run(core, begins);
  core.interrupt();
  const std::vector<Seen> seen = run(core, stores, {data});
  ASSERT_EQ(seen.size(), 2u);
  EXPECT_TRUE(seen[1].signals.has(Signal::tx_abort_event));
}

}  // namespace
}  // namespace pmusim::transactions_test
