// SPDX-License-Identifier: MIT
// /dev/cpu/0/msr of the emulated CPU, and physical addresses of the machine that programs run on.
#include <fcntl.h>
#include <unistd.h>

#include <sstream>

#include "tests/live/live.h"

namespace pmusim::test {
namespace {

using testing::ContainsRegex;
using testing::HasSubstr;

TEST_F(Live, RegistersAreReadAndWrittenAsTheKernelsDeviceDoes) {
  if (!shows_pmu() || remarks().find("/dev/cpu/0/msr") != std::string::npos) GTEST_SKIP() << remarks();
  EXPECT_EQ(run_live({std::string(TEST_PROGRAMS) + "/registers"}).out, R"(2000 more
all counters on: works
3
a reserved bit: EIO
no such register: EIO
1234567: EIO
opened for reading: EBADF
3
another file: its own
)");
}

TEST_F(Live, MsrToolsSeeTheRegistersOfThePmu) {
  const std::string rdmsr = "/usr/sbin/rdmsr", wrmsr = "/usr/sbin/wrmsr";
  if (!shows_pmu() || remarks().find("/dev/cpu/0/msr") != std::string::npos) GTEST_SKIP() << remarks();
  if (::access(rdmsr.c_str(), X_OK) != 0) GTEST_SKIP() << "msr-tools are not installed";
  const Output output =
      run_live({"sh", "-c",
                wrmsr + " 0x186 0x4300c0; " + rdmsr + " -a 0x186; " + rdmsr + " 0x1234567; echo $?; " +
                    wrmsr + " 0x38f 0x8000000000000000; echo $?"});
  EXPECT_EQ(output.out, "4300c0\n4\n4\n");
  EXPECT_THAT(output.err, HasSubstr("CPU 0 cannot read MSR 0x01234567"));
  EXPECT_THAT(output.err, HasSubstr("CPU 0 cannot set MSR 0x0000038f"));
}

/// Others read zeros for frames (pagemap.rst).
bool may_know_frames() {
  constexpr u64 page_bytes = 4096, frame_mask = (u64{1} << 55) - 1;
  const u64 on_the_stack = 0;
  const auto page = reinterpret_cast<u64>(&on_the_stack) / page_bytes;
  u64 entry = 0;
  const int entries = ::open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
  const auto bytes = ::pread(entries, &entry, sizeof entry, static_cast<off_t>(page * sizeof entry));
  ::close(entries);
  if (bytes != sizeof entry) return false;
  return (entry & frame_mask) != 0;
}

TEST_F(LiveWithPerf, C2cRecordSamplesPhysicalAddresses) {
  if (!may_know_frames()) GTEST_SKIP() << "physical addresses are for root of the whole machine";
  const std::string perf = perf_of_intel(file("perf")), data = file("perf.data");
  const Output recorded = run_live({perf, "c2c", "record", "-o", data, "--", "-c", "50", bare_program});
  ASSERT_EQ(recorded.status, 0) << recorded.err;
  const std::string report = run({perf, "c2c", "report", "--stdio", "-i", data}).out;
  EXPECT_THAT(report, ContainsRegex("Load L1D hit +: +[1-9]"));
  EXPECT_THAT(report, ContainsRegex("Store Operations +: +[1-9]"));
  EXPECT_THAT(report, ContainsRegex("Unable to parse data source +: +0"));
  // Where a page is, the lowest bits of both addresses are the same.
  const std::string addresses = run_perf({"script", "-F", "addr,phys_addr"}, data).out;
  std::size_t known = 0;
  for (const std::string& line : lines(addresses)) {
    std::istringstream words(line);
    u64 address = 0, physical = 0;
    words >> std::hex >> address >> physical;
    if (physical == 0) continue;
    ++known;
    EXPECT_EQ(physical % 4096, address % 4096) << line;
    EXPECT_NE(physical, address);
  }
  EXPECT_GT(known, 50u);
}

}  // namespace
}  // namespace pmusim::test
