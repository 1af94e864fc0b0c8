// SPDX-License-Identifier: MIT
// Programs at random places on the CPUs of a machine, where threads of a core count for each other: a
// snapshot of any moment goes on as the machine did, and cores that run on host threads of their own do what
// they do one after the other.
#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <memory>
#include <semaphore>
#include <thread>
#include <vector>

#include "pmusim/arch/branch.h"
#include "pmusim/arch/debug_store.h"
#include "pmusim/cpu/setup.h"
#include "pmusim/pmu/pmu.h"
#include "tests/support/dice.h"

namespace pmusim::placements_test {
namespace {

constexpr u64 CASES = 10'000;
constexpr std::size_t PROGRAMS = 3, PHASES = 3;
constexpr u64 memory_base = 0x100000, bytes_each = 0x1000;

constexpr const char* machines[] = {"nehalem:2c4t", "haswell:2c",       "skylake:1c2t",
                                    "skylake:2c4t", "alderlake:1p2t2e", "sierraforest:2c"};

/// What retires next depends on how far it has come, not on where it runs.
class Program {
 public:
  explicit Program(u64 seed) : dice_(seed) {}
  void retire_next(Pmu& cpu) {
    Retirement r{.ip = ip_, .next_ip = ip_ + 4, .cycle = cpu.now() + dice_.below(3), .length = 4};
    r.signals = {Signal::instruction};
    r.cpl = r.cpl_after = dice_.one_in(5) ? Cpl::kernel : Cpl::user;
    if (dice_.one_in(3)) {
      r.branch = BranchKind::direct_jump;
      r.signals = r.signals | branch_signals(r.branch);
      r.taken = true;
      r.next_ip = 0x400000 + 4 * dice_.below(1000);
    }
    ip_ = r.next_ip;
    cpu.retire(r);
  }

 private:
  Dice dice_;
  u64 ip_ = 0x400000;
};

/// A program on a CPU for a while.
struct Turn {
  u32 cpu = 0;
  std::size_t program = 0;
  unsigned instructions = 0;
};
/// Turns of each core, by its first CPU; in between programs stay where they are.
using Phase = std::map<u32, std::vector<Turn>>;

std::vector<Phase> draw_phases(const Topology& topology, Dice& dice) {
  std::vector<Phase> phases(PHASES);
  for (Phase& phase : phases) {
    std::vector<u32> at(PROGRAMS);
    for (u32& cpu : at) cpu = static_cast<u32>(dice.below(topology.cpus.size()));
    for (unsigned n = 0; n < 9; ++n) {
      const std::size_t program = dice.below(PROGRAMS);
      phase[topology.first_of_core(at[program])].push_back(
          {at[program], program, static_cast<unsigned>(1 + dice.below(20))});
    }
  }
  return phases;
}

/// Software of a CPU: it programs counters, takes their PMIs, and writes down when.
class Software : public PmiHandler {
 public:
  explicit Software(Pmu& cpu) : cpu_(cpu) { cpu.set_pmi_handler(this); }
  Software(const Software&) = delete;
  Software& operator=(const Software&) = delete;

  void program(Dice& dice) {
    using namespace msr::evtsel;
    const u64 area = memory_base + cpu_.number() * bytes_each, buffer = area + 0x200;
    const DsArea64 ds{.pebs_base = buffer,
                      .pebs_index = buffer,
                      .pebs_maximum = area + bytes_each,
                      .pebs_threshold = buffer + 0x600};
    EXPECT_EQ(cpu_.write_memory(area, std::as_bytes(std::span(&ds, 1))), Fault::none);
    try_write(msr::DS_AREA, area);
    try_write(msr::PEBS_ENABLE, dice.below(4));
    try_write(msr::DEBUGCTL, msr::debugctl::LBR | (dice.one_in(2) ? msr::debugctl::FREEZE_LBRS_ON_PMI : 0));
    for (u32 n = 0; n < 3; ++n) {
      const u64 event = dice.one_in(3) ? 0x3C : dice.one_in(2) ? 0xC0 : 0xC4;
      try_write(msr::PERFEVTSEL0 + n, event | EN | INT | (1 + dice.below(3)) * USR | (dice.bits64() & ANY) |
                                          (dice.one_in(4) ? u64{2} << 24 : 0));
    }
    try_write(msr::FIXED_CTR_CTRL, dice.bits64());
    reload();
    try_write(msr::PERF_GLOBAL_CTRL, ~u64{0});
    try_write(msr::X2APIC_LVTPC, msr::lvtpc::NMI);
  }
  void handle_pmi(const InterruptFrame& frame) override {
    pmis.insert(pmis.end(),
                {cpu_.now(), frame.registers.rip, cpu_.rdmsr(msr::PERF_GLOBAL_STATUS).value_or(0)});
    try_write(msr::PERF_GLOBAL_STATUS_RESET, ~u64{0});
    reload();
    try_write(msr::X2APIC_LVTPC, msr::lvtpc::NMI);
  }
  std::vector<u64> pmis;

 private:
  void reload() {
    for (u32 n = 0; n < 3; ++n) try_write(msr::PMC0 + n, u32{0} - (10 + 7 * n));
  }
  void try_write(u32 address, u64 value) {
    if (const Register* known = cpu_.registers().find(address); known != nullptr)
      static_cast<void>(cpu_.wrmsr(address, value & known->writable));
  }
  Pmu& cpu_;
};

/// A host thread beside the test's own.
class HostThread {
 public:
  HostThread() : thread_([this] { work(); }) {}
  HostThread(const HostThread&) = delete;
  HostThread& operator=(const HostThread&) = delete;
  ~HostThread() {
    start({});
    thread_.join();
  }
  void start(std::function<void()> job) {
    job_ = std::move(job);
    begin_.release();
  }
  void wait() { end_.acquire(); }

 private:
  void work() {
    for (;;) {
      begin_.acquire();
      if (!job_) return;
      job_();
      end_.release();
    }
  }
  std::function<void()> job_;
  std::binary_semaphore begin_{0}, end_{0};
  std::thread thread_;
};

/// A machine and the programs on it.
class World {
 public:
  World(const Machine& machine, Dice& dice) : machine_(machine) {
    for (unsigned n = 0; n < machine_.cpus(); ++n)
      software_.emplace_back(std::make_unique<Software>(machine_.cpu(n)))->program(dice);
    for (std::size_t n = 0; n < PROGRAMS; ++n) programs_.emplace_back(dice.bits64());
  }

  /// All that decides how it goes on.
  struct Moment {
    Machine machine;
    std::vector<Program> programs;
    std::vector<std::vector<u64>> pmis;
  };
  Moment moment() const {
    Moment now{machine_, programs_, {}};
    for (const auto& software : software_) now.pmis.push_back(software->pmis);
    return now;
  }
  void go_back_to(const Moment& moment) {
    machine_ = moment.machine;
    programs_ = moment.programs;
    for (unsigned n = 0; n < machine_.cpus(); ++n) {
      software_[n]->pmis = moment.pmis[n];
      machine_.cpu(n).set_pmi_handler(software_[n].get());
    }
  }
  void run(const Phase& phase) {
    meet();
    for (const auto& [core, turns] : phase) run(turns);
  }
  /// Every other core on the other host thread.
  void run(const Phase& phase, HostThread& other) {
    meet();
    const auto run_half = [&](bool odd) {
      std::size_t n = 0;
      for (const auto& [core, turns] : phase)
        if ((n++ % 2 != 0) == odd) run(turns);
    };
    other.start([&] { run_half(true); });
    run_half(false);
    other.wait();
  }
  bool operator==(const World& other) const {
    for (std::size_t n = 0; n < software_.size(); ++n)
      if (software_[n]->pmis != other.software_[n]->pmis) return false;
    return machine_.state_hash() == other.machine_.state_hash();
  }
  std::size_t pmis() const {
    std::size_t all = 0;
    for (const auto& software : software_) all += software->pmis.size();
    return all;
  }

 private:
  /// Idle CPUs come up to the one that is furthest.
  void meet() {
    u64 latest = 0;
    for (unsigned n = 0; n < machine_.cpus(); ++n) latest = std::max(latest, machine_.cpu(n).now());
    for (unsigned n = 0; n < machine_.cpus(); ++n) machine_.cpu(n).halt_until(latest, {.cpl = Cpl::kernel});
  }
  void run(const std::vector<Turn>& turns) {
    for (const Turn& turn : turns)
      for (unsigned n = 0; n < turn.instructions; ++n)
        programs_[turn.program].retire_next(machine_.cpu(turn.cpu));
  }

  Machine machine_;
  std::vector<std::unique_ptr<Software>> software_;  // by CPU
  std::vector<Program> programs_;
};

/// Machines that a case begins with.
struct Beginnings {
  struct Beginning {
    Topology topology;
    Machine machine;
  };
  std::vector<Beginning> all;
  Beginnings() {
    for (const char* text : machines) {
      Topology topology = *parse_machine(text);
      Machine machine(topology);
      EXPECT_TRUE(machine.map_memory(memory_base, machine.cpus() * bytes_each));
      all.push_back({std::move(topology), std::move(machine)});
    }
  }
  const Beginning& draw(Dice& dice) const { return all[dice.below(all.size())]; }
};

TEST(MachinePlacements, GoOnFromASnapshotAsTheyDid) {
  const Beginnings beginnings;
  std::size_t pmis = 0;
  for (u64 seed = 0; seed < CASES; ++seed) {
    Dice dice(seed);
    const auto& [topology, machine] = beginnings.draw(dice);
    const std::vector<Phase> phases = draw_phases(topology, dice);
    const std::size_t from = dice.below(PHASES);
    Dice same = dice;
    World world(machine, dice), other(machine, same);
    for (std::size_t n = 0; n < from; ++n) world.run(phases[n]);
    const World::Moment moment = world.moment();
    for (std::size_t n = from; n < PHASES; ++n) world.run(phases[n]);
    other.go_back_to(moment);  // another machine that takes the snapshot
    for (std::size_t n = from; n < PHASES; ++n) other.run(phases[n]);
    ASSERT_TRUE(other == world) << "seed " << seed;
    world.go_back_to(moment);
    for (std::size_t n = from; n < PHASES; ++n) world.run(phases[n]);
    ASSERT_TRUE(other == world) << "seed " << seed;
    pmis += world.pmis();
  }
  EXPECT_GT(pmis, CASES);
}

TEST(MachinePlacements, OfCoresOnTwoHostThreadsAreThoseOfOne) {
  const Beginnings beginnings;
  HostThread beside;
  for (u64 seed = 0; seed < CASES; ++seed) {
    Dice dice(seed);
    const auto& [topology, machine] = beginnings.draw(dice);
    const std::vector<Phase> phases = draw_phases(topology, dice);
    Dice same = dice;
    World serial(machine, dice), parallel(machine, same);
    for (const Phase& phase : phases) {
      serial.run(phase);
      parallel.run(phase, beside);
    }
    ASSERT_TRUE(serial == parallel) << "seed " << seed;
  }
}

}  // namespace
}  // namespace pmusim::placements_test
