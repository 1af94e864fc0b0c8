// SPDX-License-Identifier: MIT
// What a model lists can be counted, or says why not: over a program in which everything happens.
#include <gtest/gtest.h>

#include <array>
#include <vector>

#include "cpu/unmodelled_signals.h"
#include "events/listing.h"
#include "machine.h"
#include "model_names.h"
#include "pmusim/events/parser.h"
#include "tests/support/quantity_parts.h"

namespace pmusim::driver {
namespace {

using events::ListedEvent;

/// Instructions of which one raises each signal, some cycles apart, with time lost to everything in between.
class EventfulProgram {
 public:
  explicit EventfulProgram(Machine& machine) : machine_(machine) {}

  void run() {
    const CpuModel& model = machine_.pmu.model();
    const SignalSet never = signals_never_raised(model);
    for (unsigned s = 0; s < static_cast<unsigned>(Signal::count_); ++s)
      if (const auto signal = static_cast<Signal>(s); !never.has(signal))
        retire({Signal::instruction, signal});
    for (const EventDefinition& event : model.events)
      if (needs_several(event.rule) && !event.rule.all.intersects(never | event.rule.none))
        for (const SignalSet& also : alternatives(event.rule))
          if (!also.intersects(never)) retire(SignalSet{Signal::instruction} | event.rule.all | also);
    for (int n = 0; n < 2 && model.rtm; ++n) retire({Signal::instruction}, TxState::in_tx);
  }

 private:
  static bool needs_several(const EventRule& rule) {
    return rule.all.size() > 1 || (!rule.all.empty() && !rule.any.empty());
  }

  /// Each signal of which one is needed, or nothing.
  static std::vector<SignalSet> alternatives(const EventRule& rule) {
    if (rule.any.empty()) return {{}};
    std::vector<SignalSet> signals;
    for (unsigned s = 0; s < static_cast<unsigned>(Signal::count_); ++s)
      if (rule.any.has(static_cast<Signal>(s))) signals.push_back({static_cast<Signal>(s)});
    return signals;
  }

  void retire(SignalSet signals, TxState tx = TxState::none) {
    constexpr u64 cycles_apart = 60;
    constexpr u32 lost_to_each = 40;
    cycle_ += cycles_apart;
    Retirement r{.ip = 0x1000, .next_ip = 0x2000, .cycle = cycle_, .signals = signals, .length = 4};
    for (unsigned q = 1; q < r.quantities.size(); ++q)
      if (!is_never_reported(static_cast<Quantity>(q), machine_.pmu.model().core))
        r.quantities[q] = lost_to_each;
    r.quantities[static_cast<unsigned>(Quantity::cycles)] = cycles_apart;
    test::keep_parts_within(r.quantities, machine_.pmu.model().events, 1);
    if (signals.has(Signal::branch)) {
      r.branch = BranchKind::direct_jump;
      r.taken = true;
    }
    r.memory = accesses_;
    r.tx = tx;
    machine_.pmu.retire(r);
  }

  Machine& machine_;
  u64 cycle_ = 0;
  // Slower than every threshold that a name stands for.
  const std::array<MemoryAccess, 1> accesses_{
      MemoryAccess{.address = 0x8000, .bytes = 8, .latency_cycles = 1000}};
};

class EveryEvent : public testing::TestWithParam<std::string> {
 protected:
  const CpuModel model = model_with_skid(GetParam(), 0);

  perf::Attr attr_of(std::string_view name) const {
    const auto groups = events::parse_events(name, model);
    EXPECT_TRUE(groups.ok()) << groups.error().message;
    return groups.ok() ? groups->front().events.front().attr : perf::Attr{};
  }

  bool opens(std::string_view name) const {
    Machine machine(model, {.kernel = perf::Kernel::v7_1});  // which knows Cannon Lake
    machine.opened(attr_of(name));
    return machine.refusal.empty();
  }

  /// What `perf stat -e NAME` would print after the program; beside a branch stack, which LBR_INSERTS counts.
  u64 count(std::string_view name) const {
    Machine machine(model, {.kernel = perf::Kernel::v7_1});  // which knows Cannon Lake
    const perf::Attr attr = attr_of(name);
    const bool metric = (attr.config & 0xFF) == 0 && (attr.config & 0x8000) != 0;
    perf::Event* leader = metric ? &machine.opened(attr_of("slots")) : nullptr;
    perf::Event& event = machine.opened(attr, leader);
    if (name.ends_with("LBR_INSERTS")) {
      perf::Attr branches = hardware(perf::HardwareId::branch_instructions, 1'000'000);
      branches.sample_type = perf::sample::BRANCH_STACK;
      branches.branch_sample_type = perf::branch::ANY | perf::branch::USER;
      EXPECT_TRUE(machine.schedule(machine.opened(branches))) << machine.refusal;
    }
    EXPECT_TRUE(machine.schedule(leader != nullptr ? *leader : event)) << name << ": " << machine.refusal;
    EventfulProgram(machine).run();
    machine.unschedule(leader != nullptr ? *leader : event);
    EXPECT_EQ(describe(machine.driver.statistics().faults), "") << name;
    return event.count;
  }
};

/// The core's account of slots charges each lost one to whoever lost it (docs/core-model.md): to correct the
/// front end's share by what others dropped, as formulas do, there is nothing.
constexpr std::string_view known_to_be_0 = "INT_MISC.UOP_DROPPING";

TEST_P(EveryEvent, OfAListIsCountedOrSaysWhyItCannotBe) {
  for (const ListedEvent& event : events::list_events(model, events::Listed::modelled)) {
    if (event.name == known_to_be_0) {
      EXPECT_EQ(count(event.name), 0u);
    } else if (event.refusal.empty()) {
      EXPECT_GT(count(event.name), 0u) << event.name;
    } else if (opens(event.name)) {
      EXPECT_EQ(count(event.name), 0u) << event.name << " is refused, though: " << event.refusal;
    }
  }
}

/// The vendor's event with a filter, which its name does not have.
bool counts_in_transactions(std::string_view name) { return name == "cycles-t" || name == "cycles-ct"; }

TEST_P(EveryEvent, OfAGenericNameIsTheVendorsEvent) {
  for (const ListedEvent& event : events::list_events(model, events::Listed::modelled))
    if (!event.counts.empty() && !event.counts.starts_with("PERF_METRICS") && event.refusal.empty() &&
        !counts_in_transactions(event.name)) {
      const auto vendor = events::parse_events(event.counts, model);
      ASSERT_TRUE(vendor.ok()) << event.name << " counts " << event.counts;
      EXPECT_EQ(count(event.name), count(event.counts)) << event.name << " and " << event.counts;
    }
}

TEST_P(EveryEvent, OfAFixedCounterHasOneCountUnderAllItsNames) {
  const u64 instructions = count("instructions"), cycles = count("cycles");
  const auto listed = events::list_events(model, events::Listed::modelled);
  unsigned names = 0;
  for (const ListedEvent& event : listed) {
    const bool clock = event.name == "CPU_CLK_UNHALTED.THREAD" || event.name == "CPU_CLK_UNHALTED.CORE" ||
                       event.name == "CPU_CLK_UNHALTED.THREAD_P" || event.name == "CPU_CLK_UNHALTED.CORE_P";
    const bool retired = event.name == "INST_RETIRED.ANY" || event.name == "INST_RETIRED.ANY_P";
    if (!clock && !retired) continue;
    ++names;
    EXPECT_EQ(count(event.name), clock ? cycles : instructions) << event.name;
  }
  EXPECT_GE(names, 2u);
}

INSTANTIATE_TEST_SUITE_P(Presets, EveryEvent, testing::ValuesIn(model_names()), identifier);

}  // namespace
}  // namespace pmusim::driver
