// SPDX-License-Identifier: MIT
// What hypervisors' tests of an AMD PMU expect of it (kvm-unit-tests, x86/pmu.c), through the core registers
// and through the legacy ones.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>

#include "pmusim/cpu/retirement.h"
#include "pmusim/pmu/pmu.h"

namespace pmusim::amd_guest_test {
namespace {

constexpr u64 rounds = 2000, per_round = 10;

/// Where the guest finds its counters.
struct Addresses {
  const char* name;
  u32 select, counter, stride;
  unsigned counters;
};
constexpr Addresses core{"core", 0xC0010200, 0xC0010201, 2, 6},
    legacy{"legacy", 0xC0010000, 0xC0010004, 1, 4};

class Guest : public PmiHandler {
 public:
  Guest(const CpuModel& of, const Addresses& at) : pmu(with_short_skid(of)), addresses(at) {
    pmu.set_pmi_handler(this);
    has_v2 = (pmu.cpuid(0x80000022, 0).eax & 1) != 0;
    set_lvtpc(0x20);  // a vector
    if (has_v2) write(0xC0000301, 0);
  }
  static CpuModel with_short_skid(CpuModel model) {
    model.policies.pmi_skid_cycles = 0;
    return model;
  }
  void set_lvtpc(u32 value) {
    if (pmu.model().has_x2apic) return write(0x834, value);
    EXPECT_EQ(pmu.write_memory(0xFEE00340, std::as_bytes(std::span(&value, 1))), Fault::none);
  }
  void write(u32 address, u64 value) {
    EXPECT_EQ(pmu.wrmsr(address, value), Fault::none) << std::hex << address;
  }
  u64 read(u32 address) { return pmu.rdmsr(address).value_or(~u64{0}); }
  u32 select(unsigned n) const { return addresses.select + n * addresses.stride; }
  u32 counter(unsigned n) const { return addresses.counter + n * addresses.stride; }
  void start(unsigned n, u64 event, u64 from = 0, u64 flags = 0) {
    write(counter(n), from);
    write(select(n), 0x430000 | event | flags);
    if (has_v2) write(0xC0000301, read(0xC0000301) | bit(n));
  }
  u64 stop(unsigned n) {
    write(select(n), 0);
    return pmu.rdpmc(n).value();
  }
  /// Ten instructions a round in thirty cycles, the last of which is the loop's branch; its exit is
  /// mispredicted.
  void loop(u64 times = rounds) {
    Registers registers;
    registers.rflags = bit(9);
    for (u64 round = 0; round < times; ++round) {
      for (unsigned n = 0; n < per_round; ++n) {
        Retirement r{.ip = 0x401000 + 4 * n,
                     .next_ip = 0x401004 + 4 * n,
                     .cycle = pmu.now() + 3,
                     .signals = {Signal::instruction},
                     .length = 4,
                     .cpl = Cpl::kernel,
                     .cpl_after = Cpl::kernel,
                     .registers = &registers};
        if (n + 1 == per_round) {
          r.branch = BranchKind::conditional;
          r.taken = round + 1 != times;
          r.mispredicted = !r.taken;
          if (r.taken) r.next_ip = 0x401000;
          r.signals = r.signals | branch_signals(r.branch) |
                      outcome_signals(r.branch, {.taken = r.taken, .mispredicted = r.mispredicted});
        }
        pmu.retire(r);
      }
    }
  }
  // The handler clears LVTPC's mask bit, which is not set here.
  void handle_pmi(const InterruptFrame&) override {
    ++interrupts;
    set_lvtpc(0x20);
  }

  Pmu pmu;
  Addresses addresses;
  bool has_v2 = false;
  unsigned interrupts = 0;
};

struct Event {
  u64 code, least, most;
};
constexpr Event events[] = {{0x76, rounds, 50 * rounds},
                            {0xC0, 10 * rounds, 102 * rounds / 10},
                            {0xC2, rounds, 11 * rounds / 10},
                            {0xC3, 1, rounds / 10}};

class AmdGuest : public testing::TestWithParam<std::tuple<std::string, bool>> {
 protected:
  CpuModel model = find_cpu_model(std::get<0>(GetParam())).value();
  const Addresses& addresses = std::get<1>(GetParam()) ? legacy : core;
};
std::vector<std::string> models() {
  std::vector<std::string> names;
  for (const CpuModel& each : cpu_models(Vendor::amd)) names.push_back(each.name);
  return names;
}
INSTANTIATE_TEST_SUITE_P(Models, AmdGuest, testing::Combine(testing::ValuesIn(models()), testing::Bool()),
                         [](const auto& of) {
                           std::string name = std::get<0>(of.param);
                           std::ranges::replace(name, '-', '_');
                           return name + (std::get<1>(of.param) ? "_legacy" : "_core");
                         });

TEST_P(AmdGuest, CountsEveryEventOnEveryCounter) {
  for (unsigned n = 0; n < addresses.counters; ++n) {
    for (const Event& event : events) {
      Guest guest(model, addresses);
      guest.start(n, event.code);
      guest.loop();
      const u64 count = guest.stop(n);
      EXPECT_TRUE(count >= event.least && count <= event.most)
          << n << " " << std::hex << event.code << " " << count;
    }
  }
}

TEST_P(AmdGuest, CountsOnAllCountersAtOnce) {
  Guest guest(model, addresses);
  for (unsigned n = 0; n < addresses.counters; ++n) guest.start(n, events[n % 4].code);
  guest.loop();
  for (unsigned n = 0; n < addresses.counters; ++n) {
    const u64 count = guest.stop(n);
    EXPECT_TRUE(count >= events[n % 4].least && count <= events[n % 4].most) << n << " " << count;
  }
}

TEST_P(AmdGuest, OverflowsWithAndWithoutAnInterrupt) {
  for (unsigned n = 0; n < addresses.counters; ++n) {
    Guest guest(model, addresses);
    const bool interrupts = n % 2 != 0;
    guest.start(n, 0xC0, 1 - per_round * rounds, interrupts ? bit(20) : 0);
    guest.loop();
    EXPECT_LE(guest.stop(n), 7u);
    guest.loop(1);
    EXPECT_EQ(guest.interrupts, interrupts ? 1u : 0u);
    if (!guest.has_v2) continue;
    EXPECT_EQ(guest.read(0xC0000300), bit(n));
    guest.write(0xC0000302, bit(n));
    EXPECT_EQ(guest.read(0xC0000300), 0u);
  }
}

TEST_P(AmdGuest, TakesWritesToACounterThatRuns) {
  Guest guest(model, addresses);
  guest.start(0, 0xC0);
  guest.loop();
  guest.write(guest.counter(0), 0);
  guest.loop(10);
  EXPECT_EQ(guest.read(guest.counter(0)), 100u);
  guest.write(guest.counter(0), ~u64{0});
  guest.loop(1);
  if (guest.has_v2) {
    EXPECT_EQ(guest.read(0xC0000300), 1u);
  }
  guest.write(guest.select(0), 0);
  guest.write(guest.counter(0), 0xFF0123456789);
  EXPECT_EQ(guest.pmu.rdpmc(0).value(), 0xFF0123456789u);
}

TEST_P(AmdGuest, CountsFewerCyclesWithAMask) {
  Guest guest(model, addresses);
  guest.start(0, 0xC0);
  guest.start(1, 0xC0, 0, u64{2} << 24);
  guest.loop();
  EXPECT_LT(guest.stop(1), guest.stop(0));
}

}  // namespace
}  // namespace pmusim::amd_guest_test
