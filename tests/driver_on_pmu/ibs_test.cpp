// SPDX-License-Identifier: MIT
// ibs_fetch and ibs_op on the emulated units, under the perf core: periods, errors, restarts and samples as
// Linux has them. Figures are those of its self-tests and of its documentation.
#include <gmock/gmock.h>

#include <cerrno>
#include <cstring>

#include "driver/amd/driver.h"
#include "driver/amd/ibs/unit.h"
#include "pmusim/perf/core.h"
#include "pmusim/pmu/observer.h"
#include "pmusim/pmu/pmu.h"
#include "tests/support/value_at.h"

namespace pmusim::driver::ibs_test {
namespace {

using test::value_at;
using testing::ElementsAre;
using testing::HasSubstr;

constexpr u32 type_fetch = 10, type_op = 11;

/// A CPU with both units under the perf core, and one task.
class Ibs : public PmiHandler {
 public:
  explicit Ibs(std::string_view model, perf::Kernel kernel = perf::default_kernel)
      : pmu(model_of(model)),
        ops(pmu, IbsSide::op, {.kernel = kernel}),
        fetches(pmu, IbsSide::fetch, {.kernel = kernel}),
        perf(perf::PerfCore::create(ops, {.limits = {.kernel = kernel}, .pmu_type = type_op})) {
    perf->register_pmu(type_fetch, fetches);
    ops.attach(perf->cpu(0));
    fetches.attach(perf->cpu(0));
    pmu.set_pmi_handler(this);
    perf->task_started(1, 1, "program");
    perf->cpu(0).switch_to(1);
  }
  static CpuModel model_of(std::string_view name) {
    CpuModel model = find_cpu_model(name).value();
    model.policies.pmi_skid_cycles = 0;
    return model;
  }
  void handle_pmi(const InterruptFrame& frame) override {
    const bool by_ops = ops.handle_nmi(frame), by_fetches = fetches.handle_nmi(frame);
    if (!by_ops && !by_fetches) ++unknown;
  }
  static perf::Attr attr(u32 type, u64 period, u64 config = 0) {
    perf::Attr attr;
    attr.type = type;
    attr.config = config;
    attr.sample_period = period;
    attr.sample_type = perf::sample::IP;
    return attr;
  }
  /// The period that the event has got, or minus the errno.
  i64 opened_period(const perf::Attr& attr) {
    const auto event = perf->open(attr, 0, -1);
    if (!event.ok()) return -event.error().error_number;
    const i64 period = static_cast<i64>((*event)->hw.sample_period);
    perf->close(**event);
    return period;
  }
  perf::Event& open(const perf::Attr& attr) {
    auto event = perf->open(attr, 0, -1);
    if (!event.ok()) throw std::runtime_error(event.error().message);
    return **event;
  }
  void retire(u64 ip, std::span<const MemoryAccess> memory = {}, u32 latency = 1) {
    Retirement r{.ip = ip,
                 .next_ip = ip + 4,
                 .cycle = pmu.now() + 1,
                 .signals = {Signal::instruction},
                 .length = 4,
                 .latency_cycles = latency,
                 .memory = memory};
    r.quantities[static_cast<unsigned>(Quantity::uops)] = 1;
    pmu.retire(r);
  }
  u64 control() { return pmu.rdmsr(ibs::OP_CTL).value(); }

  Pmu pmu;
  IbsDriver ops, fetches;
  std::unique_ptr<perf::PerfCore> perf;
  unsigned unknown = 0;
};

std::vector<std::vector<std::byte>> samples_in(perf::RingBuffer& ring) {
  std::vector<std::byte> all;
  perf::RingReader(ring).drain([&](auto piece) { all.insert(all.end(), piece.begin(), piece.end()); });
  std::vector<std::vector<std::byte>> samples;
  for (std::size_t at = 0; at < all.size();) {
    perf::RecordHeader header;
    std::memcpy(&header, all.data() + at, sizeof header);
    if (header.type == static_cast<u32>(perf::RecordType::sample))
      samples.emplace_back(all.begin() + static_cast<i64>(at),
                           all.begin() + static_cast<i64>(at + header.size));
    at += header.size;
  }
  return samples;
}
// perf's own test "AMD IBS sample period", of 6.15 and later: a config and the period, or EINVAL.
TEST(IbsPeriods, InConfigAreThoseOfPerfsTest) {
  Ibs ibs("genoa", perf::Kernel::v6_15);
  const struct {
    u64 config;
    i64 period;
  } fetch[] = {{0xFFFF, 0xFFFF0}, {0x1000, 0x10000}, {0xFF, 0xFF0},
               {0x1, 0x10},       {0x0, -EINVAL},    {0x10000, -EINVAL}},
    op[] = {{0x0, -EINVAL},
            {0x1, -EINVAL},
            {0x8, -EINVAL},
            {0x9, 0x90},
            {0xF, 0xF0},
            {0x1000, 0x10000},
            {0xFFFF, 0xFFFF0},
            {0x10000, -EINVAL},
            {0x100000, 0x100000},
            {0xF00000, 0xF00000},
            {0xF0FFFF, 0xFFFFF0},
            {0x1F0FFFF, 0x1FFFFF0},
            {0x7F0FFFF, 0x7FFFFF0},
            {0x8F0FFFF, -EINVAL},
            {0x17F0FFFF, -EINVAL}};
  for (const auto& row : fetch)
    EXPECT_EQ(ibs.opened_period(Ibs::attr(type_fetch, 0, row.config)), row.period) << std::hex << row.config;
  for (const auto& row : op)
    EXPECT_EQ(ibs.opened_period(Ibs::attr(type_op, 0, row.config)), row.period) << std::hex << row.config;
}

TEST(IbsPeriods, AreCutToSixteensAndHaveALeast) {
  Ibs ibs("genoa", perf::Kernel::v6_15);
  const struct {
    u64 period;
    i64 fetch, op;
  } rows[] = {{0x4D2, 0x4D0, 0x4D0},          {0x1007, 0x1000, 0x1000},
              {0xFFF, 0xFF0, 0xFF0},          {0xFFFF, 0xFFF0, 0xFFF0},
              {0xFFF0, 0xFFF0, 0xFFF0},       {0x10010, 0x10010, 0x10010},
              {0x7FFFFF, 0x7FFFF0, 0x7FFFF0}, {0xFFFFFFF, 0xFFFFFF0, 0xFFFFFF0},
              {0x8F, 0x80, -EINVAL},          {0x90, 0x90, 0x90},
              {0xF, -EINVAL, -EINVAL}};
  for (const auto& row : rows) {
    EXPECT_EQ(ibs.opened_period(Ibs::attr(type_fetch, row.period)), row.fetch) << row.period;
    EXPECT_EQ(ibs.opened_period(Ibs::attr(type_op, row.period)), row.op) << row.period;
  }
  perf::Attr frequency = Ibs::attr(type_op, 1000);
  frequency.freq = 1;
  EXPECT_EQ(ibs.opened_period(frequency), 0x90);
  frequency.type = type_fetch;
  EXPECT_EQ(ibs.opened_period(frequency), 0x10);
}

TEST(IbsPeriods, OfLinux612HaveNoLeastButSixteen) {
  Ibs ibs("genoa", perf::Kernel::v6_12);
  EXPECT_EQ(ibs.opened_period(Ibs::attr(type_op, 0x1007)), 0x1000);
  EXPECT_EQ(ibs.opened_period(Ibs::attr(type_op, 0x1000)), 0x1000);
  EXPECT_EQ(ibs.opened_period(Ibs::attr(type_op, 0x80)), 0x80);
  EXPECT_EQ(ibs.opened_period(Ibs::attr(type_op, 0, 1)), 0x10);
}

TEST(IbsOpen, RefusesWhatTheUnitCannotDo) {
  Ibs ibs("genoa", perf::Kernel::v6_15);
  perf::Attr user_only = Ibs::attr(type_op, 0x1000);
  user_only.exclude_kernel = 1;
  EXPECT_EQ(ibs.opened_period(user_only), -EINVAL);
  user_only.config2 = 1;  // swfilt
  EXPECT_EQ(ibs.opened_period(user_only), 0x1000);
  perf::Attr branches = Ibs::attr(type_op, 0x1000);
  branches.sample_type |= perf::sample::BRANCH_STACK;
  branches.branch_sample_type = perf::branch::ANY | perf::branch::USER;
  EXPECT_EQ(ibs.opened_period(branches), -EOPNOTSUPP);
  EXPECT_EQ(ibs.opened_period(Ibs::attr(type_op, 0x1000, bit(16))), 0x1000);  // L3 misses only
  Ibs milan("milan", perf::Kernel::v6_15);
  EXPECT_EQ(milan.opened_period(Ibs::attr(type_op, 0x1000, bit(16))), -EINVAL);
  Ibs naples("naples");  // firmware hides IBS
  EXPECT_EQ(naples.opened_period(Ibs::attr(type_op, 0x1000)), -ENODEV);
}

TEST(IbsOpen, TakesLatenciesOfLoadsWhereThePartFilters) {
  Ibs turin("turin", perf::Kernel::v6_15);
  const auto with_latency = [](u64 cycles) {
    perf::Attr attr = Ibs::attr(type_op, 0x1000);
    attr.config1 = cycles;
    return attr;
  };
  EXPECT_EQ(turin.opened_period(with_latency(127)), -EINVAL);
  EXPECT_EQ(turin.opened_period(with_latency(2049)), -EINVAL);
  turin.open(with_latency(256));
  EXPECT_EQ(turin.control(), bit(63) | u64{1} << 59 | bit(16) | bit(17) | 0x100);
}

TEST(IbsControl, HasPeriodAndEnable) {
  const struct {
    u64 period, config, control;
  } rows[] = {{100'000, 0, 0x2186A}, {100'000, bit(19), 0xA186A}, {2'000'000, 0, 0x12E848}};
  for (const auto& row : rows) {
    Ibs ibs("genoa");
    ibs.open(Ibs::attr(type_op, row.period, row.config));
    EXPECT_EQ(ibs.control() & ~bits(58, 32), row.control) << row.period;
  }
  Ibs ibs("genoa");
  ibs.open(Ibs::attr(type_fetch, 100'000, bit(57)));
  EXPECT_EQ(ibs.pmu.rdmsr(ibs::FETCH_CTL).value(), 0x02010000'0000186Au);
}

TEST(IbsSampling, GivesASampleForEachPeriod) {
  Ibs ibs("genoa");
  perf::Event& event = ibs.open(Ibs::attr(type_op, 0x100));
  perf::RingBuffer& ring = *ibs.perf->mmap(event, 16).value();
  for (u64 n = 0; n < 2650; ++n) ibs.retire(0x400000 + 4 * (n % 1000));
  const auto samples = samples_in(ring);
  EXPECT_EQ(samples.size(), 10u);
  EXPECT_EQ(ibs.unknown, 0u);
  EXPECT_EQ(describe(ibs.ops.statistics().faults), "");
  // Rearming takes the retirement that delivers the interrupt: 256 cycles, the tagged op, the one after.
  for (std::size_t n = 1; n < samples.size(); ++n)
    EXPECT_NEAR(
        static_cast<double>((value_at<u64>(samples[n], 8) - value_at<u64>(samples[n - 1], 8) + 4000) % 4000),
        4 * 257, 8);
}

TEST(IbsSampling, CountsLongPeriodsInPieces) {
  Ibs ibs("milan");
  perf::Event& event = ibs.open(Ibs::attr(type_fetch, 3'000'000));
  perf::RingBuffer& ring = *ibs.perf->mmap(event, 16).value();
  std::vector<u64> pieces;
  u64 last = 0;
  for (u64 n = 0; n < 3'000'100; ++n) {  // a fetch each
    ibs.retire(0x400000 + 32 * n);
    const u64 control = ibs.pmu.rdmsr(ibs::FETCH_CTL).value() & 0xFFFF;
    if (control != last) pieces.push_back(control << 4);
    last = control;
  }
  EXPECT_THAT(pieces, ElementsAre(1'048'560, 902'880, 1'048'560));
  EXPECT_EQ(samples_in(ring).size(), 1u);
}

TEST(IbsSampling, HasRawRegistersAsPerfDecodesThem) {
  const struct {
    const char* model;
    u32 caps;
  } rows[] = {{"milan", 0x3FF}, {"genoa", 0xBFF}, {"turin", 0x81BFF}};
  for (const auto& row : rows) {
    Ibs ibs(row.model);
    perf::Attr attr = Ibs::attr(type_op, 0x100, bit(19));
    attr.sample_type |= perf::sample::RAW;
    perf::Event& event = ibs.open(attr);
    perf::RingBuffer& ring = *ibs.perf->mmap(event, 16).value();
    for (u64 n = 0; n < 300; ++n) ibs.retire(0x400000 + 4 * n);
    const auto samples = samples_in(ring);
    ASSERT_EQ(samples.size(), 1u);
    const auto& sample = samples.front();
    EXPECT_EQ(sample.size() % 8, 0u);
    EXPECT_EQ(value_at<u32>(sample, 16), 68u);  // four bytes of capabilities, eight registers
    EXPECT_EQ(value_at<u32>(sample, 20), row.caps);
    EXPECT_EQ(value_at<u64>(sample, 24) & (bit(17) | bit(18) | 0xFFFF), bit(17) | bit(18) | 0x10);
    EXPECT_EQ(value_at<u64>(sample, 32), value_at<u64>(sample, 8));  // IbsOpRip is the IP
  }
  Ibs ibs("genoa");
  perf::Attr attr = Ibs::attr(type_fetch, 0x10);
  attr.sample_type |= perf::sample::RAW;
  perf::Event& event = ibs.open(attr);
  perf::RingBuffer& ring = *ibs.perf->mmap(event, 16).value();
  for (u64 n = 0; n < 200; ++n) ibs.retire(0x400000 + 4 * n);
  EXPECT_EQ(value_at<u32>(samples_in(ring).front(), 16), 36u);
}

// The words of the reference that were checked by arithmetic.
TEST(IbsDataSource, SaysWhereDataCameFrom) {
  const auto part = [](u32 family, u32 caps) {
    IbsPart p;
    p.family = family;
    p.caps = caps;
    return p;
  };
  const IbsPart zen2 = part(0x17, 0x3FF), zen3 = part(0x19, 0x3FF), zen4 = part(0x19, 0xBFF);
  constexpr u64 load = 1, store = 2, l1_tlb = 4, l2_tlb = 8, miss = bit(7), l2_miss = bit(20),
                address = bit(17), locked = bit(15);
  EXPECT_EQ(ibs_data_source(zen4, 0, load | address), 0x229080142u);
  EXPECT_EQ(ibs_data_source(zen4, 0, load | address | miss | l1_tlb), 0x449080442u);
  EXPECT_EQ(ibs_data_source(zen4, 0x21, load | address | miss | l2_miss), 0x629080842u);
  EXPECT_EQ(ibs_data_source(zen4, 0x01, load | address | miss | l2_miss), 0x629800842u);
  EXPECT_EQ(ibs_data_source(zen4, 3, load | address | miss | l2_miss | l1_tlb | l2_tlb), 0x1A51081042u);
  EXPECT_EQ(ibs_data_source(zen3, 2, load | address | miss | l2_miss) & 0xFF, 0x42u);
  EXPECT_EQ(ibs_data_source(zen4, 0, store | address | locked), 0x22A080144u);
  EXPECT_EQ(ibs_data_source(zen4, 0, store | address | miss | l2_miss), 0x1E29080024u);
  EXPECT_EQ(ibs_data_source(zen4, 0, 0), 0x1E05080021u);
  EXPECT_EQ(ibs_data_source(zen2, 3, load | address | miss | l2_miss | l1_tlb | l2_tlb), 0x1A51081042u);
}

TEST(IbsDataSource, CountsHopsAndNamesRemoteNodes) {
  IbsPart zen2, zen4;
  zen2.family = 0x17, zen2.caps = 0x3FF;
  zen4.family = 0x19, zen4.model = 0x11, zen4.caps = 0xBFF;
  constexpr u64 missed_all = 1 | bit(17) | bit(7) | bit(20), missed_tlb = missed_all | 4 | 8;
  constexpr u64 remote_node = bit(4), owned = bit(5);
  EXPECT_EQ(ibs_data_source(zen2, 2 | owned, missed_all), 0x81629088842u);
  EXPECT_EQ(ibs_data_source(zen4, 2, missed_all), 0x83629808042u);
  EXPECT_EQ(ibs_data_source(zen4, 5 | owned, missed_all), 0x103629090042u);
  EXPECT_EQ(ibs_data_source(zen4, 3 | remote_node, missed_tlb), 0x103A51082042u);
}

TEST(IbsDataSource, OfJoinedMissesIsVoidOnMilan) {  // erratum 1293
  IbsPart milan, vermeer;
  milan.family = vermeer.family = 0x19, milan.caps = vermeer.caps = 0x3FF;
  milan.model = 0x01, vermeer.model = 0x21;
  constexpr u64 joined = 1 | bit(17) | bit(7) | bit(16), l2 = 2, fill_buffer = 0xC;
  EXPECT_EQ(ibs_data_source(milan, 3, joined) >> 33 & 0xF, fill_buffer);
  EXPECT_EQ(ibs_data_source(vermeer, 3, joined) >> 33 & 0xF, l2);
}

TEST(IbsPeriods, GivenLaterAreMultiplesOfSixteen) {
  Ibs ibs("genoa");
  perf::Event& event = ibs.open(Ibs::attr(type_op, 4096));
  EXPECT_EQ(ibs.perf->set_period(event, 4099).error().error_number, EINVAL);
  EXPECT_EQ(ibs.perf->set_period(event, 0x80).error().error_number, EINVAL);
  EXPECT_TRUE(ibs.perf->set_period(event, 0x90).ok());
  Ibs before("genoa", perf::Kernel::v6_12);
  EXPECT_TRUE(before.perf->set_period(before.open(Ibs::attr(type_op, 4096)), 4099).ok());
}

TEST(IbsSampling, TellsAddressesLatenciesAndSources) {
  Ibs ibs("genoa");
  perf::Attr attr = Ibs::attr(type_op, 0x100, bit(19));
  attr.sample_type = perf::sample::IP | perf::sample::ADDR | perf::sample::WEIGHT | perf::sample::DATA_SRC;
  perf::Event& event = ibs.open(attr);
  perf::RingBuffer& ring = *ibs.perf->mmap(event, 16).value();
  const std::array<MemoryAccess, 1> access{MemoryAccess{.address = 0x7F0000001000,
                                                        .bytes = 8,
                                                        .level = CacheLevel::l2,
                                                        .tlb = TlbLevel::l2,
                                                        .latency_cycles = 14}};
  for (u64 n = 0; n < 300; ++n) ibs.retire(0x400000 + 4 * n, access, 20);
  const auto samples = samples_in(ring);
  ASSERT_EQ(samples.size(), 1u);
  EXPECT_EQ(value_at<u64>(samples[0], 16), 0x7F0000001000u);
  EXPECT_EQ(value_at<u64>(samples[0], 24), 14u);
  EXPECT_EQ(value_at<u64>(samples[0], 32), 0x449080442u);
}

TEST(IbsSampling, LeavesOutKernelCodeInSoftware) {
  Ibs ibs("genoa");
  perf::Attr attr = Ibs::attr(type_op, 0x100, bit(19));
  attr.exclude_kernel = 1;
  attr.config2 = 1;
  perf::Event& event = ibs.open(attr);
  perf::RingBuffer& ring = *ibs.perf->mmap(event, 64).value();
  for (u64 n = 0; n < 20'000; ++n)
    ibs.retire(n / 1000 % 2 == 0 ? 0x400000 + 4 * n : 0xFFFFFFFF81000000 + 4 * n);
  const auto samples = samples_in(ring);
  EXPECT_GT(samples.size(), 20u);
  for (const auto& sample : samples) EXPECT_LT(value_at<u64>(sample, 8), u64{1} << 47);
}

// Linux, arch/x86/events/amd/ibs.c: forward_event_to_ibs and what it leaves to nobody.
TEST(IbsForwarding, TakesPreciseCyclesAndOpsOfTheCore) {
  Pmu pmu(Ibs::model_of("genoa"));
  amd::Driver core(pmu, {.ibs_op_type = type_op});
  IbsDriver ops(pmu, IbsSide::op);
  const auto perf = perf::PerfCore::create(core);
  perf->register_pmu(type_op, ops);
  core.attach(perf->cpu(0));
  ops.attach(perf->cpu(0));
  perf->task_started(1, 1, "program");
  perf->cpu(0).switch_to(1);
  const auto opened = [&](u32 type, u64 config, unsigned precise) {
    perf::Attr attr = Ibs::attr(type, 0x1000, config);
    attr.precise_ip = precise & 3;
    return perf->open(attr, 0, -1);
  };
  constexpr u32 hardware = 0, raw = 4;
  const struct {
    u32 type;
    u64 config;
    u64 forwarded;
  } taken[] = {{hardware, 0, 0}, {raw, 0x76, 0}, {raw, 0xC1, bit(19)}};
  for (const auto& row : taken)
    for (const unsigned precise : {1u, 2u}) {
      const auto event = opened(row.type, row.config, precise);
      ASSERT_TRUE(event.ok()) << event.error().message;
      EXPECT_EQ((*event)->pmu, &ops);
      EXPECT_EQ((*event)->attr.type, type_op);
      EXPECT_EQ((*event)->attr.config, row.forwarded);
      perf->close(**event);
    }
  EXPECT_EQ(opened(hardware, 1, 2).error().error_number, ENOENT);
  EXPECT_EQ(opened(raw, 0xC0, 1).error().error_number, ENOENT);
  EXPECT_EQ(opened(hardware, 0, 3).error().error_number, EOPNOTSUPP);
  EXPECT_EQ((*opened(hardware, 0, 0))->pmu, &core);
}

TEST(IbsGroups, HaveOneEventOfAUnit) {
  Ibs ibs("genoa");
  perf::Event& leader = ibs.open(Ibs::attr(type_op, 0x1000));
  const auto second = ibs.perf->open(Ibs::attr(type_op, 0x2000), 0, -1, &leader);
  ASSERT_FALSE(second.ok());
  EXPECT_EQ(second.error().error_number, EINVAL);
  EXPECT_THAT(second.error().message, HasSubstr("ibs_op already"));
  perf::Event& waits = ibs.open(Ibs::attr(type_op, 0x2000));
  EXPECT_EQ(waits.state, perf::EventState::inactive);
  ibs.open(Ibs::attr(type_fetch, 0x2000));  // the other unit has room
}

TEST(IbsInterrupts, OfAStoppedEventAreTakenOnce) {
  Ibs ibs("genoa");
  perf::Event& event = ibs.open(Ibs::attr(type_op, 0x100, bit(19)));
  for (u64 n = 0; n < 257; ++n)
    ibs.retire(0x400000 + 4 * n);  // the sample is valid, its interrupt on the way
  EXPECT_TRUE(ibs.pmu.pmi_pending());
  ibs.perf->disable(event);
  for (u64 n = 0; n < 3; ++n) ibs.retire(0x500000 + 4 * n);
  EXPECT_EQ(ibs.unknown, 0u);
  EXPECT_FALSE(ibs.ops.handle_nmi({}));
}

/// The control register as an event stops leaves the sample of an interrupt that is on its way.
TEST(IbsControl, KeepsASampleThatIsValidAsTheEventStops) {
  Ibs ibs("genoa");
  perf::Event& event = ibs.open(Ibs::attr(type_op, 0x100, bit(19)));
  for (u64 n = 0; n < 257; ++n) ibs.retire(0x400000 + 4 * n);
  ibs.perf->disable(event);
  EXPECT_EQ(ibs.control() & (bit(17) | bit(18)), bit(18));  // off, and still valid
  for (u64 n = 0; n < 3; ++n) ibs.retire(0x500000 + 4 * n);
  ibs.perf->enable(event);
  EXPECT_EQ(ibs.control() & (bit(17) | bit(18)), bit(17));
}

/// What the driver writes into the control register of the ops as an event starts.
std::vector<u64> writes_at_a_start(perf::Kernel kernel) {
  struct Writes final : Observer {
    std::vector<u64> values;
    void on_register_write(const observed::RegisterWrite& write) override {
      if (write.address == ibs::OP_CTL) values.push_back(write.value);
    }
  };
  Writes writes;
  Ibs ibs("genoa", kernel);
  ibs.pmu.set_observer(&writes);
  ibs.open(Ibs::attr(type_op, 0x1000));
  ibs.pmu.set_observer(nullptr);
  return writes.values;
}

TEST(IbsControl, IsSwitchedOffBeforeAStartSinceLinux7_1) {
  EXPECT_THAT(writes_at_a_start(perf::Kernel::v6_12), ElementsAre(0x20100));
  EXPECT_THAT(writes_at_a_start(perf::Kernel::v7_3), ElementsAre(0, 0x20100));
}

TEST(IbsSampling, HasThePeriodThatIsOverAndTheAddressInRegisters) {
  Ibs ibs("genoa");
  perf::Attr attr = Ibs::attr(type_op, 0x100, bit(19));
  attr.sample_type = perf::sample::IP | perf::sample::PERIOD | perf::sample::REGS_INTR;
  attr.sample_regs_intr = bit(8);  // RIP
  perf::Event& event = ibs.open(attr);
  perf::RingBuffer& ring = *ibs.perf->mmap(event, 16).value();
  for (u64 n = 0; n < 200; ++n) ibs.retire(0x400000 + 4 * n);
  ASSERT_TRUE(ibs.perf->set_period(event, 0x200).ok());
  for (u64 n = 200; n < 1200; ++n) ibs.retire(0x400000 + 4 * n);
  const auto samples = samples_in(ring);
  ASSERT_GE(samples.size(), 2u);
  std::vector<u64> periods;
  for (const auto& sample : samples) {
    const u64 ip = value_at<u64>(sample, 8);
    EXPECT_EQ(value_at<u64>(sample, 32), ip);  // behind the registers' ABI
    periods.push_back(value_at<u64>(sample, 16));
  }
  EXPECT_THAT(periods, testing::Each(testing::AnyOf(0x100u, 0x200u)));
  EXPECT_EQ(periods.back(), 0x200u);
}

/// A kernel asks every handler about an NMI: that of the core, then those of IBS.
class BothHandlers final : public PmiHandler {
 public:
  BothHandlers(amd::Driver& of_core, IbsDriver& of_ops) : core(of_core), ops(of_ops) {}
  void handle_pmi(const InterruptFrame& frame) override {
    ++nmis;
    core.handle_pmi(frame);
    if (ops.handle_nmi(frame)) {
      ++of_ibs;
      core.explain_interrupt();
    }
  }
  amd::Driver& core;
  IbsDriver& ops;
  unsigned nmis = 0, of_ibs = 0;
};

TEST(IbsInterrupts, BesideThoseOfCountersAreNobodyElses) {  // scenario 39
  for (const char* model : {"rome", "genoa"}) {
    SCOPED_TRACE(model);
    Pmu pmu(Ibs::model_of(model));
    amd::Driver core(pmu, {.ibs_op_type = type_op});
    IbsDriver ops(pmu, IbsSide::op);
    const auto perf = perf::PerfCore::create(core);
    perf->register_pmu(type_op, ops);
    core.attach(perf->cpu(0));
    ops.attach(perf->cpu(0));
    BothHandlers handlers(core, ops);
    pmu.set_pmi_handler(&handlers);
    perf->task_started(1, 1, "program");
    perf->cpu(0).switch_to(1);
    perf::Event& counter = **perf->open(Ibs::attr(4, 0x101, 0xC0), 0, -1);
    perf::Event& sampler = **perf->open(Ibs::attr(type_op, 0x100, bit(19)), 0, -1);
    perf::RingBuffer& of_counter = *perf->mmap(counter, 16).value();
    perf::RingBuffer& of_sampler = *perf->mmap(sampler, 16).value();
    for (u64 n = 0; n < 2700; ++n) {
      Retirement r{.ip = 0x400000 + 4 * n,
                   .next_ip = 0x400004 + 4 * n,
                   .cycle = pmu.now() + 1,
                   .signals = {Signal::instruction},
                   .length = 4,
                   .latency_cycles = 1};
      r.quantities[static_cast<unsigned>(Quantity::uops)] = 1;
      pmu.retire(r);
    }
    EXPECT_EQ(samples_in(of_counter).size(), 10u);
    EXPECT_EQ(samples_in(of_sampler).size(), handlers.of_ibs);
    EXPECT_GE(handlers.of_ibs, 9u);
    EXPECT_EQ(core.statistics().unhandled_interrupts, 0u);
  }
}

}  // namespace
}  // namespace pmusim::driver::ibs_test
