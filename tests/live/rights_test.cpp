// SPDX-License-Identifier: MIT
// What a run says where a container or a user's rights stand in its way.
#include <unistd.h>

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

TEST_F(Live, AnOrdinaryUserCountsAsRootDoes) {
  if (::geteuid() != 0 || !installed("setpriv")) GTEST_SKIP() << "only root can become another user";
  // Folders of root's are closed to nobody, descriptors that are open are not.
  const Output output =
      run({"sh", "-c",
           "exec 3<" + pmusim() + " 4<" + events_program +
               "; cd /; exec setpriv --reuid=65534 --regid=65534 --clear-groups /proc/self/fd/3 run -- "
               "/proc/self/fd/4 start"});
  EXPECT_EQ(output.out, "20\n") << output.err;
}

}  // namespace
}  // namespace pmusim::test
