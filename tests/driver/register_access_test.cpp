// SPDX-License-Identifier: MIT
#include "driver/x86/register_access.h"

#include <gtest/gtest.h>

#include "fake_bus.h"

namespace pmusim::driver {
namespace {

constexpr u32 present = msr::DEBUGCTL, absent = msr::PEBS_ENABLE;

struct AccessTest : testing::Test {
  AccessTest() { bus.msrs[present] = 7; }
  FakeBus bus;
  RegisterAccess access{bus};
};

TEST_F(AccessTest, WhatWorksLeavesNoTrace) {
  EXPECT_EQ(access.read(present), 7u);
  EXPECT_EQ(access.wrmsr(present, 5), Fault::none);
  EXPECT_EQ(bus.msrs[present], 5u);
  EXPECT_EQ(access.faults().count, 0u);
  EXPECT_EQ(describe(access.faults()), "");
}

TEST_F(AccessTest, CountsFaultsAndDescribesTheFirst) {
  EXPECT_EQ(access.wrmsr(absent, 0x1F), Fault::gp);
  EXPECT_EQ(access.read(absent), 0u);
  EXPECT_FALSE(access.rdpmc(0).ok());
  EXPECT_EQ(describe(access.faults()),
            "3 of the driver's accesses to the PMU faulted, first WRMSR of 0x1f to 0x3f1: counts and samples "
            "may be wrong");
}

TEST(BusFaults, SayWhichAccessItWas) {
  const auto first = [](BusAccess access) {
    const std::string sentence = describe(BusFaults{.count = 1, .first = {access, 0x4C1, 0xAB}});
    const std::size_t begin = sentence.find("first ") + 6;
    return sentence.substr(begin, sentence.find(": counts") - begin);
  };
  EXPECT_EQ(first(BusAccess::rdmsr), "RDMSR of 0x4c1");
  EXPECT_EQ(first(BusAccess::wrmsr), "WRMSR of 0xab to 0x4c1");
  EXPECT_EQ(first(BusAccess::rdpmc), "RDPMC of 0x4c1");
  EXPECT_EQ(first(BusAccess::read_memory), "read of memory at 0x4c1");
  EXPECT_EQ(first(BusAccess::write_memory), "write of 0xab to memory at 0x4c1");
  EXPECT_EQ(first(BusAccess::xsaves), "XSAVES of 0xab to 0x4c1");
  EXPECT_EQ(first(BusAccess::xrstors), "XRSTORS of 0xab from 0x4c1");
}

TEST_F(AccessTest, MemoryThatIsNotThereIsAFaultToo) {
  const std::array<std::byte, 8> word{std::byte{0xAB}};
  EXPECT_EQ(access.write_memory(0x1000, word), Fault::pf);
  EXPECT_TRUE(access.memory(0x1000, 8).empty());
  EXPECT_TRUE(access.memory(0x1000, 0).empty());
  EXPECT_EQ(access.faults().count, 2u) << "nothing was asked for by the view of no bytes";
  EXPECT_EQ(access.faults().first.access, BusAccess::write_memory);
  EXPECT_EQ(access.faults().first.value, 0xABu);
}

TEST_F(AccessTest, AQuestionWhoseAnswerIsAFaultIsNotCounted) {
  EXPECT_FALSE(access.probe().rdmsr(absent).ok());
  EXPECT_EQ(access.faults().count, 0u);
}

}  // namespace
}  // namespace pmusim::driver
