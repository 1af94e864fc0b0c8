// SPDX-License-Identifier: MIT
// Vector registers in samples of programs that run live.
#include "tests/live/live.h"

namespace pmusim::test {
namespace {

using testing::HasSubstr;

const std::string vectors_program = std::string(TEST_PROGRAMS) + "/vectors";

TEST_F(LiveWithPerf, RegistersOfVectorsAreSampledAsTheProgramHasThem) {
  const Output recorded = run_live({"perf", "record", "-o", file("perf.data"), "-e", "instructions:u", "-c",
                                    "100", "--intr-regs=xmm0,xmm9", "--", vectors_program},
                                   {"--kernel", "7.1-simd-v7"});
  ASSERT_EQ(recorded.status, 0) << recorded.err;
  const std::string samples = run_perf({"script", "-F", "iregs"}, file("perf.data")).out;
  EXPECT_THAT(samples, HasSubstr("XMM0:0x1122334455667788"));
  EXPECT_THAT(samples, HasSubstr("XMM9:0x1122334455667788"));
}

TEST_F(Live, SimdRegistersAreSampledByAttributesOfVersion10) {
  const Output output = run_live({vectors_program, "sampled"}, {"--kernel", "7.1-simd-v7"});
  EXPECT_EQ(output.status, 0) << output.err;
  // ABI: 64 bits and SIMD; one vector of two qwords.
  EXPECT_THAT(output.out, HasSubstr("6 1 2 99aabbccddeeff001122334455667788\n"));
}

TEST_F(Live, KernelsWithoutSimdSamplingRefuseVersion10) {
  const Output output = run_live({vectors_program, "sampled"});
  EXPECT_EQ(output.status, 1);
  EXPECT_THAT(output.err, HasSubstr("open: Argument list too long")) << "E2BIG";
}

}  // namespace
}  // namespace pmusim::test
