// SPDX-License-Identifier: MIT
// What a run says where a container or a user's rights stand in its way.
#include <unistd.h>

#include <fstream>
#include <string>

#include "tests/live/live.h"

namespace pmusim::test {
namespace {

using testing::HasSubstr;

/// LeakSanitizer, where the command has it, would trace, too.
Output run_denied(const std::string& call) {
  return run({"env", "ASAN_OPTIONS=detect_leaks=0", std::string(TEST_PROGRAMS) + "/denied", call, pmusim(),
              "run", "-v", "--", events_program, "start"});
}

TEST_F(Live, AProfileThatForbidsTheFilterIsNamed) {
  const Output output = run_denied("seccomp");
  EXPECT_EQ(output.status, 2);
  EXPECT_THAT(output.err, HasSubstr("a seccomp filter with a listener is forbidden here"));
  EXPECT_THAT(output.err, HasSubstr("--security-opt seccomp=unconfined"));
}

TEST_F(Live, AProfileThatForbidsTracingIsNamed) {
  const Output output = run_denied("ptrace");
  EXPECT_EQ(output.status, 2);
  EXPECT_THAT(output.err, HasSubstr("tracing is forbidden here"));
  EXPECT_THAT(output.err, HasSubstr("--cap-add SYS_PTRACE"));
}

TEST_F(Live, WithoutMountsEventsWorkByNumber) {
  const Output output = run_denied("mount");
  EXPECT_EQ(output.out, "20\n");
  EXPECT_THAT(output.err, HasSubstr("programs find no PMU in sysfs"));
}

/// `pmusim run -- sh -c SCRIPT` with the program under $PROGRAM. Folders of root's are closed to nobody, so
/// both are reached by descriptors.
Output run_script(const std::string& as, const std::string& program, const std::string& script) {
  return run({"env", "PROGRAM=/proc/self/fd/4", "SCRIPT=" + script, "sh", "-c",
              "exec 3<" + pmusim() + " 4<" + program + "; cd /; exec " + as +
                  " /proc/self/fd/3 run -- sh -c \"$SCRIPT\""});
}
const std::string nobody = "setpriv --reuid=65534 --regid=65534 --clear-groups";

TEST_F(Live, AnOrdinaryUserCountsAsRootDoes) {
  if (::geteuid() != 0 || !installed("setpriv")) GTEST_SKIP() << "only root can become another user";
  const Output output = run_script(nobody, events_program, "$PROGRAM start");
  EXPECT_EQ(output.out, "20\n") << output.err;
}

/// perf records four threads, each into a buffer of 128 pages beside its control page: 2,064 KiB, of which
/// perf_event_mlock_kb of the one CPU has room for 516.
class LockedMemory : public LiveWithPerf {
 protected:
  void SetUp() override {
    LiveWithPerf::SetUp();
    if (IsSkipped()) return;
    if (::geteuid() != 0 || !installed("setpriv")) GTEST_SKIP() << "only root can become another user";
    if (run({"sh", "-c", "ulimit -l 8192"}).status != 0) GTEST_SKIP() << "the limit cannot be chosen";
  }
  static Output record_four_threads(const std::string& as, unsigned memlock_kib) {
    return run_script("sh -c 'ulimit -l " + std::to_string(memlock_kib) + "; exec \"$@\"' sh " + as,
                      std::string(TEST_PROGRAMS) + "/company",
                      "$PROGRAM >/dev/null & p=$!; until [ $(ls /proc/$p/task | wc -l) = 4 ]; do sleep 0.01; "
                      "done; perf record -p $p --per-thread -e instructions:u -c 1000 -m 128 -o - -- true "
                      ">/dev/null");
  }
};

TEST_F(LockedMemory, BuffersBeyondTheUsersShareUseTheProcessLimit) {
  const Output within = record_four_threads(nobody, 8192);
  EXPECT_EQ(within.status, 0) << within.err;
  const Output beyond = record_four_threads(nobody, 1024);
  EXPECT_NE(beyond.status, 0);
  EXPECT_THAT(beyond.err, HasSubstr("perf_event_mlock_kb"));
}

/// CAP_IPC_LOCK, bit 14 of the effective capabilities (proc(5), capability.h).
bool may_lock_memory() {
  std::ifstream status("/proc/self/status");
  for (std::string name, value; status >> name && std::getline(status, value);)
    if (name == "CapEff:") return (std::stoull(value, nullptr, 16) >> 14 & 1) != 0;
  return false;
}

TEST_F(LockedMemory, RootMayLockWhatItWants) {
  if (!may_lock_memory()) GTEST_SKIP() << "this root has no CAP_IPC_LOCK";
  const Output output = record_four_threads("", 0);
  EXPECT_EQ(output.status, 0) << output.err;
}

}  // namespace
}  // namespace pmusim::test
