// SPDX-License-Identifier: MIT
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "driver/intel/debug_store/pebs.h"
#include "fake_bus.h"
#include "pebs_buffers.h"

namespace pmusim::driver {
namespace {

using perf::Event;
using testing::ElementsAre;
using testing::IsEmpty;
namespace sample = perf::sample;

/// A CPU whose counters and PEBS records the test provides.
class PebsCpu : public FakeBus {
 public:
  PebsCpu() {
    for (const u32 address :
         {msr::DS_AREA, msr::PEBS_ENABLE, msr::PEBS_DATA_CFG, msr::PEBS_BASE, msr::PEBS_INDEX})
      msrs[address] = 0;
  }
  std::map<u32, u64> counters;
  FaultOr<u64> rdpmc(u32 selector) override { return counters[selector]; }

  u64 area_word(u64 offset) {
    le64 word;
    EXPECT_EQ(read_memory(msrs[msr::DS_AREA] + offset, std::as_writable_bytes(std::span(&word, 1))),
              Fault::none);
    return word;
  }
  /// What hardware does: puts records behind those that are there.
  void write_records(const Bytes& records) {
    const u64 index = area_word(offsetof(DsArea64, pebs_index));
    EXPECT_EQ(write_memory(index, records), Fault::none);
    const le64 next = index + records.size();
    EXPECT_EQ(
        write_memory(msrs[msr::DS_AREA] + offsetof(DsArea64, pebs_index), std::as_bytes(std::span(&next, 1))),
        Fault::none);
  }
};

/// Takes what the driver delivers and writes it down: "e1 ip=5" output, "e1 ip=5 overflow", "e1 lost 2".
class Host : public PebsHost, public perf::SampleSink {
 public:
  std::vector<std::string> lines;
  std::vector<perf::SampleData> samples;
  Verdict verdict = Verdict::keep;
  int restarts = 0;

  perf::SampleSink& sink() override { return *this; }
  Interval update_and_restart(Event&) override {
    ++restarts;
    lines.push_back("restart");
    return interval;
  }
  void restart(Event&) override { lines.push_back("period"); }
  Interval interval = Interval::over;
  void stop(Event& event) override { lines.push_back(name(event) + " stop"); }
  const perf::BranchStack* interrupt_branches(const Event&) override {
    stack = {.entries = {&branch, 1}};
    return branch.from == 0 ? nullptr : &stack;
  }
  const perf::BranchStack& decode_branches(const Event&, std::span<const pebs::LbrRecord> records) override {
    decoded.assign(records.begin(), records.end());
    return stack;
  }
  Verdict overflow(Event& event, const perf::SampleData& data, const InterruptFrame&) override {
    note(event, data, " overflow");
    return verdict;
  }
  void output(Event& event, const perf::SampleData& data, const InterruptFrame&) override {
    note(event, data, "");
  }
  void lost_samples(Event& event, u64 count) override {
    lines.push_back(name(event) + " lost " + std::to_string(count));
  }
  Verdict account_interrupt(Event& event) override {
    lines.push_back(name(event) + " interrupts");
    return Verdict::keep;
  }
  u64 time_of_tsc(u64 tsc) const override { return 10 * tsc; }
  u64 now() const override { return 0; }
  std::vector<std::byte> read_code(u64 address, std::size_t bytes) const override {
    if (address != code_address) return {};
    return {code.begin(), code.begin() + static_cast<std::ptrdiff_t>(std::min(bytes, code.size()))};
  }

  std::function<void()> read;  // what a sample is written with
  perf::BranchEntry branch{};
  perf::BranchStack stack;
  u64 code_address = 0;
  Bytes code;
  std::vector<pebs::LbrRecord> decoded;

 private:
  static std::string name(const Event& event) { return "e" + std::to_string(event.id); }
  void note(const Event& event, const perf::SampleData& data, const char* how) {
    if (read) read();
    lines.push_back(name(event) + " ip=" + std::to_string(data.ip.value_or(0)) + how);
    samples.push_back(data);
  }
};

Enumeration cpu_with_format(unsigned format, perf::Kernel kernel = perf::default_kernel) {
  Enumeration e;
  e.kernel = kernel;
  e.pebs_format = format;
  e.counter_width = 48;
  e.has_ds = true;
  e.perf_capabilities = msr::perf_cap::PEBS_TRAP;
  e.microarchitecture = format >= 4   ? Microarchitecture::ice_lake
                        : format == 3 ? Microarchitecture::skylake
                        : format == 2 ? Microarchitecture::haswell
                                      : Microarchitecture::sandy_bridge;
  e.perfmon_version = format >= 4 ? 5 : 4;
  e.pebs_baseline = format >= 4;
  e.pebs_counters = format >= 4 ? 0xFF | u64{0xF} << 32 : 0xF;
  e.counters = 0xFF | u64{0xF} << 32;
  e.lbr_entries = 32;
  return e;
}

/// A driver with events on GP 0, 1, ...: e0, e1, ...
struct Machine {
  explicit Machine(unsigned format, perf::Kernel kernel = perf::default_kernel)
      : is_arch(format == Enumeration::arch_pebs_format),
        driver(access, area, cpu_with_format(format, kernel), host) {
    EXPECT_EQ(driver.set_up(), Fault::none);
  }
  Event& open(u64 sample_type, u64 period = 1000, unsigned precise = 2) {
    Event& event = *events.emplace_back(std::make_unique<Event>());
    event.id = events.size() - 1;
    event.attr.sample_period = event.hw.sample_period = period;
    event.attr.sample_type = sample_type;
    event.attr.precise_ip = precise & 3;
    event.leader = &event;
    EXPECT_TRUE(driver.init(event).ok());
    return event;
  }
  void start(Event& event) {
    data_of(event).index = static_cast<int>(event.id);
    driver.add(event);
    map[event.id] = &event;
    static_cast<void>(driver.enable(event, map));
    if (is_arch) static_cast<void>(driver.start_records(event, map));
  }
  Event& start(u64 sample_type, u64 period = 1000) {
    Event& event = open(sample_type, period);
    start(event);
    return event;
  }
  void interrupt() { driver.drain(DrainTrigger::interrupt, map, &frame); }
  InterruptFrame frame;
  PebsCpu cpu;
  RegisterAccess access{cpu};
  Host host;
  DebugStoreArea area{access, DriverOptions{}.debug_store_address};
  bool is_arch;
  PebsDriver driver;
  std::vector<std::unique_ptr<Event>> events;
  EventMap map{};
};

TEST(PebsDriver, AreaOfEachFormatHoldsWholeRecords) {  // Linux: alloc_pebs_buffer
  constexpr u64 maximum[] = {4096 / 144 * 144, 65472, 65472, 65400, 65536};
  for (unsigned format = 0; format <= 4; ++format) {
    Machine m(format);
    const u64 base = m.cpu.area_word(offsetof(DsArea64, pebs_base));
    EXPECT_EQ(m.cpu.area_word(offsetof(DsArea64, pebs_maximum)) - base, maximum[format]) << format;
  }
}

TEST(PebsDriver, LargeThresholdReservesOneRecordPerPossibleCounter) {
  Machine basic(4);
  basic.start(sample::IP | sample::TIME);
  const auto threshold = [](Machine& m) {
    return m.cpu.area_word(offsetof(DsArea64, pebs_threshold)) -
           m.cpu.area_word(offsetof(DsArea64, pebs_base));
  };
  EXPECT_EQ(threshold(basic), 65152u);
  basic.start(sample::IP | sample::TIME | sample::CALLCHAIN);
  EXPECT_EQ(threshold(basic), 32u) << "one event that is not large makes every record interrupt";
  basic.driver.remove(*basic.events[1]);
  EXPECT_EQ(threshold(basic), 65152u);
}

TEST(PebsDriver, ThresholdReservesOnlyForCountersWithPebs) {
  Machine m(3);
  m.start(sample::IP | sample::TIME);
  constexpr u64 record = 200, general_counters = 8;
  EXPECT_EQ(
      m.cpu.area_word(offsetof(DsArea64, pebs_threshold)) - m.cpu.area_word(offsetof(DsArea64, pebs_base)),
      65536 / record * record - general_counters * record);
}

// IA32_PEBS_INDEX counts the threshold in units of 16 bytes from bit 36 on.
TEST(PebsDriver, AnArchitecturalBufferKeepsRoomForTheLongestRecord) {
  Machine m(Enumeration::arch_pebs_format);
  m.start(sample::IP | sample::TIME);
  EXPECT_EQ(field(m.cpu.msrs[msr::PEBS_INDEX], 58, 36), (65536u - 4096u) / 16);
  m.start(sample::IP | sample::CALLCHAIN);
  EXPECT_EQ(field(m.cpu.msrs[msr::PEBS_INDEX], 58, 36), 1u) << "every record interrupts";
}

TEST(PebsDriver, EventsAreLargeOnlyIfRecordsHoldAllTheyAskFor) {
  Machine m(4);
  const auto flags = [&](u64 type) { return data_of(m.open(type)).flags; };
  EXPECT_TRUE(flags(sample::IP | sample::TIME) & pebs_flag::LARGE);
  EXPECT_FALSE(flags(sample::IP | sample::CALLCHAIN) & pebs_flag::LARGE);
  EXPECT_FALSE(flags(sample::STACK_USER) & pebs_flag::LARGE);
  EXPECT_TRUE(flags(sample::CALLCHAIN) & pebs_flag::AUTO_RELOAD);
  Machine haswell(2);
  EXPECT_FALSE(data_of(haswell.open(sample::TIME)).flags & pebs_flag::LARGE) << "no TSC in format 2";
}

TEST(PebsDriver, RegistersThatRecordsLackPreventLargeBuffers) {
  constexpr u64 code_segment = bit(10), rax = bit(0);
  const auto is_large = [](u64 type, u64 registers) {
    Machine m(4);
    Event event;
    event.attr.sample_period = 1000;
    event.attr.sample_type = sample::IP | type;
    event.attr.precise_ip = 2;
    event.attr.exclude_kernel = 1;
    event.attr.sample_regs_user = event.attr.sample_regs_intr = registers;
    event.leader = &event;
    EXPECT_TRUE(m.driver.init(event).ok());
    return (data_of(event).flags & pebs_flag::LARGE) != 0;
  };
  for (const u64 type : {sample::REGS_USER, sample::REGS_INTR}) {
    EXPECT_TRUE(is_large(type, rax));
    EXPECT_FALSE(is_large(type, rax | code_segment));
  }
}

TEST(PebsDriver, RefusesWhatPebsCannotDo) {
  Machine m(4);
  Event counting;
  counting.attr.precise_ip = 2;
  EXPECT_EQ(m.driver.init(counting).error().error_number, EINVAL);
  Event too_precise;
  too_precise.attr.sample_period = 1;
  too_precise.attr.precise_ip = 3;
  EXPECT_EQ(m.driver.init(too_precise).error().error_number, EOPNOTSUPP);
}

TEST(PebsDriver, AutoReloadPutsMinusThePeriodIntoTheResetSlot) {
  Machine m(3);
  m.start(sample::IP, 1000);
  EXPECT_EQ(m.cpu.area_word(0x40), low_bits(48) - 999);
}

TEST(PebsDriver, WithoutAutoReloadTheResetSlotIsZero) {
  Machine m(3);
  Event& event = m.open(sample::IP);
  data_of(event).flags &= ~pebs_flag::AUTO_RELOAD;
  m.start(event);
  EXPECT_EQ(m.cpu.area_word(0x40), 0u);
}

TEST(PebsDriver, AnEventThatStopsTakesItsEnableBitAlong) {
  Machine m(3);
  Event &first = m.start(sample::IP), &second = m.start(sample::IP);
  EXPECT_EQ(m.driver.enabled(), 0b11u);
  m.driver.disable(first, m.map);
  EXPECT_EQ(m.driver.enabled(), 0b10u);
  m.driver.disable(second, m.map);
  EXPECT_EQ(m.driver.enabled(), 0u);
}

/// CFG_C for a precise event that samples these registers, on a CPU whose records can have all.
u64 vectors_recorded_for(unsigned qwords, u32 vectors, u16 predicates) {
  Enumeration cpu = cpu_with_format(Enumeration::arch_pebs_format);
  cpu.pebs_arch_capabilities = ~u64{0};
  PebsCpu bus;
  RegisterAccess access{bus};
  Host host;
  DebugStoreArea area{access, DriverOptions{}.debug_store_address};
  PebsDriver driver(access, area, cpu, host);
  Event event;
  event.leader = &event;
  event.attr.sample_period = 1000;
  event.attr.precise_ip = 2;
  event.attr.sample_type = sample::IP | sample::REGS_INTR;
  event.attr.sample_simd_regs_enabled = 1;
  event.attr.sample_simd_vec_reg_qwords = static_cast<u16>(qwords);
  event.attr.sample_simd_vec_reg_intr = vectors;
  event.attr.sample_simd_pred_reg_qwords = predicates != 0 ? 1 : 0;
  event.attr.sample_simd_pred_reg_intr = predicates;
  EXPECT_TRUE(driver.init(event).ok());
  data_of(event).index = 0;
  EventMap map{};
  map[0] = &event;
  driver.add(event);
  EXPECT_FALSE(driver.enable(event, map));
  return driver.start_records(event, map) & pebs::cfg_c::VECTORS;
}

TEST(PebsDriver, ArchRecordsHaveOnlyTheSampledVectorGroups) {
  using namespace pebs::cfg_c;
  EXPECT_EQ(vectors_recorded_for(0, 0, 0), 0u);
  EXPECT_EQ(vectors_recorded_for(2, 0xFFFF, 0), XMM);
  EXPECT_EQ(vectors_recorded_for(4, 0xFFFF, 0), XMM | YMMH);
  EXPECT_EQ(vectors_recorded_for(8, 0xFFFF, 0), XMM | YMMH | ZMMH);
  EXPECT_EQ(vectors_recorded_for(8, 0xFFFF'FFFF, 0), XMM | YMMH | ZMMH | HI16_ZMM);
  EXPECT_EQ(vectors_recorded_for(0, 0, 0xFF), OPMASK);
}

/// What hardware does with architectural PEBS: records at the beginning of the buffer.
void write_arch_records(Machine& m, const Bytes& records) {
  EXPECT_EQ(m.cpu.write_memory(PebsOptions{}.buffer_address, records), Fault::none);
  m.cpu.msrs[msr::PEBS_INDEX] |= records.size();
}
Bytes arch_record(u64 groups, u64 counters, u64 ip) {
  Bytes record;
  append_arch(record, pebs::header::BASIC | groups, counters, ip);
  return record;
}

// Linux: intel_pmu_enable_event_ext. The interrupt of a single record has not come, and its event is gone.
TEST(PebsDriver, ASingleRecordThatIsLeftIsNobodys) {
  Machine single(Enumeration::arch_pebs_format), several(Enumeration::arch_pebs_format);
  for (Machine* m : {&single, &several}) {
    const u64 first = m == &single ? sample::CALLCHAIN : 0, second = m == &single ? 0 : sample::CALLCHAIN;
    m->start(sample::IP | first);
    write_arch_records(*m, arch_record(0, 1, 7));
    if (m == &single) m->driver.remove(*m->events[0]);
    m->start(sample::IP | second);
    EXPECT_EQ(m->cpu.msrs[msr::PEBS_INDEX] & pebs::index_register::WRITE_OFFSET, 0u);
  }
  EXPECT_THAT(single.host.lines, IsEmpty());
  EXPECT_THAT(several.host.lines, ElementsAre("e0 ip=7"));
}

// Linux: intel_pmu_drain_arch_pebs. An event that was large has gone before the drain.
TEST(PebsDriver, ADrainSetsTheThresholdByTheEventsThatCountThen) {
  Machine m(Enumeration::arch_pebs_format);
  m.start(sample::IP);
  m.start(sample::IP | sample::CALLCHAIN);
  const auto threshold = [&] { return field(m.cpu.msrs[msr::PEBS_INDEX], 58, 36); };
  EXPECT_EQ(threshold(), 1u);
  m.driver.remove(*m.events[1]);
  EXPECT_EQ(threshold(), 1u) << "nothing has started since";
  write_arch_records(m, arch_record(0, 1, 7));
  m.interrupt();
  EXPECT_EQ(threshold(), (65536u - 4096u) / 16);
}

// Linux 7.3: intel_pmu_drain_arch_pebs takes the number of counters, 64, for a mask of them.
TEST(PebsDriver, SinceLinux7_3AnEmptyArchDrainReachesGp6Alone) {
  const auto counted = [](perf::Kernel kernel) {
    Machine m(Enumeration::arch_pebs_format, kernel);
    for (unsigned n = 0; n < 8; ++n) m.start(sample::IP);
    for (unsigned n = 0; n < 8; ++n) m.cpu.counters[n] = 5;
    m.driver.drain(DrainTrigger::read, m.map, nullptr);
    std::vector<u64> counts;
    for (const auto& event : m.events) counts.push_back(event->count);
    return counts;
  };
  EXPECT_THAT(counted(perf::Kernel::v7_1), ElementsAre(5, 5, 5, 5, 5, 5, 5, 5));
  EXPECT_THAT(counted(perf::Kernel::v7_3), ElementsAre(0, 0, 0, 0, 0, 0, 5, 0));
}

// Linux: perf_output_read_group() reads the other members, and drains anew for each that reloads itself.
TEST(PebsDriver, AReadInMidDrainBringsCountsUpToDate) {
  Machine m(4);
  m.start(sample::IP);
  m.start(sample::IP);
  m.cpu.counters[0] = m.cpu.counters[1] = 5;
  m.cpu.write_records(adaptive_buffer({1}));
  m.host.read = [&] { m.driver.drain(DrainTrigger::read, m.map, nullptr); };
  m.interrupt();
  EXPECT_EQ(m.events[1]->count, 5u);
}

// Linux: __setup_pebs_basic_group has the latency, and who has no auxiliary group has no weight.
TEST(PebsDriver, ARecordWithoutAGroupGivesNothingOfThatGroup) {
  Machine m(Enumeration::arch_pebs_format);
  m.host.branch = {.from = 1, .to = 2};
  m.start(sample::WEIGHT_STRUCT | sample::BRANCH_STACK);
  Bytes record = arch_record(0, 1, 7);
  constexpr u64 valid = bit(16), cycles = 9;
  pebs::ArchBasic basic;
  std::memcpy(&basic, &record[sizeof(pebs::ArchHeader)], sizeof basic);
  basic.retire_latency = valid | cycles;
  std::memcpy(&record[sizeof(pebs::ArchHeader)], &basic, sizeof basic);
  write_arch_records(m, record);
  m.interrupt();
  ASSERT_EQ(m.host.samples.size(), 1u);
  EXPECT_EQ(m.host.samples[0].weight, 0u);
  EXPECT_EQ(m.host.samples[0].branches, nullptr);
}

// Linux: intel_pmu_pebs_add, before any event starts.
TEST(PebsDriver, DataCfgHasWhatAllThatWereAddedNeedBeforeOneStarts) {
  Machine m(4);
  m.driver.add(m.open(sample::IP | sample::ADDR));
  m.start(sample::IP);
  EXPECT_EQ(m.cpu.msrs[msr::PEBS_DATA_CFG], pebs::data_cfg::MEMORY);
}

// Linux: intel_pmu_pebs_add.
TEST(PebsDriver, DataCfgGrowsUntilTheLastEventIsRemoved) {
  Machine m(4);
  m.start(sample::IP | sample::ADDR);
  m.start(sample::IP);
  EXPECT_EQ(m.cpu.msrs[msr::PEBS_DATA_CFG], pebs::data_cfg::MEMORY);
  for (const auto& event : m.events) m.driver.remove(*event);
  m.start(sample::IP);
  EXPECT_EQ(m.cpu.msrs[msr::PEBS_DATA_CFG], 0u);
}

/// DATA_CFG for an event of this type that `prepare` has changed before it is put on a counter.
template <class Prepare>
u64 data_config_of(u64 sample_type, Prepare prepare) {
  Machine m(6);
  Event& event = m.open(sample_type);
  prepare(event);
  m.start(event);
  return m.cpu.msrs[msr::PEBS_DATA_CFG];
}

TEST(PebsDriver, MasksOfRegistersThatAreNotSampledAskForNone) {
  const auto masks = [](Event& event) { event.attr.sample_regs_user = event.attr.sample_regs_intr = 1; };
  EXPECT_EQ(data_config_of(sample::IP, masks), 0u);
  EXPECT_EQ(data_config_of(sample::IP | sample::REGS_INTR, masks), pebs::data_cfg::GPRS);
  EXPECT_EQ(data_config_of(sample::IP | sample::REGS_USER, masks), pebs::data_cfg::GPRS);
}

// RAX has the abort code, which belongs to the weight of an abort (Linux: pebs_update_adaptive_cfg).
TEST(PebsDriver, TheWeightOfAnAbortBringsTheGeneralRegisters) {
  using namespace pebs::data_cfg;
  constexpr u64 rtm_aborted = 0x04C9, hle_aborted = 0x04C8;
  const auto counting = [](u64 config) { return [config](Event& event) { data_of(event).config = config; }; };
  for (const u64 weight : {sample::WEIGHT, sample::WEIGHT_STRUCT}) {
    EXPECT_EQ(data_config_of(sample::IP | weight, counting(rtm_aborted)), MEMORY | GPRS);
    EXPECT_EQ(data_config_of(sample::IP | weight, counting(rtm_aborted | msr::evtsel::INT)), MEMORY | GPRS);
    EXPECT_EQ(data_config_of(sample::IP | weight, counting(hle_aborted)), MEMORY);
  }
  EXPECT_EQ(data_config_of(sample::IP | sample::ADDR, counting(rtm_aborted)), MEMORY);
}

// MSR_PEBS_DATA_CFG (SDM vol. 4): general counters from bit 32 on, fixed ones from bit 48 on.
TEST(PebsDriver, EachStoredCounterHasABitOfItsOwnInDataCfg) {
  const auto storing = [](unsigned n) {
    Machine m(6);
    m.start(sample::IP);
    m.driver.record_counters(bit(n));
    m.start(sample::IP);
    return m.cpu.msrs[msr::PEBS_DATA_CFG];
  };
  for (unsigned n = 0; n < 8; ++n) {
    EXPECT_EQ(storing(n), pebs::data_cfg::COUNTERS | bit(32 + n));
    EXPECT_EQ(storing(32 + n), pebs::data_cfg::COUNTERS | bit(48 + n));
  }
}

TEST(PebsDriver, DataCfgIsTheUnionOfTheActiveEventsAndNeverShrinks) {
  Machine m(4);
  m.start(sample::IP);
  EXPECT_EQ(m.cpu.msrs[msr::PEBS_DATA_CFG], 0u);
  m.start(sample::IP | sample::ADDR);
  EXPECT_EQ(m.cpu.msrs[msr::PEBS_DATA_CFG], pebs::data_cfg::MEMORY);
  m.start(sample::IP | sample::BRANCH_STACK);
  EXPECT_EQ(m.cpu.msrs[msr::PEBS_DATA_CFG], pebs::data_cfg::MEMORY | pebs::data_cfg::LBR | 31u << 24);
  m.driver.remove(*m.events[1]);
  EXPECT_EQ(m.cpu.msrs[msr::PEBS_DATA_CFG], pebs::data_cfg::MEMORY | pebs::data_cfg::LBR | 31u << 24);
}

TEST(PebsDriver, RecordsOfTheOldLayoutAreDrainedBeforeItChanges) {
  Machine m(4);
  m.start(sample::IP);
  m.cpu.write_records(adaptive_buffer({1, 1}));
  m.start(sample::IP | sample::ADDR);
  EXPECT_THAT(m.host.lines, ElementsAre("e0 ip=0", "e0 ip=1"));
  EXPECT_EQ(m.driver.totals().odd_size, 0u);
}

TEST(PebsDriver, OnlyAnInterruptsLastSampleIsAnOverflow) {
  Machine m(4);
  m.start(sample::IP);
  m.cpu.write_records(adaptive_buffer({1, 1}));
  m.interrupt();
  EXPECT_THAT(m.host.lines, ElementsAre("e0 ip=0", "e0 ip=1 overflow"));
  m.host.lines.clear();
  m.cpu.write_records(adaptive_buffer({1}));
  m.driver.drain(DrainTrigger::context_switch, m.map, nullptr);
  EXPECT_THAT(m.host.lines, ElementsAre("e0 ip=0"));
}

TEST(PebsDriver, ADrainIsGroupedByEventUpToLinux6_13) {
  const auto drained_by = [](perf::Kernel kernel) {
    Machine m(4, kernel);
    m.start(sample::IP);
    m.start(sample::IP);
    m.cpu.write_records(adaptive_buffer({1, 2, 1, 2}));
    m.interrupt();
    return m.host.lines;
  };
  EXPECT_THAT(drained_by(perf::Kernel::v6_12),
              ElementsAre("e0 ip=0", "e0 ip=2 overflow", "e1 ip=1", "e1 ip=3 overflow"));
  EXPECT_THAT(drained_by(perf::Kernel::v6_14),
              ElementsAre("e0 ip=0", "e1 ip=1", "e0 ip=2 overflow", "e1 ip=3 overflow"));
}

TEST(PebsDriver, CollisionsBecomeLostSamplesOfEveryCollider) {
  Machine m(1);
  m.start(sample::IP);
  m.start(sample::IP);
  m.cpu.write_records(fixed_buffer(1, {0b11}));
  m.interrupt();
  EXPECT_THAT(m.host.lines, ElementsAre("e0 lost 1", "e0 interrupts", "e1 lost 1", "e1 interrupts"));
}

TEST(PebsDriver, LostSamplesComeDirectlyBeforeTheirEventsSamples) {
  Machine m(1);
  m.start(sample::IP);
  m.start(sample::IP);
  m.cpu.write_records(fixed_buffer(1, {0b11, 0b01, 0b10}));
  m.interrupt();
  EXPECT_THAT(m.host.lines, ElementsAre("e0 lost 1", "e0 interrupts", "e0 ip=1 overflow",  //
                                        "e1 lost 1", "e1 interrupts", "e1 ip=2 overflow"));
}

/// What a drain says of one record of an event whose counter the driver restarts.
std::vector<std::string> drained_by(perf::Kernel kernel, Interval interval) {
  Machine m(4, kernel);
  m.host.interval = interval;
  Event& event = m.open(sample::IP);
  event.attr.wakeup_events = 1;  // no auto-reload
  event.hw = {};
  data_of(event) = {};
  EXPECT_TRUE(m.driver.init(event).ok());
  m.start(event);
  m.cpu.write_records(adaptive_buffer({1}));
  m.interrupt();
  return m.host.lines;
}

TEST(PebsDriver, BeforeLinux6_14TheCounterRestartsBeforeTheSamples) {
  EXPECT_THAT(drained_by(perf::Kernel::v6_12, Interval::over), ElementsAre("restart", "e0 ip=0 overflow"));
  EXPECT_THAT(drained_by(perf::Kernel::v6_14, Interval::over), ElementsAre("e0 ip=0 overflow", "restart"));
}

TEST(PebsDriver, UpToLinux6_13AnUnfinishedIntervalHasNoSamples) {
  EXPECT_THAT(drained_by(perf::Kernel::v6_12, Interval::unfinished), ElementsAre("restart"));
  EXPECT_THAT(drained_by(perf::Kernel::v6_14, Interval::unfinished),
              ElementsAre("e0 ip=0 overflow", "restart"));
}

TEST(PebsDriver, StoppingAnEventInMidDrainLosesNoRecordOfTheOthers) {
  Machine m(4);
  m.start(sample::IP);
  m.start(sample::IP);
  m.host.verdict = perf::SampleSink::Verdict::stop;
  m.cpu.write_records(adaptive_buffer({1, 2}));
  m.interrupt();
  EXPECT_THAT(m.host.lines, ElementsAre("e0 ip=0 overflow", "e0 stop", "e1 ip=1 overflow", "e1 stop"));
}

// intel_pmu_save_and_restart_reload: each of n overflows took the counter from 0 back to -period.
TEST(PebsDriver, AutoReloadReconstructsTheCountFromRecords) {
  Machine m(4);
  Event& event = m.start(sample::IP, 1000);
  event.hw.previous_count = (0 - u64{1000}) & low_bits(48);
  m.cpu.counters[0] = (0 - u64{400}) & low_bits(48);
  m.cpu.write_records(adaptive_buffer({1, 1, 1}));
  m.interrupt();
  EXPECT_EQ(event.count, 3600u);
  EXPECT_EQ(event.hw.period_left, 400);
}

TEST(PebsDriver, CountAdvancesWithoutRecordsToo) {
  Machine m(4);
  Event& event = m.start(sample::IP, 1000);
  event.hw.previous_count = (0 - u64{1000}) & low_bits(48);
  m.cpu.counters[0] = (0 - u64{400}) & low_bits(48);
  m.driver.drain(DrainTrigger::read, m.map, nullptr);
  EXPECT_EQ(event.count, 600u);
}

TEST(PebsDriver, CountWaitsWhenOnlyAnotherEventLeftARecord) {
  Machine m(4);
  Event &silent = m.start(sample::IP, 1000), &other = m.start(sample::IP, 1000);
  for (Event* const event : {&silent, &other}) {
    event->hw.previous_count = (0 - u64{1000}) & low_bits(48);
    m.cpu.counters[static_cast<u32>(event->id)] = (0 - u64{400}) & low_bits(48);
  }
  m.cpu.write_records(adaptive_buffer({2}));
  m.driver.drain(DrainTrigger::read, m.map, nullptr);
  EXPECT_EQ(silent.count, 0u);
  EXPECT_EQ(other.count, 1600u);
  m.driver.drain(DrainTrigger::read, m.map, nullptr);
  EXPECT_EQ(silent.count, 600u);
  EXPECT_EQ(other.count, 1600u);
}

TEST(PebsDriver, TimeIsTheRecordsTscUnlessTheEventHasItsOwnClock) {
  Machine m(3);
  m.start(sample::IP | sample::TIME);
  Bytes records = fixed_buffer(3, {1});
  const le64 tsc = 77;
  std::memcpy(records.data() + offsetof(pebs::FixedRecord, tsc), &tsc, sizeof(tsc));
  m.cpu.write_records(records);
  m.interrupt();
  EXPECT_EQ(m.host.samples.at(0).time, 770u);
  m.events[0]->attr.use_clockid = 1;
  m.cpu.write_records(records);
  m.interrupt();
  EXPECT_FALSE(m.host.samples.at(1).time);
}

TEST(PebsDriver, BranchStacksAreTheLbrGroupOfTheRecord) {
  Machine m(4);
  m.start(sample::IP | sample::BRANCH_STACK);
  const u64 config = m.cpu.msrs[msr::PEBS_DATA_CFG];
  Bytes records;
  append_adaptive(records, config, 1, 0);
  pebs::LbrRecord newest{};
  newest.from = 0x401000;
  std::memcpy(records.data() + pebs::adaptive_layout(config).lbr, &newest, sizeof(newest));
  m.cpu.write_records(records);
  m.interrupt();
  ASSERT_EQ(m.host.decoded.size(), 32u);
  EXPECT_EQ(m.host.decoded[0].from, 0x401000u);
}

/// An address that the record gives an instruction at 0x1000 and its successor at 0x1003.
struct IpCase {
  unsigned format, precise_ip;
  u64 ip;
  bool exact;
};
class IpRules : public testing::TestWithParam<IpCase> {};

TEST_P(IpRules, FollowFormatAndPrecision) {  // setup_pebs_fixed_sample_data
  const IpCase& c = GetParam();
  Machine m(c.format);
  m.start(m.open(sample::IP, 1000, c.precise_ip));
  if (c.format < 4) {
    pebs::FixedRecord record{};
    record.status = 1;
    record.registers.rip = 0x1003;
    record.eventing_ip = 0x1000;
    Bytes bytes;
    append(bytes, record, pebs::fixed_record_bytes(c.format));
    m.cpu.write_records(bytes);
  } else {
    Bytes bytes(pebs::adaptive_layout(pebs::data_cfg::GPRS).size);
    pebs::BasicGroup basic{};
    basic.format = static_cast<u32>(m.cpu.msrs[msr::PEBS_DATA_CFG]);
    basic.size = static_cast<u16>(c.precise_ip == 1 ? bytes.size() : 32);
    basic.applicable_counters = 1;
    basic.eventing_ip = 0x1000;
    std::memcpy(bytes.data(), &basic, sizeof(basic));
    pebs::GprGroup gprs{};
    gprs.rip = 0x1003;
    std::memcpy(bytes.data() + 32, &gprs, sizeof(gprs));
    bytes.resize(basic.size);
    m.cpu.write_records(bytes);
  }
  m.interrupt();
  EXPECT_EQ(m.host.samples.at(0).ip, c.ip);
  EXPECT_EQ(m.host.samples.at(0).exact_ip, c.exact);
}
INSTANTIATE_TEST_SUITE_P(Formats, IpRules,
                         testing::Values(IpCase{1, 1, 0x1003, false}, IpCase{1, 2, 0x1003, false},
                                         IpCase{2, 1, 0x1003, false}, IpCase{2, 2, 0x1000, true},
                                         IpCase{3, 2, 0x1000, true}, IpCase{4, 1, 0x1003, false},
                                         IpCase{4, 2, 0x1000, true}));

TEST(IpFixUp, DecodesFromTheNewestBranchTargetToTheRecordedIp) {
  Machine m(1);
  m.host.branch = {.from = 0x900, .to = 0x1000};
  m.host.code_address = 0x1000;
  for (const int byte : {0x90, 0x48, 0x89, 0xC8, 0x90})  // nop; mov rax, rcx; nop
    m.host.code.push_back(static_cast<std::byte>(byte));
  m.start(sample::IP);
  pebs::FixedRecord record{};
  record.status = 1;
  record.registers.rip = 0x1004;
  Bytes bytes;
  append(bytes, record, pebs::fixed_record_bytes(1));
  m.cpu.write_records(bytes);
  m.interrupt();
  EXPECT_EQ(m.host.samples.at(0).ip, 0x1001u);
  EXPECT_TRUE(m.host.samples.at(0).exact_ip);
}

TEST(IpFixUp, ARecordAtABranchTargetWasTheBranch) {
  Machine m(1);
  m.host.branch = {.from = 0x900, .to = 0x1000};
  m.start(sample::IP);
  pebs::FixedRecord record{};
  record.status = 1;
  record.registers.rip = 0x1000;
  Bytes bytes;
  append(bytes, record, pebs::fixed_record_bytes(1));
  m.cpu.write_records(bytes);
  m.interrupt();
  EXPECT_EQ(m.host.samples.at(0).ip, 0x900u);
}

TEST(PebsDriver, WeightIsLoadLatencyOrTheCyclesOfAnAbort) {
  Machine m(3);
  Event& event = m.open(sample::IP | sample::WEIGHT | sample::ADDR | sample::DATA_SRC | sample::TRANSACTION);
  data_of(event).flags |= pebs_flag::LOAD_LATENCY;
  m.start(event);
  pebs::FixedRecord record{};
  record.status = 1;
  record.latency_cycles = 44;
  record.linear_address = 0xABC0;
  record.data_source = 0x31;
  record.tsx = 0x0000'000A'0000'0064;
  record.registers.rax = 0x1200'0001;
  Bytes bytes;
  append(bytes, record);
  m.cpu.write_records(bytes);
  m.interrupt();
  const perf::SampleData& load = m.host.samples.at(0);
  EXPECT_EQ(load.weight, 44u);
  EXPECT_EQ(load.address, 0xABC0u);
  EXPECT_EQ(load.data_source, 0x10252100142u);
  EXPECT_EQ(load.transaction, 0x12'0000'000Au);
  data_of(event).flags &= ~pebs_flag::LOAD_LATENCY;
  m.cpu.write_records(bytes);
  m.interrupt();
  EXPECT_EQ(m.host.samples.at(1).weight, 100u);
}

TEST(PebsDriver, WeightIsTheWholeLoadLatencyEvenIfZero) {
  for (const u64 type : {sample::WEIGHT, sample::WEIGHT_STRUCT})
    for (const u64 latency : {u64{0}, u64{0x5'0000'0003}}) {
      Machine m(3);
      Event& event = m.open(sample::IP | type);
      data_of(event).flags |= pebs_flag::LOAD_LATENCY;
      m.start(event);
      pebs::FixedRecord record{};
      record.status = 1;
      record.latency_cycles = latency;
      record.tsx = 0x64;
      Bytes bytes;
      append(bytes, record);
      m.cpu.write_records(bytes);
      m.interrupt();
      EXPECT_EQ(m.host.samples.at(0).weight, latency);
    }
}

/// Registers of a sample of this type, from a record of format 3 that an interrupt far away finds.
Registers registers_of_fixed_record(u64 sample_type) {
  Machine m(3);
  Event& event = m.open(sample_type);
  event.attr.sample_regs_user = event.attr.sample_regs_intr = 0xff0fff;
  m.start(event);
  pebs::FixedRecord record{};
  record.status = 1;
  record.eventing_ip = 0x401000;
  record.registers.rip = 0x401004;
  record.registers.rflags = 0x24E;  // bit 3: the format's mark of an exact IP
  record.registers.rax = 7;
  Bytes bytes;
  append(bytes, record);
  m.cpu.write_records(bytes);
  m.frame.registers.rip = 0x402000;
  m.frame.registers[Gpr::rax] = 1;
  m.interrupt();
  return *m.host.samples.at(0).registers;
}

TEST(PebsDriver, FixedRecordsGiveGprsOnlyWithInterruptRegisters) {
  const Registers both = registers_of_fixed_record(sample::IP | sample::REGS_USER | sample::REGS_INTR);
  EXPECT_EQ(both[Gpr::rax], 7u);
  const Registers user = registers_of_fixed_record(sample::IP | sample::REGS_USER);
  EXPECT_EQ(user[Gpr::rax], 1u);
  for (const Registers& registers : {both, user}) {
    EXPECT_EQ(registers.rip, 0x401000u);
    EXPECT_EQ(registers.rflags, 0x246u);
  }
}

TEST(PebsDriver, PrivilegeFollowsTheRecordsAddress) {
  for (const DrainTrigger trigger : {DrainTrigger::interrupt, DrainTrigger::context_switch}) {
    Machine m(4);
    m.start(sample::IP);
    Bytes records;
    append_adaptive(records, 0, 1, 0xFFFF'FFFF'8100'0000);
    append_adaptive(records, 0, 1, 0x401000);
    m.cpu.write_records(records);
    m.driver.drain(trigger, m.map, trigger == DrainTrigger::interrupt ? &m.frame : nullptr);
    EXPECT_EQ(m.host.samples.at(0).cpl, Cpl::kernel);
    EXPECT_EQ(m.host.samples.at(1).cpl, Cpl::user);
  }
}

TEST(PebsDriver, AnIndexOutsideOfTheBufferIsCountedAndReadsNothing) {
  constexpr u64 above_all_memory = 0xFFFF'FFFF'0000'0000, below_the_base = 8;
  for (const le64 wild : {above_all_memory, below_the_base}) {
    Machine m(4);
    m.start(sample::IP);
    ASSERT_EQ(m.cpu.write_memory(m.cpu.msrs[msr::DS_AREA] + offsetof(DsArea64, pebs_index),
                                 std::as_bytes(std::span(&wild, 1))),
              Fault::none);
    m.interrupt();
    EXPECT_THAT(m.host.lines, IsEmpty());
    EXPECT_EQ(m.access.faults().count, 1u);
  }
}

}  // namespace
}  // namespace pmusim::driver
