// SPDX-License-Identifier: MIT
#ifndef PMUSIM_TESTS_EXPLORE_SMALL_DRIVER_H
#define PMUSIM_TESTS_EXPLORE_SMALL_DRIVER_H

#include <array>

#include "pmusim/explore/explore.h"

namespace pmusim::explore {

/// An event that is counted.
struct Event {
  u64 count = 0;
  void add_to(StateHash& hash) const { hash.add(count); }
};

/// The order in which a driver says that a counter is in use.
enum class Order : u8 { event_before_active, active_before_event };

/// A driver as many are: a mask of active counters, and the event of each.
class SmallDriver final : public PmiHandler {
 public:
  static constexpr unsigned counters = 4;
  static constexpr u64 period = 1000;

  SmallDriver(Cpu& cpu, Order order) : cpu_(&cpu), order_(order) { cpu.pmu().set_pmi_handler(this); }

  void enable_all() { write(msr::PERF_GLOBAL_CTRL, low_bits(counters)); }
  void disable_all() { write(msr::PERF_GLOBAL_CTRL, 0); }
  void unmask() { write(msr::X2APIC_LVTPC, msr::lvtpc::NMI); }

  void start(unsigned n, Event& event) {
    if (order_ == Order::event_before_active) owners_[n] = &event;
    if (order_ == Order::active_before_event) active_ |= bit(n);
    write(msr::PMC0 + n, -period & low_bits(32));
    write(msr::PERFEVTSEL0 + n, msr::evtsel::EN | msr::evtsel::OS | msr::evtsel::INT | 0xC0);
    if (order_ == Order::active_before_event) owners_[n] = &event;
    if (order_ == Order::event_before_active) active_ |= bit(n);
  }
  void stop(unsigned n) {
    write(msr::PERFEVTSEL0 + n, 0);
    active_ &= ~bit(n);
    owners_[n] = nullptr;
  }

  void handle_pmi(const InterruptFrame&) override {
    const u64 control = *cpu_->rdmsr(msr::PERF_GLOBAL_CTRL);
    write(msr::PERF_GLOBAL_CTRL, 0);
    const u64 status = *cpu_->rdmsr(msr::PERF_GLOBAL_STATUS);
    write(msr::PERF_GLOBAL_STATUS_RESET, status);
    for (const unsigned n : set_bits(status & active_)) {
      if (owners_[n] == nullptr) return cpu_->fail("an active counter without an event");
      owners_[n]->count += period;
      write(msr::PMC0 + n, -period & low_bits(32));
    }
    unmask();
    write(msr::PERF_GLOBAL_CTRL, control);
  }

  void add_to(StateHash& hash) const {
    hash.add(active_);
    for (const Event* event : owners_) {
      hash.add(event != nullptr);
      if (event != nullptr) hash.add(*event);
    }
  }

 private:
  void write(u32 address, u64 value) {
    if (cpu_->wrmsr(address, value) != Fault::none) cpu_->fail("a write faulted");
  }
  Cpu* cpu_;
  Order order_;
  u64 active_ = 0;
  std::array<Event*, counters> owners_{};
};

}  // namespace pmusim::explore

#endif
