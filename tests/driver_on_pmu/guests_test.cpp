// SPDX-License-Identifier: MIT
// A hypervisor that loads what the driver has for its guests (KVM: atomic_switch_perf_msrs), on one CPU.
#include <gmock/gmock.h>

#include "several_cpus.h"

namespace pmusim::guests_test {
namespace {

using driver::CutRecord;
using driver::records_of;
using driver::SeveralCpus;
using perf::Attr;
using perf::Event;
using testing::ElementsAre;

constexpr u32 vcpu = 100;

/// The thread that a guest runs on. Its hypervisor takes every interrupt that comes meanwhile, as a VM exit.
class Vcpu : PmiHandler, perf::Target {
 public:
  explicit Vcpu(const char* model) : s({*find_cpu_model(model)}) {
    s.core().task_started(vcpu, vcpu, "vcpu");
    s.core().cpu(0).set_target(*this);
    s.switch_to(0, vcpu);
    s.pmu(0).set_pmi_handler(this);
  }
  std::vector<driver::GuestRegister> enter() {
    auto switched = s.driver(0).guest_registers();
    for (const driver::GuestRegister& each : switched)
      EXPECT_EQ(s.pmu(0).wrmsr(each.address, each.guest), Fault::none);
    in_guest_ = true;
    return switched;
  }
  void exit() {
    for (const driver::GuestRegister& each : s.driver(0).guest_registers())
      EXPECT_EQ(s.pmu(0).wrmsr(each.address, each.host), Fault::none);
    in_guest_ = false;
  }
  u64 count(Event& event) { return s.read(event)[0]; }

  SeveralCpus s;

 private:
  void handle_pmi(const InterruptFrame& frame) override {
    const bool was_in_guest = in_guest_;
    InterruptFrame seen = frame;
    if (was_in_guest) {
      exit();
      interrupted_ = perf::GuestCode{frame.registers.rip, frame.cpl};
      seen = InterruptFrame{};
      seen.cpl = Cpl::kernel;
      seen.registers.rip = 0xFFFF'FFFF'C000'0000;
    }
    s.core().cpu(0).set_time(s.now(0));
    s.driver(0).handle_pmi(seen);
    interrupted_.reset();
    if (was_in_guest) enter();
  }
  std::optional<perf::GuestCode> guest() const override { return interrupted_; }

  bool in_guest_ = false;
  std::optional<perf::GuestCode> interrupted_;
};

Attr instructions() {
  Attr attr;
  attr.config = static_cast<u64>(perf::HardwareId::instructions);
  attr.read_format = perf::read_format::TOTAL_TIME_ENABLED | perf::read_format::TOTAL_TIME_RUNNING;
  return attr;
}
Attr raw_instructions() {
  Attr attr = instructions();
  attr.type = static_cast<u32>(perf::EventType::raw);
  attr.config = 0xC0;
  return attr;
}

/// Scenario 30 of a list that was worked out by hand, with PEBS on counter 0: the driver places what fits on
/// fewest counters first. Counter 1 excludes the guest, 2 the host, and 3 neither.
TEST(Guests, Scenario30HostsAndGuestsHaveTheCountersThatAreTheirs) {
  Vcpu vcpu_thread("skylake");
  SeveralCpus& s = vcpu_thread.s;
  s.open(instructions(), vcpu, -1);  // has the fixed counter
  Attr of_host = raw_instructions(), of_guest = raw_instructions(), sampled = raw_instructions();
  of_host.exclude_guest = of_guest.exclude_host = 1;
  sampled.config = 0xC4;  // branches
  sampled.precise_ip = 2;
  sampled.sample_period = 10'000'000;  // no record
  sampled.sample_type = perf::sample::IP;
  Event &host = s.open(of_host, vcpu, -1), &guest = s.open(of_guest, vcpu, -1),
        &both = s.open(raw_instructions(), vcpu, -1), &precise = s.open(sampled, vcpu, -1);
  const auto run_millions = [&](u64 millions) {  // the last instruction is a branch
    s.instructions(0, millions * 1'000'000 - 1);
    s.branch(0, 0x401000, 0x401000, BranchKind::direct_jump);
  };
  run_millions(1);
  EXPECT_THAT(vcpu_thread.enter(),
              ElementsAre(driver::GuestRegister{msr::PERF_GLOBAL_CTRL, 0x7'0000'000B, 0x7'0000'000C}));
  run_millions(1);
  vcpu_thread.exit();
  EXPECT_EQ(*s.pmu(0).rdmsr(msr::PERF_GLOBAL_CTRL), 0x7'0000'000Bu);
  run_millions(2);
  EXPECT_EQ(vcpu_thread.count(host), 3'000'000u);
  EXPECT_EQ(vcpu_thread.count(guest), 1'000'000u);
  EXPECT_EQ(vcpu_thread.count(both), 4'000'000u);
  EXPECT_EQ(vcpu_thread.count(precise), 2u);
}

TEST(Guests, NothingIsSwitchedWhereNoEventTellsThemApart) {
  Vcpu vcpu_thread("icelake");
  vcpu_thread.s.open(instructions(), vcpu, -1);
  EXPECT_THAT(vcpu_thread.enter(), ElementsAre());
}

TEST(Guests, OfVersion1EachSelectIsSwitched) {
  Vcpu vcpu_thread("yonah");
  SeveralCpus& s = vcpu_thread.s;
  Attr of_host = raw_instructions(), of_guest = raw_instructions();
  of_host.exclude_guest = of_guest.exclude_host = 1;
  Event &host = s.open(of_host, vcpu, -1), &guest = s.open(of_guest, vcpu, -1);
  s.instructions(0, 30);
  EXPECT_EQ(vcpu_thread.enter().size(), 2u);
  s.instructions(0, 10);
  vcpu_thread.exit();
  s.instructions(0, 5);
  EXPECT_EQ(vcpu_thread.count(host), 35u);
  EXPECT_EQ(vcpu_thread.count(guest), 10u);
}

TEST(Guests, Scenario30SamplesOfAGuestSaySo) {
  using namespace perf::sample;
  constexpr u64 kernel_mark = ~u64{127}, user_mark = ~u64{511};
  for (const Cpl cpl : {Cpl::kernel, Cpl::user}) {
    Vcpu vcpu_thread("skylake");
    SeveralCpus& s = vcpu_thread.s;
    Attr attr = instructions();
    attr.exclude_host = 1;
    attr.sample_period = 100;
    attr.sample_type = IP | CALLCHAIN;
    perf::RingBuffer& ring = s.map(s.open(attr, vcpu, -1));
    s.instructions(0, 1000);
    EXPECT_THAT(records_of(ring, perf::RecordType::sample), testing::IsEmpty());
    vcpu_thread.enter();
    constexpr u64 guest_kernel = 0xFFFF'FFFF'8200'0000;
    if (cpl == Cpl::kernel)
      s.kernel_instructions(0, guest_kernel, 250);
    else
      s.instructions(0, 250);
    vcpu_thread.exit();
    const auto samples = records_of(ring, perf::RecordType::sample);
    ASSERT_EQ(samples.size(), 2u);
    for (const CutRecord& sample : samples) {
      EXPECT_EQ(sample.header.misc & 7, cpl == Cpl::kernel ? 4u : 5u);
      ASSERT_EQ(sample.at(16), 2u);  // marks, and no address: the host does not read a guest's stacks
      EXPECT_EQ(sample.at(24), kernel_mark);
      EXPECT_EQ(sample.at(32), user_mark);
    }
    EXPECT_EQ(samples[0].at(8), cpl == Cpl::kernel ? guest_kernel + 4 * 100 : 0x401000u);
  }
}

}  // namespace
}  // namespace pmusim::guests_test
