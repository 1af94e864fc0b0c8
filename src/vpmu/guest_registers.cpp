// SPDX-License-Identifier: MIT
#include "vpmu/guest_registers.h"

#include "arch/misc_enable.h"
#include "arch/rdpmc.h"
#include "pmusim/arch/msr.h"

namespace pmusim::vpmu {

namespace {

/// Architectural events of the fixed counters, as an event select names them.
constexpr std::array<u64, 3> fixed_events{0x00C0, 0x003C, 0x0300};

}  // namespace

CpuModel guest_model(const CpuModel& host) {
  constexpr u32 most_gp = 0xFF, most_fixed = 0x7;
  CpuModel guest = host;
  guest.perfmon_version = 2;
  guest.gp_counters &= most_gp;
  guest.gp_counters_smt_off = 0;
  guest.fixed_counters &= most_fixed;
  guest.package_view.reset();
  guest.perf_capabilities &= msr::perf_cap::FW_WRITE;
  guest.misc_enable |= msr::misc_enable::BTS_UNAVAILABLE | msr::misc_enable::PEBS_UNAVAILABLE;
  guest.freeze = FreezeStyle::legacy;
  guest.anythread = guest.rtm = guest.hle = guest.arch_perfmon_ext = false;
  guest.has_pperf = guest.has_tsx_force_abort = guest.has_bus_lock_detect = false;
  guest.metrics_levels = 0;
  guest.offcore_rsp = {};
  guest.omr = guest.snoop_rsp = 0;
  guest.lbr = {};
  guest.pebs = {};
  guest.acr = {};
  guest.policies.pmi_while_masked = 1;  // KVM's local APIC loses what an entry masks
  return guest;
}

/// The counter whose count an address has, by whichever of its names.
std::optional<unsigned> GuestRegisters::counter_at(u32 address) const {
  const Register* const found = file_.registers().find(address);
  if (found == nullptr) return std::nullopt;
  const u32 number = found->number;
  if (found->storage == msr::PMC0 + number) return number;
  if (found->storage == msr::FIXED_CTR0 + number) return first_fixed + number;
  return std::nullopt;
}

FaultOr<u64> GuestRegisters::rdmsr(u32 address) {
  const FaultOr<u64> value = file_.rdmsr(address);
  if (!value.ok()) return value;
  if (address == msr::PERF_GLOBAL_STATUS) return status_;
  const auto counter = counter_at(address);
  return counter ? counts_[*counter] : value;
}

Fault GuestRegisters::wrmsr(u32 address, u64 value) {
  if (address == msr::DEBUGCTL) {  // what a guest without branch records may write there is lost
    const u64 dropped = msr::debugctl::LBR | msr::debugctl::BTF;
    return (value & ~dropped) == 0 ? Fault::none : Fault::gp;
  }
  const Fault fault = file_.wrmsr(address, value);
  if (fault != Fault::none) return fault;
  if (address == msr::PERF_GLOBAL_STATUS_RESET) status_ &= ~value;
  if (const auto counter = counter_at(address)) counts_[*counter] = *file_.rdmsr(address);
  return Fault::none;
}

FaultOr<u64> GuestRegisters::rdpmc(u32 ecx) {
  const FaultOr<u64> value = file_.rdpmc(ecx);
  if (!value.ok()) return value;
  const u32 number = ecx & 0xFFFF;
  return counts_[ecx >> 16 == rdpmc::TYPE_FIXED ? first_fixed + number : number];
}

CpuidResult GuestRegisters::cpuid(u32 leaf, u32 subleaf) {
  constexpr u32 features = 1, perfmon = 0xA, hypervisor = u32{1} << 31, no_anythread = u32{1} << 15;
  CpuidResult result = file_.cpuid(leaf, subleaf);
  if (leaf == features) result.ecx |= hypervisor;
  if (leaf == perfmon) result.edx |= no_anythread;
  return result;
}

u64 GuestRegisters::select(unsigned counter) {
  namespace e = msr::evtsel;
  namespace f = msr::fixed_ctrl;
  if ((at(msr::PERF_GLOBAL_CTRL) & bit(counter)) == 0) return 0;
  if (counter < first_fixed) {
    const u64 select = at(msr::PERFEVTSEL0 + counter);
    return (select & e::EN) != 0 && (select & (e::USR | e::OS)) != 0 ? select : 0;
  }
  const unsigned fixed = counter - first_fixed;
  const u64 control = at(msr::FIXED_CTR_CTRL) >> (4 * fixed);
  if ((control & (f::USR | f::OS)) == 0) return 0;
  return fixed_events[fixed] | e::EN | ((control & f::USR) != 0 ? e::USR : 0) |
         ((control & f::OS) != 0 ? e::OS : 0) | ((control & f::PMI) != 0 ? e::INT : 0);
}

bool GuestRegisters::interrupt(const InterruptFrame& frame) {
  file_.set_extended_state(frame.extended);
  return file_.interrupt(frame);
}

}  // namespace pmusim::vpmu
