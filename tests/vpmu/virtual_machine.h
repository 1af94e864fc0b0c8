// SPDX-License-Identifier: MIT
#ifndef PMUSIM_TESTS_VPMU_VIRTUAL_MACHINE_H
#define PMUSIM_TESTS_VPMU_VIRTUAL_MACHINE_H

#include <gtest/gtest.h>

#include <cstring>
#include <functional>
#include <string_view>

#include "pmusim/arch/msr.h"
#include "pmusim/vpmu/vpmu.h"

namespace pmusim::vpmu {

inline CpuModel without_skid(std::string_view name) {
  CpuModel model = *find_cpu_model(name);
  model.policies.pmi_skid_cycles = model.policies.pebs_pmi_skid_cycles = 0;
  return model;
}

/// A host with a driver and a perf core, and a thread on it that is a virtual CPU. An instruction takes a
/// cycle, and nanoseconds are ticks of the TSC.
class Host : public perf::Target {
 public:
  static constexpr u32 thread = 100;

  explicit Host(CpuModel model, perf::Kernel kernel = perf::default_kernel)
      : pmu(std::move(model)),
        driver(driver::create_driver(pmu, {.kernel = kernel})),
        perf(perf::PerfCore::create(*driver, {.limits = {.kernel = kernel}})) {
    driver->attach(perf->cpu(0));
    perf->task_started(thread, thread, "vcpu");
    perf->cpu(0).switch_to(thread);
    perf->cpu(0).set_target(*this);
  }
  /// `count` instructions one after the other from `ip` on, each fourth of which is a jump to the next.
  u64 run(u64 count, u64 ip = 0x401000, Cpl cpl = Cpl::user) {
    for (; count != 0; --count, ip += 4) step(ip, cpl, ip % 16 == 12);
    return ip;
  }
  void step(u64 ip, Cpl cpl, bool jumps) {
    Retirement r{.ip = ip,
                 .next_ip = ip + 4,
                 .cycle = pmu.now() + 1,
                 .signals = {Signal::instruction},
                 .length = 4,
                 .cpl = cpl,
                 .cpl_after = cpl};
    if (jumps) {
      r.branch = BranchKind::direct_jump;
      r.taken = true;
      r.signals = r.signals | branch_signals(r.branch) | outcome_signals(r.branch, {.taken = true});
    }
    pmu.retire(r);
  }
  perf::Event& open(const perf::Attr& attr, i32 pid = thread, i32 cpu = -1) {
    return **perf->open(attr, pid, cpu);
  }
  u64 count(perf::Event& event) { return perf->read(event).value().at(0); }
  Result<std::unique_ptr<GuestPmu>, KernelError> guest(GuestKind kind) {
    return GuestPmu::create(kind, {pmu, *driver, *perf});
  }

  Pmu pmu;
  std::unique_ptr<driver::CoreDriver> driver;
  std::unique_ptr<perf::PerfCore> perf;
  const GuestPmu* of_guest = nullptr;

 private:
  std::optional<perf::GuestCode> guest() const override {
    return of_guest != nullptr ? of_guest->interrupted() : std::nullopt;
  }
};

inline perf::Attr raw(u64 config) {
  perf::Attr attr;
  attr.type = static_cast<u32>(perf::EventType::raw);
  attr.config = config;
  return attr;
}
inline constexpr u64 instructions = 0xC0, branches = 0xC4;
inline perf::Attr generic(perf::HardwareId id) {
  perf::Attr attr;
  attr.config = static_cast<u64>(id);
  return attr;
}

/// A host with one guest, whose PMIs the derived class handles.
class HostOfGuest : public Host, public PmiHandler {
 public:
  HostOfGuest(GuestKind kind, CpuModel model) : Host(std::move(model)), guest(Host::guest(kind).value()) {
    of_guest = guest.get();
    pmu.set_pmi_handler(guest.get());
    guest->set_guest_handler(this);
  }
  /// Entry, instructions, exit.
  u64 run_guest(u64 count, u64 ip = 0x8000, Cpl cpl = Cpl::user) {
    guest->enter();
    ip = run(count, ip, cpl);
    guest->exit({.registers = {.rip = ip}, .cpl = cpl});
    return ip;
  }

  std::unique_ptr<GuestPmu> guest;
};

/// A host whose guest's software is the caller's.
class BareGuest : public HostOfGuest {
 public:
  explicit BareGuest(GuestKind kind, CpuModel model = without_skid("skylake"))
      : HostOfGuest(kind, std::move(model)) {
    write(msr::X2APIC_LVTPC, msr::lvtpc::NMI);
    write(msr::PERF_GLOBAL_CTRL, 0);
  }
  void write(u32 address, u64 value) {
    EXPECT_EQ(guest->wrmsr(address, value), Fault::none) << std::hex << address;
  }
  u64 read(u32 address) { return guest->rdmsr(address).value(); }
  /// A PMI that is due is taken before what comes next.
  void interrupt_now(u64 ip, Cpl cpl) {
    InterruptFrame frame{.cpl = cpl};
    frame.registers.rip = ip;
    pmu.interrupt(frame);
  }

  std::vector<InterruptFrame> interrupts;  ///< that the guest has taken
  std::function<void()> on_interrupt = [this] {
    write(msr::PERF_GLOBAL_STATUS_RESET, read(msr::PERF_GLOBAL_STATUS));
    write(msr::X2APIC_LVTPC, msr::lvtpc::NMI);
  };

 private:
  void handle_pmi(const InterruptFrame& frame) override {
    interrupts.push_back(frame);
    on_interrupt();
  }
};

/// A host whose guest has the driver and the perf core of its own.
class PerfGuest : public HostOfGuest {
 public:
  explicit PerfGuest(GuestKind kind, CpuModel model = without_skid("skylake"))
      : HostOfGuest(kind, std::move(model)),
        guest_driver(driver::create_driver(*guest)),
        guest_perf(perf::PerfCore::create(*guest_driver)) {
    guest_driver->attach(guest_perf->cpu(0));
    guest_perf->task_started(1, 1, "guest");
    guest_perf->cpu(0).switch_to(1);
  }
  perf::Event& open_in_guest(const perf::Attr& attr) { return **guest_perf->open(attr, 1, -1); }
  u64 count_in_guest(perf::Event& event) { return guest_perf->read(event).value().at(0); }

  std::unique_ptr<driver::CoreDriver> guest_driver;
  std::unique_ptr<perf::PerfCore> guest_perf;

 private:
  void handle_pmi(const InterruptFrame& frame) override {
    guest_perf->cpu(0).set_time(guest->rdtsc());
    guest_driver->handle_pmi(frame);
  }
};

/// The addresses of the samples in a ring of events that sample IP alone.
inline std::vector<u64> sampled_addresses(perf::RingBuffer& ring) {
  std::vector<std::byte> all;
  perf::RingReader(ring).drain([&](auto piece) { all.insert(all.end(), piece.begin(), piece.end()); });
  std::vector<u64> addresses;
  for (std::size_t at = 0; at < all.size();) {
    perf::RecordHeader header;
    std::memcpy(&header, all.data() + at, sizeof header);
    if (header.type == static_cast<u32>(perf::RecordType::sample)) {
      std::memcpy(&addresses.emplace_back(), all.data() + at + sizeof header, sizeof(u64));
    }
    at += header.size;
  }
  return addresses;
}

}  // namespace pmusim::vpmu

#endif
