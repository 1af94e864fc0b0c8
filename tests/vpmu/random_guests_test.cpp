// SPDX-License-Identifier: MIT
// Guests that do what comes, against a model that knows counters and nothing of hosts.
#include <gtest/gtest.h>

#include <random>

#include "virtual_machine.h"

namespace pmusim::vpmu::random_guests_test {
namespace {

/// Four general counters and a fixed one, each of which counts instructions or jumps at some rings.
class NaiveCounters {
 public:
  static constexpr unsigned general = 4, all = general + 1;
  static constexpr u64 mask = low_bits(48);
  struct Counter {
    u64 value = 0;
    bool on = false, jumps = false, user = false, kernel = false, interrupts = false;
  };
  void retire(Cpl cpl, bool jumps) {
    bool interrupt = false;
    for (unsigned n = 0; n < all; ++n) {
      Counter& c = counters[n];
      const bool counts = c.on && (!c.jumps || jumps) && (cpl == Cpl::user ? c.user : c.kernel);
      if (!counts) continue;
      c.value = (c.value + 1) & mask;
      if (c.value != 0) continue;
      status |= bit(n);
      interrupt = interrupt || c.interrupts;
    }
    if (interrupt) {  // whose handler clears the status
      ++interrupts;
      status = 0;
    }
  }
  std::array<Counter, all> counters;
  u64 status = 0;
  unsigned interrupts = 0;
};

class Race {
 public:
  Race(GuestKind kind, const char* model, unsigned seed) : random_(seed), vm_(kind, without_skid(model)) {
    vm_.write(msr::PERF_GLOBAL_CTRL, low_bits(NaiveCounters::general));
    perf::Attr host = raw(instructions);
    host.exclude_guest = 1;
    host.read_format = perf::read_format::TOTAL_TIME_ENABLED | perf::read_format::TOTAL_TIME_RUNNING;
    of_host_ = &vm_.open(host);
    if (kind == GuestKind::emulated) {
      perf::Attr sampled = raw(branches);
      sampled.sample_period = 37;
      vm_.open(sampled);
    }
  }
  void step() {
    switch (draw(8)) {
      case 0:
        return vm_.guest->in_guest() ? vm_.guest->exit({.registers = {.rip = ip_}}) : vm_.guest->enter();
      case 1:
        return program(draw(NaiveCounters::all));
      case 2:
        return set(draw(NaiveCounters::all));
      case 3:
        return compare();
      default:
        return run(draw(60));
    }
  }
  void compare() {
    for (unsigned n = 0; n < NaiveCounters::all; ++n)
      ASSERT_EQ(vm_.read(address(n)), naive_.counters[n].value) << "counter " << n;
    const u64 fixed = naive_.status >> NaiveCounters::general & 1;
    ASSERT_EQ(vm_.read(msr::PERF_GLOBAL_STATUS),
              (naive_.status & low_bits(NaiveCounters::general)) | fixed << 32);
    ASSERT_EQ(vm_.interrupts.size(), naive_.interrupts);
    vm_.perf->cpu(0).set_time(vm_.pmu.tsc());
    const auto host = vm_.perf->read(*of_host_).value();  // which has found room, or has not
    if (host[1] == host[2]) {
      ASSERT_EQ(host[0], on_host_);
    }
  }
  void finish() {
    if (vm_.guest->in_guest()) vm_.guest->exit({.registers = {.rip = ip_}});
    compare();
  }
  u64 starved() const { return vm_.guest->statistics().starved_entries; }

 private:
  unsigned draw(unsigned below) { return static_cast<unsigned>(random_() % below); }
  static u32 address(unsigned n) { return n < NaiveCounters::general ? msr::A_PMC0 + n : msr::FIXED_CTR0; }
  void run(unsigned count) {
    const Cpl cpl = draw(2) != 0 ? Cpl::user : Cpl::kernel;
    for (; count != 0; --count, ip_ += 4) {
      const bool jumps = draw(4) == 0;
      vm_.step(ip_, cpl, jumps);
      if (vm_.guest->in_guest())
        naive_.retire(cpl, jumps);
      else
        ++on_host_;
    }
    vm_.interrupt_now(ip_, cpl);
  }
  void program(unsigned n) {
    namespace e = msr::evtsel;
    NaiveCounters::Counter& c = naive_.counters[n];
    c.on = draw(4) != 0;
    c.jumps = n < NaiveCounters::general && draw(2) != 0;
    c.user = draw(3) != 0;
    c.kernel = draw(3) != 0;
    c.interrupts = draw(2) != 0;
    if (n < NaiveCounters::general)
      return vm_.write(msr::PERFEVTSEL0 + n, (c.on ? e::EN : 0) | (c.user ? e::USR : 0) |
                                                 (c.kernel ? e::OS : 0) | (c.interrupts ? e::INT : 0) |
                                                 (c.jumps ? branches : instructions));
    namespace f = msr::fixed_ctrl;
    vm_.write(msr::FIXED_CTR_CTRL,
              (c.user ? f::USR : 0) | (c.kernel ? f::OS : 0) | (c.interrupts ? f::PMI : 0));
    vm_.write(msr::PERF_GLOBAL_CTRL, low_bits(NaiveCounters::general) | (c.on ? bit(32) : 0));
  }
  void set(unsigned n) {
    naive_.counters[n].value =
        draw(4) == 0 ? random_() & NaiveCounters::mask : NaiveCounters::mask - 1 - draw(100);
    vm_.write(address(n), naive_.counters[n].value);
  }

  std::mt19937 random_;
  BareGuest vm_;
  NaiveCounters naive_;
  perf::Event* of_host_ = nullptr;
  u64 on_host_ = 0, ip_ = 0x8000;
};

class RandomGuests : public testing::TestWithParam<std::tuple<GuestKind, const char*>> {};
INSTANTIATE_TEST_SUITE_P(Kinds, RandomGuests,
                         testing::Combine(testing::Values(GuestKind::emulated, GuestKind::mediated),
                                          testing::Values("skylake", "icelake", "diamondrapids")));

TEST_P(RandomGuests, CountAsCountersDo) {
  const auto [kind, model] = GetParam();
  for (unsigned seed = 1; seed <= 40; ++seed) {
    SCOPED_TRACE(seed);
    Race race(kind, model, seed);
    for (unsigned n = 0; n < 150 && !HasFatalFailure(); ++n) race.step();
    race.finish();
    ASSERT_FALSE(HasFailure());
    EXPECT_EQ(race.starved(), 0u);
  }
}

}  // namespace
}  // namespace pmusim::vpmu::random_guests_test
