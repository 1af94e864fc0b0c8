// SPDX-License-Identifier: MIT
// A guest that has the host's counters while it runs (Linux 7.0: kvm_mediated_pmu_load and _put).
#include "pmusim/arch/msr.h"
#include "vpmu/virtual_pmu.h"

namespace pmusim::vpmu {
namespace {

/// Interrupts that are the guest's have a vector of their own (Linux: PERF_GUEST_MEDIATED_PMI_VECTOR). As an
/// exit takes them whether or not the guest takes interrupts, they are delivered as the host's are.
constexpr u64 guest_lvtpc = msr::lvtpc::NMI | 0xF5;

/// Full-width, which hosts of such guests have.
u32 counter_address(unsigned counter) {
  return counter < first_fixed ? msr::A_PMC0 + counter : msr::FIXED_CTR0 + (counter - first_fixed);
}

class MediatedPmu final : public VirtualPmu {
 public:
  using VirtualPmu::VirtualPmu;
  ~MediatedPmu() override {
    if (in_guest()) leave();
    host_.perf.remove_mediated_guest();
  }
  MediatedPmu(const MediatedPmu&) = delete;
  MediatedPmu& operator=(const MediatedPmu&) = delete;

 private:
  void load() override;
  void unload() override;
  void take_pmi(const InterruptFrame&) override { registers_.request_pmi(); }
  void set_select(unsigned counter, u64 select) {
    if (counter < first_fixed) write_host(msr::PERFEVTSEL0 + counter, select);
  }

  u64 host_lvtpc_ = 0;
};

/// Nothing counts before the last of the writes, which is the entry's own.
void MediatedPmu::load() {
  cpu().load_guest();
  host_lvtpc_ = read_host(msr::X2APIC_LVTPC);
  write_host(msr::PERF_GLOBAL_CTRL, 0);
  write_host(msr::X2APIC_LVTPC, guest_lvtpc);
  for (const unsigned counter : set_bits(registers_.counters())) {
    if (counter < first_fixed)  // pin control does nothing, and version 6 has none
      set_select(counter, registers_.at(msr::PERFEVTSEL0 + counter) & ~msr::evtsel::PC);
    write_host(counter_address(counter), registers_.count(counter));
  }
  write_host(msr::FIXED_CTR_CTRL, registers_.at(msr::FIXED_CTR_CTRL));
  if (registers_.status() != 0) write_host(msr::PERF_GLOBAL_STATUS_SET, registers_.status());
  write_host(msr::PERF_GLOBAL_CTRL, registers_.at(msr::PERF_GLOBAL_CTRL));
}

/// Nothing of the guest's is left behind, and the host's driver lets its own counters count.
void MediatedPmu::unload() {
  write_host(msr::PERF_GLOBAL_CTRL, 0);
  for (const unsigned counter : set_bits(registers_.counters())) {
    registers_.set_count(counter, read_host(counter_address(counter)));
    set_select(counter, 0);
    write_host(counter_address(counter), 0);
  }
  write_host(msr::FIXED_CTR_CTRL, 0);
  const u64 status = read_host(msr::PERF_GLOBAL_STATUS);
  registers_.set_status(status & registers_.counters());
  write_host(msr::PERF_GLOBAL_STATUS_RESET, status);
  write_host(msr::X2APIC_LVTPC, host_lvtpc_);
  cpu().put_guest();
}

}  // namespace

std::unique_ptr<GuestPmu> make_mediated(const Hypervisor& host) {
  return std::make_unique<MediatedPmu>(host);
}

}  // namespace pmusim::vpmu
