// SPDX-License-Identifier: MIT
// A guest whose counters are events of the host (Linux: arch/x86/kvm/pmu.c before 7.0).
#include <algorithm>
#include <array>

#include "pmusim/arch/msr.h"
#include "vpmu/virtual_pmu.h"

namespace pmusim::vpmu {
namespace {

class EmulatedPmu final : public VirtualPmu {
 public:
  explicit EmulatedPmu(const Hypervisor& host)
      : VirtualPmu(host), thread_(static_cast<i32>(cpu().current_tid())) {}
  ~EmulatedPmu() override {
    if (in_guest()) leave();
    for (Counter& counter : counters_) close(counter);
  }
  EmulatedPmu(const EmulatedPmu&) = delete;
  EmulatedPmu& operator=(const EmulatedPmu&) = delete;

 private:
  /// What stands for a counter that the guest lets count.
  struct Counter {
    u64 select = 0;                ///< what it was made for; 0: nothing
    perf::Event* event = nullptr;  ///< null: the host has refused it
    u64 start = 0;                 ///< the guest's count when it was made
    u64 count = 0;                 ///< and after the last exit
    bool overflowed = false;
  };

  void load() override;
  void unload() override;
  void take_pmi(const InterruptFrame& of_hypervisor) override { host_.driver.handle_pmi(of_hypervisor); }

  perf::Attr attr_of(u64 select, u64 count) const;
  void follow(unsigned number);
  void fold(unsigned number);
  void close(Counter& counter);
  static bool is_starved(const Counter& counter) {
    return counter.select != 0 &&
           (counter.event == nullptr || counter.event->state != perf::EventState::active);
  }

  const i32 thread_;
  std::array<Counter, 64> counters_;
  std::vector<driver::GuestRegister> switched_;
};

/// Up to its overflow, which is an exit, the event counts on whatever counter there is. Linux's drivers let
/// no counter overflow at its first event, and take branches with a period of 1 for the branch trace store.
perf::Attr EmulatedPmu::attr_of(u64 select, u64 count) const {
  namespace e = msr::evtsel;
  constexpr u64 event_bits = e::EVENT | e::UMASK | e::EDGE | e::INV | e::CMASK;
  perf::Attr attr;
  attr.type = static_cast<u32>(perf::EventType::raw);
  attr.config = select & event_bits;
  attr.sample_period = std::max<u64>(2, bit(registers_.counter_width()) - count);
  attr.pinned = attr.exclude_host = attr.exclude_idle = 1;
  attr.exclude_user = (select & e::USR) == 0;
  attr.exclude_kernel = (select & e::OS) == 0;
  return attr;
}

void EmulatedPmu::close(Counter& counter) {
  if (counter.event != nullptr) host_.perf.close(*counter.event);
  counter = {};
}

/// What the guest has written, or an overflow, asks for another event, or another period.
void EmulatedPmu::follow(unsigned number) {
  Counter& counter = counters_[number];
  const u64 select = registers_.select(number), count = registers_.count(number);
  if (select == counter.select && count == counter.count && !counter.overflowed) return;
  close(counter);
  counter.start = counter.count = count;
  if ((counter.select = select) == 0) return;
  const auto opened = host_.perf.open_in_kernel(attr_of(select, count), thread_, -1);
  if (opened.ok()) counter.event = *opened;
}

void EmulatedPmu::load() {
  bool starved = false;
  for (const unsigned number : set_bits(registers_.counters())) {
    follow(number);
    starved = starved || is_starved(counters_[number]);
  }
  statistics_.starved_entries += starved;
  switched_ = host_.driver.guest_registers();
  for (const driver::GuestRegister& each : switched_) write_host(each.address, each.guest);
}

void EmulatedPmu::fold(unsigned number) {
  Counter& counter = counters_[number];
  if (counter.event == nullptr) return;
  static_cast<void>(host_.perf.read(*counter.event));
  const unsigned width = registers_.counter_width();
  const u64 total = counter.start + counter.event->count;
  counter.count = total & low_bits(width);
  registers_.set_count(number, counter.count);
  if (total >> width == 0) return;
  counter.overflowed = true;
  registers_.set_status(registers_.status() | bit(number));
  if ((counter.select & msr::evtsel::INT) != 0) registers_.request_pmi();
}

void EmulatedPmu::unload() {
  for (const driver::GuestRegister& each : switched_) write_host(each.address, each.host);
  for (const unsigned number : set_bits(registers_.counters())) fold(number);
}

}  // namespace

std::unique_ptr<GuestPmu> make_emulated(const Hypervisor& host) {
  return std::make_unique<EmulatedPmu>(host);
}

}  // namespace pmusim::vpmu
