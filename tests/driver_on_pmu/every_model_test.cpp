// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include "driver/intel/debug_store/pebs.h"
#include "driver/intel/samples/data_source.h"
#include "machine.h"
#include "model_names.h"
#include "pebs/record.h"

namespace pmusim::driver {
namespace {

using perf::HardwareId;

class EveryModel : public testing::TestWithParam<std::string> {
 protected:
  const CpuModel model = model_with_skid(GetParam(), 0);
};

TEST_P(EveryModel, IsEnumeratedAsItIs) {
  Pmu pmu(model);
  const Enumeration e = enumerate(pmu, perf::Kernel::v7_1);  // which knows Cannon Lake
  EXPECT_EQ(e.counters, model.counters());
  EXPECT_EQ(e.counter_width, model.counter_width);
  EXPECT_EQ(e.arch_events & ~model.arch_events, 0u);  // leaf 0AH of a hybrid lists what all its cores have
  EXPECT_EQ(e.acr_cause, model.acr.cause);
  EXPECT_EQ(e.acr_reloadable, model.acr.reloadable);
  const bool pebs_is_left_off = has_unreliable_pebs(model.family, model.model);
  EXPECT_EQ(e.pebs_format, pebs_is_left_off ? Enumeration::no_pebs : model.pebs.format);
  EXPECT_EQ(e.pebs_counters, pebs_is_left_off ? 0 : model.pebs.counters);
  EXPECT_EQ(e.lbr_entries, model.lbr.depth);
}

TEST(CannonLake, IsACoreOfArchitecturalEventsToLinux6_12And7_3) {
  const CpuModel model = model_with_skid("cannonlake", 0);
  Pmu pmu(model);
  for (const perf::Kernel kernel : {perf::Kernel::v6_12, perf::Kernel::v7_3}) {
    const Enumeration seen = enumerate(pmu, kernel);
    EXPECT_EQ(seen.microarchitecture, Microarchitecture::unknown);
    EXPECT_EQ(seen.lbr_entries, 0u);
    EXPECT_EQ(seen.counters, model.counters());
  }
  EXPECT_EQ(enumerate(pmu, perf::Kernel::v7_1).lbr_entries, 32u);
}

TEST(PantherCove, HasItsTablesSinceLinux70) {
  for (const char* const name : {"diamondrapids", "coyotecove", "arcticwolf"}) {
    Pmu pmu(model_with_skid(name, 0));
    EXPECT_EQ(enumerate(pmu, perf::Kernel::v6_19).microarchitecture, Microarchitecture::unknown) << name;
    EXPECT_NE(enumerate(pmu, perf::Kernel::v7_0).microarchitecture, Microarchitecture::unknown) << name;
  }
}

// Linux 7.3.4: rows for D0 to D4 were posted and did not survive.
TEST(PantherCove, OnlyRecordsOfLatencyEventsHaveDataSources) {
  Machine machine(model_with_skid("diamondrapids", 0));
  const auto kind_of = [&](u64 config, u64 latency) {
    perf::Attr attr;
    attr.type = static_cast<u32>(perf::EventType::raw);
    attr.config = config;
    attr.config1 = latency;
    attr.precise_ip = 2;
    attr.sample_period = 1000;
    return data_of(machine.opened(attr)).flags & (pebs_flag::MEMORY_LOAD | pebs_flag::MEMORY_STORE |
                                                  pebs_flag::LOAD_LATENCY | pebs_flag::STORE_LATENCY);
  };
  EXPECT_EQ(kind_of(0x01CD, 3), pebs_flag::LOAD_LATENCY);
  EXPECT_EQ(kind_of(0x02CD, 0), pebs_flag::STORE_LATENCY);
  for (const u64 umask : {0x11, 0x12, 0x21, 0x41, 0x42, 0x81, 0x82, 0x87})
    EXPECT_EQ(kind_of(umask << 8 | 0xD0, 0), 0u) << umask;
  EXPECT_TRUE(machine.refusal.empty()) << machine.refusal;
}

TEST_P(EveryModel, EncodesDataSourcesAsItsDriverReadsThem) {
  if (model.pebs.format == PebsFeatures::none) GTEST_SKIP() << "has no PEBS";
  Pmu pmu(model);
  const DataSourceReader reader = DataSourceReader::of(enumerate(pmu, perf::Kernel::v7_1));
  ASSERT_EQ(reader.encoding, model.pebs.data_source);
  if (reader.encoding == DataSourceEncoding::none) return;
  // PERF_MEM_LVLNUM_ of linux/perf_event.h. Panther Cove calls the level next to the core L0.
  const u64 nearest = reader.encoding == DataSourceEncoding::panther_cove ? 7 : 1;
  const std::pair<CacheLevel, u64> levels[] = {{CacheLevel::l1, nearest},
                                               {CacheLevel::fill_buffer, 12},
                                               {CacheLevel::l2, 2},
                                               {CacheLevel::l3, 3},
                                               {CacheLevel::memory, 13}};
  for (const auto& [level, number] : levels) {
    const u64 word = pebs::encode_data_source(reader.encoding, {.level = level});
    EXPECT_EQ(field(reader.load(word), 36, 33), number);
  }
}

TEST_P(EveryModel, LetsTheDriverStartWithoutAFault) {
  const Machine machine(model);
  EXPECT_EQ(describe(machine.driver.statistics().faults), "");
}

TEST_P(EveryModel, CountsInstructionsAndBranchesExactly) {
  Machine machine(model);
  perf::Event& instructions = machine.opened(hardware(HardwareId::instructions));
  perf::Event& branches = machine.opened(hardware(HardwareId::branch_instructions), &instructions);
  ASSERT_TRUE(machine.schedule(instructions)) << machine.refusal;
  for (int i = 0; i < 1000; ++i) {
    machine.instruction();
    if (i % 5 == 0) machine.instruction({Signal::instruction, Signal::branch});
  }
  machine.unschedule(instructions);
  EXPECT_EQ(instructions.count, 1200u);
  EXPECT_EQ(branches.count, 200u);
  EXPECT_EQ(describe(machine.driver.statistics().faults), "");
}

TEST_P(EveryModel, SamplesEveryPeriod) {
  Machine machine(model);
  unsigned samples = 0;
  machine.sink.tell = [&](perf::Event&, const perf::SampleData& data, const InterruptFrame&) {
    ++samples;
    EXPECT_EQ(data.period, 100u);
  };
  perf::Event& instructions = machine.opened(hardware(HardwareId::instructions, 100));
  ASSERT_TRUE(machine.schedule(instructions)) << machine.refusal;
  for (int i = 0; i < 10'001; ++i) machine.instruction();
  machine.unschedule(instructions);
  EXPECT_EQ(samples, 100u);
  EXPECT_EQ(instructions.count, 10'001u);
  EXPECT_EQ(describe(machine.driver.statistics().faults), "");
}

INSTANTIATE_TEST_SUITE_P(Presets, EveryModel, testing::ValuesIn(model_names()), identifier);

}  // namespace
}  // namespace pmusim::driver
