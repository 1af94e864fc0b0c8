// SPDX-License-Identifier: MIT
#ifndef PMUSIM_VPMU_VPMU_H
#define PMUSIM_VPMU_VPMU_H

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "pmusim/base/bus.h"
#include "pmusim/cpu/model.h"
#include "pmusim/driver/drivers.h"
#include "pmusim/perf/core.h"
#include "pmusim/pmu/pmu.h"

/// A guest's own PMU on that of its host, for whoever writes a hypervisor, or a driver that runs in one. What
/// KVM does on Intel (arch/x86/kvm/pmu.c, vmx/pmu_intel.c), in either of its two ways:
/// @code
/// Pmu pmu(*find_cpu_model("icelake"));
/// const auto driver = driver::create_driver(pmu);
/// const auto perf = perf::PerfCore::create(*driver);
/// driver->attach(perf->cpu(0));
/// perf->task_started(100, 100, "vcpu");
/// perf->cpu(0).switch_to(100);
///
/// const auto guest = vpmu::GuestPmu::create(vpmu::GuestKind::emulated, {pmu, *driver, *perf}).value();
/// pmu.set_pmi_handler(guest.get());  // what comes in the guest is an exit; all else goes to the driver
/// const auto guest_driver = driver::create_driver(*guest);
/// const auto guest_perf = perf::PerfCore::create(*guest_driver);
/// guest_driver->attach(guest_perf->cpu(0));
/// guest->set_guest_handler(guest_driver.get());
///
/// guest->enter();
/// pmu.retire({.ip = 0x401000, .next_ip = 0x401001, .cycle = 1, .signals = {Signal::instruction}});
/// guest->exit({.registers = {.rip = 0x401001}});
/// @endcode
namespace pmusim::vpmu {

enum class GuestKind : u8 {
  /// Each counter that the guest lets count is an event of the host's perf core: pinned, on the thread of the
  /// virtual CPU, without the host. It counts on whatever counter the host has to spare, or not at all.
  emulated,
  /// While it runs the guest has the counters for itself, and no event of the host counts there (Linux 7.0).
  mediated,
};

/// Where a virtual CPU runs.
struct Hypervisor {
  Pmu& pmu;
  driver::CoreDriver& driver;  ///< of `pmu`
  perf::PerfCore& perf;        ///< has `driver` on CPU `cpu`
  u32 cpu = 0;
  u64 exit_ip = 0xFFFF'FFFF'C000'0000;  ///< where the hypervisor goes on after an exit: at ring 0
};

/// What the guest itself cannot know.
struct GuestStatistics {
  u64 entries = 0;     ///< those after an access to a register among them
  u64 interrupts = 0;  ///< PMIs that the guest has taken
  /// Entries at which the host had no counter for one that the guest lets count. It stood still until the
  /// exit.
  u64 starved_entries = 0;
};

/// What makes the guest's counts doubtful, a sentence each; empty where all went well.
std::vector<std::string> warnings(const GuestStatistics& statistics);

/// The PMU of one virtual CPU: a Bus for the guest's driver, and an entry and an exit for the hypervisor.
///
/// The guest has architectural perfmon of version 2, with up to eight general and three fixed
/// counters as wide as the host's, full-width writes if the host has them, and no PEBS, LBR, BTS, TSX or
/// AnyThread; CPUID says so, and that there is a hypervisor. Reserved bits and absent registers fault as on
/// such a CPU. DEBUGCTL drops LBR and BTF, and faults at the rest. Memory that the guest maps is its own.
///
/// Its instructions retire on the host's Pmu, between enter() and exit(). Accesses of its driver may come in
/// between, each of which is an exit and an entry, and outside.
///
/// A PMI of the host is an exit at the instruction where it comes, and the guest takes its own with the entry
/// that follows, if its LVTPC lets it pass. Nothing that the hypervisor does takes time. The host's events
/// are opened and closed outside of the guest.
class GuestPmu : public Bus, public PmiHandler {
 public:
  /// The task that runs on the CPU is the thread of the virtual CPU. All that `host` refers to must outlive
  /// the guest. Errors: ESRCH (no task runs there); ENODEV (AMD's parts, hybrid ones, perfmon below 2); of
  /// a mediated guest, those of PerfCore::add_mediated_guest().
  [[nodiscard]] static Result<std::unique_ptr<GuestPmu>, KernelError> create(GuestKind kind,
                                                                             const Hypervisor& host);

  /// Who handles the guest's PMIs: its driver. Null: they stay pending.
  virtual void set_guest_handler(PmiHandler* handler) = 0;

  /// VM entry. The guest takes a PMI that is pending; then it has its registers on the host's Pmu, or those
  /// of the host's events that tell guests apart (CoreDriver::guest_registers), and DEBUGCTL is 0. Throws
  /// std::logic_error without an exit in between, as exit() does without an entry.
  virtual void enter() = 0;
  /// VM exit; `frame` is the guest's, which goes on there with the next entry. A PMI that is on its way is
  /// taken before. DEBUGCTL is 0 after an exit until the hypervisor restores it, which it does here.
  virtual void exit(const InterruptFrame& frame) = 0;
  virtual bool in_guest() const = 0;

  /// A PMI of the host's Pmu: in the guest an exit and an entry around what is done for it, else for the
  /// host's driver alone.
  void handle_pmi(const InterruptFrame& frame) override = 0;
  /// Meanwhile: the code of the guest that was interrupted, for perf::Target::guest().
  virtual std::optional<perf::GuestCode> interrupted() const = 0;

  /// The model of a CPU as the guest sees it.
  virtual const CpuModel& model() const = 0;
  virtual GuestStatistics statistics() const = 0;
};

}  // namespace pmusim::vpmu

#endif
