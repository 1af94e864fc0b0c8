// SPDX-License-Identifier: MIT
// The two threads of a core: what each has for itself, and what both have together (SDM vol. 3B, 20.3.1 and
// 20.3.2: AnyThread; errata and drivers for the rest).
#include <gmock/gmock.h>

#include <array>
#include <string>
#include <vector>

#include "pmusim/cpu/setup.h"
#include "pmusim/pmu/observer.h"
#include "pmusim/pmu/pmu.h"
#include "tests/support/dice.h"

namespace pmusim::smt_test {
namespace {

using namespace msr::evtsel;

Machine machine_of(std::string_view text) {
  Topology topology = *parse_machine(text);
  for (CpuModel& type : topology.types) type.policies.pmi_skid_cycles = 0;
  return Machine(topology);
}

void write(Pmu& cpu, u32 address, u64 value) {
  EXPECT_EQ(cpu.wrmsr(address, value), Fault::none) << std::hex << address;
}
u64 read(Pmu& cpu, u32 address) { return cpu.rdmsr(address).value_or(~u64{0}); }

void retire_at(Pmu& cpu, u64 cycle, Cpl cpl = Cpl::user) {
  cpu.retire({.ip = 0x401000,
              .next_ip = 0x401004,
              .cycle = cycle,
              .signals = {Signal::instruction},
              .length = 4,
              .cpl = cpl,
              .cpl_after = cpl});
}
/// An instruction in each cycle from now() on.
void run_until(Pmu& cpu, u64 cycle, Cpl cpl = Cpl::user) {
  while (cpu.now() < cycle) retire_at(cpu, cpu.now() + 1, cpl);
}
void halt_until(Pmu& cpu, u64 cycle) { cpu.halt_until(cycle, {.cpl = Cpl::kernel}); }

constexpr u64 cycles_event = 0x3C, instructions_event = 0xC0;

/// Counters 0 and 1: instructions and cycles of user mode.
void count(Pmu& cpu, u64 more = 0) {
  write(cpu, msr::PERFEVTSEL0, EN | USR | instructions_event | more);
  write(cpu, msr::PERFEVTSEL0 + 1, EN | USR | cycles_event | more);
  write(cpu, msr::FIXED_CTR_CTRL, more == ANY ? 0x666 : 0x222);
  write(cpu, msr::PERF_GLOBAL_CTRL, 0x7'0000'0003);
}

TEST(Smt, DividesTheCountersOfACoreUpToCometLake) {
  for (const char* model : {"sandybridge", "ivybridge", "haswell", "broadwell", "skylake", "cascadelake"}) {
    const std::string name(model);
    Machine on = machine_of(name + ":2c4t"), off = machine_of(name + ":2c");
    EXPECT_EQ(on.cpu(3).cpuid(0xA, 0).eax >> 8 & 0xFF, 4u) << name;
    EXPECT_EQ(off.cpu(1).cpuid(0xA, 0).eax >> 8 & 0xFF, 8u) << name;
    EXPECT_EQ(on.cpu(3).wrmsr(msr::PERFEVTSEL0 + 4, 0), Fault::gp) << name;
    EXPECT_EQ(on.cpu(3).wrmsr(msr::PERF_GLOBAL_CTRL, bit(4)), Fault::gp) << name;
    EXPECT_EQ(off.cpu(1).wrmsr(msr::PERFEVTSEL0 + 7, 0), Fault::none) << name;
    EXPECT_EQ(off.cpu(1).wrmsr(msr::PERF_GLOBAL_CTRL, 0xFF), Fault::none) << name;
  }
  for (const char* model : {"nehalem:2c", "nehalem:2c4t"})
    EXPECT_EQ(machine_of(model).cpu(0).cpuid(0xA, 0).eax >> 8 & 0xFF, 4u) << model;
  for (const char* model : {"icelake:2c", "icelake:2c4t", "alderlake:2p4t1e"})
    EXPECT_EQ(machine_of(model).cpu(0).model().gp_counters, 0xFFu) << model;
}

/// Scenario 25 of a list that was worked out by hand.
TEST(Smt, AnyCountsWhatEitherThreadDoes) {
  for (const char* model : {"nehalem", "westmere", "sandybridge", "haswell", "skylake"}) {
    Machine machine = machine_of(std::string(model) + ":1c2t");
    Pmu &first = machine.cpu(0), &second = machine.cpu(1);
    for (Pmu* cpu : {&first, &second}) count(*cpu, ANY);
    run_until(first, 1000);
    halt_until(second, 600);
    run_until(second, 1600);
    for (Pmu* cpu : {&first, &second}) {
      EXPECT_EQ(read(*cpu, msr::PMC0), 2000u) << model;
      EXPECT_EQ(read(*cpu, msr::PMC0 + 1), 1600u) << model;
      EXPECT_EQ(read(*cpu, msr::FIXED_CTR0), 2000u) << model;
      EXPECT_EQ(read(*cpu, msr::FIXED_CTR0 + 1), 1600u) << model;
    }
  }
}

TEST(Smt, WithoutAnyAThreadCountsItself) {
  Machine machine = machine_of("skylake:1c2t");
  for (const unsigned n : {0u, 1u}) count(machine.cpu(n));
  run_until(machine.cpu(0), 1000);
  halt_until(machine.cpu(1), 600);
  run_until(machine.cpu(1), 1100);
  EXPECT_EQ(read(machine.cpu(0), msr::PMC0), 1000u);
  EXPECT_EQ(read(machine.cpu(1), msr::PMC0), 500u);
  EXPECT_EQ(read(machine.cpu(1), msr::PMC0 + 1), 500u);
}

TEST(Smt, AnyIsOfTheCoreAndNotOfOthers) {
  Machine machine = machine_of("skylake:2c4t");  // CPU 0 and 2 are a core
  count(machine.cpu(0), ANY);
  run_until(machine.cpu(2), 30);
  run_until(machine.cpu(1), 100);
  run_until(machine.cpu(3), 100);
  EXPECT_EQ(read(machine.cpu(0), msr::PMC0), 30u);
}

TEST(Smt, AnyFiltersByThePrivilegeOfTheThreadWhoseOccurrenceItIs) {
  Machine machine = machine_of("skylake:1c2t");
  count(machine.cpu(0), ANY);
  run_until(machine.cpu(1), 30, Cpl::kernel);
  run_until(machine.cpu(1), 50, Cpl::user);
  EXPECT_EQ(read(machine.cpu(0), msr::PMC0), 20u);
  EXPECT_EQ(read(machine.cpu(0), msr::PMC0 + 1), 19u);  // the cycle of the last kernel instruction is its own
}

TEST(Smt, AnyMeansNothingWhereTheModelHasItNoMore) {
  Machine machine = machine_of("icelake:1c2t");
  EXPECT_EQ(machine.cpu(0).wrmsr(msr::PERFEVTSEL0, EN | USR | ANY | instructions_event), Fault::gp);
}

/// Takes PMIs, and says when.
struct Handler : PmiHandler {
  explicit Handler(Pmu& of) : cpu(of) {
    cpu.set_pmi_handler(this);
    write(cpu, msr::X2APIC_LVTPC, msr::lvtpc::NMI);
  }
  void handle_pmi(const InterruptFrame&) override {
    cycles.push_back(cpu.now());
    write(cpu, msr::PERF_GLOBAL_STATUS_RESET, read(cpu, msr::PERF_GLOBAL_STATUS));
    write(cpu, msr::X2APIC_LVTPC, msr::lvtpc::NMI);
  }
  Pmu& cpu;
  std::vector<u64> cycles;
};

TEST(Smt, AHaltedThreadHasItsPmiWhenTheOtherOverflowsItsCounter) {
  for (const bool of_cycles : {false, true}) {
    Machine machine = machine_of("skylake:1c2t");
    Pmu &idle = machine.cpu(0), &busy = machine.cpu(1);
    Handler handler(idle), others(busy);
    write(idle, msr::PERFEVTSEL0, EN | USR | INT | ANY | (of_cycles ? cycles_event : instructions_event));
    write(idle, msr::PMC0, u64{0xFFFFFFFF} - 99);
    write(idle, msr::PERF_GLOBAL_CTRL, 1);
    run_until(busy, 1000);
    EXPECT_EQ(read(idle, msr::PERF_GLOBAL_STATUS), 1u);
    EXPECT_EQ(read(idle, msr::PMC0), 900u);
    EXPECT_THAT(handler.cycles, testing::IsEmpty());  // its time has not come
    halt_until(idle, 1000);
    EXPECT_THAT(handler.cycles, testing::ElementsAre(100));
    EXPECT_THAT(others.cycles, testing::IsEmpty());
  }
}

TEST(Smt, FreezingOnAPmiStopsTheThreadThatHasIt) {
  for (const char* model : {"haswell:1c2t", "skylake:1c2t"}) {  // clears enables, and sets CTR_FRZ
    Machine machine = machine_of(model);
    Pmu &first = machine.cpu(0), &second = machine.cpu(1);
    for (Pmu* cpu : {&first, &second}) {
      count(*cpu);
      write(*cpu, msr::DEBUGCTL,
            msr::debugctl::FREEZE_PERFMON_ON_PMI | msr::debugctl::FREEZE_LBRS_ON_PMI | msr::debugctl::LBR);
    }
    write(first, msr::PERFEVTSEL0, EN | USR | INT | instructions_event);
    write(first, msr::PMC0, u64{0xFFFFFFFF} - 9);
    run_until(first, 100);
    run_until(second, 100);
    EXPECT_EQ(read(first, msr::PMC0), 0u) << model;
    EXPECT_EQ(read(second, msr::PMC0), 100u) << model;
    EXPECT_EQ(read(second, msr::PERF_GLOBAL_STATUS), 0u) << model;
    EXPECT_NE(read(second, msr::PERF_GLOBAL_CTRL), 0u) << model;
    EXPECT_NE(read(second, msr::DEBUGCTL) & msr::debugctl::LBR, 0u) << model;
  }
}

TEST(Smt, BranchRecordsAreTheThreads) {
  Machine machine = machine_of("skylake:1c2t");
  for (const unsigned n : {0u, 1u}) write(machine.cpu(n), msr::DEBUGCTL, msr::debugctl::LBR);
  machine.cpu(0).retire({.ip = 0x401000,
                         .next_ip = 0x402000,
                         .cycle = 1,
                         .signals = {Signal::instruction},
                         .length = 5,
                         .branch = BranchKind::direct_jump,
                         .taken = true});
  const u64 tos = read(machine.cpu(0), msr::LBR_TOS);
  EXPECT_EQ(read(machine.cpu(0), static_cast<u32>(0x680 + tos)), 0x401000u);
  for (u32 n = 0; n < 32; ++n) EXPECT_EQ(read(machine.cpu(1), 0x680 + n), 0u);
}

TEST(Smt, ThreadsShareFiltersUpToWestmere) {
  Machine westmere = machine_of("westmere:2c4t");
  for (const u32 filter :
       {msr::OFFCORE_RSP_0, msr::OFFCORE_RSP_1, msr::LBR_SELECT, msr::PEBS_LD_LAT_THRESHOLD}) {
    write(westmere.cpu(0), filter, 5);
    EXPECT_EQ(read(westmere.cpu(2), filter), 5u) << filter;
    EXPECT_EQ(read(westmere.cpu(1), filter), 0u) << filter;
    write(westmere.cpu(2), filter, 9);
    EXPECT_EQ(read(westmere.cpu(0), filter), 9u) << filter;
  }
  Machine sandybridge = machine_of("sandybridge:1c2t");
  write(sandybridge.cpu(0), msr::OFFCORE_RSP_0, 5);
  write(sandybridge.cpu(0), msr::LBR_SELECT, 5);
  EXPECT_EQ(read(sandybridge.cpu(1), msr::OFFCORE_RSP_0), 0u);
  EXPECT_EQ(read(sandybridge.cpu(1), msr::LBR_SELECT), 0u);
}

TEST(Smt, SnapshotsHaveThreadsOfTheirOwn) {
  Machine machine = machine_of("skylake:1c2t");
  count(machine.cpu(0), ANY);
  run_until(machine.cpu(1), 10);
  const Machine snapshot = machine;
  run_until(machine.cpu(1), 20);
  EXPECT_EQ(read(machine.cpu(0), msr::PMC0), 20u);
  const u64 later = machine.state_hash();
  machine = snapshot;
  EXPECT_EQ(machine.state_hash(), snapshot.state_hash());
  EXPECT_EQ(read(machine.cpu(0), msr::PMC0), 10u);
  run_until(machine.cpu(1), 20);
  EXPECT_EQ(machine.state_hash(), later);

  Machine moved = std::move(machine);
  run_until(moved.cpu(1), 30);
  EXPECT_EQ(read(moved.cpu(0), msr::PMC0), 30u);
  Pmu alone = moved.cpu(0);  // has nobody beside it
  run_until(moved.cpu(1), 40);
  EXPECT_EQ(read(alone, msr::PMC0), 30u);
  moved.cpu(1).reset();
  run_until(moved.cpu(1), 50);
  EXPECT_EQ(read(moved.cpu(0), msr::PMC0), 50u);
  moved.cpu(0) = Pmu(alone);
  run_until(moved.cpu(1), 60);
  EXPECT_EQ(read(moved.cpu(0), msr::PMC0), 40u);
}

/// What a thread did in a cycle.
struct Cycle {
  bool halted = false;
  Cpl cpl = Cpl::user;
  unsigned instructions = 0;
};

/// A counter by the definition of its bits, of what the threads have done.
u64 by_definition(u64 select, unsigned own, const std::vector<std::array<Cycle, 2>>& cycles) {
  const u64 cmask = field(select, 31, 24);
  const bool of_cycles = (select & EVENT) == cycles_event, inv = (select & INV) != 0;
  u64 sum = 0;
  bool was_satisfied = false;
  for (const auto& threads : cycles) {
    bool counts = false;
    u64 occurrences = 0;
    for (unsigned t = 0; t < 2; ++t) {
      const Cycle& cycle = threads[t];
      const bool passes = (select & (cycle.cpl == Cpl::user ? USR : OS)) != 0;
      if ((t != own && (select & ANY) == 0) || cycle.halted || !passes) continue;
      counts = true;
      occurrences = of_cycles ? 1 : occurrences + cycle.instructions;
    }
    const bool conditional = cmask != 0 || (select & EDGE) != 0;
    const bool satisfied = counts && (cmask == 0 ? occurrences != 0 : (occurrences >= cmask) != inv);
    if (!conditional)
      sum += occurrences;
    else if (satisfied && ((select & EDGE) == 0 || !was_satisfied))
      ++sum;
    was_satisfied = satisfied;
  }
  return sum;
}

/// Random programs and programmings of both threads, in the order of cycles, against the definition.
TEST(SmtProperty, CountersOfBothThreadsAreThoseOfTheDefinition) {
  constexpr unsigned cycles_each = 60, counters = 4;
  for (u64 seed = 0; seed < 500; ++seed) {
    Dice dice(seed);
    Machine machine = machine_of(dice.one_in(2) ? "nehalem:1c2t" : "skylake:1c2t");
    std::array<std::array<u64, counters>, 2> selects{};
    for (unsigned t = 0; t < 2; ++t) {
      for (unsigned n = 0; n < counters; ++n) {
        u64& select = selects[t][n] = EN | (dice.one_in(3) ? cycles_event : instructions_event);
        select |= (1 + dice.below(3)) * USR;  // USR, OS or both
        if (!dice.one_in(3)) select |= ANY;
        if (dice.one_in(2)) select |= (1 + dice.below(3)) << 24 | (dice.one_in(3) ? INV : 0);
        write(machine.cpu(t), msr::PERFEVTSEL0 + n, select);
      }
      write(machine.cpu(t), msr::PERF_GLOBAL_CTRL, 0xF);
    }
    std::vector<std::array<Cycle, 2>> cycles(cycles_each);
    const auto close = [&](u64 c, unsigned t) {
      const Cycle& cycle = cycles[c][t];
      if (cycle.halted)
        halt_until(machine.cpu(t), c + 1);
      else
        machine.cpu(t).wait_until(c + 1, {.cpl = cycle.cpl});
    };
    for (u64 c = 0; c < cycles_each; ++c) {
      const unsigned first = static_cast<unsigned>(dice.below(2));
      for (const unsigned t : {first, 1 - first}) {
        Cycle& cycle = cycles[c][t];
        cycle = {.halted = dice.one_in(4),
                 .cpl = dice.one_in(3) ? Cpl::kernel : Cpl::user,
                 .instructions = static_cast<unsigned>(dice.below(3))};
        for (unsigned n = 0; !cycle.halted && n < cycle.instructions; ++n)
          retire_at(machine.cpu(t), c, cycle.cpl);
      }
      for (const unsigned t : {first, 1 - first}) close(c, t);
    }
    for (unsigned t = 0; t < 2; ++t)
      for (unsigned n = 0; n < counters; ++n)
        ASSERT_EQ(read(machine.cpu(t), msr::PMC0 + n), by_definition(selects[t][n], t, cycles))
            << "seed " << seed << " thread " << t << " select " << std::hex << selects[t][n];
  }
}

}  // namespace
}  // namespace pmusim::smt_test
