// SPDX-License-Identifier: MIT
// PEBS hardware and driver together, on random programs of events, periods and stops: nothing is lost without
// being counted, and the count of every event follows from its records (docs/pebs.md, "Draining").
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <memory>
#include <numeric>
#include <random>

#include "driver/intel/debug_store/pebs.h"
#include "pmusim/pmu/pmu.h"

namespace pmusim {
namespace {

using driver::DemuxTotals;
using driver::DrainTrigger;
namespace pebs_flag = driver::pebs_flag;
namespace sample = perf::sample;
using perf::Event;

constexpr unsigned most_events = 4;

/// Format 0 samples on one counter, all others on four.
unsigned event_count(const CpuModel& model) {
  return std::min<unsigned>(most_events, static_cast<unsigned>(std::popcount(model.pebs.counters)));
}

/// What the test knows of one event: how often it really occurred, and what hardware forgot.
struct Truth {
  EventRule rule;
  u64 select = 0;
  bool running = false;
  u64 occurrences = 0;
  u64 value = 0;              ///< the counter, counted by hand
  u64 wiped_by_reloads = 0;   ///< counted between overflow and reload
  u64 reloads = 0;            ///< records that served the counter
  u64 samples = 0, lost = 0;  ///< delivered by the driver
};

using Choice = std::pair<EventRule, u64>;  // what an event counts, and its select

SignalSet everyday_signals() {
  return {Signal::instruction,       Signal::branch,     Signal::near_taken, Signal::conditional,
          Signal::conditional_taken, Signal::near_branch};
}

/// Events that single instructions raise.
std::vector<Choice> simple_events(const CpuModel& model) {
  std::vector<Choice> choices;
  for (unsigned event = 0; event < 0x100; ++event)
    for (unsigned umask = 0; umask < 0x100; ++umask) {
      const auto row = find_event(model, static_cast<u16>(event), static_cast<u8>(umask));
      const bool simple = row && row->rule.quantity == Quantity::none && row->cmask == 0 && !row->edge &&
                          row->extra == 0 && row->rule.matches(everyday_signals());
      if (simple) choices.push_back({row->rule, umask << 8 | event});
    }
  return choices;
}

/// A processor, the PEBS driver, and as much of a counter driver as the two need.
class DrivenCpu : public PmiHandler, public driver::PebsHost, public perf::SampleSink {
 public:
  DrivenCpu(const CpuModel& model, std::span<const Choice> choices, u64 seed)
      : choices_(choices),
        random_(seed),
        event_count_(event_count(model)),
        width_mask_(low_bits(model.counter_width)),
        pmu_(model),
        cpu_(driver::enumerate(pmu_, perf::Kernel::v7_1)),  // 7.3 leaves counts as they were by empty drains
        driver_(access_, area_, cpu_, *this) {
    pmu_.set_pmi_handler(this);
    EXPECT_EQ(driver_.set_up(), Fault::none);
    write(msr::X2APIC_LVTPC, msr::lvtpc::NMI);
    for (unsigned n = 0; n < event_count_; ++n) open(n);
  }

  void run() {
    resume();
    for (int step = 0; step < 4000; ++step) {
      retire();
      if (random_() % 200 == 0) start_or_stop(static_cast<unsigned>(random_() % event_count_));
    }
    pause();
    driver_.drain(DrainTrigger::read, map_, nullptr);
    for (unsigned n = 0; n < event_count_; ++n)
      if (truths_[n].running) stop(n);
  }

  void check() {
    const DemuxTotals& totals = driver_.totals();
    const auto assists = [&](AssistOutcome outcome) { return pmu_.assists(outcome); };
    EXPECT_EQ(totals.records, assists(AssistOutcome::wrote));
    EXPECT_EQ(totals.accounted(), totals.records);
    EXPECT_EQ(totals.unowned + totals.odd_size + totals.headless + totals.trailing_bytes, 0u);
    for (unsigned outcome = 1; outcome < static_cast<unsigned>(AssistOutcome::count_); ++outcome)
      EXPECT_EQ(assists(static_cast<AssistOutcome>(outcome)), 0u) << outcome;
    EXPECT_EQ(describe(access_.faults()), "");
    for (unsigned n = 0; n < event_count_; ++n) {
      const Truth& t = truths_[n];
      EXPECT_EQ(t.samples, totals.samples[n]);
      EXPECT_EQ(t.lost, totals.lost[n]);
      // Every record that served the counter became a sample or is among its losses. Losses can be more:
      // other counters' records are charged to it too while its status bit waits.
      ASSERT_LE(t.samples, t.reloads);
      const u64 dropped = t.reloads - t.samples;
      EXPECT_LE(dropped, t.lost);
      const u64 period = events_[n]->hw.sample_period;
      EXPECT_EQ(events_[n]->count, t.occurrences - t.wiped_by_reloads - dropped * period) << "event " << n;
    }
    if (cpu_.pebs_format < 3) {
      EXPECT_EQ(std::accumulate(totals.samples.begin(), totals.samples.end(), totals.collided),
                totals.records);
    }
    records += totals.records;
    collisions += totals.collided;
  }

  static inline u64 records = 0, collisions = 0;

  void handle_pmi(const InterruptFrame& frame) override {
    pause();
    const u64 status = read(msr::PERF_GLOBAL_STATUS);
    write(msr::PERF_GLOBAL_STATUS_RESET, status);
    if ((status & driver_.buffer_status()) != 0) driver_.drain(DrainTrigger::interrupt, map_, &frame);
    write(msr::X2APIC_LVTPC, msr::lvtpc::NMI);
    resume();
  }

  perf::SampleSink& sink() override { return *this; }
  driver::Interval update_and_restart(Event&) override {
    ADD_FAILURE() << "every event reloads itself";
    return driver::Interval::over;
  }
  void restart(Event&) override { ADD_FAILURE() << "every event reloads itself"; }
  void stop(Event&) override {}
  const perf::BranchStack* interrupt_branches(const Event&) override { return nullptr; }
  const perf::BranchStack& decode_branches(const Event&, std::span<const pebs::LbrRecord>) override {
    return stack_;
  }
  Verdict overflow(Event& event, const perf::SampleData& data, const InterruptFrame& frame) override {
    output(event, data, frame);
    return Verdict::keep;
  }
  void output(Event& event, const perf::SampleData&, const InterruptFrame&) override {
    ++truths_[event.id].samples;
  }
  void lost_samples(Event& event, u64 count) override { truths_[event.id].lost += count; }
  Verdict account_interrupt(Event&) override { return Verdict::keep; }
  u64 time_of_tsc(u64 tsc) const override { return tsc; }
  u64 now() const override { return 0; }
  std::vector<std::byte> read_code(u64, std::size_t) const override { return {}; }

 private:
  void open(unsigned n) {
    events_[n] = std::make_unique<Event>();
    Event& event = *events_[n];
    event.id = n;
    event.leader = &event;
    const auto& [rule, select] = choices_[random_() % choices_.size()];
    truths_[n].rule = rule;
    truths_[n].select = select;
    event.attr.precise_ip = 2;
    event.attr.sample_period = event.hw.sample_period = 20 + random_() % 200;
    constexpr u64 types[] = {sample::IP, sample::IP | sample::ADDR, sample::IP | sample::BRANCH_STACK,
                             sample::IP | sample::CALLCHAIN, sample::IP | sample::TIME};
    event.attr.sample_type = types[random_() % std::size(types)];
    EXPECT_TRUE(driver_.init(event).ok());
  }

  void start(unsigned n) {
    // Another threshold of the buffer drops a lone record whose interrupt is on its way, as in Linux.
    if (cpu_.arch_pebs()) driver_.drain(DrainTrigger::read, map_, nullptr);
    Event& event = *events_[n];
    Truth& truth = truths_[n];
    driver::data_of(event).index = static_cast<int>(n);
    driver_.add(event);
    map_[n] = &event;
    const bool adaptive = driver_.enable(event, map_);
    truth.value = (0 - event.hw.sample_period) & width_mask_;
    event.hw.previous_count = truth.value;
    write(msr::PMC0 + n, truth.value & low_bits(32));  // the short form sign-extends
    using namespace msr::evtsel;
    write(msr::PERFEVTSEL0 + n, truth.select | EN | USR | (adaptive ? ADAPTIVE : 0));
    if (cpu_.arch_pebs()) write(msr::V6_GP0_CFG_C + 4 * n, driver_.start_records(event, map_));
    truth.running = true;
  }

  void stop(unsigned n) {
    // The second finds no record and brings all counts up to date, as the counters' part does with what it
    // stops.
    for (int drains = 0; drains < 2; ++drains) driver_.drain(DrainTrigger::read, map_, nullptr);
    driver_.disable(*events_[n], map_);
    driver_.remove(*events_[n]);
    map_[n] = nullptr;
    write(msr::PERFEVTSEL0 + n, 0);
    if (cpu_.arch_pebs()) write(msr::V6_GP0_CFG_C + 4 * n, 0);
    driver_.write_enable();  // ends an assist that waits
    truths_[n].running = false;
  }

  void start_or_stop(unsigned n) {
    pause();
    truths_[n].running ? stop(n) : start(n);
    resume();
  }

  void pause() { write(msr::PERF_GLOBAL_CTRL, 0); }
  void resume() {
    driver_.write_enable();
    write(msr::PERF_GLOBAL_CTRL, low_bits(event_count_));
  }

  void retire() {
    Retirement r{.ip = 0x1000, .next_ip = 0x1004, .cycle = cycle_ += random_() % 4, .length = 4};
    r.signals = {Signal::instruction};
    if (random_() % 3 == 0) r.signals = everyday_signals();
    // The PMI comes before the instruction: let it act before counting by hand.
    pmu_.wait_until(cycle_, {});
    for (Truth& t : truths_)
      if (t.running && t.rule.matches(r.signals)) {
        ++t.occurrences;
        t.value = (t.value + 1) & width_mask_;
      }
    pmu_.retire(r);
    for (unsigned n = 0; n < event_count_; ++n) notice_reload(n);
  }

  void notice_reload(unsigned n) {
    Truth& t = truths_[n];
    const u64 actual = pmu_.rdpmc(n).value();
    if (!t.running || actual == t.value) return;
    ASSERT_EQ(actual, (0 - events_[n]->hw.sample_period) & width_mask_);
    ASSERT_LT(t.value, 1000u) << "reloaded before it overflowed";
    ++t.reloads;
    t.wiped_by_reloads += t.value;
    t.value = actual;
  }

  u64 read(u32 address) { return pmu_.rdmsr(address).value(); }
  void write(u32 address, u64 value) {
    EXPECT_EQ(pmu_.wrmsr(address, value), Fault::none) << std::hex << address << " <- " << value;
  }

  std::span<const Choice> choices_;
  std::mt19937_64 random_;
  unsigned event_count_;
  u64 width_mask_;
  Pmu pmu_;
  driver::Enumeration cpu_;
  driver::RegisterAccess access_{pmu_};
  driver::DebugStoreArea area_{access_, driver::DriverOptions{}.debug_store_address};
  driver::PebsDriver driver_;
  driver::EventMap map_{};
  std::array<std::unique_ptr<Event>, most_events> events_;
  std::array<Truth, most_events> truths_;
  perf::BranchStack stack_;
  u64 cycle_ = 1;
};

class PebsProperty : public testing::TestWithParam<const char*> {};

TEST_P(PebsProperty, RecordsAndCountsAreAccountedForInRandomPrograms) {
  CpuModel model = find_cpu_model(GetParam()).value();
  const std::vector<Choice> choices = simple_events(model);
  DrivenCpu::records = DrivenCpu::collisions = 0;
  for (u64 seed = 0; seed < 60; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    model.policies.pebs_arm_cycles = static_cast<u32>(seed % 30);
    model.policies.pebs_merge_cycles = static_cast<u32>(seed % 7);
    model.policies.pmi_skid_cycles = static_cast<u32>(seed * 5 % 90);
    model.policies.pebs_pmi_skid_cycles = static_cast<u32>(seed * 3 % 50);
    DrivenCpu machine(model, choices, seed);
    machine.run();
    machine.check();
    if (testing::Test::HasFailure()) return;
  }
  EXPECT_GT(DrivenCpu::records, 250u * event_count(model));
  const bool has_status_copies = model.pebs.format == 1 || model.pebs.format == 2;
  EXPECT_EQ(DrivenCpu::collisions > 10, has_status_copies);
}

INSTANTIATE_TEST_SUITE_P(Formats, PebsProperty,
                         testing::Values("penryn", "nehalem", "haswell", "skylake", "icelake",
                                         "graniterapids", "lioncove", "cougarcove"),
                         [](const auto& model) { return std::string(model.param); });

}  // namespace
}  // namespace pmusim
