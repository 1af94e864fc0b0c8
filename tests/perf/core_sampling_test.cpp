// SPDX-License-Identifier: MIT
#include <algorithm>

#include "tests/perf/core_fixture.h"

namespace pmusim::perf {
namespace {

using enum RecordType;
using Types = std::vector<RecordType>;

class CoreSampling : public CoreTest {};

TEST_F(CoreSampling, EveryPeriodGivesASample) {
  Event& event = open(sampling(100, sample::IP | sample::TID | sample::TIME | sample::PERIOD));
  RingBuffer& ring = map(event);
  frame.registers.rip = 0x401000;
  cpu.set_time(77);
  count(100);
  const auto records = drain_records(ring);
  ASSERT_EQ(records.size(), 1u);
  EXPECT_EQ(records[0].header.misc, misc::USER);
  EXPECT_EQ(records[0].at(8), 0x401000u);
  EXPECT_EQ(records[0].at<u32>(16), 100u);
  EXPECT_EQ(records[0].at(24), 77u);
  EXPECT_EQ(records[0].at(32), 100u);
}

TEST_F(CoreSampling, RefreshStopsAfterThatManyOverflows) {
  Attr attr = sampling(10);
  attr.disabled = 1;
  Event& event = open(attr);
  RingBuffer& ring = map(event);
  ASSERT_TRUE(core.refresh(event, 2));
  for (int i = 0; i < 5; ++i) {
    count(10);
    cpu.advance(cpu.now(), frame);
  }
  EXPECT_EQ(types(ring), (Types{sample, sample}));
  EXPECT_EQ(event.state, EventState::off);
  EXPECT_TRUE(event.hung_up);
}

TEST_F(CoreSampling, RefreshesAddUpInThirtyTwoBits) {
  Attr attr = sampling(10);
  attr.disabled = 1;
  Event& event = open(attr);
  for (int i = 0; i < 2; ++i) ASSERT_TRUE(core.refresh(event, std::numeric_limits<i64>::max()));
  ASSERT_TRUE(core.refresh(event, 3));
  EXPECT_EQ(event.event_limit, 1u);
}

TEST_F(CoreSampling, AnInheritedOrCountingEventCannotBeRefreshed) {
  Attr attr = sampling(10);
  attr.inherit = 1;
  EXPECT_EQ(core.refresh(open(attr), 1).error().error_number, EINVAL);
  EXPECT_EQ(core.refresh(open(counting()), 1).error().error_number, EINVAL);
}

TEST_F(CoreSampling, ANewPeriodStartsAtOnceUnlessImpossible) {
  Event& event = open(sampling(1000));
  ASSERT_TRUE(core.set_period(event, 10));
  EXPECT_EQ(event.hw.sample_period, 10u);
  for (const u64 period : {u64{0}, bit(63)})
    EXPECT_EQ(core.set_period(event, period).error().error_number, EINVAL);
  EXPECT_EQ(core.set_period(open(counting()), 10).error().error_number, EINVAL);
  Attr attr = sampling(1000);
  attr.freq = 1;
  EXPECT_EQ(core.set_period(open(attr), 100'001).error().error_number, EINVAL);
}

// Linux: _perf_event_period.
TEST_F(CoreSampling, ANewPeriodCountsFromWhereItIsSet) {
  Event& event = open(sampling(1000));
  RingBuffer& ring = map(event);
  count(1000);
  ASSERT_TRUE(core.set_period(event, 10));
  count(9);
  EXPECT_EQ(types(ring), (Types{sample}));
  count(1);
  EXPECT_EQ(types(ring), (Types{sample}));
}

TEST_F(CoreSampling, SamplesBeforeARefreshAreNoneOfThoseItGives) {
  Event& event = open(sampling(10));
  RingBuffer& ring = map(event);
  count(10);
  ASSERT_TRUE(core.refresh(event, 2));
  for (int i = 0; i < 5; ++i) {
    count(10);
    cpu.advance(cpu.now(), frame);
  }
  EXPECT_EQ(types(ring), (Types{sample, sample, sample}));
}

// perf_event_open(2): wakeup_events and wakeup_watermark are one field.
TEST_F(CoreSampling, AWatermarkWakesTheReaderByBytes) {
  Attr attr = sampling(10);  // of 16 bytes each
  attr.watermark = 1;
  attr.wakeup_events = 64;
  RingBuffer& ring = map(open(attr));
  int woken = 0;
  ring.on_wakeup([&] { ++woken; });
  for (int i = 0; i < 4; ++i) count(10);
  EXPECT_EQ(woken, 0);
  count(10);
  EXPECT_EQ(woken, 1);
}

TEST_F(CoreSampling, MmapTakesPowersOfTwoAndOneSizeForOneEvent) {
  Event& event = open(sampling(10));
  EXPECT_EQ(core.mmap(event, 3).error().error_number, EINVAL);
  ASSERT_TRUE(core.mmap(event, 4));
  EXPECT_TRUE(core.mmap(event, 4));
  EXPECT_EQ(core.mmap(event, 8).error().error_number, EINVAL);
  Attr attr = sampling(10);
  attr.inherit = 1;
  EXPECT_EQ(core.mmap(open(attr), 4).error().error_number, EINVAL);
}

TEST_F(CoreSampling, OutputGoesOnlyWhereTheRulesAllow) {  // Linux: perf_event_set_output
  Event& event = open(sampling(10));
  Attr attr = sampling(10);
  attr.write_backward = 1;
  Event& backward = open(attr);
  attr = sampling(10);
  attr.use_clockid = attr.clockid = 1;
  Event& clocked = open(attr);
  Event& of_the_cpu = open(sampling(10), nullptr, -1, 0);
  for (Event* to : {&event, &backward, &clocked, &of_the_cpu})
    EXPECT_EQ(core.set_output(event, to).error().error_number, EINVAL);
  Event& other = open(sampling(10));
  map(event);
  for (Event* to : {&other, static_cast<Event*>(nullptr)})
    EXPECT_EQ(core.set_output(event, to).error().error_number, EINVAL);
  EXPECT_TRUE(core.set_output(other, &event));
  EXPECT_TRUE(core.set_output(other, nullptr));
}

// Linux: perf_mmap_close
TEST_F(CoreSampling, ABufferThatIsUnmappedEndsForAllThatWriteToIt) {
  Event& event = open(sampling(10));
  Event& other = open(sampling(10));
  const RingBuffer* const buffer = &map(event);
  ASSERT_TRUE(core.set_output(other, &event));
  ASSERT_EQ(other.ring.get(), buffer);
  core.munmap(other);  // which has not mapped it
  EXPECT_EQ(other.ring.get(), buffer);
  core.munmap(event);
  EXPECT_EQ(event.ring, nullptr);
  EXPECT_EQ(other.ring, nullptr);
  count(20);
  EXPECT_EQ(value(event), 20u);
  EXPECT_TRUE(core.mmap(other, 4));
}

TEST_F(CoreSampling, PausedOutputIsLostAndSaidSoAfterwards) {
  Event& event = open(sampling(10));
  EXPECT_EQ(core.pause_output(event, true).error().error_number, EINVAL);
  RingBuffer& ring = map(event);
  ASSERT_TRUE(core.pause_output(event, true));
  count(10);
  ASSERT_TRUE(core.pause_output(event, false));
  count(10);
  EXPECT_EQ(types(ring), (Types{lost, sample}));
}

/// Two frames from 0x7000 up.
struct TwoFrames final : Target {
  TwoFrames() {
    at_entry.rip = 0x401000;
    at_entry[Gpr::rbp] = 0x7000;
  }
  std::vector<std::byte> read_memory(u64 address, std::size_t bytes) const override {
    const u64 words[] = {0x7010, 0x402000, 0, 0x403000};
    std::vector<std::byte> out(bytes);
    if (address < 0x7000 || address + bytes > 0x7020) return {};
    std::memcpy(out.data(), reinterpret_cast<const std::byte*>(words) + (address - 0x7000), bytes);
    return out;
  }
  const Registers* user_registers() const override { return &at_entry; }
  Registers at_entry;
};
std::vector<u64> chain_of(const RawRecord& record) {
  std::vector<u64> words;
  for (u64 i = 0; i < record.at(8); ++i) words.push_back(record.at(16 + 8 * i));
  return words;
}
constexpr u64 kernel_mark = static_cast<u64>(-128), user_mark = static_cast<u64>(-512);
constexpr u64 kernel_code = 0xFFFF'FFFF'8100'0000;

TEST_F(CoreSampling, FramePointersGiveTheCallersWhereTheStackIsKnown) {
  const TwoFrames stack;
  cpu.set_target(stack);
  Event& event = open(sampling(10, perf::sample::CALLCHAIN));
  RingBuffer& ring = map(event);
  frame.registers_known = true;
  frame.registers.rip = 0x401000;
  frame.registers[Gpr::rbp] = 0x7000;
  count(10);
  EXPECT_EQ(chain_of(drain_records(ring).at(0)), (std::vector<u64>{user_mark, 0x401000, 0x402000, 0x403000}));
}

// perf_event_open(2): sample_max_stack limits the frames; marks are none.
TEST_F(CoreSampling, AChainHasAsManyAddressesAsItsEventAllows) {
  const TwoFrames stack;
  cpu.set_target(stack);
  Attr two = sampling(10, perf::sample::CALLCHAIN), three = two;
  two.sample_max_stack = 2;
  three.sample_max_stack = 3;
  RingBuffer &of_two = map(open(two)), &of_three = map(open(three));
  frame.registers_known = true;
  frame.registers = stack.at_entry;
  count(10);
  EXPECT_EQ(chain_of(drain_records(of_two).at(0)), (std::vector<u64>{user_mark, 0x401000, 0x402000}));
  frame.cpl = Cpl::kernel;
  frame.registers.rip = kernel_code;
  drain_records(of_three);
  count(10);
  EXPECT_EQ(chain_of(drain_records(of_three).at(0)),
            (std::vector<u64>{kernel_mark, kernel_code, user_mark, 0x401000, 0x402000}));
}

/// Knows what the task was in.
struct KeptCalls final : Target {
  std::optional<std::vector<u64>> callers(const SampledPlace& place, std::size_t limit) const override {
    asked = place;
    std::vector<u64> all{0x402000, 0x403000, 0x404000};
    all.resize(std::min(all.size(), limit));
    return all;
  }
  mutable SampledPlace asked;
};

TEST_F(CoreSampling, ATargetThatKeepsCallsIsAskedForThem) {
  const KeptCalls task;
  cpu.set_target(task);
  Attr two = sampling(10, perf::sample::CALLCHAIN);
  two.sample_max_stack = 2;
  RingBuffer &all = map(open(sampling(10, perf::sample::CALLCHAIN))), &some = map(open(two));
  frame.registers.rip = 0x401000;
  count(10);
  EXPECT_EQ(chain_of(drain_records(all).at(0)),
            (std::vector<u64>{user_mark, 0x401000, 0x402000, 0x403000, 0x404000}));
  EXPECT_EQ(chain_of(drain_records(some).at(0)), (std::vector<u64>{user_mark, 0x401000, 0x402000}));
  EXPECT_EQ(task.asked.interrupted_ip, 0x401000u);
  EXPECT_FALSE(task.asked.ip.has_value());
}

TEST_F(CoreSampling, PhysicalAddressesComeFromKnownPageTables) {
  struct PageTables final : Target {
    bool has_page_tables() const override { return true; }
    std::optional<u64> physical_address(u64 address) const override {
      return address < 0x8000 ? std::optional(address + 0x100000) : std::nullopt;
    }
  } const tables;
  cpu.set_target(tables);
  Event& event = open(sampling(10, perf::sample::PHYS_ADDR));
  RingBuffer& ring = map(event);
  SampleData data;
  for (const u64 address : {u64{0x7008}, u64{0x9008}}) {
    data.address = data.physical_address = address;
    static_cast<void>(cpu.overflow(event, data, frame));
  }
  EXPECT_FALSE(cpu.sample_template(event, frame)) << "each sample asks";
  const auto records = drain_records(ring);
  ASSERT_EQ(records.size(), 2u);
  EXPECT_EQ(records[0].at(8), 0x107008u);
  EXPECT_EQ(records[1].at(8), 0u) << "no page is there";
}

/// A task that entered the kernel from 0x401000.
struct InSystemCall final : Target {
  InSystemCall() { at_entry.rip = 0x401000; }
  const Registers* user_registers() const override { return &at_entry; }
  Registers at_entry;
};

TEST_F(CoreSampling, AKernelCallChainContinuesInTheTask) {
  const InSystemCall task;
  cpu.set_target(task);
  Attr user_part = sampling(10, perf::sample::CALLCHAIN);
  user_part.exclude_callchain_kernel = 1;
  RingBuffer& both = map(open(sampling(10, perf::sample::CALLCHAIN)));
  RingBuffer& user = map(open(user_part));
  frame.cpl = Cpl::kernel;
  frame.registers.rip = kernel_code;
  count(10);
  EXPECT_EQ(chain_of(drain_records(both).at(0)),
            (std::vector<u64>{kernel_mark, kernel_code, user_mark, 0x401000}));
  EXPECT_EQ(chain_of(drain_records(user).at(0)), (std::vector<u64>{user_mark, 0x401000}));
}

TEST_F(CoreSampling, AKernelSampleHasTheTasksSavedUserRegisters) {
  const InSystemCall task;
  cpu.set_target(task);
  Attr attr = sampling(10, perf::sample::REGS_USER);
  attr.sample_regs_user = bit(8);
  RingBuffer& ring = map(open(attr));
  frame.cpl = Cpl::kernel;
  count(10);
  const RawRecord record = drain_records(ring).at(0);
  EXPECT_EQ(record.at(8), 2u);  // 64-bit
  EXPECT_EQ(record.at(16), 0x401000u);
}

TEST_F(CoreSampling, BufferedSamplesPrecedeTheExitOfTheTask) {
  Attr attr = sampling(10, perf::sample::IP);
  attr.task = 1;
  Event& event = open(attr);
  RingBuffer& ring = map(event);
  driver.on_remove = [&](Event& leaving) {
    if (leaving.state == EventState::active) cpu.output(leaving, {}, frame);
  };
  core.exit(100);
  EXPECT_EQ(types(ring), (Types{sample, RecordType::exit}));
}

/// Entries that a sample of two branches has where sample_max_stack is 1.
u64 branches_written_under(Kernel kernel) {
  FakeDriver driver;
  const auto made = PerfCore::create(driver, {.limits = {.kernel = kernel}});
  PerfCore& core = *made;
  core.task_started(100, 100, "first");
  core.cpu(0).switch_to(100);
  Attr attr;
  attr.type = static_cast<u32>(EventType::raw);
  attr.sample_period = 1;
  attr.sample_type = perf::sample::BRANCH_STACK;
  attr.branch_sample_type = branch::ANY;
  attr.sample_max_stack = 1;
  Event& event = **core.open(attr, 100, -1);
  RingBuffer& ring = **core.mmap(event, 1);
  const std::vector<BranchEntry> two(2);
  const BranchStack stack{.entries = two};
  SampleData data;
  data.branches = &stack;
  core.cpu(0).output(event, data, {});
  return drain_records(ring).at(0).at(8);
}

TEST(BranchStackLimit, SinceLinux6_15MaxStackCountsForBranchesToo) {
  EXPECT_EQ(branches_written_under(Kernel::v6_14), 2u);
  EXPECT_EQ(branches_written_under(Kernel::v6_15), 1u);
}

TEST_F(CoreSampling, ClockTimersFireAtMostEveryTenMicroseconds) {
  Attr attr = software(SoftwareId::cpu_clock);
  attr.sample_period = 1000;
  attr.sample_type = perf::sample::IP;
  RingBuffer& ring = map(open(attr));
  cpu.advance(1'000'000, frame);
  EXPECT_EQ(types(ring).size(), 100u);
}

TEST_F(CoreSampling, RecordedPageFaultsAreSampledWithTheirAddress) {
  Attr attr = software(SoftwareId::page_faults);
  attr.sample_period = 2;
  attr.sample_type = perf::sample::ADDR;
  Event& event = open(attr);
  RingBuffer& ring = map(event);
  for (const u64 address : {0x1000u, 0x2000u, 0x3000u})
    cpu.count_software(SoftwareId::page_faults, 1, address, frame);
  const auto records = drain_records(ring);
  ASSERT_EQ(records.size(), 1u);
  EXPECT_EQ(records[0].at(8), 0x2000u);
  EXPECT_EQ(value(event), 3u);
}

TEST_F(CoreSampling, SideBandRecordsFollowTheLifeOfATask) {
  Attr attr = sampling(1000, sample::IP | sample::TID);
  attr.comm = attr.mmap = attr.mmap2 = attr.task = attr.context_switch = attr.sample_id_all = 1;
  Event& event = open(attr);
  RingBuffer& ring = map(event);
  core.exec(100, "program");
  core.mmap_region(100, {.address = 0x400000, .length = 0x1000, .name = "/bin/program"});
  core.fork(100, 101, 101);
  cpu.switch_to(0);
  cpu.switch_to(100);
  core.exit(100);
  const auto records = drain_records(ring);
  Types seen;
  for (const auto& record : records) seen.push_back(record.type());
  EXPECT_EQ(seen, (Types{comm, mmap2, fork, switch_, switch_, exit}));
  EXPECT_EQ(records[0].text(16), "program");
  EXPECT_EQ(records[0].header.misc, misc::COMM_EXEC);
  EXPECT_EQ(records[1].text(72), "/bin/program");
  EXPECT_EQ(records[3].header.misc, misc::SWITCH_OUT);
}

TEST_F(CoreSampling, EventsThatAreOffHearNothing) {
  Attr attr = sampling(1000);
  attr.disabled = attr.comm = 1;
  Event& event = open(attr);
  RingBuffer& ring = map(event);
  core.set_comm(100, "x");
  EXPECT_TRUE(types(ring).empty());
}

TEST_F(CoreSampling, InheritedEventsUseTheOriginalsBufferAndId) {
  Attr attr = sampling(10, sample::IDENTIFIER | sample::STREAM_ID);
  attr.inherit = attr.inherit_stat = 1;  // the task's own event counts, and not one that was handed on
  Event& event = open(attr, nullptr, 100, 0);
  RingBuffer& ring = map(event);
  core.fork(100, 101, 101);
  cpu.switch_to(101);
  count(10);
  const auto records = drain_records(ring);
  ASSERT_EQ(records.size(), 1u);
  EXPECT_EQ(records[0].at(8), event.id);
  EXPECT_EQ(records[0].at(16), event.children.at(0)->id);
}

TEST_F(CoreSampling, AFullBufferCountsItsLossesAndReportsThemOnce) {
  Attr attr = sampling(1, sample::IP | sample::TID);  // 24 bytes
  attr.read_format = read_format::LOST;
  Event& event = open(attr);
  RingBuffer& ring = map(event, 1);
  for (int i = 0; i < 200; ++i) count(1);
  EXPECT_EQ(core.read(event)->at(1), 30u);
  drain_records(ring);
  count(1);
  const auto records = drain_records(ring);
  ASSERT_EQ(records.size(), 2u);
  EXPECT_EQ(records[0].type(), lost);
  EXPECT_EQ(records[0].at(8), event.id);
  EXPECT_EQ(records[0].at(16), 30u);
  EXPECT_EQ(core.read(event)->at(1), 30u);
}

TEST_F(CoreSampling, GroupMembersWriteToTheLeadersBufferOnRequest) {
  Event& leader = open(sampling(10, sample::ID));
  RingBuffer& ring = map(leader);
  Event& member = open(sampling(10, sample::ID), &leader);
  ASSERT_TRUE(core.set_output(member, &leader));
  count(10);
  const auto records = drain_records(ring);
  ASSERT_EQ(records.size(), 2u);
  EXPECT_EQ(records[1].at(8), member.id);
}

TEST_F(CoreSampling, SampleReadCarriesTheGroupsCounts) {
  Attr attr = sampling(10, sample::READ);
  attr.read_format = read_format::GROUP | read_format::ID;
  Event& leader = open(attr);
  Event& member = open(counting(), &leader);
  RingBuffer& ring = map(leader);
  count(10);
  const auto records = drain_records(ring);
  ASSERT_EQ(records.size(), 1u);
  EXPECT_EQ(records[0].at(8), 2u);
  EXPECT_EQ(records[0].at(16), 10u);
  EXPECT_EQ(records[0].at(40), member.id);
}

TEST_F(CoreSampling, RecordedCountsTakePrecedenceOverCurrentOnes) {
  Attr attr = sampling(1000, sample::READ);
  attr.read_format = read_format::GROUP;
  Event& leader = open(attr);
  Event& recorded = open(counting(), &leader);
  open(counting(), &leader);
  RingBuffer& ring = map(leader);
  count(10);
  const CountAtSample counts[] = {{&recorded, 6}, {&leader, 5}};
  SampleData data;
  data.counts = counts;
  cpu.output(leader, data, frame);
  const auto records = drain_records(ring);
  ASSERT_EQ(records.size(), 1u);
  EXPECT_EQ(records[0].at(16), 5u);
  EXPECT_EQ(records[0].at(24), 6u);
  EXPECT_EQ(records[0].at(32), 10u) << "not recorded: read afresh";
}

TEST_F(CoreSampling, FrequencyModeApproachesTheRateThatWasAskedFor) {
  Attr attr = sampling(1000);
  attr.freq = 1;
  Event& event = open(attr);
  for (u64 ms = 1; ms <= 100; ++ms) {  // 10^9 events per second, 1000 samples per second: period 10^6
    event.count += 1'000'000;
    cpu.advance(ms * 1'000'000, frame);
  }
  EXPECT_NEAR(static_cast<double>(event.hw.sample_period), 1e6, 1e4);
}

// Linux: __perf_event_account_interrupt.
TEST_F(CoreSampling, OnlyOverflowsWithinTwoTicksAdjustThePeriod) {
  Attr attr = sampling(1000);
  attr.freq = 1;
  Event& event = open(attr);
  event.hw.sample_period = 1'000'000;
  const auto overflow_at = [&](u64 ns) {
    cpu.set_time(ns);
    count(event.hw.sample_period);
    return event.hw.sample_period;
  };
  EXPECT_EQ(overflow_at(5'000'000), 1'000'000u);
  EXPECT_EQ(overflow_at(7'000'000), 1'000'000u) << "two ticks later";
  EXPECT_LT(overflow_at(8'999'999), 1'000'000u) << "500 Hz, and 1000 are asked for";
}

// Linux: perf_swevent_start_hrtimer goes on with what was left.
TEST_F(CoreSampling, AClockTimerThatStoodStillMissesNoNanosecond) {
  Attr attr = software(SoftwareId::cpu_clock);
  attr.sample_period = 300'000;
  attr.sample_type = perf::sample::IP;
  RingBuffer& ring = map(open(attr));
  cpu.advance(299'999, frame);
  cpu.switch_to(0);
  cpu.switch_to(100);
  EXPECT_EQ(types(ring).size(), 0u);
  cpu.advance(300'000, frame);
  EXPECT_EQ(types(ring).size(), 1u);
}

TEST_F(CoreSampling, OnlyInheritStatRecordsAChildsCount) {
  const auto records = [&](bool stat) {
    Attr attr = counting();
    attr.inherit = 1;
    attr.inherit_stat = stat;
    RingBuffer& ring = map(open(attr, nullptr, 100, 0));
    core.fork(100, 101, 101);
    core.exit(101);
    return types(ring);
  };
  EXPECT_EQ(records(true), (Types{read}));
  EXPECT_EQ(records(false), (Types{}));
}

TEST_F(CoreSampling, ClockEventsSampleByTimer) {
  Attr attr = software(SoftwareId::cpu_clock);
  attr.sample_period = 300'000;
  attr.sample_type = perf::sample::TIME;
  Event& event = open(attr);
  RingBuffer& ring = map(event);
  cpu.advance(1'000'000, frame);
  const auto records = drain_records(ring);
  ASSERT_EQ(records.size(), 3u);
  EXPECT_EQ(records[0].at(8), 300'000u);
  EXPECT_EQ(records[2].at(8), 900'000u);
}

TEST_F(CoreSampling, SigtrapCallsBackInsteadOfSendingASignal) {
  Attr attr = sampling(10);
  attr.sigtrap = attr.remove_on_exec = 1;
  open(attr);
  int traps = 0;
  core.on_sigtrap([&](const Event&, u64) { ++traps; });
  count(10);
  EXPECT_EQ(traps, 1);
}

class CoreThrottling : public CoreTest {
 protected:
  CoreThrottling() : CoreTest({.limits = {.max_sample_rate = 3000}, .throttling = Throttling::on}) {}
};

TEST_F(CoreThrottling, ATooFrequentEventWaitsForTheNextTick) {
  Event& event = open(sampling(1, sample::ID));
  RingBuffer& ring = map(event);
  for (int i = 0; i < 5; ++i) count(1);  // 3000 Hz at 1000 ticks: three per tick
  EXPECT_EQ(types(ring), (Types{sample, sample, throttle, sample}));
  cpu.advance(1'000'000, frame);
  count(1);
  EXPECT_EQ(types(ring), (Types{unthrottle, sample}));
}

class SignalThrottling : public CoreTest {
 protected:
  SignalThrottling() : CoreTest({.limits = {.max_sample_rate = 3000}}) {}
};

// A handler that takes longer than the period would be all that executes.
TEST_F(SignalThrottling, WhoIsSignalledIsThrottledWhateverOthersAre) {
  Event& quiet = open(sampling(1, sample::ID));
  Event& signalling = open(sampling(1, sample::ID));
  core.set_signals(signalling, PerfCore::Signals::each_overflow);
  for (int i = 0; i < 5; ++i) count(1);
  EXPECT_EQ(quiet.count, 5u);
  EXPECT_EQ(signalling.count, 3u);
  core.set_signals(signalling, PerfCore::Signals::none);
  cpu.advance(1'000'000, frame);
  for (int i = 0; i < 5; ++i) count(1);
  EXPECT_EQ(signalling.count, 8u);
}

class GroupThrottling : public CoreTest {
 protected:
  explicit GroupThrottling(Kernel kernel = Kernel::v6_16)
      : CoreTest({.limits = {.max_sample_rate = 3000, .kernel = kernel}, .throttling = Throttling::on}) {
    leader = &open(counting());
    member = &open(sampling(1, perf::sample::ID), leader);
    ring = &map(*member);
    EXPECT_TRUE(core.set_output(*leader, member));
  }
  Event *leader, *member;
  RingBuffer* ring;
};

TEST_F(GroupThrottling, SinceLinux6_16OneRecordStopsTheWholeGroup) {
  for (int i = 0; i < 5; ++i) count(1);
  EXPECT_EQ(leader->count, 3u);
  EXPECT_EQ(member->count, 3u);
  const auto records = drain_records(*ring);
  ASSERT_EQ(records.size(), 4u);
  EXPECT_EQ(records[2].type(), throttle);
  EXPECT_EQ(records[2].at(16), leader->id);
  cpu.advance(1'000'000, frame);
  count(1);
  EXPECT_EQ(types(*ring), (Types{unthrottle, sample}));
  EXPECT_EQ(leader->count, 4u);
}

class EventThrottling : public GroupThrottling {
 protected:
  EventThrottling() : GroupThrottling(Kernel::v6_15) {}
};

TEST_F(EventThrottling, BeforeLinux6_16StopsTheEventAlone) {
  for (int i = 0; i < 5; ++i) count(1);
  EXPECT_EQ(leader->count, 5u);
  EXPECT_EQ(member->count, 3u);
  EXPECT_EQ(drain_records(*ring).at(2).at(16), member->id);
}

TEST_F(EventThrottling, BeforeLinux6_16AMemberWaitsForReenabling) {
  for (int i = 0; i < 5; ++i) count(1);
  cpu.advance(1'000'000, frame);
  count(1);
  EXPECT_EQ(member->count, 3u);
  core.disable(*leader);
  core.enable(*leader);
  count(1);
  EXPECT_EQ(member->count, 4u);
}

// Linux: event_sched_in begins at 0.
TEST_F(EventThrottling, AReenabledGroupMaySampleAsOftenAgain) {
  for (int i = 0; i < 5; ++i) count(1);
  core.disable(*leader);
  core.enable(*leader);
  for (int i = 0; i < 5; ++i) count(1);
  EXPECT_EQ(member->count, 6u);
}

TEST_F(CoreSampling, AReplayIsNotThrottledUnlessAsked) {
  Event& event = open(sampling(1, sample::ID));
  RingBuffer& ring = map(event);
  for (int i = 0; i < 1000; ++i) count(1);
  EXPECT_EQ(types(ring).size(), 1000u);
}

}  // namespace
}  // namespace pmusim::perf
