// SPDX-License-Identifier: MIT
#include "driver/intel/counters/counter_bank.h"

#include <utility>

#include "pmusim/arch/debug_store.h"

namespace pmusim::driver {
namespace {

/// EVENTSEL bits -> the control bits of fixed counter m.
u64 fixed_bits(u64 select, unsigned m) {
  const auto copy = [&](u64 from, u64 to) { return (select & from) != 0 ? to << (4 * m) : 0; };
  return copy(msr::evtsel::OS, msr::fixed_ctrl::OS) | copy(msr::evtsel::USR, msr::fixed_ctrl::USR) |
         copy(msr::evtsel::ANY, msr::fixed_ctrl::ANY) | copy(msr::evtsel::INT, msr::fixed_ctrl::PMI) |
         copy(msr::evtsel::ADAPTIVE, msr::fixed_ctrl::ADAPTIVE) |
         copy(msr::evtsel::RDPMC_USR_DISABLE, msr::fixed_ctrl::RDPMC_USR_DISABLE);
}

constexpr u64 fixed_field(unsigned m) {
  return (msr::fixed_ctrl::NIBBLE | msr::fixed_ctrl::ADAPTIVE | msr::fixed_ctrl::RDPMC_USR_DISABLE)
         << (4 * m);
}

}  // namespace

CounterBank::CounterBank(RegisterAccess& access, const Enumeration& enumeration)
    : access_(access),
      version_(enumeration.perfmon_version),
      width_(enumeration.counter_width),
      counters_(enumeration.counters),
      global_ctrl_(enumeration.counters),
      full_width_((enumeration.perf_capabilities & msr::perf_cap::FW_WRITE) != 0) {
  if ((enumeration.perf_capabilities & msr::perf_cap::PERF_METRICS) != 0)
    global_ctrl_ |= msr::status::PERF_METRICS;
}

u32 CounterBank::counter_address(unsigned n) const {
  const bool v6 = version_ >= 6;
  if (n >= counter::FIXED) {
    const u32 m = n - counter::FIXED;
    return v6 ? msr::V6_FX0_CTR + msr::V6_STRIDE * m : msr::FIXED_CTR0 + m;
  }
  if (v6) return msr::V6_GP0_CTR + msr::V6_STRIDE * n;
  return (full_width_ ? msr::A_PMC0 : msr::PMC0) + n;
}

u32 CounterBank::select_address(unsigned gp) const {
  return version_ >= 6 ? msr::V6_GP0_CFG_A + msr::V6_STRIDE * gp : msr::PERFEVTSEL0 + gp;
}

u32 CounterBank::reload_address(unsigned n, u32 gp0, u32 fixed0) const {
  return n >= counter::FIXED ? fixed0 + msr::V6_STRIDE * (n - counter::FIXED) : gp0 + msr::V6_STRIDE * n;
}

void CounterBank::reset() {
  if (has_global()) access_.wrmsr(msr::PERF_GLOBAL_CTRL, 0);
  for (const unsigned n : set_bits(counters_ & counter::GP_BITS)) {
    access_.wrmsr(select_address(n), 0);
    write(n, 0);
  }
  if ((counters_ & ~counter::GP_BITS) != 0) access_.wrmsr(msr::FIXED_CTR_CTRL, 0);
  for (const unsigned n : set_bits(counters_ & ~counter::GP_BITS)) write(n, 0);
  fixed_control_ = fixed_control_written_ = 0;
  select_ = {};
  if (has_global())
    if (const u64 left_over = status(); left_over != 0) acknowledge(left_over);
}

u64 CounterBank::read(unsigned n) { return access_.read(counter_address(n)); }

void CounterBank::write(unsigned n, u64 value) {
  access_.wrmsr(counter_address(n), value & low_bits(width_));
}

void CounterBank::start(unsigned n, u64 select) {
  if (counter::is_fixed(n)) {
    const unsigned m = n - counter::FIXED;
    fixed_control_ = (fixed_control_ & ~fixed_field(m)) | fixed_bits(select, m);
    if (enabled_) write_fixed_control();
    return;
  }
  select_[n] = select | msr::evtsel::EN;
  if (has_global() || (enabled_ && (withheld_ & bit(n)) == 0)) access_.wrmsr(select_address(n), select_[n]);
}

void CounterBank::stop(unsigned n) {
  withheld_ &= ~bit(n);
  hosts_ &= ~bit(n);
  if (counter::is_fixed(n)) {
    fixed_control_ &= ~fixed_field(n - counter::FIXED);
    if (enabled_) write_fixed_control();
    return;
  }
  const u64 select = std::exchange(select_[n], 0);
  if (select != 0) access_.wrmsr(select_address(n), select & ~msr::evtsel::EN);
}

void CounterBank::set_reload_causes(unsigned n, u64 causes) {
  if (cfg_b_[n] == causes) return;
  cfg_b_[n] = causes;
  access_.wrmsr(reload_address(n, msr::V6_GP0_CFG_B, msr::V6_FX0_CFG_B), causes);
}

void CounterBank::set_reload_value(unsigned n, u64 value) {
  if ((cfg_c_[n] & pebs::cfg_c::RELOAD) != value) set_reload_config(n, value);
}

void CounterBank::set_reload_config(unsigned n, u64 value) {
  if (std::exchange(cfg_c_[n], value) == value) return;
  access_.wrmsr(reload_address(n, msr::V6_GP0_CFG_C, msr::V6_FX0_CFG_C), cfg_c_[n]);
}

// What counts as written has been: the handler of an interrupt that comes before the write has to do it,
// because it enables counters itself.
void CounterBank::write_fixed_control() {
  if (fixed_control_ == fixed_control_written_) return;
  access_.wrmsr(msr::FIXED_CTR_CTRL, fixed_control_);
  fixed_control_written_ = fixed_control_;
}

void CounterBank::enable_all() {
  enabled_ = true;
  write_fixed_control();
  if (has_global()) {
    access_.wrmsr(msr::PERF_GLOBAL_CTRL, global_ctrl_ & ~withheld_);
    return;
  }
  for (const unsigned n : set_bits(counters_ & counter::GP_BITS & ~withheld_))
    if (select_[n] != 0) access_.wrmsr(select_address(n), select_[n]);
}

std::vector<GuestRegister> CounterBank::guest_registers(u64 except) const {
  std::vector<GuestRegister> all;
  const auto add = [&](u32 address, u64 host, u64 guest) {
    if (host != guest) all.push_back({address, host, guest});
  };
  const u64 hosts = hosts_ | except;
  if (has_global()) {
    add(msr::PERF_GLOBAL_CTRL, global_ctrl_ & ~withheld_, global_ctrl_ & ~hosts);
    return all;
  }
  for (const unsigned n : set_bits(counters_ & counter::GP_BITS))
    add(select_address(n), (withheld_ & bit(n)) == 0 ? select_[n] : 0,
        (hosts & bit(n)) == 0 ? select_[n] : 0);
  return all;
}

void CounterBank::disable_all() {
  enabled_ = false;
  if (has_global()) {
    access_.wrmsr(msr::PERF_GLOBAL_CTRL, 0);
    return;
  }
  for (const unsigned n : set_bits(counters_ & counter::GP_BITS & ~withheld_))
    if (select_[n] != 0) access_.wrmsr(select_address(n), select_[n] & ~msr::evtsel::EN);
}

void CounterBank::exercise(std::span<const u64> selects) {
  for (unsigned n = 0; n < selects.size(); ++n) {
    access_.wrmsr(select_address(n), selects[n]);
    write(n, 0);
  }
  access_.wrmsr(msr::PERF_GLOBAL_CTRL, low_bits(static_cast<unsigned>(selects.size())));
  access_.wrmsr(msr::PERF_GLOBAL_CTRL, 0);
}

void CounterBank::resume(unsigned gp) { access_.wrmsr(select_address(gp), select_[gp]); }

u64 CounterBank::status() { return access_.read(msr::PERF_GLOBAL_STATUS); }

void CounterBank::acknowledge(u64 status) { access_.wrmsr(msr::PERF_GLOBAL_STATUS_RESET, status); }

}  // namespace pmusim::driver
