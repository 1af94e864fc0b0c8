// SPDX-License-Identifier: MIT
#include <array>

#include "tests/perf/core_fixture.h"

/// read() and the control page (Linux: perf_read_group, perf_event_update_userpage).
namespace pmusim::perf {
namespace {

class CoreReading : public CoreTest {
 protected:
  static Attr inherited_group() {
    Attr attr = counting();
    attr.inherit = 1;
    attr.read_format = read_format::GROUP | read_format::ID;
    return attr;
  }
};

TEST_F(CoreReading, ABufferThatIsTooSmallIsEnospc) {
  Attr attr = counting();
  attr.read_format = read_format::TOTAL_TIME_ENABLED | read_format::ID;
  Event& event = open(attr);
  count(5);
  std::array<u64, 4> words{};
  const auto buffer = std::as_writable_bytes(std::span(words));
  EXPECT_EQ(core.read(event, buffer.first(23)).error().error_number, ENOSPC);
  EXPECT_EQ(core.read(event, {}).error().error_number, ENOSPC);
  EXPECT_EQ(core.read(event, buffer.first(24)).value(), 24u);
  EXPECT_EQ(words, (std::array<u64, 4>{5, 0, event.original().id, 0}));
  EXPECT_EQ(core.read(event, buffer).value(), 24u);
}

TEST_F(CoreReading, AGroupNeedsRoomForEveryMember) {
  Attr attr = counting();
  attr.read_format = read_format::GROUP;
  Event& leader = open(attr);
  Event& member = open(attr, &leader);
  std::array<std::byte, 24> buffer;
  for (Event* event : {&leader, &member}) {
    EXPECT_EQ(core.read(*event, std::span(buffer).first(16)).error().error_number, ENOSPC);
    EXPECT_EQ(core.read(*event, buffer).value(), 24u);
  }
}

TEST_F(CoreReading, AnEventInErrorStateReadsNothingWhateverTheRoom) {
  Attr pinned = counting();
  pinned.pinned = 1;
  for (int i = 0; i < 4; ++i) open(pinned);
  Event& homeless = open(pinned);
  ASSERT_EQ(homeless.state, EventState::error);
  EXPECT_EQ(core.read(homeless, std::span<std::byte>()).value(), 0u);
}

TEST_F(CoreReading, AMemberAddedAfterAForkMakesGroupReadsEchild) {
  Event& leader = open(inherited_group());
  core.fork(100, 200, 200);
  ASSERT_TRUE(core.read(leader));
  Event& member = open(inherited_group(), &leader);
  EXPECT_EQ(core.read(leader).error().error_number, ECHILD);
  EXPECT_EQ(core.read(member).error().error_number, ECHILD);
  std::array<std::byte, 64> buffer;
  EXPECT_EQ(core.read(leader, buffer).error().error_number, ECHILD);
  core.exit(200);
  EXPECT_TRUE(core.read(leader));
  core.fork(100, 300, 300);  // inherits both
  EXPECT_TRUE(core.read(leader));
}

TEST_F(CoreReading, SingleReadsDoNotMindOtherGroups) {
  Attr attr = inherited_group();
  attr.read_format = 0;
  Event& leader = open(attr);
  core.fork(100, 200, 200);
  open(attr, &leader);
  EXPECT_TRUE(core.read(leader));
}

TEST_F(CoreReading, TheControlPageHasTheLatestTicksOrReadsValues) {
  cpu.set_time(1000);
  Event& event = open(counting());
  const ControlPage& page = map(event, 0).control();
  count(7);
  cpu.advance(1'000'000, frame);  // a tick
  EXPECT_EQ(page.offset, 7);
  EXPECT_EQ(page.time_enabled, 999'000u);
  EXPECT_EQ(page.time_running, 999'000u);
  EXPECT_EQ(page.index, 0u);
  cpu.set_time(1'000'500);
  count(2);
  EXPECT_EQ(page.offset, 7);
  ASSERT_TRUE(core.read(event));
  EXPECT_EQ(page.offset, 9);
  EXPECT_EQ(page.time_enabled, 999'500u);
  EXPECT_EQ(page.lock % 2, 0u);
  core.disable(event);
  cpu.set_time(1'500'000);
  ASSERT_TRUE(core.read(event));
  EXPECT_EQ(page.time_running, 999'500u);
}

class CoreLimits : public CoreTest {
 protected:
  CoreLimits() : CoreTest({.limits = {.ipc_lock_capable = false}}) {}
};

TEST_F(CoreLimits, BuffersOfAllEventsShareTheLockedMemory) {  // 516 KiB: 129 pages
  Event& first = open(sampling(10));
  Event& second = open(sampling(10));
  EXPECT_EQ(core.mmap(first, 256).error().error_number, EPERM);
  ASSERT_TRUE(core.mmap(first, 64));
  ASSERT_TRUE(core.mmap(second, 32));
  ASSERT_TRUE(core.mmap(first, 64));  // the same once more takes nothing
  Event& third = open(sampling(10));
  EXPECT_EQ(core.mmap(third, 32).error().error_number, EPERM);
  core.close(first);
  EXPECT_TRUE(core.mmap(third, 32));
}

// Linux: perf_mmap. 129 pages of each user, then RLIMIT_MEMLOCK of each process: here 20 pages.
TEST_F(CoreLimits, WhatIsBeyondAUsersShareIsOfTheProcessesLimit) {
  const auto map = [&](std::size_t pages, const Mapper& mapper) {
    const auto mapped = core.mmap(open(sampling(10)), pages, PerfCore::Access::read_write, nullptr, mapper);
    return mapped.ok() ? 0 : mapped.error().error_number;
  };
  const Mapper first{.user = 1, .process = 10, .memlock_kib = 80},
      second{.user = 1, .process = 11, .memlock_kib = 80}, other{.user = 2, .process = 20},
      root{.ipc_lock_capable = true};
  EXPECT_EQ(map(128, first), 0);  // all of the user's share
  EXPECT_EQ(map(16, first), 0);   // 17 pages of its limit
  EXPECT_EQ(map(4, first), EPERM) << "22 pages";
  EXPECT_EQ(map(2, first), 0) << "20 pages";
  EXPECT_EQ(map(16, second), 0) << "a process has a limit of its own";
  EXPECT_EQ(map(128, other), 0) << "a user has a share of its own";
  EXPECT_EQ(map(0, other), EPERM);
  EXPECT_EQ(map(256, root), 0);
}

TEST_F(CoreLimits, ABufferSizeThatOverflowsIsRefused) {
  EXPECT_EQ(core.mmap(open(sampling(10)), std::size_t{1} << 63).error().error_number, EPERM);
}

TEST_F(CoreReading, ABufferIsAtMostAsLargeAsTheKernelsListOfItsPages) {
  for (const unsigned order : {19, 40, 63})
    EXPECT_EQ(core.mmap(open(sampling(10)), std::size_t{1} << order).error().error_number, ENOMEM) << order;
}

TEST_F(CoreReading, AttributesCannotBeModified) {
  Event& event = open(counting());
  Attr attr = counting();
  attr.size = sizeof attr;
  const auto bytes = std::as_writable_bytes(std::span(&attr, 1));
  EXPECT_EQ(core.modify_attributes(event, bytes).error().error_number, EOPNOTSUPP);
  attr.type = static_cast<u32>(EventType::software);
  EXPECT_EQ(core.modify_attributes(event, bytes).error().error_number, EINVAL);
  attr.size = 5000;
  EXPECT_EQ(core.modify_attributes(event, bytes).error().error_number, E2BIG);
}

}  // namespace
}  // namespace pmusim::perf
