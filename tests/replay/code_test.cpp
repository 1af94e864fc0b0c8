// SPDX-License-Identifier: MIT
// Code as bytes, decoded and retired by the library.
#include <gtest/gtest.h>

#include <array>
#include <vector>

#include "pmusim/pmu/observer.h"
#include "pmusim/replay/replay.h"

namespace pmusim {
namespace {

constexpr u64 user = msr::evtsel::EN | msr::evtsel::USR, kernel = msr::evtsel::EN | msr::evtsel::OS;

std::vector<std::byte> bytes(std::initializer_list<int> values) {
  std::vector<std::byte> made;
  for (const int value : values) made.push_back(static_cast<std::byte>(value));
  return made;
}

/// Counter 0 counts instructions, counter 1 branches, counter 2 loads.
struct CountingCpu {
  explicit CountingCpu(u64 ring = user) {
    for (u32 n = 0; const u64 event : {0xC0u, 0xC4u, 0x81D0u})
      EXPECT_EQ(pmu.wrmsr(msr::PERFEVTSEL0 + n++, ring | event), Fault::none);
    EXPECT_EQ(pmu.wrmsr(msr::PERF_GLOBAL_CTRL, 7), Fault::none);
    runner.attach(pmu);
  }
  u64 count(u32 counter) { return pmu.rdmsr(msr::PMC0 + counter).value(); }

  Pmu pmu{*find_cpu_model("skylake")};
  CodeRunner runner = CodeRunner::create(pmu.model()).value();
};

// mov (%rdi),%rax; add $1,%rax; cmp %rsi,%rax; jne -12
const std::vector<std::byte> loop =
    bytes({0x48, 0x8B, 0x07, 0x48, 0x83, 0xC0, 0x01, 0x48, 0x39, 0xF0, 0x75, 0xF4});

TEST(CodeRunner, DecodesAndRetiresWhatItIsGiven) {
  CountingCpu machine;
  for (int n = 0; n < 10; ++n) {
    const auto retired =
        machine.runner.run({.ip = 0x401000, .code = loop, .next_ip = n < 9 ? 0x401000u : 0u});
    EXPECT_EQ(retired.value(), 4u);
  }
  EXPECT_EQ(machine.count(0), 40u);
  EXPECT_EQ(machine.count(1), 10u);
  EXPECT_EQ(machine.count(2), 10u);
}

TEST(CodeRunner, RunsAtTheRequestedRing) {
  CountingCpu machine(kernel);
  EXPECT_TRUE(machine.runner.run({.ip = 0x401000, .code = loop, .cpl = Cpl::kernel}).ok());
  EXPECT_TRUE(machine.runner.run({.ip = 0x401000, .code = loop, .cpl = Cpl::user}).ok());
  EXPECT_EQ(machine.count(0), 4u);
}

TEST(CodeRunner, TakesTimeFromWhereThePmuIs) {
  CountingCpu machine;
  machine.pmu.wait_until(1'000'000, {});
  EXPECT_TRUE(machine.runner.run({.ip = 0x401000, .code = loop}).ok());
  EXPECT_GT(machine.pmu.now(), 1'000'000u);
  EXPECT_LT(machine.pmu.now(), 1'002'000u);
}

TEST(CodeRunner, MissesWhereTheAddressesSaySo) {  // event D1 umask 08: loads that missed L1
  CountingCpu machine;
  EXPECT_EQ(machine.pmu.wrmsr(msr::PERFEVTSEL0, user | 0x08D1), Fault::none);
  const std::array<u64, 1> here{0x10000}, there{0x20000};
  for (const auto& address : {here, here, there})
    EXPECT_TRUE(machine.runner.run({.ip = 0x401000, .code = loop, .addresses = address}).ok());
  EXPECT_EQ(machine.count(0), 2u);
}

// mov (%rdi),%rax; clflush (%rdi); mov (%rdi),%rax
const std::vector<std::byte> flush = bytes({0x48, 0x8B, 0x07, 0x0F, 0xAE, 0x3F, 0x48, 0x8B, 0x07});

TEST(CodeRunner, FlushesTheLineThatItsRegistersName) {
  CountingCpu machine;
  EXPECT_EQ(machine.pmu.wrmsr(msr::PERFEVTSEL0, user | 0x08D1), Fault::none);  // loads that missed L1
  const std::array<u64, 2> addresses{0x10000, 0x10000};
  std::array<Registers, 3> registers{};
  const auto run = [&](u64 flushed) {
    for (Registers& one : registers) one[Gpr::rdi] = flushed;
    EXPECT_EQ(
        machine.runner.run({.ip = 0x401000, .code = flush, .addresses = addresses, .registers = registers})
            .value(),
        3u);
    return machine.count(0);
  };
  const u64 cold = run(0x20000);  // another line
  EXPECT_EQ(run(0x20000), cold);
  EXPECT_EQ(run(0x10000), cold + 1);
}

TEST(CodeRunner, HandsItsRegistersToThePmiHandler) {
  struct Handler final : PmiHandler {
    void handle_pmi(const InterruptFrame& frame) override { seen = frame; }
    InterruptFrame seen;
  } handler;
  CpuModel model = *find_cpu_model("skylake");
  model.policies.pmi_skid_cycles = 0;
  Pmu pmu(model);
  pmu.set_pmi_handler(&handler);
  EXPECT_EQ(pmu.wrmsr(msr::X2APIC_LVTPC, msr::lvtpc::NMI), Fault::none);
  EXPECT_EQ(pmu.wrmsr(msr::PMC0, 0xFFFFFFFF), Fault::none);
  EXPECT_EQ(pmu.wrmsr(msr::PERFEVTSEL0, kernel | msr::evtsel::INT | 0xC0), Fault::none);
  EXPECT_EQ(pmu.wrmsr(msr::PERF_GLOBAL_CTRL, 1), Fault::none);
  CodeRunner runner = CodeRunner::create(model).value();
  runner.attach(pmu);
  std::array<Registers, 4> registers{};
  for (u64 n = 0; n < registers.size(); ++n) registers[n][Gpr::rbx] = 10 + n;
  EXPECT_TRUE(runner.run({.ip = 0x401000, .code = loop, .cpl = Cpl::kernel, .registers = registers}).ok());
  pmu.wait_until(pmu.now() + 100, {});
  EXPECT_TRUE(handler.seen.registers_known);
  EXPECT_EQ(handler.seen.registers.rip, 0x401003u);  // the overflow was the first instruction's
  EXPECT_EQ(handler.seen.registers[Gpr::rbx], 10u);
}

TEST(CodeRunner, LeadsToAnotherRing) {  // syscall
  CountingCpu machine;
  struct Last final : RetirementObserver {
    void on_retirement(const Retirement& r) override { cpl_after = r.cpl_after; }
    Cpl cpl_after = Cpl::user;
  } last;
  machine.pmu.set_retirement_observer(&last);
  EXPECT_TRUE(machine.runner
                  .run({.ip = 0x401000,
                        .code = bytes({0x90, 0x0F, 0x05}),
                        .next_ip = 0xFFFF'FFFF'8100'0000,
                        .cpl_after = Cpl::kernel})
                  .ok());
  EXPECT_EQ(last.cpl_after, Cpl::kernel);
  machine.pmu.set_retirement_observer(nullptr);
}

TEST(CodeRunner, BranchesBeforeTheEndAreNotTaken) {
  CountingCpu machine;
  std::vector<std::byte> twice = loop;
  twice.insert(twice.end(), loop.begin(), loop.end());
  EXPECT_EQ(machine.runner.run({.ip = 0x401000, .code = twice}).value(), 8u);
  EXPECT_EQ(machine.count(1), 2u);
}

TEST(CodeRunner, SaysWhatIsNoCode) {
  CountingCpu machine;
  const auto invalid = bytes({0x90, 0x06}), cut = bytes({0x90, 0x48}), early = bytes({0xC3, 0x90});
  const std::array<u64, 2> addresses{1, 2};
  EXPECT_NE(machine.runner.run({.ip = 0x1000, .code = invalid}).error().message.find("0x1001"),
            std::string::npos);
  EXPECT_NE(machine.runner.run({.ip = 0x1000, .code = cut}).error().message.find("offset 1"),
            std::string::npos);
  EXPECT_NE(machine.runner.run({.ip = 0x1000, .code = early}).error().message.find("return"),
            std::string::npos);
  EXPECT_NE(
      machine.runner.run({.ip = 0x1000, .code = loop, .addresses = addresses}).error().message.find("2 addr"),
      std::string::npos);
  const std::array<Registers, 3> registers{};
  EXPECT_NE(machine.runner.run({.ip = 0x1000, .code = loop, .registers = registers})
                .error()
                .message.find("after 3"),
            std::string::npos);
  EXPECT_EQ(machine.count(0), 0u);
  EXPECT_EQ(machine.runner.run({.ip = 0x1000}).value(), 0u);
}

}  // namespace
}  // namespace pmusim
