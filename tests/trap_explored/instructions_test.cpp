// SPDX-License-Identifier: MIT
// PMIs between the instructions of real code: races that no access to a register stands in (docs/explore.md).
#include <gtest/gtest.h>

#include "pmusim/explore/explore.h"
#include "pmusim/trap/trap.h"

namespace pmusim {
namespace {

/// How code adds to a word that its handler adds to, too.
enum class Update : u8 { in_three_instructions, in_one };

struct Counter final : PmiHandler {
  u64 total = 0;
  void handle_pmi(const InterruptFrame&) override {
    ++total;
    asm volatile("wrmsr" : : "c"(msr::X2APIC_LVTPC), "a"(msr::lvtpc::NMI), "d"(0));
  }
  /// Steps nothing but the addition: what compilers put around it may be more in the first run than later.
  void add(Update update) {
    if (update == Update::in_one)
      asm volatile("mov $1, %%eax\n wrmsr\n incq %0\n xor %%eax, %%eax\n wrmsr\n"
                   : "+m"(total)
                   : "c"(Trap::stepping_register), "d"(0)
                   : "rax", "cc", "memory");
    else
      asm volatile(
          "mov $1, %%eax\n wrmsr\n mov %0, %%rsi\n inc %%rsi\n mov %%rsi, %0\n xor %%eax, %%eax\n wrmsr\n"
          : "+m"(total)
          : "c"(Trap::stepping_register), "d"(0)
          : "rax", "rsi", "cc", "memory");
  }
};

void interrupted_update(explore::Cpu& cpu, Update update) {
  Counter counter;
  cpu.pmu().set_pmi_handler(&counter);
  cpu.set_driver_state([&](StateHash& hash) { hash.add(counter.total); });
  const auto trap =
      Trap::enable(cpu.pmu(), {.on_boundary = [&](const Registers& registers) { cpu.boundary(registers); }});
  ASSERT_TRUE(trap.ok()) << trap.error().message;
  asm volatile("wrmsr" : : "c"(msr::X2APIC_LVTPC), "a"(msr::lvtpc::NMI), "d"(0));
  cpu.open();
  counter.add(update);
  cpu.close();
  if (counter.total != 1 + cpu.placed()) cpu.fail("an update is lost");
}

const explore::Options pairs{.most_pmis = 2, .causes = {explore::Cause::spurious}};

TEST(ExploreInstructions, FindsTheUpdateThatAnInterruptLoses) {
  const auto scenario = [](explore::Cpu& cpu) { interrupted_update(cpu, Update::in_three_instructions); };
  const Pmu start(*find_cpu_model("skylake"));
  const auto report = explore::explore(start, scenario, pairs);
  ASSERT_TRUE(report.ok()) << report.error().message;
  ASSERT_TRUE(report->finding);
  EXPECT_EQ(report->finding->what, "an update is lost");
  const auto again = explore::replay(start, scenario, report->finding->seed);
  ASSERT_TRUE(again.ok() && again->finding);
  EXPECT_EQ(again->finding->what, "an update is lost");
}

TEST(ExploreInstructions, PassesTheUpdateInOneInstruction) {
  const auto scenario = [](explore::Cpu& cpu) { interrupted_update(cpu, Update::in_one); };
  const auto report = explore::explore(Pmu(*find_cpu_model("skylake")), scenario, pairs);
  ASSERT_TRUE(report.ok()) << report.error().message;
  EXPECT_FALSE(report->finding) << explore::text_of(*report->finding);
  EXPECT_GE(report->runs, 6u);
}

}  // namespace
}  // namespace pmusim
