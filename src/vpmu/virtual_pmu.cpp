// SPDX-License-Identifier: MIT
#include "vpmu/virtual_pmu.h"

#include <fmt/format.h>

#include <cerrno>
#include <stdexcept>
#include <utility>

#include "pmusim/arch/msr.h"

namespace pmusim::vpmu {

std::vector<std::string> warnings(const GuestStatistics& statistics) {
  if (statistics.starved_entries == 0) return {};
  return {fmt::format("at {} of {} entries the host had no counter for one of the guest's, which stood still",
                      statistics.starved_entries, statistics.entries)};
}

Result<std::unique_ptr<GuestPmu>, KernelError> GuestPmu::create(GuestKind kind, const Hypervisor& host) {
  const CpuModel& model = host.pmu.model();
  if (model.vendor != Vendor::intel || model.hybrid || model.perfmon_version < 2)
    return Failure(KernelError(
        ENODEV, fmt::format("{}: guests have a PMU on Intel's parts of one kind of core with perfmon 2 on",
                            model.title)));
  if (host.perf.cpu(host.cpu).current_tid() == 0)
    return Failure(KernelError(ESRCH, fmt::format("cpu: no task runs on CPU {}", host.cpu)));
  if (kind == GuestKind::emulated) return make_emulated(host);
  if (const auto added = host.perf.add_mediated_guest(); !added.ok()) return Failure(added.error());
  return make_mediated(host);
}

void VirtualPmu::write_host(u32 address, u64 value) {
  if (host_.pmu.wrmsr(address, value) != Fault::none)
    throw std::logic_error("guest's PMU: " + host_.pmu.why());
}

void VirtualPmu::enter() {
  if (in_guest_) throw std::logic_error("guest's PMU: entered twice");
  set_time();
  if (registers_.interrupt(frame_)) ++statistics_.interrupts;
  load();
  host_debugctl_ = read_host(msr::DEBUGCTL);
  if (host_debugctl_ != 0) write_host(msr::DEBUGCTL, 0);
  host_.pmu.set_vm_mode(VmMode::guest);
  ++statistics_.entries;
  in_guest_ = true;
}

void VirtualPmu::exit(const InterruptFrame& frame) {
  frame_ = frame;
  if (host_.pmu.pmi_pending()) host_.pmu.interrupt(frame);
  leave();
}

/// A guest has no DEBUGCTL of its own, and hardware leaves none after an exit: it is 0 up to here.
void VirtualPmu::leave() {
  if (!std::exchange(in_guest_, false)) throw std::logic_error("guest's PMU: left twice");
  set_time();
  host_.pmu.set_vm_mode(VmMode::host);
  if (host_debugctl_ != 0) write_host(msr::DEBUGCTL, host_debugctl_);
  unload();
}

void VirtualPmu::handle_pmi(const InterruptFrame& frame) {
  if (!in_guest_) {
    set_time();
    return host_.driver.handle_pmi(frame);
  }
  frame_ = frame;
  leave();
  interrupted_ = perf::GuestCode{frame.registers.rip, frame.cpl};
  InterruptFrame of_hypervisor;
  of_hypervisor.registers.rip = host_.exit_ip;
  of_hypervisor.cpl = Cpl::kernel;
  take_pmi(of_hypervisor);
  interrupted_.reset();
  enter();
}

template <class Access>
auto VirtualPmu::emulate(Access access) {
  if (!in_guest_) return access();
  leave();
  const auto result = access();
  enter();
  return result;
}

FaultOr<u64> VirtualPmu::rdmsr(u32 address) {
  if (address == msr::TSC) return host_.pmu.rdtsc();
  return emulate([&] { return registers_.rdmsr(address); });
}

Fault VirtualPmu::wrmsr(u32 address, u64 value) {
  return emulate([&] { return registers_.wrmsr(address, value); });
}

FaultOr<u64> VirtualPmu::rdpmc(u32 ecx) {
  return emulate([&] { return registers_.rdpmc(ecx); });
}

}  // namespace pmusim::vpmu
