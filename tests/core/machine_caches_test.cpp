// SPDX-License-Identifier: MIT
// The caches of a machine's cores: shared L3s, and MESIF between what is not shared.
#include "core/machine_caches.h"

#include <gtest/gtest.h>

#include <deque>
#include <map>
#include <random>

#include "core/memory_hierarchy.h"

namespace pmusim::test::machine_caches_test {
namespace {

using State = MachineCaches::State;

CoreParameters small_caches() {
  CoreParameters p;
  p.l1d = {1024, 2, 64, 5};
  p.l1i = {1024, 2, 64, 4};
  p.l2 = {4096, 4, 64, 14};
  p.l3 = {12 * 1024, 3, 64, 42};
  p.memory_latency_cycles = 200;
  p.snoop_cycles = 10;
  p.modified_snoop_cycles = 20;
  p.remote_cycles = 100;
  return p;
}

/// Modules of so many cores.
CoreParameters small_modules(unsigned cores, unsigned transfers = 0) {
  CoreParameters p = small_caches();
  p.l2_cores = cores;
  p.l2_transfers = transfers;
  return p;
}

/// Cores of one or two packages, which take turns.
struct Cores {
  explicit Cores(unsigned count, unsigned packages = 1, const CoreParameters& parameters = small_caches()) {
    for (unsigned n = 0; n < count; ++n) cores.emplace_back(parameters);
    for (unsigned n = 0; n < count; ++n)
      cores[n].join(machine, {package_of(n, count, packages), n / parameters.l2_cores});
  }
  static unsigned package_of(unsigned core, unsigned count, unsigned packages) {
    return core * packages / count;
  }
  MemoryHierarchy::Answer access(unsigned core, u64 address, AccessKind kind) {
    Quantities quantities{};
    const u64 begin = now += 10'000;  // nothing is under way
    auto answer = cores[core].access({.address = address, .kind = kind, .cycle = begin}, quantities);
    answer.ready_cycle -= begin;
    return answer;
  }
  MemoryHierarchy::Answer load(unsigned core, u64 address) { return access(core, address, AccessKind::load); }
  MemoryHierarchy::Answer store(unsigned core, u64 address) {
    return access(core, address, AccessKind::store);
  }
  MachineCaches machine{StartState::cold};
  std::deque<MemoryHierarchy> cores;
  u64 now = 0;
};

/// MESIF with a table of states: what is dropped is invalid from then on.
class NaiveStates {
 public:
  NaiveStates(Cores& cores, u64 line) : cores_(cores), line_(line) {}
  State& of(unsigned core) { return states_[core]; }
  void drop_what_caches_dropped() {
    for (unsigned n = 0; n < cores_.cores.size(); ++n)
      if (!cores_.cores[n].holds(line_)) of(n) = State::invalid;
  }
  void access(unsigned core, AccessKind kind) {
    if (kind == AccessKind::store) {
      for (unsigned n = 0; n < cores_.cores.size(); ++n) of(n) = State::invalid;
      of(core) = State::modified;
      return;
    }
    if (of(core) != State::invalid) return;
    bool others = false;
    for (unsigned n = 0; n < cores_.cores.size(); ++n) {
      if (of(n) == State::invalid) continue;
      of(n) = State::shared;
      others = true;
    }
    of(core) = others ? State::forward : State::exclusive;
  }
  Snoop expected_of_load(unsigned core) {
    if (of(core) != State::invalid) return Snoop::none;
    for (unsigned n = 0; n < cores_.cores.size(); ++n)
      if (of(n) == State::modified) return Snoop::modified;
    return Snoop::none;  // or another that is not modified
  }

 private:
  Cores& cores_;
  u64 line_;
  std::map<unsigned, State> states_;
};

void check_states(Cores& all, NaiveStates& naive, u64 line) {
  unsigned writers = 0, holders = 0;
  for (unsigned n = 0; n < all.cores.size(); ++n) {
    const State state = all.machine.state(n, line);
    ASSERT_EQ(state, naive.of(n)) << "core " << n << " line " << line;
    holders += state != State::invalid;
    writers += state == State::modified || state == State::exclusive;
  }
  ASSERT_TRUE(writers == 0 || holders == 1) << "line " << line;
}

void race_naive_states(unsigned count, unsigned packages, u64 lines, std::mt19937_64& random) {
  Cores all(count, packages);
  std::map<u64, NaiveStates> naive;
  for (int n = 0; n < 3000; ++n) {
    const u64 line = random() % lines;
    const auto core = static_cast<unsigned>(random() % count);
    const AccessKind kind = random() % 3 == 0 ? AccessKind::store : AccessKind::load;
    NaiveStates& states = naive.try_emplace(line, all, line).first->second;
    states.drop_what_caches_dropped();
    const Snoop expected = states.expected_of_load(core);
    const auto answer = all.access(core, line * 64 + random() % 64, kind);
    // Another package can also have the line from L3, written back.
    if (kind == AccessKind::load && (expected == Snoop::modified || !answer.remote)) {
      ASSERT_EQ(answer.snoop == Snoop::modified, expected == Snoop::modified) << "access " << n;
    }
    states.access(core, kind);
    states.drop_what_caches_dropped();
    ASSERT_NO_FATAL_FAILURE(check_states(all, states, line)) << "access " << n;
  }
}

TEST(MachineCaches, StatesAreThoseOfANaiveModel) {
  std::mt19937_64 random(1);
  for (unsigned count = 2; count <= 8; ++count)
    for (const unsigned packages : {1, 2})
      for (const u64 lines : {3, 40, 400})
        ASSERT_NO_FATAL_FAILURE(race_naive_states(count, packages, lines, random))
            << count << " cores, " << lines << " lines";
}

/// The same by modules, each with an L2: which of them have a line, and whose L1 alone has what was written.
class NaiveModules {
 public:
  NaiveModules(Cores& cores, u64 line, unsigned module_cores, bool transfers)
      : cores_(cores), line_(line), size_(module_cores), transfers_(transfers) {}

  State state(unsigned module) { return states_[module]; }
  bool in_l1(unsigned core) const { return cores_.cores[core].holds_in_l1(line_); }
  void drop_what_caches_dropped() {
    for (auto& [module, state] : states_) {
      bool has = cores_.cores[module * size_].holds_in_l2(line_);
      for (unsigned n = 0; n < size_; ++n) has = has || in_l1(module * size_ + n);
      if (!has) state = State::invalid;
    }
    if (writer_ && !in_l1(*writer_)) writer_.reset();
  }
  /// Where a load finds the line, as far as it is in the module.
  struct Expected {
    std::optional<CacheLevel> level;
    bool modified = false;
  };
  Expected load(unsigned core) {
    const unsigned module = core / size_;
    if (in_l1(core)) return {CacheLevel::l1};
    if (cores_.cores[core].holds_in_l2(line_)) {
      if (!writer_) return {CacheLevel::l2};
      if (!transfers_) states_[module] = State::forward;
      writer_.reset();
      return {transfers_ ? CacheLevel::l2 : CacheLevel::l3, true};
    }
    Expected expected;
    bool others = false;
    for (auto& [number, state] : states_) {
      expected.modified = expected.modified || (state == State::modified && is_dirty(number));
      others = others || state != State::invalid;
      if (state != State::invalid) state = State::shared;
    }
    states_[module] = others ? State::forward : State::exclusive;
    writer_.reset();
    return expected;
  }
  void store(unsigned core) {
    for (auto& [number, state] : states_) state = State::invalid;
    states_[core / size_] = State::modified;
    writer_ = core;
  }
  /// Whether a store to a line that L1 has asks others.
  std::optional<CacheLevel> asks(unsigned core) {
    const State state = states_[core / size_];
    if (state != State::exclusive && state != State::modified) return CacheLevel::l3;
    for (unsigned n = 0; n < size_; ++n)
      if (const unsigned other = core / size_ * size_ + n; other != core && in_l1(other))
        return CacheLevel::l2;
    return std::nullopt;
  }

 private:
  /// It has not been written back.
  bool is_dirty(unsigned module) const {
    return (writer_ && in_l1(*writer_)) || cores_.cores[module * size_].holds_in_l2(line_);
  }

  Cores& cores_;
  u64 line_;
  unsigned size_;
  bool transfers_;
  std::map<unsigned, State> states_;
  std::optional<unsigned> writer_;
};

void check_modules(Cores& all, NaiveModules& naive, u64 line, unsigned size) {
  const auto count = static_cast<unsigned>(all.cores.size());
  for (unsigned module = 0; module < count / size; ++module) {
    State state = State::invalid;
    for (unsigned n = module * size; n < (module + 1) * size; ++n)
      state = std::max(state, all.machine.state(n, line));
    ASSERT_EQ(state, naive.state(module)) << "module " << module;
  }
}

void race_naive_modules(unsigned modules, unsigned size, bool transfers, u64 lines, std::mt19937_64& random) {
  const unsigned packages = modules % 2 == 0 ? 1 + random() % 2 : 1, count = modules * size;
  Cores all(count, packages, small_modules(size, transfers));
  std::map<u64, NaiveModules> naive;
  for (int n = 0; n < 3000; ++n) {
    const u64 line = random() % lines;
    const auto core = static_cast<unsigned>(random() % count);
    NaiveModules& states = naive.try_emplace(line, all, line, size, transfers).first->second;
    states.drop_what_caches_dropped();
    const bool stores = random() % 3 == 0, was_in_l1 = states.in_l1(core);
    const auto asks = states.asks(core);
    const auto expected = states.load(core);
    const auto answer = all.access(core, line * 64, stores ? AccessKind::store : AccessKind::load);
    if (!stores) {
      if (expected.level) {
        ASSERT_EQ(answer.level, *expected.level) << "access " << n;
      }
      if (expected.modified || !answer.remote) {
        ASSERT_EQ(answer.snoop == Snoop::modified, expected.modified) << "access " << n;
      }
    } else {
      if (was_in_l1) {
        ASSERT_EQ(answer.level, asks.value_or(CacheLevel::l1)) << "access " << n;
      }
      states.store(core);
      for (unsigned other = 0; other < count; ++other) ASSERT_TRUE(other == core || !states.in_l1(other));
    }
    states.drop_what_caches_dropped();
    ASSERT_NO_FATAL_FAILURE(check_modules(all, states, line, size)) << "access " << n;
  }
}

TEST(MachineCaches, ModulesHaveTheStatesOfANaiveModel) {
  std::mt19937_64 random(2);
  for (const unsigned size : {2, 4})
    for (unsigned modules = 1; modules <= 4; ++modules)
      for (const bool transfers : {false, true})
        for (const u64 lines : {3, 40, 400})
          ASSERT_NO_FATAL_FAILURE(race_naive_modules(modules, size, transfers, lines, random))
              << modules << " modules of " << size << ", " << lines << " lines";
}

TEST(MachineCaches, ALineThatOneCoreBroughtIsInTheL2OfItsModule) {
  Cores all(4, 1, small_modules(2));
  all.load(0, 0x1000);
  for (const unsigned core : {1u, 2u}) all.load(core, 0x2FC0);  // their TLBs
  EXPECT_EQ(all.load(1, 0x1000).level, CacheLevel::l2);
  EXPECT_EQ(all.load(1, 0x1000).level, CacheLevel::l1);
  EXPECT_EQ(all.load(2, 0x1000).level, CacheLevel::l3);
}

TEST(MachineCaches, CoresOfAModuleHaveOneL2sRoom) {
  Cores apart(2), together(2, 1, small_modules(2));
  const auto hits_of = [](Cores& all) {
    unsigned hits = 0;
    for (int round = 0; round < 2; ++round)
      for (u64 line = 0; line < 40; ++line)  // 64 lines fit into L2, 16 into L1D
        for (const unsigned core : {0u, 1u}) {
          const auto answer = all.load(core, (core * 0x100 + line) * 64);
          hits += round == 1 && answer.level <= CacheLevel::l2;
        }
    return hits;
  };
  EXPECT_EQ(hits_of(apart), 80u);
  EXPECT_LT(hits_of(together), 40u);
}

TEST(MachineCaches, AModifiedLineOfTheModuleComesByWayOfL3OrL2) {
  for (const bool transfers : {false, true}) {
    Cores all(2, 1, small_modules(2, transfers));
    all.load(1, 0x1FC0);  // its TLB
    all.store(0, 0x1000);
    const auto answer = all.load(1, 0x1000);
    EXPECT_EQ(answer.level, transfers ? CacheLevel::l2 : CacheLevel::l3);
    EXPECT_EQ(answer.snoop, Snoop::modified);
    EXPECT_EQ(answer.ready_cycle, (transfers ? 14 : 42) + 20u);
    EXPECT_EQ(all.load(0, 0x1000).level, CacheLevel::l1);
  }
}

TEST(MachineCaches, AStoreTakesTheLineFromTheOthersOfItsModule) {
  Cores all(4, 1, small_modules(2));
  all.load(0, 0x1000);
  all.load(1, 0x1000);
  const auto store = all.store(0, 0x1000);
  EXPECT_EQ(store.level, CacheLevel::l2);  // the module has it alone
  EXPECT_EQ(store.snoop, Snoop::hit);
  EXPECT_FALSE(all.cores[1].holds_in_l1(0x1000 / 64));
  EXPECT_TRUE(all.cores[1].holds_in_l2(0x1000 / 64));
  all.load(2, 0x1000);
  EXPECT_EQ(all.store(2, 0x1000).level, CacheLevel::l3);
  EXPECT_FALSE(all.cores[0].holds_in_l2(0x1000 / 64));
}

TEST(MachineCaches, WhatIsUnderWayToL2HasComeWhenAnotherCoreLooks) {
  Cores all(2, 1, small_modules(2));
  Quantities quantities{};
  all.cores[0].access({.address = 0x1000, .cycle = 1'000'000}, quantities);
  all.load(1, 0x1FC0);
  const auto answer = all.cores[1].access({.address = 0x1000, .cycle = 1000}, quantities);
  EXPECT_EQ(answer.level, CacheLevel::l2);
  EXPECT_EQ(answer.ready_cycle, 1000u + 14);
}

TEST(MachineCaches, AWarmModuleHasWhatItsCoresHad) {
  std::deque<MemoryHierarchy> cores(2, MemoryHierarchy(small_modules(2)));
  Quantities quantities{};
  MachineCaches machine(StartState::warm);
  for (u64 line = 0; line < 32; ++line)
    for (MemoryHierarchy& core : cores) core.access({.address = line * 64}, quantities);
  for (MemoryHierarchy& core : cores) {
    core.begin_again();
    core.join(machine, {0, 0});
  }
  for (u64 line = 0; line < 32; ++line) EXPECT_TRUE(cores[1].holds_in_l2(line)) << line;
  EXPECT_EQ(cores[0].access({.address = 0}, quantities).level, CacheLevel::l2);
}

TEST(MachineCaches, ALoadOfAModifiedLineIsAHitm) {
  Cores all(2);
  all.store(0, 0x1000);
  all.load(1, 0x2000);  // its TLB
  const auto answer = all.load(1, 0x1008);
  EXPECT_EQ(answer.level, CacheLevel::l3);
  EXPECT_EQ(answer.snoop, Snoop::modified);
  EXPECT_FALSE(answer.remote);
  EXPECT_EQ(all.load(1, 0x1010).level, CacheLevel::l1);
  EXPECT_EQ(all.load(0, 0x1010).level, CacheLevel::l1);  // whose copy is clean now
}

TEST(MachineCaches, LatenciesAreThoseOfWhoAnswers) {
  Cores all(4, 2);  // cores 0 and 1, 2 and 3
  for (unsigned core = 0; core < 4; ++core) all.load(core, 0x1FC0);
  const auto latency = [&](unsigned core, u64 address) { return all.load(core, address).ready_cycle; };
  EXPECT_EQ(latency(0, 0x1000), 200u);
  EXPECT_EQ(latency(1, 0x1000), 42 + 10u);   // exclusive, asked
  EXPECT_EQ(latency(2, 0x1000), 42 + 100u);  // of the other package
  EXPECT_EQ(latency(3, 0x1000), 42u);        // known to be clean
  all.store(0, 0x1040);
  EXPECT_EQ(latency(1, 0x1040), 42 + 20u);
  all.store(0, 0x1080);
  const auto remote = all.load(2, 0x1080);
  EXPECT_EQ(remote.ready_cycle, 42 + 100u);
  EXPECT_TRUE(remote.remote);
  EXPECT_EQ(remote.snoop, Snoop::modified);
}

TEST(MachineCaches, AStoreToASharedLineAsksForItAndOthersMiss) {
  Cores all(3);
  for (unsigned core = 0; core < 3; ++core) all.load(core, 0x1000);
  const auto upgrade = all.store(1, 0x1000);
  EXPECT_EQ(upgrade.level, CacheLevel::l3);
  EXPECT_EQ(upgrade.snoop, Snoop::hit);
  EXPECT_EQ(upgrade.ready_cycle, 42 + 10u);
  EXPECT_EQ(all.store(1, 0x1004).level, CacheLevel::l1);  // it has it now
  EXPECT_EQ(all.load(0, 0x1000).snoop, Snoop::modified);
  EXPECT_EQ(all.load(2, 0x1000).snoop, Snoop::none);  // L3 has it again, and knows it to be clean
}

TEST(MachineCaches, ADroppedLineIsAskedForInVain) {
  Cores all(2);
  all.load(0, 0x1000);
  all.load(1, 0x2FC0);
  all.cores[0].invalidate(0x1000 / 64);
  const auto answer = all.load(1, 0x1000);
  EXPECT_EQ(answer.level, CacheLevel::l3);
  EXPECT_EQ(answer.snoop, Snoop::miss);
}

TEST(MachineCaches, ALineThatWasWrittenBackIsNoHitm) {
  Cores all(2);
  all.store(0, 0x1000);
  all.cores[0].invalidate(0x1000 / 64);
  const auto answer = all.load(1, 0x1000);
  EXPECT_EQ(answer.level, CacheLevel::l3);
  EXPECT_EQ(answer.snoop, Snoop::none);
}

TEST(MachineCaches, ProcessesHaveLinesOfTheirOwn) {
  Cores all(2);
  all.machine.enter(100);
  all.store(0, 0x1000);
  all.machine.enter(200);
  EXPECT_EQ(all.load(1, 0x1000).level, CacheLevel::memory);
  all.machine.enter(100);
  EXPECT_EQ(all.machine.state(0, 0x1000 / 64), State::modified);
}

TEST(MachineCaches, AFlushedLineComesFromMemory) {
  Cores all(2);
  all.store(0, 0x1000);
  all.cores[1].flush(0x1000);
  EXPECT_EQ(all.machine.state(0, 0x1000 / 64), State::invalid);
  EXPECT_EQ(all.load(0, 0x1000).level, CacheLevel::memory);
}

TEST(MachineCaches, WarmCoresHaveCleanCopies) {
  std::deque<MemoryHierarchy> cores(2, MemoryHierarchy(small_caches()));
  Quantities quantities{};
  MachineCaches machine(StartState::warm);
  for (MemoryHierarchy& core : cores) {
    core.access({.address = 0x1000}, quantities);
    core.begin_again();
    core.join(machine, {0, static_cast<u32>(&core - &cores.front())});
  }
  EXPECT_EQ(cores[0].access({.address = 0x1000, .kind = AccessKind::store}, quantities).snoop, Snoop::hit);
  EXPECT_FALSE(cores[1].holds(0x1000 / 64));
}

TEST(MachineCaches, TheDirectoryIsBoundedByTheCaches) {
  Cores all(2);
  for (u64 line = 0; line < 20'000; ++line) all.load(line % 2, line * 64);
  const std::size_t cached = 2 * (16 + 64) + 192;  // L1D and L2 of each, L3
  EXPECT_LE(all.machine.directory_lines(), 2 * cached + 1);
}

}  // namespace
}  // namespace pmusim::test::machine_caches_test
