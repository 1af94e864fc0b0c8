// SPDX-License-Identifier: MIT
// /proc/cpuinfo as proc_cpuinfo(5) describes it.
#include "live/cpuinfo.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <iterator>
#include <set>
#include <sstream>
#include <string>
#include <vector>

namespace pmusim::live {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::IsSupersetOf;

using testing::Not;

/// What stands behind a name, of each CPU in turn.
std::vector<std::string> values(const std::string& text, const std::string& name) {
  std::vector<std::string> found;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);)
    if (line.starts_with(name + "\t")) found.push_back(line.substr(line.find(": ") + 2));
  return found;
}

std::string cpuinfo_of(std::string_view model) {
  return cpuinfo({.name = {}, .types = {find_cpu_model(model).value()}, .cpus = {{}}});
}

std::set<std::string> flags_of(std::string_view model) {
  std::istringstream words(values(cpuinfo_of(model), "flags").at(0));
  return {std::istream_iterator<std::string>(words), {}};
}

TEST(Cpuinfo, IsThatOfTheModel) {
  EXPECT_EQ(cpuinfo_of("skylake"), R"(processor	: 0
vendor_id	: GenuineIntel
cpu family	: 6
model		: 94
model name	: pmusim Skylake
stepping	: 3
microcode	: 0xffffff
cpu MHz		: 2207.000
cache size	: 8192 KB
physical id	: 0
siblings	: 1
core id		: 0
cpu cores	: 1
apicid		: 0
initial apicid	: 0
fpu		: yes
fpu_exception	: yes
cpuid level	: 13
wp		: yes
flags		: fpu cx8 cmov mmx fxsr sse sse2 syscall tsc msr apic clflush dts rdtscp lm aperfmperf dtes64 ds_cpl pdcm x2apic xsave ibrs ibpb tsc_adjust hle rtm xsaveopt xsavec xgetbv1 xsaves arch_perfmon pebs bts
bogomips	: 4414.00
clflush size	: 64
cache_alignment	: 64
power management:

)");
}

// APM vol. 3, appendix E: what 4th generation EPYC says of itself.
TEST(Cpuinfo, HasAmdsAddressesAndFlags) {
  const std::string text = cpuinfo_of("genoa");
  EXPECT_THAT(values(text, "vendor_id"), ElementsAre("AuthenticAMD"));
  EXPECT_THAT(values(text, "cpu family"), ElementsAre("25"));
  EXPECT_THAT(values(text, "address sizes"), ElementsAre("52 bits physical, 57 bits virtual"));
  EXPECT_THAT(flags_of("genoa"), IsSupersetOf({"perfctr_core", "ibs", "irperf", "ibpb", "perfmon_v2",
                                               "amd_lbr_v2", "amd_lbr_pmc_freeze"}));
  EXPECT_THAT(flags_of("milan"), AllOf(Contains("brs"), Not(Contains("amd_lbr_v2"))));
  for (const char* of_intel : {"arch_perfmon", "pebs", "bts", "dts", "ds_cpl"})
    EXPECT_THAT(flags_of("genoa"), Not(Contains(of_intel)));
}

// toplev leaves out what TSX counts where there is no rtm.
TEST(Cpuinfo, FlagsAreThoseThatTheCoreHas) {
  EXPECT_THAT(flags_of("icelake"), Not(Contains("hle")));
  EXPECT_THAT(flags_of("alderlake"), AllOf(Contains("arch_lbr"), Not(Contains("rtm"))));
  EXPECT_THAT(flags_of("skylake"), Not(Contains("arch_lbr")));
  EXPECT_THAT(flags_of("nehalem"), AllOf(Contains("pebs"), Not(Contains("xsave"))));
}

TEST(Cpuinfo, ListsTheCpusThatAreOnlineByTheirPlaces) {
  const std::string threads = cpuinfo(parse_machine("icelake:2c4t").value());
  EXPECT_THAT(values(threads, "processor"), ElementsAre("0", "1", "2", "3"));
  EXPECT_THAT(values(threads, "core id"), ElementsAre("0", "1", "0", "1"));
  EXPECT_THAT(values(threads, "siblings"), ElementsAre("4", "4", "4", "4"));
  EXPECT_THAT(values(threads, "cpu cores"), ElementsAre("2", "2", "2", "2"));
  EXPECT_THAT(values(threads, "apicid"), ElementsAre("0", "1", "2", "3"));

  const std::string packages = cpuinfo(parse_machine("sapphirerapids:2s4c").value());
  EXPECT_THAT(values(packages, "physical id"), ElementsAre("0", "0", "1", "1"));
  EXPECT_THAT(values(packages, "siblings"), ElementsAre("2", "2", "2", "2"));

  const std::string partly = cpuinfo(read_machine("cpu 0 core 0 model skylake\n"
                                                  "cpu 1 core 1 model skylake offline\n"
                                                  "cpu 2 core 2 model skylake\n",
                                                  "three")
                                         .value());
  EXPECT_THAT(values(partly, "processor"), ElementsAre("0", "2"));
  EXPECT_THAT(values(partly, "cpu cores"), ElementsAre("2", "2"));

  const std::string hybrid = cpuinfo(parse_machine("alderlake:1p1e").value());
  EXPECT_THAT(values(hybrid, "model name"),
              ElementsAre("pmusim Golden Cove (Alder Lake P core)", "pmusim Gracemont (Alder Lake-N)"));
}

}  // namespace
}  // namespace pmusim::live
