// SPDX-License-Identifier: MIT
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "pmusim/cpu/setup.h"

namespace pmusim::topology_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

Topology machine(std::string_view text) {
  Result<Topology, Error> parsed = parse_machine(text);
  EXPECT_TRUE(parsed.ok()) << (parsed.ok() ? "" : parsed.error().message);
  return parsed.ok() ? std::move(parsed).value() : Topology{};
}

std::string refusal(std::string_view text) {
  const Result<Topology, Error> parsed = parse_machine(text);
  return parsed.ok() ? "" : parsed.error().message;
}

// As /sys/devices/system/cpu/cpu*/topology of such parts has them.

TEST(ParseMachine, ThreadsOfACoreAreApartWhereAllCoresAreAlike) {
  const Topology m = machine("icelake:4c8t");
  ASSERT_EQ(m.cpus.size(), 8u);
  EXPECT_EQ(m.cpus[1], (LogicalCpu{.core = 1, .thread = 0}));
  EXPECT_EQ(m.cpus[5], (LogicalCpu{.core = 1, .thread = 1}));
  EXPECT_EQ(m.first_of_core(5), 1u);
  EXPECT_FALSE(m.hybrid());
}

// Eight of a core, four and four with Hyper-Threading on: CPUID.0AH:EAX[15:8] of such parts.
TEST(ParseMachine, ThreadsDivideTheCountersOfACoreWhereItHasOneSet) {
  EXPECT_EQ(machine("skylake:2c4t").types[0].gp_counters, 0xFu);
  EXPECT_EQ(machine("skylake:2c").types[0].gp_counters, 0xFFu);
  EXPECT_EQ(machine("icelake:2c4t").types[0].gp_counters, 0xFFu);
  EXPECT_EQ(machine("icelake:2c").types[0].gp_counters, 0xFFu);
  EXPECT_EQ(machine("nehalem:2c").types[0].gp_counters, 0xFu);
  EXPECT_EQ(find_cpu_model("skylake")->gp_counters, 0xFu);
}

TEST(ParseMachine, PackagesHaveTheirShareOfTheCores) {
  const Topology m = machine("sapphirerapids:2s4c8t");
  EXPECT_EQ(m.cpus[2], (LogicalCpu{.package = 1, .core = 0}));
  EXPECT_EQ(m.cpus[7], (LogicalCpu{.package = 1, .core = 1, .thread = 1}));
}

TEST(ParseMachine, ECoresComeLastAndHaveOneThread) {
  const Topology m = machine("alderlake:2p4t3e");
  ASSERT_EQ(m.cpus.size(), 7u);
  EXPECT_EQ(m.cpus[1], (LogicalCpu{.core = 0, .thread = 1}));
  EXPECT_EQ(m.cpus[4], (LogicalCpu{.core = 2, .type = 1}));
  EXPECT_THAT(m.cpus_of(1), ElementsAre(4, 5, 6));
  EXPECT_EQ(m.types[0].name, "goldencove");
  EXPECT_EQ(m.types[1].name, "gracemont");
  EXPECT_TRUE(m.types[1].hybrid);
  EXPECT_EQ(m.types[1].core.tsc_hz, m.types[0].core.tsc_hz);
}

// Intel's optimization manual: the modules of small cores and their L2.
TEST(ParseMachine, SmallCoresAreModulesOfTwoOrFour) {
  const auto modules = [](std::string_view text) {
    const Topology m = machine(text);
    std::vector<u32> firsts;
    for (u32 n = 0; n < m.cpus.size(); ++n) firsts.push_back(m.first_of_module(n));
    return firsts;
  };
  EXPECT_THAT(modules("goldmont:4c"), ElementsAre(0, 0, 2, 2));
  EXPECT_THAT(modules("goldmont-plus:4c"), ElementsAre(0, 0, 0, 0));
  EXPECT_THAT(modules("bonnell:2c"), ElementsAre(0, 1));
  EXPECT_THAT(modules("alderlake:1p2t5e"), ElementsAre(0, 0, 2, 2, 2, 2, 6));
  EXPECT_THAT(modules("sierraforest:2s6c"), ElementsAre(0, 0, 0, 3, 3, 3));
  EXPECT_THAT(modules("skylake:2c4t"), ElementsAre(0, 1, 0, 1));
}

TEST(ParseMachine, RefusalsSayWhatIsWrong) {
  EXPECT_THAT(refusal("icelake"), HasSubstr("expected MODEL:COUNTS"));
  EXPECT_THAT(refusal("icelaek:4c"), HasSubstr("icelaek"));
  EXPECT_THAT(refusal("icelake:"), HasSubstr("no counts"));
  EXPECT_THAT(refusal("icelake:4x"), HasSubstr("'4x' is no count"));
  EXPECT_THAT(refusal("icelake:0c"), HasSubstr("0c is not between 1 and 256"));
  EXPECT_THAT(refusal("icelake:99999999999c"), HasSubstr("is no count"));
  EXPECT_THAT(refusal("icelake:4c4c"), HasSubstr("counted twice"));
  EXPECT_THAT(refusal("icelake:4c12t"), HasSubstr("12 threads on 4 cores"));
  EXPECT_THAT(refusal("icelake:2s3c"), HasSubstr("3 cores are not alike on 2 packages"));
  EXPECT_THAT(refusal("icelake:8p8e"), HasSubstr("one kind of core"));
  EXPECT_THAT(refusal("alderlake:8e"), HasSubstr("no P core"));
  EXPECT_THAT(refusal("alderlake:8c8e"), HasSubstr("neither c nor s"));
  EXPECT_THAT(refusal("gracemont:4c8t"), HasSubstr("one thread"));
  EXPECT_THAT(refusal("alderlake:128p256t8e"), HasSubstr("264 CPUs are more than 256"));
}

TEST(ReadMachine, HasALineForEachCpu) {
  const auto m = read_machine(
      "# a part with a core that is off\n"
      "cpu 0 core 0 model skylake\n"
      "\n"
      "cpu 1 core 0 thread 1 model skylake\n"
      "cpu 2 package 1 die 1 core 4 model skylake offline # at boot\n",
      "machine.txt");
  ASSERT_TRUE(m.ok()) << m.error().message;
  EXPECT_EQ(m->types.size(), 1u);
  EXPECT_EQ(m->cpus[2], (LogicalCpu{.package = 1, .die = 1, .core = 4, .online = false}));
  EXPECT_THAT(m->online(), ElementsAre(0, 1));
}

TEST(ReadMachine, AThreadThatIsOfflineStillHasItsHalfOfTheCounters) {
  const std::string_view text =
      "cpu 0 model skylake\n"
      "cpu 1 thread 1 model skylake offline\n";
  EXPECT_EQ(read_machine(text, "m")->types[0].gp_counters, 0xFu);
  EXPECT_EQ(read_machine("cpu 0 model skylake\n", "m")->types[0].gp_counters, 0xFFu);
}

TEST(ReadMachine, PCoresAreTheFirstTypeWhateverComesFirst) {
  const auto m = read_machine("cpu 0 core 0 model gracemont\ncpu 1 core 1 model goldencove\n", "m");
  ASSERT_TRUE(m.ok()) << m.error().message;
  EXPECT_EQ(m->types[0].name, "goldencove");
  EXPECT_EQ(m->cpus[0].type, 1u);
  EXPECT_EQ(m->cpus[1].type, 0u);
}

TEST(ReadMachine, RefusalsNameTheLine) {
  const auto refusal_of = [](std::string_view text) {
    const auto m = read_machine(text, "m");
    return m.ok() ? "" : m.error().message;
  };
  EXPECT_THAT(refusal_of("cpu 0 model skylake\ncpu 2 model skylake\n"), HasSubstr("m:2: expected 'cpu 1'"));
  EXPECT_THAT(refusal_of("cpu 0 modle skylake"), HasSubstr("m:1: 'modle' is none of"));
  EXPECT_THAT(refusal_of("cpu 0 model"), HasSubstr("nothing stands behind 'model'"));
  EXPECT_THAT(refusal_of("cpu 0 core 1"), HasSubstr("CPU 0 has no model"));
  EXPECT_THAT(refusal_of("cpu x model skylake"), HasSubstr("cpu 'x' is no number below 256"));
  EXPECT_THAT(refusal_of("cpu 0 thread 2 model skylake"), HasSubstr("thread 2"));
  EXPECT_THAT(refusal_of("cpu 0 model skylake\ncpu 1 model skylake\n"), HasSubstr("another CPU is thread 0"));
  EXPECT_THAT(refusal_of("cpu 0 model skylake\ncpu 1 core 1 model icelake\n"), HasSubstr("no product has"));
  EXPECT_THAT(refusal_of("cpu 0 model goldencove\ncpu 1 thread 1 model gracemont\n"), HasSubstr("one model"));
  EXPECT_THAT(refusal_of("cpu 0 model skylake offline\n"), HasSubstr("no CPU is online"));
  EXPECT_THAT(refusal_of(""), HasSubstr("no CPU is online"));
}

TEST(ParseCpuList, TakesNumbersAndRanges) {
  const Topology m = machine("icelake:8c");
  EXPECT_THAT(*parse_cpu_list("3,0-1,1", m), ElementsAre(0, 1, 3));
  EXPECT_EQ(cpu_list({0, 1, 3}), "0-1,3");
  for (const char* bad : {"", ",", "1,", "a", "3-1", "0-", "-1"})
    EXPECT_THAT(parse_cpu_list(bad, m).error().message, HasSubstr("is no list of CPUs")) << bad;
  EXPECT_THAT(parse_cpu_list("2,8", m).error().message,
              HasSubstr("has CPU 8, and the last of icelake:8c is CPU 7"));
}

}  // namespace
}  // namespace pmusim::topology_test
