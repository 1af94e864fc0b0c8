// SPDX-License-Identifier: MIT
// Programs on a machine of many CPUs.
#include <unistd.h>

#include "tests/live/live.h"

namespace pmusim::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

const std::vector<std::string> four{"--machine", "skylake:4c"};

// errno values as sched_setaffinity(2) and perf_event_open(2) have them, and a kernel of four CPUs gives
// them.
TEST_F(Live, TasksRunOnTheCpusThatTheyAskForAndAreCountedThere) {
  EXPECT_EQ(run_live({std::string(TEST_PROGRAMS) + "/cpus"}, four).out, R"(at first: 0 1 2 3
CPU 0: 0
CPU 1: 2
CPU 2: 4
CPU 3: 7
difference: 0
at last: 3
a child: 3
event on CPU 4: EINVAL
CPU 4: EINVAL
no such task: ESRCH
no room: EINVAL
nowhere: EFAULT
)");
}

TEST_F(Live, AffinityIsInheritedByWhatNobodyCounts) {
  if (!installed("taskset")) GTEST_SKIP() << "util-linux is not installed";
  EXPECT_EQ(run_live({"nproc"}, four).out, "4\n");
  EXPECT_EQ(run_live({"taskset", "-c", "1,3", "sh", "-c", "nproc; (nproc)"}, four).out, "2\n2\n");
  EXPECT_NE(run_live({"taskset", "-c", "7", "true"}, four).status, 0);
}

std::vector<std::string> texts_of(const std::vector<std::string>& files, const std::string& machine) {
  std::vector<std::string> command{"cat"};
  for (const std::string& file : files) command.push_back("/sys/devices/" + file);
  return lines(run_live(command, {"--machine", machine}).out);
}

// Documentation/ABI/stable/sysfs-devices-system-cpu, and perf_event_open(2) on PMUs of hybrid machines.
TEST_F(Live, TheMachineIsInSysfs) {
  if (!shows_pmu()) GTEST_SKIP() << remarks();
  const std::string cpu = "system/cpu/";
  EXPECT_THAT(texts_of({cpu + "online", cpu + "possible", cpu + "present", cpu + "cpu5/topology/core_id",
                        cpu + "cpu5/topology/thread_siblings_list", cpu + "cpu5/topology/core_cpus",
                        cpu + "cpu5/topology/physical_package_id"},
                       "icelake:4c8t"),
              ElementsAre("0-7", "0-7", "0-7", "1", "1,5", "22", "0"));
  EXPECT_THAT(
      texts_of({cpu + "cpu20/topology/package_cpus", "system/node/node1/cpulist", "system/node/online"},
               "sapphirerapids:2s40c"),
      ElementsAre("ff,fff00000", "20-39", "0-1"));
  EXPECT_THAT(
      texts_of({"cpu_core/cpus", "cpu_core/type", "cpu_atom/cpus", "cpu_atom/type"}, "alderlake:2p4e"),
      ElementsAre("0-1", "4", "2-5", "8"));
  const Output folders =
      run_live({"sh", "-c", "ls -d /sys/devices/system/cpu/cpu[0-9]* | wc -l; ls -d /sys/devices/cpu*"},
               {"--machine", "skylake:40c"});
  EXPECT_EQ(folders.out, "40\n/sys/devices/cpu\n");
}

TEST_F(Live, EachCpuHasItsRegisters) {
  const std::string rdmsr = "/usr/sbin/rdmsr", wrmsr = "/usr/sbin/wrmsr";
  if (!shows_pmu() || remarks().find("/dev/cpu/0/msr") != std::string::npos) GTEST_SKIP() << remarks();
  if (::access(rdmsr.c_str(), X_OK) != 0) GTEST_SKIP() << "msr-tools are not installed";
  const Output output = run_live({"sh", "-c",
                                  wrmsr + " -p 2 0x187 0x4300c4; " + rdmsr + " -p 1 0x187; " + rdmsr +
                                      " -p 2 0x187; " + rdmsr + " -p 4 0x187"},
                                 four);
  EXPECT_EQ(output.out, "0\n4300c4\n");
  EXPECT_THAT(output.err, HasSubstr("No such file"));  // of CPU 4
}

std::string count_of(const std::vector<std::string>& options, const std::string& file) {
  const Output output = run_live(
      {"perf", "stat", "-x,", "-o", file, "-e", "instructions:u", "--", std::string(TEST_PROGRAMS) + "/bare"},
      options, Addresses::fixed);
  EXPECT_EQ(output.status, 0) << output.err;
  return counts_in(read_file(file))["instructions:u"];
}

TEST_F(LiveWithPerf, AProgramIsTheSameOnManyCpus) {
  const std::string one = count_of({"--model", "skylake"}, file("one"));
  EXPECT_NE(one, "");
  EXPECT_EQ(count_of(four, file("four")), one);
  EXPECT_EQ(count_of({"--machine", "skylake:4c", "--schedule", "rotate"}, file("rotate")), one);
}

}  // namespace
}  // namespace pmusim::test
