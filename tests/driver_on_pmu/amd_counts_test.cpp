// SPDX-License-Identifier: MIT
// Counts of AMD's parts under the perf core, with groups that take turns, against a count by hand: an event
// has what occurred while it was on the PMU.
#include <gtest/gtest.h>

#include <map>

#include "amd_machine.h"
#include "pmusim/perf/core.h"
#include "tests/support/dice.h"
#include "tests/support/whole_kernel.h"

namespace pmusim::driver::amd_test::amd_counts_test {
namespace {

/// What an instruction of the random program is.
struct Step {
  bool branch = false, taken = false, kernel = false;
};

struct Countable {
  u64 config;
  bool (*occurs)(const Step&);
};
constexpr Countable countables[] = {
    {0xC0, [](const Step&) { return true; }},
    {0xC2, [](const Step& s) { return s.branch; }},
    {0xC4, [](const Step& s) { return s.branch && s.taken; }},
    {0xD1, [](const Step& s) { return s.branch; }},      // all are conditional
    {0x1'0000'00C9, [](const Step&) { return false; }},  // unconditional ones; from Zen 4 on
    {0xC8, [](const Step&) { return false; }},           // returns
};

class RandomProgram {
 public:
  RandomProgram(std::string_view model, u64 seed) : dice_(seed), kernel_(model_with_skid(model, 0)) {
    kernel_.start_program();
  }

  void open_groups() {
    for (u64 groups = 1 + below(8); groups != 0; --groups) {
      perf::Event* leader = nullptr;
      for (u64 events = 1 + below(6); events != 0; --events) leader = open(leader);
    }
  }

  void run(unsigned ticks) {
    constexpr u64 tick_ns = 1'000'000;
    for (unsigned t = 0; t < ticks; ++t) {
      for (unsigned i = 0; i < 200; ++i) step();
      kernel_.cpu.advance(now_ += tick_ns, {});
    }
  }

  void check() {
    for (auto& [event, watched] : watched_) {
      kernel_.core.disable(*event->leader);
      EXPECT_EQ(event->count, watched.expected)
          << std::hex << event->attr.config << " of period " << std::dec << event->attr.sample_period;
      ran_ += watched.expected != 0 ? 1 : 0;
    }
    EXPECT_EQ(kernel_.driver.statistics().faults.count, 0u);
  }
  /// Events that counted something, over all checks.
  unsigned ran() const { return ran_; }

 private:
  struct Watched {
    const Countable* what;
    u64 expected = 0;
  };

  u64 below(u64 limit) { return dice_.below(limit); }

  perf::Event* open(perf::Event* leader) {
    const Countable& what = countables[below(std::size(countables))];
    perf::Attr attr = raw(what.config, below(3) == 0 ? 20 + below(60) : 0);
    const u64 levels = below(3);  // both, user, kernel
    attr.exclude_kernel = levels == 1 ? 1 : 0;
    attr.exclude_user = levels == 2 ? 1 : 0;
    const auto event = kernel_.core.open(attr, 0, -1, leader);
    EXPECT_TRUE(event.ok()) << event.error().message;
    watched_[*event].what = &what;
    return leader != nullptr ? leader : *event;
  }

  void step() {
    const Step s{.branch = below(4) == 0, .taken = below(2) == 0, .kernel = below(5) == 0};
    for (auto& [event, watched] : watched_)
      if (event->state == perf::EventState::active && watched.what->occurs(s) &&
          !(s.kernel ? event->attr.exclude_kernel : event->attr.exclude_user))
        ++watched.expected;
    SignalSet signals{Signal::instruction};
    if (s.branch)
      signals = signals | branch_signals(BranchKind::conditional) |
                outcome_signals(BranchKind::conditional, {.taken = s.taken});
    const Cpl level = s.kernel ? Cpl::kernel : Cpl::user;
    kernel_.pmu.retire({.ip = 0x1000,
                        .next_ip = s.branch && s.taken ? 0x2000u : 0x1002u,
                        .cycle = ++cycle_,
                        .signals = signals,
                        .length = 2,
                        .branch = s.branch ? BranchKind::conditional : BranchKind::none,
                        .taken = s.branch && s.taken,
                        .cpl = level,
                        .cpl_after = level});
  }

  Dice dice_;
  KernelWith<amd::Driver> kernel_;
  std::map<perf::Event*, Watched> watched_;
  u64 cycle_ = 0, now_ = 0;
  unsigned ran_ = 0;
};

TEST(AmdCounts, AreWhatOccurredWhileEventsWereOnThePmu) {
  unsigned ran = 0;
  for (const CpuModel& model : cpu_models(Vendor::amd))
    for (u64 seed = 0; seed < 20; ++seed) {
      SCOPED_TRACE(model.name + " " + std::to_string(seed));
      RandomProgram program(model.name, seed);
      program.open_groups();
      program.run(30);
      program.check();
      ran += program.ran();
    }
  EXPECT_GT(ran, 500u);
}

}  // namespace
}  // namespace pmusim::driver::amd_test::amd_counts_test
