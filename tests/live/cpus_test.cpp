// SPDX-License-Identifier: MIT
// Programs on a machine of many CPUs.
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>

#include "live/cgroups.h"
#include "tests/live/live.h"
#include "trace/tracee.h"

namespace pmusim::test {
namespace {

using testing::AllOf;
using testing::ContainsRegex;
using testing::ElementsAre;
using testing::Gt;
using testing::HasSubstr;
using testing::Lt;
using testing::Not;

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

std::vector<std::string> values_of(const std::string& name, const std::vector<std::string>& options) {
  return lines(run_live({"sed", "-n", "s/^" + name + "\t*: //p", "/proc/cpuinfo"}, options).out);
}

TEST_F(Live, TheCpusAreInCpuinfo) {
  if (!shows_pmu()) GTEST_SKIP() << remarks();
  EXPECT_THAT(values_of("model name", {"--model", "skylake"}), ElementsAre("pmusim Skylake"));
  EXPECT_THAT(values_of("vendor_id", {"--model", "genoa"}), ElementsAre("AuthenticAMD"));
  EXPECT_THAT(values_of("core id", {"--machine", "icelake:2c4t"}), ElementsAre("0", "1", "0", "1"));
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

const std::string system_program = std::string(TEST_PROGRAMS) + "/system";

// errno values as perf_event_open(2) and a kernel of four CPUs give them: EBADF of what is no cgroup.
TEST_F(Live, EventsOfCpusAreRefusedAsLinuxDoes) {
  EXPECT_EQ(run_live({system_program, "refusals"}, four).out, R"(CPU 3: works
CPU 4: EINVAL
no CPU: EINVAL
kernel mode: EACCES
kernel's page faults: EACCES
alignment faults: EOPNOTSUPP
a tracepoint: EOPNOTSUPP
no cgroup: EBADF
no file: EBADF
a cgroup on no CPU: EINVAL
a task's tracepoint: EOPNOTSUPP
)");
}

TEST_F(Live, TellsWhyEventsWereRefused) {
  const std::string err = run_live({system_program, "refusals"}, {"--machine", "skylake:4c", "-v"}).err;
  EXPECT_THAT(err,
              HasSubstr("refused once: PID_CGROUP: descriptor 9999 is no directory of a cgroup file system"));
  EXPECT_THAT(err,
              HasSubstr("refused 3 times: type: of the kernel alone, which does not know emulated CPUs"));
}

// Linux of perf_cgroup_connect(): proc_pid_cgroup(5) and proc_pid_mountinfo(5) are where it looks.
TEST(CgroupsOfTheMachine, AreThoseOfTheHierarchyWithPerfEvents) {
  const std::string both = "3:cpu,perf_event:/a:b\n2:freezer:/ice\n0::/c/d\n",
                    one = "2:freezer:/ice\n0::/c/d\n";
  EXPECT_EQ(live::cgroup_in(both), "/a:b");
  EXPECT_EQ(live::cgroup_in(one), "/c/d");
  EXPECT_EQ(live::cgroup_in("2:freezer:/ice\n"), "/");
  EXPECT_EQ(live::cgroup_in(""), "/");
}

TEST(CgroupsOfTheMachine, AreFoundWhereTheirHierarchyIsMounted) {
  const std::string mounts =
      "30 1 0:26 / /sys/fs/cgroup/freezer rw,relatime shared:9 - cgroup cgroup rw,freezer\n"
      "31 1 0:27 /a /sys/fs/cgroup/perf\\040event rw - cgroup cgroup rw,perf_event\n"
      "32 1 0:28 / /sys/fs/cgroup rw,nosuid shared:4 master:1 - cgroup2 cgroup2 rw\n"
      "nonsense\n33 1 - -\n";
  const live::CgroupMounts second("0::/c\n", mounts);
  EXPECT_EQ(second.cgroup_at("/sys/fs/cgroup"), "/");
  EXPECT_EQ(second.cgroup_at("/sys/fs/cgroup/c/d"), "/c/d");
  EXPECT_EQ(second.cgroup_at("/sys/fs/cgroups"), std::nullopt);
  EXPECT_EQ(second.directory_of("/c"), "/sys/fs/cgroup/c");
  const live::CgroupMounts first("4:perf_event:/a/b\n0::/c\n", mounts);
  EXPECT_EQ(first.cgroup_at("/sys/fs/cgroup/perf event/b"), "/a/b");
  EXPECT_EQ(first.cgroup_at("/sys/fs/cgroup/c"), std::nullopt) << "events are not counted there";
  EXPECT_EQ(first.directory_of("/a"), "/sys/fs/cgroup/perf event");
  EXPECT_EQ(first.directory_of("/b"), std::nullopt) << "above what is mounted";
  EXPECT_EQ(live::CgroupMounts("", mounts).cgroup_at("/sys/fs/cgroup"), std::nullopt);
}

/// A cgroup of this machine's kernel with another one in it, where there can be one.
class TemporaryCgroup {
 public:
  TemporaryCgroup() {
    const u32 self = static_cast<u32>(::getpid());
    const live::CgroupMounts mounts(trace::proc_file(self, "cgroup"), trace::proc_file(self, "mountinfo"));
    name_ = "pmusim-test-" + std::to_string(self);
    path_ = mounts.directory_of("/").value_or("/nowhere") + "/" + name_;
    exists_ = ::mkdir(path_.c_str(), 0700) == 0 && ::mkdir(below().c_str(), 0700) == 0;
  }
  TemporaryCgroup(const TemporaryCgroup&) = delete;
  TemporaryCgroup& operator=(const TemporaryCgroup&) = delete;
  ~TemporaryCgroup() {
    ::rmdir(below().c_str());
    ::rmdir(path_.c_str());
  }
  bool exists() const { return exists_; }
  const std::string& name() const { return name_; }
  const std::string& path() const { return path_; }
  std::string below() const { return path_ + "/below"; }

 private:
  std::string name_, path_;
  bool exists_ = false;
};

#define PMUSIM_NEEDS_CGROUP(cgroup) \
  if (!(cgroup).exists()) GTEST_SKIP() << "no cgroup can be made: " << (cgroup).path()

TEST_F(Live, EventsOfACgroupCountItsTasksAndThoseBelow) {
  const TemporaryCgroup cgroup;
  PMUSIM_NEEDS_CGROUP(cgroup);
  EXPECT_EQ(run_live({system_program, "cgroup", cgroup.path(), cgroup.below()}, four).out,
            R"(cgroup: 0 beyond those of its tasks
third task: counts for itself
time: its tasks'
cgroup switches: some
)");
}

// perf_cgroup_connect() of Linux: a cgroup that is not online any more.
TEST_F(Live, ACgroupThatHasBeenRemovedIsRefused) {
  const TemporaryCgroup cgroup;
  PMUSIM_NEEDS_CGROUP(cgroup);
  EXPECT_EQ(run_live({system_program, "removed", cgroup.below()}, four).out, "a removed cgroup: ENOENT\n");
}

TEST_F(Live, WhoHasClosedItsEventsOfCpusIsAmongTheTasksOfOthers) {
  EXPECT_EQ(run_live({system_program, "reopen"}, four).out, "nothing open: 2\nan event open: 0\nclosed: 2\n");
}

// perf_allow_cpu() of Linux, where perf_event_paranoid is 2.
TEST_F(Live, EventsOfCpusNeedTheRightToObserve) {
  if (!installed("setpriv")) GTEST_SKIP() << "util-linux is not installed";
  const Output output =
      run_live({"setpriv", "--bounding-set", "-perfmon,-sys_admin", "--", system_program, "refusals"}, four);
  EXPECT_THAT(lines(output.out).at(0), "CPU 3: EACCES") << output.err;
}

TEST_F(Live, ATaskThatAnotherTracesCannotBeObserved) {
  EXPECT_EQ(run_live({system_program, "traced"}, four).out,
            "beside a traced task: EBUSY\nwhen it is gone: works\n");
}

// Units of CPUs are 2,000 rounds of two instructions each: three children work on CPU 1, 2 and 3, and then
// all of them on CPU 0. Events of the children are an independent count of the same.
constexpr std::string_view counts_of_children = R"(CPU 1: 2
CPU 2: 4
CPU 3: 6
kind 0: 0 beyond those of the tasks
kind 1: 0 beyond those of the tasks
kind 2: 0 beyond those of the tasks
page faults: at least those of the pages
clock: all the time
migrations: 3
switches: as many as moves and ends
)";

TEST_F(Live, EventsOfCpusCountAllTasksThere) {
  EXPECT_EQ(run_live({system_program, "children"}, four).out, "CPU 0: 3\n" + std::string(counts_of_children));
}

TEST_F(Live, WhoCountsCpusAndItselfIsAmongItsTasks) {
  EXPECT_EQ(run_live({system_program, "all"}, four).out, "CPU 0: 10\n" + std::string(counts_of_children));
}

// As perf record opens tracepoints. The kernel's CPU 0 is a real one, and so is CPU 1, where the task would
// be.
TEST_F(Live, EventsOfTheKernelOnTheOnlyCpuMissNothing) {
  if (::sysconf(_SC_NPROCESSORS_ONLN) < 2) GTEST_SKIP() << "this machine has one CPU";
  const Output output = run_live({system_program, "writes"});
  if (output.out.starts_with("refused")) GTEST_SKIP() << "this kernel has no breakpoints: " << output.out;
  EXPECT_EQ(output.out, "writes: 10\n");
  EXPECT_EQ(run_live({system_program, "writes"}, four).out, "refused: EOPNOTSUPP\n");
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

/// perf stat's counts of each CPU while it runs the program. `where`: CPUs for both.
std::vector<u64> counts_of_cpus(const std::string& machine, const std::string& where,
                                const std::string& file) {
  const Output output = run_live({"taskset", "-c", where, "perf", "stat", "-a", "-A", "-x,", "-o", file, "-e",
                                  "instructions:u", "--", bare_program},
                                 {"--machine", machine}, Addresses::fixed);
  EXPECT_EQ(output.status, 0) << output.err;
  std::vector<u64> counts;
  for (const std::string& line : lines(read_file(file)))
    if (line.starts_with("CPU")) counts.push_back(std::stoull(line.substr(line.find(',') + 1)));
  return counts;
}

// Beside the program there is what perf's child does until it executes it.
TEST_F(LiveWithPerf, StatOfAllCpusCountsTheProgramWhereItRuns) {
  if (!installed("taskset")) GTEST_SKIP() << "util-linux is not installed";
  const u64 alone = std::stoull(count_of({"--model", "skylake"}, file("alone")));
  const auto the_program = AllOf(Gt(alone), Lt(alone + 2000));
  EXPECT_THAT(counts_of_cpus("skylake:1c", "0", file("one")), ElementsAre(the_program));
  EXPECT_THAT(counts_of_cpus("skylake:4c", "2", file("four")), ElementsAre(0, 0, the_program, 0));
}

TEST_F(LiveWithPerf, EventsByNumberAreCountedOnBothKindsOfCore) {
  if (!installed("taskset")) GTEST_SKIP() << "util-linux is not installed";
  const Output output = run_live({"taskset", "-c", "1", "perf", "stat", "-x,", "-o", file("counts"), "-e",
                                  "cpu_atom/event=0xc0/u,cpu_atom/instructions/u", "--", bare_program},
                                 {"--machine", "alderlake:1p1e"});
  ASSERT_EQ(output.status, 0) << output.err;
  auto counts = counts_in(read_file(file("counts")));
  EXPECT_THAT(counts["cpu_atom/event=0xc0/u"], ContainsRegex("^[0-9]+$"));
  EXPECT_EQ(counts["cpu_atom/event=0xc0/u"], counts["cpu_atom/instructions/u"]);
}

TEST_F(LiveWithPerf, RecordOfAllCpusSamplesWhoRunsThere) {
  const Output recorded = run_live({"perf", "record", "-a", "-g", "-o", file("perf.data"), "-e",
                                    "instructions:u", "-c", "500", "--", system_program, "children"},
                                   four);
  ASSERT_EQ(recorded.status, 0) << recorded.err;
  const std::string cpus =
      run_perf({"report", "--stdio", "-g", "none", "--sort", "cpu,comm"}, file("perf.data")).out;
  for (const char* row : {"000  system", "001  system", "002  system", "003  system"})
    EXPECT_THAT(cpus, HasSubstr(row));
  EXPECT_THAT(cpus, Not(HasSubstr("swapper"))) << "nothing retires on an idle CPU";
  EXPECT_THAT(cpus, Not(ContainsRegex("  perf( |\n)"))) << "perf-exec, its child, is one of them";
}

// perf enters no cgroup: its child does, after some instructions that count nowhere.
TEST_F(LiveWithPerf, StatOfACgroupCountsWhoJoinsIt) {
  const TemporaryCgroup cgroup;
  PMUSIM_NEEDS_CGROUP(cgroup);
  const u64 alone = std::stoull(count_of({"--model", "skylake"}, file("alone")));
  const Output output = run_live({"perf", "stat", "-a", "-x,", "-o", file("counts"), "-e", "instructions:u",
                                  "--for-each-cgroup", cgroup.name() + "," + cgroup.name() + "/below", "--",
                                  system_program, "join", cgroup.path(), bare_program},
                                 four, Addresses::fixed);
  ASSERT_EQ(output.status, 0) << output.err;
  std::map<std::string, std::string> counts;
  for (const std::string& line : lines(read_file(file("counts"))))
    for (const std::string& name : {cgroup.name(), cgroup.name() + "/below"})
      if (line.find("," + name + ",") != line.npos) counts[name] = line.substr(0, line.find(','));
  const u64 joined = std::stoull(counts.at(cgroup.name()));
  EXPECT_THAT(joined, AllOf(Gt(alone), Lt(alone + 100))) << "and a few to execute it";
  EXPECT_EQ(counts.at(cgroup.name() + "/below"), "<not counted>");
}

TEST_F(LiveWithPerf, RecordOfACgroupSamplesWhoJoinsIt) {
  const TemporaryCgroup cgroup;
  PMUSIM_NEEDS_CGROUP(cgroup);
  const Output recorded =
      run_live({"perf", "record", "-a", "-e", "instructions:u", "-G", cgroup.name(), "--all-cgroups", "-o",
                file("perf.data"), "-c", "200", "--", system_program, "join", cgroup.path(), bare_program},
               four);
  ASSERT_EQ(recorded.status, 0) << recorded.err;
  const std::string rows = run_perf({"report", "--stdio", "--sort", "cgroup,comm"}, file("perf.data")).out;
  EXPECT_THAT(rows, ContainsRegex("100.00%  /" + cgroup.name() + " +bare"));
}

// As long as it takes, which is the watchdog's to bound.
TEST_F(LiveWithPerf, TopOfAllCpusShowsWhoRuns) {
  const Output output =
      run_live({"sh", "-c", "mkfifo \"$0\"; " + std::string(TEST_PROGRAMS) + R"(/company >/dev/null &
tail -f /dev/null | stdbuf -o0 perf top --stdio -a -d 1 -e instructions:u -c 500 --sort comm,sym >"$0" &
grep -a -m 1 'company  *\[\.\]' "$0")",
                file("top")},
               four);
  EXPECT_THAT(output.out, ContainsRegex("company +\\[.\\] +(work|clock_nanosleep)")) << output.err;
}

}  // namespace
}  // namespace pmusim::test
