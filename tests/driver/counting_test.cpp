// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <algorithm>

#include "driver_fixture.h"
#include "perf/context.h"

namespace pmusim::driver {
namespace {

using perf::HardwareId;

constexpr u64 EN = msr::evtsel::EN, INT = msr::evtsel::INT, USR = msr::evtsel::USR, OS = msr::evtsel::OS;
constexpr u64 width48 = low_bits(48);

TEST(Driver, ResetsAPmuThatFirmwareLeftCounting) {
  FakeBus bus = ice_lake();
  bus.msrs[msr::PERFEVTSEL0] = 0x4300C0;
  bus.msrs[msr::FIXED_CTR_CTRL] = 0xB0;
  bus.msrs[msr::PERF_GLOBAL_CTRL] = 0xFF;
  bus.msrs[msr::PERF_GLOBAL_STATUS] = 1;
  const IntelDriver driver(bus);
  EXPECT_EQ(bus.msrs[msr::PERFEVTSEL0], 0u);
  EXPECT_EQ(bus.msrs[msr::FIXED_CTR_CTRL], 0u);
  EXPECT_EQ(bus.msrs[msr::PERF_GLOBAL_CTRL], 0u);
  EXPECT_EQ(bus.msrs[msr::PERF_GLOBAL_STATUS], 0u);
  EXPECT_EQ(bus.msrs[msr::X2APIC_LVTPC], msr::lvtpc::NMI);
  EXPECT_EQ(driver.statistics().faults.count, 0u);
}

TEST(Driver, ARawEventSetsPrivilegesAndInterruptOnAGeneralCounter) {
  Rig rig(ice_lake());
  perf::Attr attr = Rig::raw(0x01D1);
  attr.exclude_kernel = 1;
  perf::Event& event = rig.opened(attr);
  ASSERT_TRUE(rig.schedule(event));
  EXPECT_EQ(data_of(event).index, 0);
  EXPECT_EQ(rig.bus.msrs[msr::PERFEVTSEL0], 0x01D1 | USR | INT | EN);
  EXPECT_EQ(rig.bus.msrs[msr::PERF_GLOBAL_CTRL], 0x1'000F'0000'00FFu);  // all counters and the metrics
}

TEST(Driver, InstructionsTakeTheirFixedCounter) {
  Rig rig(ice_lake());
  perf::Event& event = rig.opened(Rig::generic(HardwareId::instructions));
  ASSERT_TRUE(rig.schedule(event));
  EXPECT_EQ(data_of(event).index, 32);
  EXPECT_EQ(rig.bus.msrs[msr::FIXED_CTR_CTRL], 0xBu);  // OS, USR, PMI
}

TEST(Driver, AFixedCounterIsOffWhenItsEventHasGone) {  // Linux: intel_pmu_disable_fixed
  Rig rig(ice_lake());
  perf::Event& instructions = rig.opened(Rig::generic(HardwareId::instructions));
  perf::Event& cycles = rig.opened(Rig::generic(HardwareId::cpu_cycles));
  ASSERT_TRUE(rig.schedule(instructions));
  ASSERT_TRUE(rig.schedule(cycles));
  EXPECT_EQ(rig.bus.msrs[msr::FIXED_CTR_CTRL], 0xBBu);
  rig.driver.disable();
  rig.driver.remove(instructions);
  rig.driver.enable();
  EXPECT_EQ(rig.bus.msrs[msr::FIXED_CTR_CTRL], 0xB0u);
}

TEST(Driver, TheSecondInstructionsEventGoesToAGeneralCounter) {
  Rig rig(ice_lake());
  rig.schedule(rig.opened(Rig::generic(HardwareId::instructions)));
  perf::Event& second = rig.opened(Rig::generic(HardwareId::instructions));
  ASSERT_TRUE(rig.schedule(second));
  EXPECT_EQ(data_of(second).index, 0);
}

TEST(Driver, AFilterKeepsAnEventOffItsFixedCounter) {  // fixed counters have no threshold
  Rig rig(ice_lake());
  perf::Event& event = rig.opened(Rig::raw(0x00C0 | u64{1} << 24));
  ASSERT_TRUE(rig.schedule(event));
  EXPECT_EQ(data_of(event).index, 0);
}

TEST(Driver, BitsThatThePmuLacksAreDroppedFromARawConfig) {
  Rig rig(skylake());
  perf::Event& event = rig.opened(Rig::raw(0xC4 | msr::evtsel::EQ | msr::evtsel::UMASK2 | bit(60)));
  EXPECT_EQ(data_of(event).config, 0xC4 | USR | OS | INT);
}

TEST(Driver, Version6UsesTheNewRegisterNames) {
  Rig rig(skymont());
  perf::Event& branches = rig.opened(Rig::generic(HardwareId::branch_instructions, 1000));
  perf::Event& instructions = rig.opened(Rig::generic(HardwareId::instructions, 1000));
  ASSERT_TRUE(rig.schedule(branches) && rig.schedule(instructions));
  EXPECT_EQ(rig.bus.msrs[msr::V6_GP0_CFG_A], 0xC4 | USR | OS | INT | EN);
  EXPECT_EQ(rig.bus.msrs[msr::V6_GP0_CTR], (0 - u64{1000}) & width48);
  EXPECT_EQ(rig.bus.msrs[msr::V6_FX0_CTR], (0 - u64{1000}) & width48);
}

TEST(Driver, GlobalControlStartsTheCountersLast) {
  Rig rig(ice_lake());
  perf::Event& event = rig.opened(Rig::generic(HardwareId::instructions, 1000));
  rig.bus.writes.clear();
  ASSERT_TRUE(rig.schedule(event));
  EXPECT_EQ(rig.bus.writes.front(), (std::pair<u32, u64>{msr::PERF_GLOBAL_CTRL, 0}));
  EXPECT_EQ(rig.bus.writes.back().first, msr::PERF_GLOBAL_CTRL);
  EXPECT_NE(rig.bus.writes.back().second, 0u);
}

TEST(Driver, DisablesNest) {
  Rig rig(ice_lake());
  rig.driver.disable();
  rig.driver.disable();
  rig.driver.enable();
  EXPECT_EQ(rig.bus.msrs[msr::PERF_GLOBAL_CTRL], 0u);
  rig.driver.enable();
  EXPECT_NE(rig.bus.msrs[msr::PERF_GLOBAL_CTRL], 0u);
}

TEST(Driver, ReadAddsWhatTheCounterHasCountedSince) {
  Rig rig(ice_lake());
  perf::Event& event = rig.opened(Rig::raw(0x01D1));
  rig.schedule(event);
  rig.count(event, 5);
  rig.driver.read(event);
  EXPECT_EQ(event.count, 5u);
  rig.count(event, 7);
  rig.driver.read(event);
  EXPECT_EQ(event.count, 12u);
}

TEST(Driver, ACountingEventFoldsAWrapIntoTheCountWithoutASample) {
  Rig rig(ice_lake());
  perf::Event& event = rig.opened(Rig::raw(0x01D1));
  rig.schedule(event);
  rig.count(event, bit(47) + 10);  // period is 2^47 - 1
  rig.interrupt();
  EXPECT_EQ(event.count, bit(47) + 10);
  EXPECT_EQ(rig.sink.samples.size(), 1u);  // the core drops it: the event does not sample
  EXPECT_EQ(rig.bus.msrs[msr::PERF_GLOBAL_STATUS], 0u);
}

TEST(Driver, AnOverflowGivesASampleAndTheNextPeriod) {
  Rig rig(ice_lake());
  perf::Event& event = rig.opened(Rig::raw(0x01D1, 1000));
  rig.schedule(event);
  EXPECT_EQ(rig.counter(event), (0 - u64{1000}) & width48);
  rig.count(event, 1003);  // three events of skid
  rig.interrupt();
  ASSERT_EQ(rig.sink.samples.size(), 1u);
  EXPECT_EQ(rig.sink.samples[0].period, 1000u);
  EXPECT_EQ(event.count, 1003u);
  EXPECT_EQ(rig.counter(event), (0 - u64{997}) & width48);
}

TEST(Driver, AWrapOfAFortyBitCounterIsUnderstood) {
  Rig rig(product(0x006F6, {0x07280202, 0, 0, 0x503}, 0x10C2));  // Core 2
  perf::Event& event = rig.opened(Rig::raw(0x00CB, 100));
  ASSERT_TRUE(rig.schedule(event));
  EXPECT_EQ(rig.counter(event), 0xFF'FFFF'FF9Cu);
  rig.count(event, 101);
  rig.driver.read(event);
  EXPECT_EQ(event.count, 101u);
}

TEST(Driver, APeriodChangedBeforeStartHoldsFromTheSecondInterval) {  // Linux: perf_event_period
  Rig rig(ice_lake());
  perf::Event& event = rig.opened(Rig::raw(0x01D1, 1000));
  event.hw.sample_period = 500;
  rig.schedule(event);
  EXPECT_EQ(rig.counter(event), (0 - u64{1000}) & width48);
  rig.count(event, 1000);
  rig.interrupt();
  EXPECT_EQ(rig.counter(event), (0 - u64{500}) & width48);
}

TEST(Driver, APeriodOfOneCountsAsTwo) {
  Rig rig(ice_lake());
  perf::Event& event = rig.opened(Rig::raw(0x01D1, 1));
  rig.schedule(event);
  EXPECT_EQ(rig.counter(event), (0 - u64{2}) & width48);
  EXPECT_EQ(event.hw.period_left, 1);
}

TEST(Driver, AHugeOvershootStartsAWholeNewPeriod) {
  Rig rig(ice_lake());
  perf::Event& event = rig.opened(Rig::raw(0x01D1, 100));
  rig.schedule(event);
  rig.count(event, 350);
  rig.interrupt();
  EXPECT_EQ(event.count, 350u);
  EXPECT_EQ(event.hw.period_left, 100);
}

TEST(Driver, ThePartialPeriodSurvivesAStop) {
  Rig rig(ice_lake());
  perf::Event& event = rig.opened(Rig::raw(0x01D1, 1000));
  rig.schedule(event);
  rig.count(event, 400);
  rig.unschedule(event);
  EXPECT_EQ(event.count, 400u);
  rig.schedule(event);
  EXPECT_EQ(rig.counter(event), (0 - u64{600}) & width48);
}

TEST(Driver, AThrottledEventContinuesWhereItsCounterStopped) {
  Rig rig(ice_lake());
  perf::Event& event = rig.opened(Rig::raw(0x01D1, 1000));
  rig.schedule(event);
  rig.sink.verdict = perf::SampleSink::Verdict::stop;
  rig.count(event, 1000);
  rig.interrupt();
  EXPECT_EQ(rig.bus.msrs[msr::PERFEVTSEL0] & EN, 0u);
  EXPECT_EQ(rig.counter(event), (0 - u64{1000}) & width48);
  rig.driver.disable();
  rig.driver.start(event, perf::PmuDriver::StartMode::keep_period);
  rig.driver.enable();
  EXPECT_EQ(rig.counter(event), (0 - u64{1000}) & width48);
  EXPECT_NE(rig.bus.msrs[msr::PERFEVTSEL0] & EN, 0u);
}

// --- limits per core --------------------------------------------------------------------------------------

u64 preset(FakeBus cpu, const perf::Attr& attr, u64 period) {
  Rig rig(std::move(cpu));
  perf::Event& event = rig.opened(attr);
  event.hw.sample_period = period;
  event.hw.period_left = static_cast<i64>(period);
  rig.schedule(event);
  return (0 - rig.counter(event)) & width48;
}

TEST(PeriodLimit, NehalemCountsAtLeast32) { EXPECT_EQ(preset(nehalem(), Rig::raw(0xC4, 100), 10), 32u); }
TEST(PeriodLimit, HaswellCountsAtLeast32OrDistributed128) {
  EXPECT_EQ(preset(haswell(), Rig::raw(0xC4, 100), 10), 32u);
  EXPECT_EQ(preset(haswell(), Rig::raw(0x01C0, 1000), 100), 128u);
}
TEST(PeriodLimit, BroadwellClearsLowBitsOfDistributedInstructions) {
  FakeBus broadwell = product(0x306D4, {0x07300403, 0, 0, 0x603}, 0x32C4);
  EXPECT_EQ(preset(broadwell, Rig::raw(0x01C0, 1000), 1000), 960u);
  EXPECT_EQ(preset(broadwell, Rig::raw(0x01C0, 1000), 100), 128u);
  EXPECT_EQ(preset(broadwell, Rig::raw(0xC4, 1000), 100), 100u);
}
TEST(PeriodLimit, ReducedSkidCountersNeed128) {
  EXPECT_EQ(preset(sapphire_rapids(), Rig::precise(0xC4, 3, 1000), 100), 128u);
  EXPECT_EQ(preset(sapphire_rapids(), Rig::precise(0xC4, 2, 1000), 100), 100u);
}

// --- the interrupt handler --------------------------------------------------------------------------------

std::vector<u32> registers_written(const FakeBus& bus) {
  std::vector<u32> addresses;
  for (const auto& [address, value] : bus.writes) addresses.push_back(address);
  return addresses;
}

std::ptrdiff_t position(const FakeBus& bus, u32 address, bool last = false) {
  const auto addresses = registers_written(bus);
  if (last) return addresses.rend() - std::find(addresses.rbegin(), addresses.rend(), address) - 1;
  return std::find(addresses.begin(), addresses.end(), address) - addresses.begin();
}

TEST(Driver, PebsEnableIsLeftAloneWhileNoEventIsPrecise) {
  Rig rig(ice_lake());
  perf::Event& event = rig.opened(Rig::raw(0xC4, 100));
  rig.schedule(event);
  rig.unschedule(event);
  const auto written = registers_written(rig.bus);
  EXPECT_EQ(std::ranges::count(written, msr::PEBS_ENABLE), 0);
}

TEST(Driver, ATaskSwitchWritesNothingWithoutTaskState) {
  Rig rig(ice_lake());
  rig.schedule(rig.opened(Rig::raw(0xC4, 100)));
  rig.bus.writes.clear();
  rig.driver.context_switch(perf::PmuDriver::SwitchDirection::out, {1, 1});
  rig.driver.context_switch(perf::PmuDriver::SwitchDirection::in, {2, 2});
  EXPECT_TRUE(rig.bus.writes.empty());
}

void overflow_once(Rig& rig) {
  perf::Event& event = rig.opened(Rig::raw(0xC4, 100));
  rig.schedule(event);
  rig.count(event, 100);
  rig.bus.writes.clear();
  rig.interrupt();
}

TEST(Interrupt, CountersStopBeforeTheAcknowledgeAndRestartLast) {
  Rig rig(ice_lake());
  overflow_once(rig);
  EXPECT_EQ(rig.bus.writes.front(), (std::pair<u32, u64>{msr::PERF_GLOBAL_CTRL, 0}));
  EXPECT_LT(position(rig.bus, msr::PERF_GLOBAL_STATUS_RESET), position(rig.bus, msr::A_PMC0));
  EXPECT_LT(position(rig.bus, msr::A_PMC0), position(rig.bus, msr::PERF_GLOBAL_CTRL, true));
}

TEST(Interrupt, EarlyPartsUnmaskTheApicFirst) {
  Rig rig(sandy_bridge());
  overflow_once(rig);
  EXPECT_EQ(position(rig.bus, msr::X2APIC_LVTPC), 0);
}

TEST(Interrupt, BigCoresFromHaswellOnUnmaskTheApicLast) {
  Rig rig(haswell());
  overflow_once(rig);
  EXPECT_EQ(rig.bus.writes.back(), (std::pair<u32, u64>{msr::X2APIC_LVTPC, msr::lvtpc::NMI}));
}

TEST(Interrupt, FromGracemontOnAtomsUnmaskTheApicBeforeRestart) {
  Rig rig(skymont());
  overflow_once(rig);
  EXPECT_EQ(position(rig.bus, msr::X2APIC_LVTPC) + 1, position(rig.bus, msr::PERF_GLOBAL_CTRL, true));
}

TEST(Driver, FixedCountersThatBeginTogetherAreEnabledByOneWrite) {
  Rig rig(ice_lake());
  rig.schedule(rig.opened(Rig::raw(0x01D1)));
  perf::Event& cycles = rig.opened(Rig::raw(0x003C));
  rig.opened(Rig::raw(0x00C0), &cycles);
  rig.bus.writes.clear();
  ASSERT_TRUE(rig.schedule(cycles));
  EXPECT_EQ(std::ranges::count(registers_written(rig.bus), msr::FIXED_CTR_CTRL), 1);
}

TEST(Interrupt, PebsEnableIsNotRewrittenWhereNothingChanged) {
  Rig rig(ice_lake());
  overflow_once(rig);
  const auto written = registers_written(rig.bus);
  EXPECT_EQ(std::ranges::count(written, msr::PEBS_ENABLE), 0);
}

TEST(Interrupt, ServesAllOverflowedCountersLowestFirst) {
  Rig rig(ice_lake());
  perf::Event& first = rig.opened(Rig::raw(0x01D1, 100));
  perf::Event& second = rig.opened(Rig::raw(0x02D1, 50));
  rig.schedule(first);
  rig.schedule(second);
  rig.count(second, 50);
  rig.count(first, 100);
  rig.interrupt();
  ASSERT_EQ(rig.sink.samples.size(), 2u);
  EXPECT_EQ(rig.sink.samples[0].event, &first);
  EXPECT_EQ(rig.sink.samples[1].event, &second);
}

TEST(Interrupt, AStatusBitBeforeThePeriodElapsedGivesNoSample) {
  Rig rig(ice_lake());
  perf::Event& event = rig.opened(Rig::raw(0x01D1, 100));
  rig.schedule(event);
  rig.bus.msrs[msr::PERF_GLOBAL_STATUS] = 1;
  rig.interrupt();
  EXPECT_TRUE(rig.sink.samples.empty());
  EXPECT_EQ(rig.driver.statistics().unhandled_interrupts, 0u);
}

TEST(Interrupt, NothingToHandleIsAnUnknownInterrupt) {
  Rig rig(ice_lake());
  rig.interrupt();
  EXPECT_EQ(rig.driver.statistics().unhandled_interrupts, 1u);
}

TEST(Interrupt, ABackToBackNmiAfterHandlingTwoIsNotUnknown) {
  Rig rig(ice_lake());
  perf::Event& first = rig.opened(Rig::raw(0x01D1, 100));
  perf::Event& second = rig.opened(Rig::raw(0x02D1, 100));
  rig.schedule(first);
  rig.schedule(second);
  rig.count(first, 100);
  rig.count(second, 100);
  rig.interrupt();
  rig.interrupt();
  EXPECT_EQ(rig.driver.statistics().unhandled_interrupts, 0u);
  rig.interrupt();
  EXPECT_EQ(rig.driver.statistics().unhandled_interrupts, 1u);
}

TEST(Interrupt, InformationBitsAloneAreNothingToHandle) {
  Rig rig(ice_lake());
  rig.bus.msrs[msr::PERF_GLOBAL_STATUS] = msr::status::COND_CHGD | msr::status::ASCI | msr::status::LBR_FRZ;
  rig.interrupt();
  EXPECT_EQ(rig.driver.statistics().unhandled_interrupts, 1u);
  EXPECT_EQ(rig.bus.msrs[msr::PERF_GLOBAL_STATUS], 0u);
}

// A transaction that aborts takes the overflow of such a counter back, and its status bit: it is looked at
// whenever there is an overflow to handle, and only then.
TEST(Interrupt, InformationBitsAreUnhandledEvenWhenCheckpointed) {
  Rig rig(haswell());
  rig.schedule(rig.opened(Rig::raw(0xC4 | msr::evtsel::IN_TXCP)));
  rig.bus.msrs[msr::PERF_GLOBAL_STATUS] = msr::status::COND_CHGD;
  rig.interrupt();
  EXPECT_EQ(rig.driver.statistics().unhandled_interrupts, 1u);
}

TEST(Interrupt, ACheckpointedCounterIsZeroedWhileItIsHandled) {  // Linux: intel_pmu_save_and_restart
  constexpr u64 period = 0x8000'0000;
  Rig rig(haswell());
  perf::Event& event = rig.opened(Rig::raw(0xC4 | msr::evtsel::IN_TXCP, period));
  ASSERT_TRUE(rig.schedule(event));
  rig.count(event, period);
  rig.bus.writes.clear();
  rig.interrupt();
  std::vector<u64> values;
  for (const auto& [address, value] : rig.bus.writes)
    if (address == rig.counter_address(counter_of(event))) values.push_back(value);
  EXPECT_EQ(values, (std::vector<u64>{0, (0 - period) & width48}));
  EXPECT_EQ(rig.sink.samples.size(), 1u);
}

// Parts before Skylake set the counter's own bit beside the buffer's.
TEST(Interrupt, APebsCountersStatusBitGivesNoExtraSample) {
  Rig rig(haswell());
  perf::Event& event = rig.opened(Rig::precise(0xC4, 2, 100));
  ASSERT_TRUE(rig.schedule(event));
  rig.count(event, 100);
  rig.bus.msrs[msr::PERF_GLOBAL_STATUS] |= msr::status::OVF_BUF;
  rig.interrupt();
  EXPECT_TRUE(rig.sink.samples.empty()) << "the buffer has no record";
}

TEST(Driver, ACounterThatIsNobodysLeavesNothingForRecords) {  // Linux: intel_pmu_disable_event_ext
  Rig rig(darkmont());
  perf::Attr attr = Rig::precise(0xC4, 2, 999);
  attr.sample_type = perf::sample::IP | perf::sample::READ;
  perf::Event& event = rig.opened(attr);
  ASSERT_TRUE(rig.schedule(event));
  const u32 config = msr::V6_GP0_CFG_C + msr::V6_STRIDE * counter_of(event);
  EXPECT_EQ(field(rig.bus.msrs[config], 31, 0), (0 - u64{999}) & low_bits(32)) << "the reload";
  EXPECT_NE(rig.bus.msrs[config] >> 32, 0u);
  rig.unschedule(event);
  EXPECT_EQ(rig.bus.msrs[config], 0u);
}

TEST(Interrupt, AStatusThatCannotBeClearedResetsThePmu) {
  class StuckBus : public FakeBus {
   public:
    explicit StuckBus(FakeBus bus) : FakeBus(std::move(bus)) {}
    Fault wrmsr(u32 address, u64 value) override {
      const Fault fault = FakeBus::wrmsr(address, value);
      if (stuck) msrs[msr::PERF_GLOBAL_STATUS] = 1;
      return fault;
    }
    bool stuck = false;
  } bus(ice_lake());
  IntelDriver driver(bus);
  RecordingSink sink;
  driver.attach(sink);
  bus.stuck = true;
  driver.handle_pmi({});
  EXPECT_EQ(driver.statistics().stuck_interrupts, 1u);
}

TEST(Periods, ASampleHasItsOwnPeriodSinceLinux6_14) {
  const auto period_under = [](perf::Kernel kernel) {
    Rig rig(ice_lake(), {.kernel = kernel});
    perf::Event& event = rig.opened(Rig::raw(0xC4, 1000));
    rig.schedule(event);
    event.hw.sample_period = 500;  // as frequency mode changes it
    rig.count(event, 1000);
    rig.interrupt();
    return rig.sink.samples.at(0).period;
  };
  EXPECT_EQ(period_under(perf::Kernel::v6_12), 500u);
  EXPECT_EQ(period_under(perf::Kernel::v6_14), 1000u);
}

// --- what start-up sets and what user code may read

TEST(StartUp, FreezesCountersInSystemManagementModeIfSupported) {
  constexpr u64 freeze = msr::debugctl::FREEZE_WHILE_SMM;
  EXPECT_EQ(Rig(ice_lake()).bus.msrs[msr::DEBUGCTL] & freeze, freeze);
  FakeBus without = ice_lake();
  without.msrs[msr::PERF_CAPABILITIES] &= ~msr::perf_cap::SMM_FREEZE;
  EXPECT_EQ(Rig(std::move(without)).bus.msrs[msr::DEBUGCTL] & freeze, 0u);
}

TEST(StartUp, PerfmonVersion1HasNothingToFreeze) {  // Linux: intel_pmu_cpu_starting
  FakeBus bus = product(0x6E8, {0x07280201, 0, 0, 0}, msr::perf_cap::SMM_FREEZE);
  EXPECT_EQ(Rig(std::move(bus)).bus.msrs[msr::DEBUGCTL], 0u);
}

/// Lion Cove that can hide counters from user code, which Panther Cove is the first to do.
FakeBus with_hidden_counters() {
  FakeBus bus = lion_cove();
  bus.leaves[{0x23, 0}].ebx |= 4;
  return bus;
}

struct HiddenCounters {
  bool general, fixed;
  friend bool operator==(const HiddenCounters&, const HiddenCounters&) = default;
};

HiddenCounters hidden_under(DriverOptions options, perf::Task* task = nullptr) {
  Rig rig(with_hidden_counters(), options);
  perf::Context context(task);
  perf::Event& branches = rig.opened(Rig::raw(0xC4));
  perf::Event& fixed = rig.opened(Rig::raw(0x0300));
  for (perf::Event* event : {&branches, &fixed}) {
    event->context = &context;
    EXPECT_TRUE(rig.schedule(*event));
  }
  const u64 select = rig.bus.msrs[msr::V6_GP0_CFG_A + 4 * static_cast<u32>(data_of(branches).index)];
  const u64 control = rig.bus.msrs[msr::FIXED_CTR_CTRL] >> 4 * (data_of(fixed).index - 32);
  return {(select & msr::evtsel::RDPMC_USR_DISABLE) != 0,
          (control & msr::fixed_ctrl::RDPMC_USR_DISABLE) != 0};
}

TEST(UserRdpmc, CpuWideCountersAreHiddenSinceLinux7_0) {
  EXPECT_EQ(hidden_under({.kernel = perf::Kernel::v6_19}), (HiddenCounters{false, false}));
  EXPECT_EQ(hidden_under({.kernel = perf::Kernel::v7_0}), (HiddenCounters{true, true}));
}

TEST(UserRdpmc, TheSettingDecidesWhoseCountersAreHidden) {
  const perf::Cgroup everybody;
  perf::Task task(100, 100, "task", everybody);
  EXPECT_EQ(hidden_under({.rdpmc = RdpmcSetting::own_task}, &task), (HiddenCounters{false, false}));
  EXPECT_EQ(hidden_under({.rdpmc = RdpmcSetting::never}, &task), (HiddenCounters{true, true}));
  EXPECT_EQ(hidden_under({.rdpmc = RdpmcSetting::always}), (HiddenCounters{false, false}));
}

}  // namespace
}  // namespace pmusim::driver
