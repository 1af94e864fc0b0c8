// SPDX-License-Identifier: MIT
// What a guest counts on a PMU of its own, and its host meanwhile.
#include <gmock/gmock.h>

#include <bit>
#include <stdexcept>

#include "virtual_machine.h"

namespace pmusim::vpmu::guest_counting_test {
namespace {

using perf::HardwareId;
using testing::ElementsAre;
using testing::IsEmpty;

class EitherGuest : public testing::TestWithParam<GuestKind> {};
INSTANTIATE_TEST_SUITE_P(Kinds, EitherGuest, testing::Values(GuestKind::emulated, GuestKind::mediated),
                         [](const auto& each) {
                           return each.param == GuestKind::emulated ? "Emulated" : "Mediated";
                         });

TEST_P(EitherGuest, CountsItsOwnInstructions) {
  unsigned able = 0;
  for (const CpuModel& model : cpu_models()) {
    if (!Host(model).guest(GetParam()).ok()) continue;
    ++able;
    SCOPED_TRACE(model.name);
    PerfGuest vm(GetParam(), without_skid(model.name));
    perf::Attr of_host = raw(instructions);
    of_host.exclude_guest = 1;
    perf::Event& on_host = vm.open(of_host);
    perf::Event &all = vm.open_in_guest(generic(HardwareId::instructions)),
                &jumps = vm.open_in_guest(raw(branches)),
                &cycles = vm.open_in_guest(generic(HardwareId::cpu_cycles));
    perf::Attr in_kernel = raw(instructions);
    in_kernel.exclude_user = 1;
    perf::Event& kernel = vm.open_in_guest(in_kernel);
    vm.run(100);
    vm.run_guest(400);
    vm.run(50);
    vm.run_guest(40, 0x8000, Cpl::kernel);
    EXPECT_EQ(vm.count_in_guest(all), 440u);
    EXPECT_EQ(vm.count_in_guest(jumps), 110u);
    EXPECT_EQ(vm.count_in_guest(cycles), 440u);
    EXPECT_EQ(vm.count_in_guest(kernel), 40u);
    const bool has_room = GetParam() == GuestKind::mediated || std::popcount(model.gp_counters) > 2;
    if (has_room) {
      EXPECT_EQ(vm.count(on_host), 150u);
    }
    EXPECT_EQ(vm.guest_driver->statistics().faults.count, 0u);
    EXPECT_EQ(vm.driver->statistics().faults.count, 0u);
    EXPECT_THAT(warnings(vm.guest->statistics()), IsEmpty());
  }
  EXPECT_GE(able, GetParam() == GuestKind::emulated ? 29u : 18u);
}

TEST_P(EitherGuest, SamplesItsOwnInstructions) {
  PerfGuest vm(GetParam());
  perf::Attr attr = generic(HardwareId::instructions);
  attr.sample_period = 100;
  attr.sample_type = perf::sample::IP;
  perf::Event& event = vm.open_in_guest(attr);
  perf::RingBuffer& ring = *vm.guest_perf->mmap(event, 4).value();
  vm.run(1000);
  const u64 ip = vm.run_guest(250);
  vm.run(1000);
  vm.run_guest(250, ip);
  // An overflow in the last instruction before an exit is taken there; the address is that of the next one.
  EXPECT_THAT(sampled_addresses(ring),
              ElementsAre(0x8000 + 400, 0x8000 + 800, 0x8000 + 1200, 0x8000 + 1600, 0x8000 + 2000));
  EXPECT_EQ(vm.guest->statistics().interrupts, 5u);
  EXPECT_EQ(vm.guest_driver->statistics().unhandled_interrupts, 0u);
  EXPECT_EQ(vm.driver->statistics().unhandled_interrupts, 0u);
  EXPECT_EQ(vm.count_in_guest(event), 500u);
}

TEST_P(EitherGuest, CountsExactlyThoughPmisComeLate) {
  PerfGuest vm(GetParam(), *find_cpu_model("icelake"));
  perf::Attr attr = generic(HardwareId::instructions);
  attr.sample_period = 1000;
  perf::Event& event = vm.open_in_guest(attr);
  u64 ip = 0x8000;
  for (unsigned slice = 0; slice < 3; ++slice) {
    ip = vm.run_guest(1500, ip);
    vm.run(100);
  }
  EXPECT_EQ(vm.count_in_guest(event), 4500u);
  EXPECT_EQ(vm.guest->statistics().interrupts, 4u);
}

TEST_P(EitherGuest, IsReadAndChangedWhileItRuns) {
  PerfGuest vm(GetParam());
  vm.guest->enter();
  perf::Event& event = vm.open_in_guest(generic(HardwareId::instructions));
  vm.run(10);
  EXPECT_EQ(vm.count_in_guest(event), 10u);
  vm.guest_perf->disable(event);
  vm.run(10);
  vm.guest_perf->enable(event);
  vm.run(5);
  vm.guest->exit({});
  EXPECT_EQ(vm.count_in_guest(event), 15u);
}

TEST_P(EitherGuest, EntersAndLeavesInTurn) {
  BareGuest vm(GetParam());
  EXPECT_THROW(vm.guest->exit({}), std::logic_error);
  vm.guest->enter();
  EXPECT_THROW(vm.guest->enter(), std::logic_error);
}

TEST_P(EitherGuest, LeavesItsHostAsItWasWhereItEndsInTheGuest) {
  Host host(without_skid("skylake"));
  perf::Attr attr = raw(instructions);
  attr.exclude_guest = 1;
  perf::Event& event = host.open(attr);
  const u64 control = host.pmu.rdmsr(msr::PERF_GLOBAL_CTRL).value();
  auto guest = host.guest(GetParam()).value();
  guest->enter();
  host.run(10);
  guest.reset();
  host.run(20);
  EXPECT_EQ(host.pmu.rdmsr(msr::PERF_GLOBAL_CTRL).value(), control);
  EXPECT_EQ(host.count(event), 20u);
}

TEST_P(EitherGuest, HasStatusThatSoftwareClears) {
  BareGuest vm(GetParam());
  vm.write(msr::A_PMC0 + 1, low_bits(48) - 4);
  vm.write(msr::PERFEVTSEL0 + 1, msr::evtsel::EN | msr::evtsel::USR | instructions);
  vm.write(msr::FIXED_CTR0, low_bits(48) - 9);
  vm.write(msr::FIXED_CTR_CTRL, msr::fixed_ctrl::USR | msr::fixed_ctrl::PMI);
  vm.write(msr::PERF_GLOBAL_CTRL, bit(32) | bit(1));
  vm.on_interrupt = [] {};
  vm.run_guest(9);
  EXPECT_EQ(vm.read(msr::PMC0 + 1), 4u);
  EXPECT_EQ(vm.read(msr::PERF_GLOBAL_STATUS), bit(1)) << "and no PMI, which the select does not ask for";
  EXPECT_THAT(vm.interrupts, IsEmpty());
  vm.run_guest(3, 0x9000);
  ASSERT_EQ(vm.interrupts.size(), 1u);
  EXPECT_EQ(vm.interrupts[0].registers.rip, 0x9004u);
  EXPECT_EQ(vm.guest->rdpmc(u32{0x4000} << 16).value(), 2u);
  EXPECT_EQ(vm.read(msr::PERF_GLOBAL_STATUS), bit(32) | bit(1));
  vm.write(msr::PERF_GLOBAL_STATUS_RESET, bit(1));
  EXPECT_EQ(vm.read(msr::PERF_GLOBAL_STATUS), bit(32));
  EXPECT_EQ(vm.read(msr::PERF_GLOBAL_STATUS_RESET), 0u);
  vm.run_guest(1);
  EXPECT_EQ(vm.read(msr::PERF_GLOBAL_STATUS), bit(32));
}

TEST_P(EitherGuest, HasItsVectorRegistersInAPmi) {
  BareGuest vm(GetParam());
  ExtendedState state;
  state.write(StateComponent::sse, 0, {42});
  vm.pmu.set_extended_state(&state);
  vm.write(msr::A_PMC0, low_bits(48) - 1);
  vm.write(msr::PERFEVTSEL0, msr::evtsel::EN | msr::evtsel::USR | msr::evtsel::INT | instructions);
  vm.write(msr::PERF_GLOBAL_CTRL, 1);
  bool known = false;
  vm.on_interrupt = [&] {
    const ExtendedState* const seen = vm.interrupts.back().extended;
    known = seen != nullptr && *seen == state;
  };
  vm.run_guest(5);
  EXPECT_TRUE(known);
}

TEST_P(EitherGuest, LosesPmisThatItsLvtpcMasks) {
  BareGuest vm(GetParam());
  vm.write(msr::X2APIC_LVTPC, msr::lvtpc::MASKED | msr::lvtpc::NMI);
  vm.write(msr::A_PMC0, low_bits(48));
  vm.write(msr::PERFEVTSEL0, msr::evtsel::EN | msr::evtsel::USR | msr::evtsel::INT | instructions);
  vm.write(msr::PERF_GLOBAL_CTRL, 1);
  vm.run_guest(5);
  EXPECT_EQ(vm.read(msr::PERF_GLOBAL_STATUS), 1u);
  vm.write(msr::X2APIC_LVTPC, msr::lvtpc::NMI);
  vm.run_guest(5);
  EXPECT_THAT(vm.interrupts, IsEmpty());
}

TEST_P(EitherGuest, LeavesNoBranchesInTheHostsRecords) {
  PerfGuest vm(GetParam());
  perf::Attr attr = raw(branches);
  attr.exclude_guest = 1;
  attr.sample_period = 1'000'000;
  attr.sample_type = perf::sample::BRANCH_STACK;
  attr.branch_sample_type = perf::branch::ANY | perf::branch::USER;
  vm.open(attr);
  vm.run(40);
  const u64 of_host = vm.pmu.rdmsr(msr::DEBUGCTL).value();
  EXPECT_NE(of_host & msr::debugctl::LBR, 0u);
  const u64 top = vm.pmu.rdmsr(msr::LBR_TOS).value();
  vm.guest->enter();
  EXPECT_EQ(vm.pmu.rdmsr(msr::DEBUGCTL).value(), 0u);
  vm.run(40);
  EXPECT_EQ(vm.pmu.rdmsr(msr::LBR_TOS).value(), top);
  vm.guest->exit({});
  EXPECT_EQ(vm.pmu.rdmsr(msr::DEBUGCTL).value(), of_host);
}

/// Scenario 30 of tests/driver_on_pmu/guests_test.cpp, beside a guest that counts for itself.
TEST(EmulatedGuest, LeavesTheHostToCountWhatItLikes) {
  PerfGuest vm(GuestKind::emulated);
  perf::Attr of_host = raw(instructions), of_guest = raw(instructions);
  perf::Attr sampled = raw(branches);
  of_host.exclude_guest = of_guest.exclude_host = 1;
  sampled.precise_ip = 2;
  sampled.sample_period = 1'000'000;  // no record
  sampled.sample_type = perf::sample::IP;
  perf::Event &host = vm.open(of_host), &guest = vm.open(of_guest), &both = vm.open(raw(instructions)),
              &precise = vm.open(sampled);
  perf::Event& own = vm.open_in_guest(generic(HardwareId::instructions));
  vm.run(3000);
  vm.run_guest(1000);
  EXPECT_EQ(vm.count(host), 3000u);
  EXPECT_EQ(vm.count(guest), 1000u);
  EXPECT_EQ(vm.count(both), 4000u);
  EXPECT_EQ(vm.count(precise), 750u) << "PEBS stands still in the guest";
  EXPECT_EQ(vm.count_in_guest(own), 1000u);
}

/// Both take a PMI at the same instruction.
TEST(EmulatedGuest, IsSampledByItsHostToo) {
  PerfGuest vm(GuestKind::emulated);
  perf::Attr attr = raw(instructions);
  attr.sample_period = 100;
  attr.sample_type = perf::sample::IP;
  perf::Attr of_guest = attr;
  of_guest.exclude_host = 1;
  perf::RingBuffer& on_host = *vm.perf->mmap(vm.open(of_guest), 4).value();
  perf::RingBuffer& own = *vm.guest_perf->mmap(vm.open_in_guest(attr), 4).value();
  vm.run(70);
  vm.run_guest(350);
  const std::vector<u64> expected{0x8000 + 400, 0x8000 + 800, 0x8000 + 1200};
  EXPECT_EQ(sampled_addresses(on_host), expected);
  EXPECT_EQ(sampled_addresses(own), expected);
  EXPECT_FALSE(vm.guest->interrupted().has_value());
}

TEST(EmulatedGuest, CountsOnWhateverCounterThereIs) {
  BareGuest vm(GuestKind::emulated);
  perf::Attr pinned = raw(0x010E);  // of no interest, on GP 0
  pinned.pinned = 1;
  vm.open(pinned, -1, 0);
  vm.write(msr::PERFEVTSEL0, msr::evtsel::EN | msr::evtsel::USR | branches);
  vm.write(msr::PERF_GLOBAL_CTRL, 1);
  vm.guest->enter();
  std::vector<unsigned> counters;
  for (const CountedEvent& each : vm.pmu.counted_events())
    if ((each.event_select & 0xFF) == branches) counters.push_back(each.counter);
  ASSERT_EQ(counters.size(), 1u);
  EXPECT_NE(counters[0], 0u);
  const u64 ip = vm.run(40);
  vm.guest->exit({.registers = {.rip = ip}});
  EXPECT_EQ(vm.read(msr::PMC0), 10u);
}

TEST(EmulatedGuest, StandsStillWhereTheHostHasNoCounter) {
  BareGuest vm(GuestKind::emulated);
  perf::Attr pinned = raw(branches);
  pinned.pinned = 1;
  std::vector<perf::Event*> hosts;
  for (unsigned n = 0; n < 8; ++n) hosts.push_back(&vm.open(pinned, -1, 0));
  vm.write(msr::PERFEVTSEL0, msr::evtsel::EN | msr::evtsel::USR | branches);
  vm.write(msr::PERF_GLOBAL_CTRL, 1);
  vm.run_guest(40);
  EXPECT_EQ(vm.read(msr::PMC0), 0u);
  EXPECT_THAT(
      warnings(vm.guest->statistics()),
      ElementsAre("at 1 of 1 entries the host had no counter for one of the guest's, which stood still"));
  for (perf::Event* event : hosts) vm.perf->close(*event);
  vm.write(msr::PMC0, 7);  // programmed anew
  vm.run_guest(40);
  EXPECT_EQ(vm.read(msr::PMC0), 17u);
  EXPECT_EQ(vm.guest->statistics().starved_entries, 1u);
}

/// Of a host's counter Linux has no overflow at the first event: the PMI comes with the second, or an exit.
TEST(EmulatedGuest, OverflowsAtTheNextExitIfAtItsFirstEvent) {
  BareGuest vm(GuestKind::emulated);
  vm.write(msr::A_PMC0, low_bits(48));
  vm.write(msr::PERFEVTSEL0, msr::evtsel::EN | msr::evtsel::USR | msr::evtsel::INT | branches);
  vm.write(msr::PERF_GLOBAL_CTRL, 1);
  vm.on_interrupt = [] {};
  const u64 ip = vm.run_guest(4);
  EXPECT_EQ(vm.read(msr::PMC0), 0u);
  EXPECT_EQ(vm.read(msr::PERF_GLOBAL_STATUS), 1u);
  vm.run_guest(4, ip);
  EXPECT_EQ(vm.interrupts.size(), 1u);
  EXPECT_EQ(vm.read(msr::PMC0), 1u);
}

TEST(EmulatedGuest, LeavesNoEventBehind) {
  Host host(without_skid("skylake"));
  {
    auto guest = host.guest(GuestKind::emulated).value();
    ASSERT_EQ(guest->wrmsr(msr::PERFEVTSEL0, msr::evtsel::EN | msr::evtsel::USR | branches), Fault::none);
    guest->enter();
    guest->exit({});
    EXPECT_EQ(host.perf->events().size(), 1u);
  }
  EXPECT_THAT(host.perf->events(), IsEmpty());
}

TEST(MediatedGuest, HasTheCountersForItself) {
  BareGuest vm(GuestKind::mediated);
  perf::Attr of_host = raw(instructions);
  of_host.exclude_guest = 1;
  of_host.pinned = 1;
  of_host.read_format = perf::read_format::TOTAL_TIME_ENABLED | perf::read_format::TOTAL_TIME_RUNNING;
  std::vector<perf::Event*> hosts;
  for (unsigned n = 0; n < 4; ++n) hosts.push_back(&vm.open(of_host, -1, 0));
  vm.write(msr::PERFEVTSEL0, msr::evtsel::EN | msr::evtsel::USR | branches);
  vm.write(msr::PERF_GLOBAL_CTRL, 1);
  vm.run(1000);
  vm.guest->enter();
  EXPECT_EQ(vm.pmu.rdmsr(msr::PERF_GLOBAL_CTRL).value(), 1u);
  EXPECT_EQ(vm.pmu.rdmsr(msr::PERFEVTSEL0).value(), msr::evtsel::EN | msr::evtsel::USR | branches);
  EXPECT_EQ(vm.pmu.rdmsr(msr::X2APIC_LVTPC).value() & msr::lvtpc::VECTOR, 0xF5u);
  const u64 ip = vm.run(400);
  vm.guest->exit({.registers = {.rip = ip}});
  EXPECT_EQ(vm.pmu.rdmsr(msr::X2APIC_LVTPC).value(), msr::lvtpc::NMI);
  vm.run(10);
  EXPECT_EQ(vm.read(msr::PMC0), 100u);
  for (perf::Event* event : hosts) EXPECT_THAT(vm.perf->read(*event).value()[0], 1010u);
  vm.perf->cpu(0).set_time(vm.pmu.tsc());
  const auto times = vm.perf->read(*hosts[0]).value();
  EXPECT_EQ(times[1], times[2]);
  EXPECT_EQ(times[1], vm.pmu.tsc() - 400) << "opened at 0, and the guest's time is nobody's";
}

TEST(MediatedGuest, AndEventsThatCountInGuestsExcludeEachOther) {
  Host host(without_skid("skylake"));
  perf::Event& in_the_way = host.open(raw(instructions));
  EXPECT_EQ(host.guest(GuestKind::mediated).error().error_number, EBUSY);
  host.perf->close(in_the_way);
  {
    const auto guest = host.guest(GuestKind::mediated).value();
    EXPECT_EQ(host.perf->open(raw(instructions), Host::thread, -1).error().error_number, EOPNOTSUPP);
  }
  EXPECT_TRUE(host.perf->open(raw(instructions), Host::thread, -1).ok());
}

TEST(MediatedGuest, NeedsVersion4AndLinux7_0) {
  EXPECT_EQ(Host(*find_cpu_model("haswell")).guest(GuestKind::mediated).error().error_number, EOPNOTSUPP);
  Host old(*find_cpu_model("skylake"), perf::Kernel::v6_19);
  EXPECT_EQ(old.guest(GuestKind::mediated).error().error_number, EOPNOTSUPP);
}

TEST(AnyGuest, NeedsAPmuThatItCanHave) {
  for (const char* const model : {"yonah", "alderlake", "genoa"})
    EXPECT_EQ(Host(*find_cpu_model(model)).guest(GuestKind::emulated).error().error_number, ENODEV) << model;
  Host idle(*find_cpu_model("skylake"));
  idle.perf->cpu(0).switch_to(0);
  EXPECT_EQ(idle.guest(GuestKind::emulated).error().error_number, ESRCH);
}

}  // namespace
}  // namespace pmusim::vpmu::guest_counting_test
