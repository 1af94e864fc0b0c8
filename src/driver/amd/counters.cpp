// SPDX-License-Identifier: MIT
#include "driver/amd/counters.h"

#include "pmusim/arch/msr.h"

namespace pmusim::driver::amd {

namespace m = msr::amd;

Counters::Counters(RegisterAccess& access, const Enumeration& cpu) : access_(access), cpu_(cpu) {}

u32 Counters::select_address(unsigned n) const {
  return cpu_.core_extension ? m::CTL0 + m::STRIDE * n : m::LEGACY_CTL0 + n;
}

u32 Counters::counter_address(unsigned n) const {
  return cpu_.core_extension ? m::CTR0 + m::STRIDE * n : m::LEGACY_CTR0 + n;
}

void Counters::reset() {
  if (!cpu_.perfmon_v2) return;
  access_.wrmsr(m::GLOBAL_CTL, 0);
  access_.wrmsr(m::GLOBAL_STATUS_CLR, msr::status::LBR_FRZ | cpu_.counter_set());
}

u64 Counters::read(unsigned n) { return access_.rdpmc(n).value_or(0); }

void Counters::start(unsigned n, u64 select, Width width) {
  selects_[n] = select;
  active_ |= bit(n);
  pairs_ = width == Width::pair ? pairs_ | bit(n) : pairs_ & ~bit(n);
  if (cpu_.perfmon_v2 || enabled_) enable(n);
}

void Counters::stop(unsigned n) {
  active_ &= ~bit(n);
  access_.wrmsr(select_address(n), selects_[n]);
  stop_upper(n);
}

/// A pair's upper half is there before the lower one counts, and until it has stopped.
void Counters::enable(unsigned n) {
  if ((pairs_ & bit(n)) != 0) access_.wrmsr(select_address(n + 1), m::ctl::MERGE | msr::evtsel::EN);
  access_.wrmsr(select_address(n), selects_[n] | msr::evtsel::EN);
}

void Counters::stop_upper(unsigned n) {
  if ((pairs_ & bit(n)) != 0) access_.wrmsr(select_address(n + 1), 0);
}

void Counters::enable_all() {
  enabled_ = true;
  if (cpu_.perfmon_v2) {
    access_.wrmsr(m::GLOBAL_CTL, cpu_.counter_set());
    return;
  }
  for (const unsigned n : set_bits(active_)) enable(n);
}

void Counters::disable_all() {
  enabled_ = false;
  if (cpu_.perfmon_v2) {
    access_.wrmsr(m::GLOBAL_CTL, 0);
    return;
  }
  for (const unsigned n : set_bits(active_)) {
    const u64 select = access_.read(select_address(n));
    if ((select & msr::evtsel::EN) == 0) continue;
    access_.wrmsr(select_address(n), select & ~msr::evtsel::EN);
    stop_upper(n);
  }
}

u64 Counters::status() { return access_.read(m::GLOBAL_STATUS); }

void Counters::acknowledge(u64 kept) { access_.wrmsr(m::GLOBAL_STATUS_CLR, ~kept); }

bool Counters::overflow_pending(unsigned n) {
  if (cpu_.perfmon_v2) return (status() & bit(n)) != 0;
  return (access_.read(counter_address(n)) & bit(Enumeration::counter_width - 1)) == 0;
}

}  // namespace pmusim::driver::amd
