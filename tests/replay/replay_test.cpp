// SPDX-License-Identifier: MIT
// A recorded program on PMUs without a driver of ours.
#include "pmusim/replay/replay.h"

#include <gtest/gtest.h>

#include <optional>
#include <stdexcept>
#include <vector>

#include "pmusim/pmu/observer.h"

namespace pmusim {
namespace {

/// A program of two instructions, a nop and a jump back to it (or elsewhere), that runs so many times.
class Jumping final : public trace::Source {
 public:
  explicit Jumping(u64 times, u64 ip = 0x1000, u64 next_ip = 0x1000) : left_(times) {
    const std::byte code[] = {std::byte{0x90}, std::byte{0xEB}, std::byte{0xFD}};
    block_.instructions = {x86::decode(code, ip), x86::decode(std::span(code).subspan(1), ip + 1)};
    item_ = trace::BlockRun{.block = &block_, .next_ip = next_ip};
  }
  const trace::Contents& contents() const override { return contents_; }
  std::vector<std::byte> code(u32, u64, std::size_t) const override { return {}; }
  std::optional<u64> length() const override { return 2 * left_; }
  const std::optional<std::string>& truncation() const override { return truncation_; }
  Result<trace::Items, Error> read() override {
    if (left_ == 0) return trace::Items();
    --left_;
    return trace::Items(&item_, 1);
  }

 private:
  u64 left_;
  trace::Block block_;
  trace::Item item_;
  trace::Contents contents_;
  std::optional<std::string> truncation_;
};

Pmu counting(const char* model, u64 event) {
  Pmu pmu(*find_cpu_model(model));
  EXPECT_EQ(pmu.wrmsr(msr::PERFEVTSEL0, msr::evtsel::EN | msr::evtsel::USR | event), Fault::none);
  EXPECT_EQ(pmu.wrmsr(msr::PERF_GLOBAL_CTRL, 1), Fault::none);
  return pmu;
}

Replay replay_of(u64 times, const Pmu& pmu) {
  return Replay::open(std::make_unique<Jumping>(times), pmu.model()).value();
}

TEST(Replay, FeedsEveryPmuTheSameRun) {
  Pmu instructions = counting("skylake", 0xC0), branches = counting("goldencove", 0xC4);
  Replay replay = replay_of(500, instructions);
  replay.attach(instructions);
  replay.attach(branches);
  EXPECT_EQ(replay.run().value(), 1000u);
  EXPECT_EQ(instructions.rdmsr(msr::PMC0).value(), 1000u);
  EXPECT_EQ(branches.rdmsr(msr::PMC0).value(), 500u);
  EXPECT_EQ(instructions.now(), branches.now());
  EXPECT_EQ(replay.run().value(), 0u);
}

TEST(Replay, RunsCodeAtTheRequestedRing) {
  Pmu pmu = counting("skylake", 0xC0);
  EXPECT_EQ(pmu.wrmsr(msr::PERFEVTSEL0 + 1, msr::evtsel::EN | msr::evtsel::OS | 0xC0), Fault::none);
  EXPECT_EQ(pmu.wrmsr(msr::PERF_GLOBAL_CTRL, 3), Fault::none);
  Replay replay = replay_of(30, pmu);
  replay.attach(pmu);
  EXPECT_EQ(replay.run(20).value(), 20u);
  replay.set_ring(ReplayRing::kernel);
  EXPECT_EQ(replay.run(20).value(), 20u);
  replay.set_ring(ReplayRing::by_address);  // all of it is in the lower half
  EXPECT_EQ(replay.run().value(), 20u);
  EXPECT_EQ(pmu.rdmsr(msr::PMC0).value(), 40u);
  EXPECT_EQ(pmu.rdmsr(msr::PMC0 + 1).value(), 20u);
}

TEST(Replay, RunsAStretchAtATime) {
  Pmu pmu = counting("skylake", 0xC0);
  Replay replay = replay_of(10, pmu);
  replay.attach(pmu);
  EXPECT_EQ(replay.run(3).value(), 4u);
  EXPECT_EQ(pmu.rdmsr(msr::PMC0).value(), 4u);
  EXPECT_EQ(replay.run().value(), 16u);
}

TEST(Replay, FindsTheRingByTheAddress) {
  constexpr u64 kernel_ip = 0xFFFF'FFFF'8100'0000;
  Pmu pmu = counting("skylake", 0xC0);
  EXPECT_EQ(pmu.wrmsr(msr::PERFEVTSEL0 + 1, msr::evtsel::EN | msr::evtsel::OS | 0xC0), Fault::none);
  EXPECT_EQ(pmu.wrmsr(msr::PERF_GLOBAL_CTRL, 3), Fault::none);
  struct Last final : RetirementObserver {
    void on_retirement(const Retirement& r) override { cpl = r.cpl, cpl_after = r.cpl_after; }
    Cpl cpl = Cpl::user, cpl_after = Cpl::user;
  } last;
  pmu.set_retirement_observer(&last);
  Replay replay = Replay::open(std::make_unique<Jumping>(5, kernel_ip, 0x401000), pmu.model()).value();
  replay.set_ring(ReplayRing::by_address);
  replay.attach(pmu);
  EXPECT_TRUE(replay.run().ok());
  EXPECT_EQ(pmu.rdmsr(msr::PMC0).value(), 0u);
  EXPECT_EQ(pmu.rdmsr(msr::PMC0 + 1).value(), 10u);
  EXPECT_EQ(last.cpl, Cpl::kernel);
  EXPECT_EQ(last.cpl_after, Cpl::user);
}

TEST(Replay, AttachedLateAPmuSeesTheRest) {
  Pmu first = counting("skylake", 0xC0), second = counting("skylake", 0xC0);
  Replay replay = replay_of(10, first);
  replay.attach(first);
  EXPECT_EQ(replay.run(10).value(), 10u);
  replay.attach(second);
  EXPECT_EQ(replay.run().value(), 10u);
  EXPECT_EQ(first.rdmsr(msr::PMC0).value(), 20u);
  EXPECT_EQ(second.rdmsr(msr::PMC0).value(), 10u);
  EXPECT_LT(second.now(), first.now());
}

void count_instructions(Pmu& pmu) {
  EXPECT_EQ(pmu.wrmsr(msr::PERFEVTSEL0, msr::evtsel::EN | msr::evtsel::USR | 0xC0), Fault::none);
  EXPECT_EQ(pmu.wrmsr(msr::PERF_GLOBAL_CTRL, 1), Fault::none);
}

TEST(Replay, OfAMachineGoesOnOnTheCpuThatItIsToldAbout) {
  const Topology topology = parse_machine("skylake:2c4t").value();  // CPU 0 and CPU 2 are one core
  Machine machine(topology);
  Replay replay = Replay::open(std::make_unique<Jumping>(40), topology).value();
  for (u32 cpu = 0; cpu < machine.cpus(); ++cpu) {
    count_instructions(machine.cpu(cpu));
    replay.attach(machine.cpu(cpu), cpu);
  }
  const auto counted = [&](u32 cpu) { return machine.cpu(cpu).rdmsr(msr::PMC0).value(); };

  EXPECT_EQ(replay.run(20).value(), 20u);
  EXPECT_EQ(counted(0), 20u);
  const u64 left = machine.cpu(0).now();
  machine.cpu(2).halt_until(left, {});
  replay.run_on(2);
  EXPECT_EQ(replay.run(20).value(), 20u);
  EXPECT_EQ(counted(0), 20u);
  EXPECT_EQ(counted(2), 20u);
  EXPECT_EQ(machine.cpu(0).now(), left);
  replay.run_on(1);  // whose time has stood still
  EXPECT_EQ(replay.run().value(), 40u);
  EXPECT_EQ(counted(1), 40u);
  EXPECT_EQ(counted(3), 0u);
  EXPECT_GT(machine.cpu(1).now(), 0u);

  // The other thread finds the core as the first has left it, another core has nothing of it.
  EXPECT_LT(machine.cpu(2).now() - left, machine.cpu(1).now());
  EXPECT_THROW(replay.run_on(4), std::out_of_range);
  EXPECT_THROW(replay.attach(machine.cpu(0), 4), std::out_of_range);
}

/// A user's own driver: counts its PMIs and starts again.
struct Driver : PmiHandler {
  explicit Driver(Pmu& the_pmu) : pmu(the_pmu) { start(); }
  void start() {
    EXPECT_EQ(pmu.wrmsr(msr::X2APIC_LVTPC, msr::lvtpc::NMI), Fault::none);
    EXPECT_EQ(pmu.wrmsr(msr::PMC0, 0xFFFFFFFF - 99), Fault::none);
    EXPECT_EQ(pmu.wrmsr(msr::PERFEVTSEL0, msr::evtsel::EN | msr::evtsel::USR | msr::evtsel::INT | 0xC0),
              Fault::none);
    EXPECT_EQ(pmu.wrmsr(msr::PERF_GLOBAL_CTRL, 1), Fault::none);
  }
  void handle_pmi(const InterruptFrame&) override {
    ++pmis;
    EXPECT_EQ(pmu.wrmsr(msr::PERF_GLOBAL_STATUS_RESET, 1), Fault::none);
    start();
  }
  Pmu& pmu;
  u64 pmis = 0;
};

TEST(Replay, RunsUnderACustomDriver) {
  CpuModel model = *find_cpu_model("skylake");
  model.policies.pmi_skid_cycles = 0;
  Pmu pmu(model);
  Driver driver(pmu);
  pmu.set_pmi_handler(&driver);
  Replay replay = replay_of(500, pmu);
  replay.attach(pmu);
  EXPECT_TRUE(replay.run().ok());
  EXPECT_GE(driver.pmis, 9u);
  EXPECT_LE(driver.pmis, 10u);
}

TEST(Replay, SaysWhatIsNoTrace) {
  const auto replay = Replay::open("/nowhere/program.pmutrace", *find_cpu_model("skylake"));
  ASSERT_FALSE(replay.ok());
  EXPECT_NE(replay.error().message.find("/nowhere/program.pmutrace"), std::string::npos);
}

}  // namespace
}  // namespace pmusim
