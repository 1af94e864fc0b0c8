// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <random>
#include <vector>

#include "tests/msr/msr_machine.h"

namespace pmusim {
namespace {

using testing::MsrMachine;

/// One counter as the manual's table of CMASK, INV, EQ and EDGE reads, a cycle at a time, in a machine with
/// nothing but that counter.
class NaiveCounter {
 public:
  NaiveCounter(u64 select, unsigned width) : select_(select), width_(width) {}

  /// A cycle passes at `cpl`, in which instructions retired at these privileges.
  void cycle(const std::vector<Cpl>& retired, Cpl cpl) {
    u64 k = 0;
    for (const Cpl each : retired) k += counts_at(each) ? 1 : 0;
    if ((select_ & (msr::evtsel::CMASK | msr::evtsel::EDGE)) == 0) {
      add(k);
      return;
    }
    const bool now = (counts_at(cpl) || k != 0) && condition(k);
    const bool edge = (select_ & msr::evtsel::EDGE) != 0;
    add(now && !(edge && before_) ? 1 : 0);
    before_ = now;
  }
  u64 value() const { return value_; }
  unsigned wraps() const { return wraps_; }
  void set(u64 value) { value_ = value; }

 private:
  bool counts_at(Cpl cpl) const {
    return (select_ & (cpl == Cpl::kernel ? msr::evtsel::OS : msr::evtsel::USR)) != 0;
  }
  bool condition(u64 k) const {
    const u64 cmask = field(select_, 31, 24);
    if (cmask == 0) return k != 0;
    const bool holds = (select_ & msr::evtsel::EQ) != 0 ? k == cmask : k >= cmask;
    return holds != ((select_ & msr::evtsel::INV) != 0);
  }
  void add(u64 k) {
    for (; k != 0; --k) {
      value_ = (value_ + 1) & low_bits(width_);
      if (value_ == 0) ++wraps_;
    }
  }

  u64 select_, value_ = 0;
  unsigned width_, wraps_ = 0;
  bool before_ = false;
};

/// Retirements of a few cycles with pauses between, at changing privilege.
struct Cycle {
  std::vector<Cpl> retired;
  Cpl cpl = Cpl::user;  ///< of the cycle: its last retirement's, or that of the code that retires next
};
std::vector<Cycle> random_program(std::mt19937_64& random, unsigned length) {
  std::vector<Cycle> program;
  Cpl cpl = Cpl::user;
  while (program.size() < length) {
    if (random() % 8 == 0) cpl = cpl == Cpl::user ? Cpl::kernel : Cpl::user;
    for (u64 idle = random() % 3 == 0 ? random() % 20 : 0; idle > 0; --idle) program.push_back({{}, cpl});
    Cycle cycle{{}, cpl};
    for (u64 k = 1 + random() % 4; k > 0; --k) cycle.retired.push_back(cpl);
    if (random() % 8 == 0) {  // the privilege changes within the cycle
      cpl = cpl == Cpl::user ? Cpl::kernel : Cpl::user;
      cycle.retired.push_back(cpl);
      cycle.cpl = cpl;
    }
    program.push_back(cycle);
  }
  program.push_back({{cpl}, cpl});
  return program;
}

u64 random_select(std::mt19937_64& random) {
  constexpr u64 modifiers[] = {0,
                               msr::evtsel::INV,
                               msr::evtsel::EDGE,
                               msr::evtsel::EQ,
                               msr::evtsel::INV | msr::evtsel::EDGE,
                               msr::evtsel::INV | msr::evtsel::EQ};
  constexpr u64 privileges[] = {msr::evtsel::USR, msr::evtsel::OS, msr::evtsel::USR | msr::evtsel::OS};
  u64 select = 0xC0 | msr::evtsel::EN | privileges[random() % 3] | (random() % 5) << 24;
  // EQ without CMASK is a policy of its own.
  const u64 chosen = modifiers[random() % std::size(modifiers)];
  if ((select & msr::evtsel::CMASK) != 0 || (chosen & msr::evtsel::EQ) == 0) select |= chosen;
  return select;
}

// Whole spans of idle cycles are closed at once; they must add up to what single cycles do.
TEST(NaiveCounter, AgreesWithTheCounterFileOnRandomPrograms) {
  std::mt19937_64 random(1);
  CpuModel model = find_cpu_model("lioncove").value();
  model.counter_width = 7;  // wraps often
  for (unsigned run = 0; run < 300; ++run) {
    const u64 select = random_select(random), start = random() % 128;
    SCOPED_TRACE(fmt::format("run {}, event select {:#x}, from {}", run, select, start));
    MsrMachine m(model);
    m.write(msr::PERFEVTSEL0, select);
    m.counters.set_value(0, start);
    NaiveCounter naive(select, model.counter_width);
    naive.set(start);

    const std::vector<Cycle> program = random_program(random, 200);
    unsigned wraps = 0;
    const auto count = [&](const Counted& counted) {
      wraps += static_cast<unsigned>(counted.overflowed & 1);
    };
    for (u64 now = 0; now < program.size(); ++now) {
      for (const Cpl cpl : program[now].retired) {
        while (m.counters.now() != now) count(m.counters.pass_time(now, cpl));
        Retirement r;
        r.cycle = now;
        r.cpl = cpl;
        r.signals = {Signal::instruction};
        count(m.counters.retire(r));
      }
      naive.cycle(program[now].retired, program[now].cpl);
    }
    while (m.counters.now() != program.size()) count(m.counters.pass_time(program.size(), Cpl::user));
    ASSERT_EQ(m.counters.value(0), naive.value());
    ASSERT_EQ(wraps, naive.wraps());
  }
}

/// Every kind of event, on every counter of the machine, from random values.
void program_at_random(MsrMachine& m, std::mt19937_64& random) {
  constexpr u64 events[] = {0x00C0, 0x00C4, 0x003C, 0x013C, 0x01A4, 0x412E, 0x01A6};
  for (const unsigned n : set_bits(m.model().gp_counters)) {
    m.write(msr::PERFEVTSEL0 + n,
            (random_select(random) & ~bits(15, 0)) | events[random() % std::size(events)]);
    m.counters.set_value(n, random());
  }
  m.write(msr::FIXED_CTR_CTRL, random() & 0x3333);
  for (const unsigned f : set_bits(m.model().fixed_counters)) m.counters.set_value(first_fixed + f, random());
  m.write(msr::PERF_GLOBAL_CTRL, 0xF000003FF);
}

TEST(NaiveCounter, TimePassedAtOnceCountsAsCycleByCycle) {
  CpuModel model = find_cpu_model("lioncove").value();
  model.counter_width = 9;
  model.core.tsc_per_core_cycle_numerator = 3;
  model.core.tsc_per_core_cycle_denominator = 7;
  model.reference_event_is_tsc = false;
  for (unsigned run = 0; run < 200; ++run) {
    SCOPED_TRACE(run);
    std::mt19937_64 for_leaps(run), for_steps(run), random(run);
    MsrMachine leaps(model), steps(model);
    program_at_random(leaps, for_leaps);
    program_at_random(steps, for_steps);
    u64 now = 0, wraps_of_leaps = 0, wraps_of_steps = 0;
    for (unsigned i = 0; i < 100; ++i) {
      const u64 next = now + random() % 50;
      Retirement r;
      r.cycle = next;
      r.cpl = random() % 4 == 0 ? Cpl::kernel : Cpl::user;
      r.signals = {Signal::instruction, random() % 2 == 0 ? Signal::branch : Signal::nop};
      r.quantities[static_cast<unsigned>(Quantity::llc_misses)] = static_cast<u32>(random() % 2);
      while (leaps.counters.now() != next)
        wraps_of_leaps += std::popcount(leaps.counters.pass_time(next, r.cpl).overflowed);
      for (; now != next; ++now)
        wraps_of_steps += std::popcount(steps.counters.pass_time(now + 1, r.cpl).overflowed);
      wraps_of_leaps += std::popcount(leaps.counters.retire(r).overflowed);
      wraps_of_steps += std::popcount(steps.counters.retire(r).overflowed);
      for (const unsigned counter : set_bits(model.counters()))
        ASSERT_EQ(leaps.counters.value(counter), steps.counters.value(counter)) << "counter " << counter;
    }
    ASSERT_EQ(wraps_of_leaps, wraps_of_steps);
  }
}

}  // namespace
}  // namespace pmusim
