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

}  // namespace
}  // namespace pmusim
