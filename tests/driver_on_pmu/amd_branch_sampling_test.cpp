// SPDX-License-Identifier: MIT
// Branch sampling of Zen 3's servers, from perf_event_open to the sample.
#include <gmock/gmock.h>

#include <cerrno>
#include <vector>

#include "amd_machine.h"
#include "pmusim/arch/msr.h"

namespace pmusim::driver::amd_test::amd_branch_sampling_test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;
namespace m = msr::amd;

constexpr u64 taken_branches = 0xC4;
constexpr u64 anything = perf::branch::ANY | perf::branch::USER | perf::branch::KERNEL;
constexpr u64 kernel_code = 0xFFFF'FFFF'8100'0000;

perf::Attr sampled(u64 period = 1000, u64 branches = anything) {
  perf::Attr attr = raw(taken_branches, period);
  attr.sample_type = perf::sample::IP | perf::sample::PERIOD | perf::sample::BRANCH_STACK;
  attr.branch_sample_type = branches;
  return attr;
}

struct Taken {
  u64 period;
  std::vector<perf::BranchEntry> branches;
};

class Milan : public AmdMachine {
 public:
  Milan() : AmdMachine("milan") {
    sink.tell = [this](perf::Event&, const perf::SampleData& data, const InterruptFrame&) {
      ASSERT_NE(data.branches, nullptr);
      const auto entries = data.branches->entries;
      samples.push_back({data.period, {entries.begin(), entries.end()}});
    };
  }

  perf::Event& started(const perf::Attr& attr) {
    perf::Event& event = opened(attr);
    EXPECT_TRUE(schedule(event)) << refusal;
    return event;
  }
  /// Branch n goes from 16n to 16n + 256.
  void branches(u64 first, u64 count) {
    for (u64 n = first; n < first + count; ++n) branch(0x10000 + 16 * n, 0x10100 + 16 * n);
  }
  u64 control() { return msr(m::DEBUG_EXTN_CTL); }

  std::vector<Taken> samples;
};

int refusal_of(const perf::Attr& attr) { return Milan().error_of(attr); }

TEST(AmdBranchSampling, TakesTheBranchesBehindTheOverflow) {
  Milan milan;
  milan.started(sampled());
  EXPECT_EQ(milan.msr(m::CTR0), 0xFFFF'FFFF'FC28u);  // -984
  EXPECT_EQ(milan.control(), 0x1Cu);
  milan.branches(0, 984 + 15);
  EXPECT_THAT(milan.samples, IsEmpty());
  milan.branches(999, 1);
  milan.idle();
  ASSERT_THAT(milan.samples, SizeIs(1));
  const Taken& sample = milan.samples[0];
  EXPECT_EQ(sample.period, 1000u);
  ASSERT_THAT(sample.branches, SizeIs(16));
  for (u64 n = 0; n < 16; ++n) {
    EXPECT_EQ(sample.branches[n].from, 0x10000 + 16 * (999 - n));
    EXPECT_EQ(sample.branches[n].to, 0x10100 + 16 * (999 - n));
    EXPECT_FALSE(sample.branches[n].mispred || sample.branches[n].predicted);
  }
}

/// The period counts the branches that were to be recorded: where the interrupt goes out before they are
/// there, it is not over.
TEST(AmdBranchSampling, HasNoSampleOfAnInterruptThatGoesOutEarly) {
  Milan milan;
  milan.started(sampled());
  milan.branches(0, 984 + 5);
  milan.driver.disable();
  EXPECT_EQ(field(milan.control(), 19, 16), 5u);
  milan.idle();
  milan.driver.enable();
  EXPECT_EQ(milan.driver.statistics().interrupts, 1u);
  EXPECT_THAT(milan.samples, IsEmpty());
  EXPECT_EQ(milan.msr(m::CTR0), (u64{0} - 11) & low_bits(48));
  EXPECT_EQ(milan.control(), 0x1Cu) << "and begins anew";
  milan.branches(2000, 11 + 16);
  milan.idle();
  ASSERT_THAT(milan.samples, SizeIs(1));
  EXPECT_THAT(milan.samples[0].branches, SizeIs(16));
}

TEST(AmdBranchSampling, HasNothingOfATaskBefore) {
  Milan milan;
  milan.started(sampled());
  milan.branches(0, 984 + 5);
  milan.driver.context_switch(perf::PmuDriver::SwitchDirection::in, {2, 2});
  milan.idle();
  for (const Taken& sample : milan.samples) EXPECT_THAT(sample.branches, IsEmpty());
}

TEST(AmdBranchSampling, FiltersByPrivilegeLevel) {
  const auto sources = [](u64 levels) {
    Milan milan;
    milan.started(sampled(1000, perf::branch::ANY | levels));
    milan.branches(0, 984);
    milan.branch(0x2000, kernel_code);  // in, about, out
    milan.branch(kernel_code, kernel_code + 16);
    milan.branch(kernel_code + 32, 0x2002);
    for (unsigned n = 0; n < 13; ++n) milan.branch(0x3000 + n, 0x3000 + n);
    milan.idle();
    EXPECT_THAT(milan.samples, SizeIs(1));
    return milan.samples.at(0).branches;
  };
  EXPECT_THAT(sources(perf::branch::USER | perf::branch::KERNEL), SizeIs(16));
  EXPECT_THAT(sources(perf::branch::USER), SizeIs(13));
  EXPECT_THAT(sources(perf::branch::KERNEL),
              ElementsAre(testing::Field(&perf::BranchEntry::to, kernel_code + 16),
                          testing::Field(&perf::BranchEntry::to, kernel_code)));
}

TEST(AmdBranchSampling, HasCounterZeroForOneEventAtATime) {
  Milan milan;
  perf::Event& first = milan.opened(raw(0xC0));
  perf::Event& second = milan.opened(sampled());
  perf::Event& third = milan.opened(sampled());
  milan.driver.disable();
  EXPECT_TRUE(milan.driver.add(first));
  EXPECT_TRUE(milan.driver.add(second));
  EXPECT_FALSE(milan.driver.add(third));
  milan.driver.enable();
  EXPECT_EQ(milan.msr(m::CTL0) & 0xFF, taken_branches);
  EXPECT_EQ(milan.msr(m::CTL0 + m::STRIDE) & 0xFF, 0xC0u);
}

TEST(AmdBranchSampling, RefusesWhatItCannotDo) {
  EXPECT_EQ(refusal_of(sampled(17)), 0);
  EXPECT_EQ(refusal_of(sampled(16)), EINVAL);
  perf::Attr attr = sampled();
  attr.freq = 1;
  EXPECT_EQ(refusal_of(attr), EINVAL);
  attr = sampled();
  attr.config = 0xC2;
  EXPECT_EQ(refusal_of(attr), EINVAL);
  EXPECT_EQ(refusal_of(sampled(1000, perf::branch::ANY_CALL | perf::branch::USER)), EINVAL);
  EXPECT_EQ(refusal_of(sampled(1000, anything | perf::branch::TYPE_SAVE)), EINVAL);
}

}  // namespace
}  // namespace pmusim::driver::amd_test::amd_branch_sampling_test
