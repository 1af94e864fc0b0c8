// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>
#include <linux/perf_event.h>

#include <cstring>
#include <vector>

#include "perf/attr_check.h"
#include "tests/perf/core_fixture.h"

namespace pmusim::perf {
namespace {

// Where this machine's header has a field, ours is at the same place.
static_assert(offsetof(Attr, config1) == offsetof(perf_event_attr, config1));
static_assert(offsetof(Attr, branch_sample_type) == offsetof(perf_event_attr, branch_sample_type));
static_assert(offsetof(Attr, sample_stack_user) == offsetof(perf_event_attr, sample_stack_user));
static_assert(offsetof(Attr, sample_max_stack) == offsetof(perf_event_attr, sample_max_stack));
static_assert(offsetof(Attr, aux_sample_size) == offsetof(perf_event_attr, aux_sample_size));
static_assert(offsetof(Attr, sig_data) == offsetof(perf_event_attr, sig_data));
static_assert(offsetof(ControlPage, time_cycles) == offsetof(perf_event_mmap_page, time_cycles));
static_assert(offsetof(ControlPage, data_head) == offsetof(perf_event_mmap_page, data_head));
static_assert(offsetof(ControlPage, aux_size) == offsetof(perf_event_mmap_page, aux_size));
static_assert(static_cast<u64>(PERF_SAMPLE_WEIGHT_STRUCT) == sample::WEIGHT_STRUCT);
static_assert(static_cast<u64>(PERF_SAMPLE_BRANCH_PRIV_SAVE) == branch::PRIV_SAVE);

/// The attribute in `bytes` bytes of memory, zero behind what Attr has.
std::vector<std::byte> user_attr(u32 size, std::size_t bytes) {
  Attr attr;
  attr.size = size;
  attr.config = 0x3c;
  std::vector<std::byte> memory(std::max(bytes, sizeof attr));
  std::memcpy(memory.data(), &attr, sizeof attr);
  memory.resize(bytes);
  return memory;
}

u32 size_field(const std::vector<std::byte>& memory) {
  u32 size;
  std::memcpy(&size, memory.data() + 4, sizeof size);
  return size;
}

TEST(AttrSize, EveryVersionIsAcceptedAndItsMissingTailIsZero) {
  for (const u32 size : {64u, 72u, 80u, 96u, 104u, 112u, 120u, 128u, 136u, 144u, 176u}) {
    auto memory = user_attr(size, size);
    const auto attr = copy_attr(memory);
    ASSERT_TRUE(attr) << size;
    EXPECT_EQ(attr->size, size);
    EXPECT_EQ(attr->config, 0x3cu);
    EXPECT_EQ(attr->config4, 0u);
  }
}

TEST(AttrSize, OddSizesAndLongerOnesWithZerosAreAccepted) {  // observed: 65, 71, 137
  for (const u32 size : {65u, 71u, 137u, 200u, 4096u}) {
    auto memory = user_attr(size, size);
    EXPECT_TRUE(copy_attr(memory)) << size;
  }
}

TEST(AttrSize, ZeroMeansVer0AndTheCallersFieldStaysZero) {
  auto memory = user_attr(0, 64);
  EXPECT_EQ(copy_attr(memory)->size, 64u);
  EXPECT_EQ(size_field(memory), 0u);
}

TEST(AttrSize, TooSmallAndTooLargeAnswerWithTheKnownSize) {
  for (const u32 size : {1u, 63u, 4097u}) {
    auto memory = user_attr(size, 5000);
    EXPECT_EQ(copy_attr(memory).error().error_number, E2BIG) << size;
    EXPECT_EQ(size_field(memory), 144u) << size;
  }
}

TEST(AttrSize, ANonzeroByteBehindTheKnownFieldsIsE2big) {
  auto memory = user_attr(200, 200);
  memory[144] = std::byte{1};
  EXPECT_EQ(copy_attr(memory).error().error_number, E2BIG);
  EXPECT_EQ(size_field(memory), 144u);
}

TEST(AttrSize, MemoryThatEndsEarlyIsEfault) {
  for (const std::size_t bytes : {0u, 7u, 8u, 63u, 127u}) {
    auto memory = user_attr(128, bytes);
    EXPECT_EQ(copy_attr(memory).error().error_number, EFAULT) << bytes;
  }
}

TEST(AttrCheck, BranchLevelsAreFilledInFromTheExcludes) {  // A7
  Attr attr;
  attr.sample_type = sample::BRANCH_STACK;
  attr.branch_sample_type = branch::ANY;
  attr.exclude_kernel = attr.exclude_hv = 1;
  EXPECT_EQ(check_attr(attr, {})->branch_sample_type, branch::ANY | branch::USER);
}

TEST(AttrCheck, BranchTypeWithoutABranchStackIsIgnoredAndCleared) {
  Attr attr;
  attr.branch_sample_type = ~u64{0};
  EXPECT_EQ(check_attr(attr, {})->branch_sample_type, 0u);
}

TEST(AttrCheck, MaxStackDefaultsToTheSysctl) {
  EXPECT_EQ(check_attr({}, {})->sample_max_stack, 127u);
}  // A11

struct RegisterCase {
  u64 mask;
  u16 simd;
  bool legal;
};

TEST(AttrCheck, RegisterMasksFollowTheRulesOfTheirMode) {  // docs/sampled-registers.md
  const RegisterCase cases[] = {
      {0, 0, false},       {0xff0fff, 0, true},     {bit(12), 0, false}, {bit(24), 0, false},
      {bit(31), 0, false}, {bits(63, 32), 0, true}, {0, 1, true},        {0x1fffff'f0fff, 1, true},
      {bit(41), 1, false}, {bit(15), 1, false},
  };
  for (const auto& [mask, simd, legal] : cases) {
    Attr attr;
    attr.sample_type = sample::REGS_USER;
    attr.sample_regs_user = mask;
    attr.sample_simd_regs_enabled = simd;
    const Limits limits{.kernel = Kernel::v7_1_simd};  // a release with both modes
    EXPECT_EQ(check_attr(attr, limits).ok(), legal) << std::hex << mask;
    attr.sample_type = sample::REGS_INTR;
    attr.sample_regs_intr = mask;
    EXPECT_EQ(check_attr(attr, limits).ok(), legal) << std::hex << mask;
  }
}

struct SimdCase {
  u16 vector_qwords, predicate_qwords;
  u64 vectors;
  u32 predicates;
  bool legal;
};

TEST(AttrCheck, SimdMasksNameWholeRegisterFiles) {  // merged form
  const SimdCase cases[] = {
      {0, 0, 0, 0, true},        {0, 0, 1, 0, false},         {0, 0, 0, 0xff, false},
      {2, 0, 0xffff, 0, true},   {4, 0, 0x7fff, 0, false},    {3, 0, 0xffff, 0, false},
      {8, 0, 0xffff, 0, false},  {8, 0, 0xffffffff, 0, true}, {8, 0, 0, 0, true},
      {8, 0, bit(32), 0, false}, {2, 0, 0xffffffff, 0, true}, {0, 1, 0, 0xff, true},
      {0, 1, 0, 0x7f, false},    {0, 2, 0, 0xff, false},      {0, 1, 0xffff, 0, true},
  };
  for (const auto& c : cases) {
    Attr attr;
    attr.sample_type = sample::REGS_INTR;
    attr.sample_simd_regs_enabled = 1;
    attr.sample_simd_vec_reg_qwords = c.vector_qwords;
    attr.sample_simd_pred_reg_qwords = c.predicate_qwords;
    attr.sample_simd_vec_reg_intr = c.vectors;
    attr.sample_simd_pred_reg_intr = c.predicates;
    EXPECT_EQ(check_attr(attr, {.kernel = Kernel::v7_4}).ok(), c.legal)
        << c.vector_qwords << ' ' << std::hex << c.vectors << ' ' << c.predicates;
  }
}

// docs/perf-abi-notes.md: rows are requests, columns paranoid -1 to 2, for a caller without rights.
TEST(ParanoidLevels, RefuseWhatTheTableSays) {
  const auto user = [] {
    Attr attr;
    attr.type = static_cast<u32>(EventType::raw);
    attr.exclude_kernel = attr.exclude_hv = 1;
    return attr;
  };
  Attr with_kernel = user(), physical = user(), branches = user(), namespaces = user();
  with_kernel.exclude_kernel = 0;
  physical.sample_type = sample::PHYS_ADDR;
  branches.sample_type = sample::BRANCH_STACK;
  branches.branch_sample_type = branch::ANY;
  branches.exclude_hv = 0;
  namespaces.namespaces = 1;
  struct Row {
    Attr attr;
    i32 pid, cpu;
    std::array<bool, 4> allowed;
  };
  const Row rows[] = {
      {user(), 100, -1, {true, true, true, true}},    {with_kernel, 100, -1, {true, true, true, false}},
      {user(), -1, 0, {true, true, false, false}},    {physical, 100, -1, {true, true, true, false}},
      {branches, 100, -1, {true, true, true, false}}, {namespaces, 100, -1, {false, false, false, false}},
  };
  for (std::size_t row = 0; row < std::size(rows); ++row)
    for (int paranoid = -1; paranoid <= 2; ++paranoid) {
      FakeDriver driver;
      const auto made =
          PerfCore::create(driver, {.limits = {.paranoid = paranoid, .perfmon_capable = false}});
      PerfCore& core = *made;
      core.task_started(100, 100, "task");
      const auto event = core.open(rows[row].attr, rows[row].pid, rows[row].cpu);
      EXPECT_EQ(event.ok(), rows[row].allowed[static_cast<std::size_t>(paranoid + 1)])
          << row << ' ' << paranoid;
      if (!event) {
        EXPECT_EQ(event.error().error_number, EACCES) << row << ' ' << paranoid;
      }
    }
}

TEST(ParanoidLevels, PhysicalAddressesMayBePermittedByThemselves) {
  Attr attr;
  attr.exclude_kernel = attr.exclude_hv = 1;
  attr.sample_type = sample::PHYS_ADDR;
  const Limits limits{.perfmon_capable = false, .physical_addresses = true};
  EXPECT_TRUE(check_rights(attr, 100, -1, 0, limits).ok());
  attr.exclude_kernel = 0;
  EXPECT_FALSE(check_rights(attr, 100, -1, 0, limits).ok());
}

// `perf record -g -e cycles:u` of an ordinary user: the event stays out of the kernel, so its chains do.
TEST(ParanoidLevels, UserCallChainsNeedNoRightsBeforeTheHardening) {
  Attr attr;
  attr.exclude_kernel = attr.exclude_hv = 1;
  attr.sample_type = sample::CALLCHAIN;
  const auto allowed = [&](Kernel kernel) {
    return check_rights(attr, 100, -1, 0, {.perfmon_capable = false, .kernel = kernel}).ok();
  };
  EXPECT_TRUE(allowed(Kernel::v7_1_simd));
  EXPECT_TRUE(allowed(Kernel::v6_16));
  EXPECT_FALSE(allowed(Kernel::v7_4));
  EXPECT_FALSE(allowed(Kernel::v6_12)) << "its stable series has the check";
  attr.exclude_callchain_kernel = 1;
  EXPECT_TRUE(allowed(Kernel::v7_4));
}

TEST(ParanoidLevels, KernelCallChainsMayBePermittedByThemselves) {
  Attr attr;
  attr.exclude_kernel = attr.exclude_hv = 1;
  attr.sample_type = sample::CALLCHAIN;
  const Limits limits{.perfmon_capable = false, .kernel_chains = true, .kernel = Kernel::v7_3};
  EXPECT_TRUE(check_rights(attr, 100, -1, 0, limits).ok());
  attr.exclude_kernel = 0;
  EXPECT_FALSE(check_rights(attr, 100, -1, 0, limits).ok());
}

TEST(ParanoidLevels, CpusMayBePermittedWithoutTheKernel) {
  const Limits limits{.perfmon_capable = false, .cpus = true};
  EXPECT_TRUE(limits.may_see_cpu());
  EXPECT_FALSE(limits.may_see_kernel());
  const auto allowed = [&](EventType type, u64 config) {
    Attr attr;
    attr.type = static_cast<u32>(type);
    attr.config = config;
    return check_rights(attr, -1, 0, 0, limits).ok();
  };
  EXPECT_TRUE(allowed(EventType::software, static_cast<u64>(SoftwareId::context_switches)));
  EXPECT_TRUE(allowed(EventType::software, static_cast<u64>(SoftwareId::task_clock)));
  EXPECT_FALSE(allowed(EventType::software, static_cast<u64>(SoftwareId::page_faults)));
  EXPECT_FALSE(allowed(EventType::hardware, 0));
}

// Linux: perf_event_set_clock().
TEST(SampleClock, IsOneOfFiveOfWhichTwoCanBeReadInAnNmi) {
  constexpr i32 realtime = 0, monotonic = 1, monotonic_raw = 4, boottime = 7, tai = 11;
  const auto allowed = [](bool interrupts_are_nmis) {
    std::vector<i32> clocks;
    Attr attr;
    attr.use_clockid = 1;
    for (attr.clockid = -1; attr.clockid < 16; ++attr.clockid)
      if (check_clock(attr, interrupts_are_nmis).ok()) clocks.push_back(attr.clockid);
    return clocks;
  };
  EXPECT_EQ(allowed(true), (std::vector<i32>{monotonic, monotonic_raw}));
  EXPECT_EQ(allowed(false), (std::vector<i32>{realtime, monotonic, monotonic_raw, boottime, tai}));
}

class OpenDetails : public CoreTest {};

TEST_F(OpenDetails, WhatLooksWrongButIsNoError) {  // docs/perf-abi-notes.md
  Attr attr = counting();
  attr.clockid = 99;
  EXPECT_TRUE(core.open(attr, 100, -1));
  attr = software(SoftwareId::dummy);
  attr.precise_ip = 3;
  EXPECT_TRUE(core.open(attr, 100, -1));
  attr = counting();
  attr.freq = 1;
  EXPECT_TRUE(core.open(attr, 100, -1));
  attr.sample_type = sample::STACK_USER;
  EXPECT_TRUE(core.open(attr, 100, -1, nullptr, open_flag::OUTPUT));
}

TEST_F(OpenDetails, ThePidAndCpuPairsThatAreRefused) {
  for (const auto& [pid, number] : {std::pair{-1, -1}, std::pair{-1, -2}, std::pair{100, 9999}})
    EXPECT_EQ(core.open(counting(), pid, number).error().error_number, EINVAL) << pid << ' ' << number;
  EXPECT_EQ(core.open(counting(), -2, -1).error().error_number, ESRCH);
  EXPECT_TRUE(core.open(counting(), 0, -1));
}

TEST_F(OpenDetails, SoftwareEventsHaveNoBranchStack) {
  Attr attr = software(SoftwareId::dummy);
  attr.sample_type = sample::BRANCH_STACK;
  attr.branch_sample_type = branch::ANY;
  EXPECT_EQ(core.open(attr, 100, -1).error().error_number, EOPNOTSUPP);
}

TEST_F(OpenDetails, TheSixHundredEightyFirstMemberMakesReadsTooLong) {  // observed, read_format 31
  Attr attr = software(SoftwareId::dummy);
  attr.read_format = read_format::ALL;
  Event& leader = open(attr);
  for (int i = 1; i <= 680; ++i) ASSERT_TRUE(core.open(attr, 100, -1, &leader)) << i;
  EXPECT_EQ(core.open(attr, 100, -1, &leader).error().error_number, E2BIG);
}

TEST_F(OpenDetails, GenericEventsMayNameThePmuInTheUpperHalfOfConfig) {
  Attr attr;
  attr.config = u64{4} << 32 | 1;
  EXPECT_TRUE(core.open(attr, 100, -1));
  attr.config = u64{9} << 32 | 1;  // nobody's: every PMU is asked
  EXPECT_TRUE(core.open(attr, 100, -1));
  attr.config = u64{1} << 32 | 1;  // software events have no such form
  EXPECT_EQ(core.open(attr, 100, -1).error().error_number, ENOENT);
}

TEST_F(OpenDetails, IdsCountFromOne) {
  EXPECT_EQ(open(counting()).id, 1u);
  EXPECT_EQ(open(counting()).id, 2u);
}

}  // namespace
}  // namespace pmusim::perf
