// SPDX-License-Identifier: MIT
// The hash of a Pmu's state: every register, every byte of memory, what is under way, and nothing else.
#include <gtest/gtest.h>

#include <array>

#include "pmusim/base/types.h"
#include "pmusim/pmu/pmu.h"

namespace pmusim {
namespace {

Pmu pmu_of(const char* model) { return Pmu(*find_cpu_model(model)); }

class StateHashOf : public testing::TestWithParam<const char*> {};

TEST_P(StateHashOf, ChangesWithEveryRegisterThatKeepsAnotherValue) {
  const Pmu fresh = pmu_of(GetParam());
  unsigned changed = 0;
  for (const Register& info : fresh.registers().all()) {
    Pmu pmu = fresh;
    const auto before = pmu.rdmsr(info.address);
    for (unsigned n = 0; n < 64 && before.ok(); ++n) {
      if (pmu.wrmsr(info.address, *before ^ bit(n)) != Fault::none || *pmu.rdmsr(info.address) == *before)
        continue;
      EXPECT_NE(pmu.state_hash(), fresh.state_hash()) << info.name() << " bit " << n;
      ++changed;
      break;
    }
  }
  EXPECT_GT(changed, 20u);
}
INSTANTIATE_TEST_SUITE_P(Models, StateHashOf, testing::Values("nehalem", "skylake", "icelake", "lioncove"));

TEST(StateHash, OfACopyIsTheSame) {
  Pmu pmu = pmu_of("skylake");
  ASSERT_TRUE(pmu.map_memory(0x1000, 100));
  ASSERT_EQ(pmu.wrmsr(msr::PERF_GLOBAL_CTRL, 3), Fault::none);
  const Pmu copy = pmu;
  EXPECT_EQ(copy.state_hash(), pmu.state_hash());
}

TEST(StateHash, SeesEveryByteOfMemoryAndWhereItLies) {
  Pmu pmu = pmu_of("skylake");
  ASSERT_TRUE(pmu.map_memory(0x1000, 13));
  const u64 before = pmu.state_hash();
  for (unsigned n = 0; n < 13; ++n) {
    Pmu other = pmu;
    other.memory(0x1000, 13)[n] = std::byte{1};
    EXPECT_NE(other.state_hash(), before) << n;
  }
  Pmu elsewhere = pmu_of("skylake");
  ASSERT_TRUE(elsewhere.map_memory(0x2000, 13));
  EXPECT_NE(elsewhere.state_hash(), before);
}

TEST(StateHash, SeesWhatIsUnderWay) {
  Pmu pmu = pmu_of("skylake");
  ASSERT_EQ(pmu.wrmsr(msr::X2APIC_LVTPC, msr::lvtpc::NMI), Fault::none);
  const u64 idle = pmu.state_hash();
  pmu.request_pmi();
  EXPECT_NE(pmu.state_hash(), idle);
}

TEST(StateHash, SeesTimePass) {
  Pmu pmu = pmu_of("skylake");
  const u64 before = pmu.state_hash();
  pmu.wait_until(1, {});
  EXPECT_NE(pmu.state_hash(), before);
}

TEST(StateHash, IsTheSameOnEveryMachine) {
  StateHash hash;
  hash.add(u8{1}, true, std::array<u16, 2>{2, 3});
  const std::array bytes{std::byte{1}, std::byte{2}, std::byte{3}};
  hash.add_bytes(bytes);
  EXPECT_EQ(hash.value(), 4832278106279883661u);
}

}  // namespace
}  // namespace pmusim
