// SPDX-License-Identifier: MIT
#ifndef PMUSIM_PERF_KERNEL_H
#define PMUSIM_PERF_KERNEL_H

#include <string>
#include <string_view>
#include <vector>

#include "pmusim/base/error.h"
#include "pmusim/perf/abi.h"

/// Which kernel is emulated, how it is set up, and what it lets its caller do.
namespace pmusim::perf {

/// The Linux release whose perf_event behaviour is emulated, oldest first. A release that is not listed
/// behaves as the one before it. 6.12 is the stable series with its fixes up to 6.12.117.
enum class Kernel : u8 {
  v6_12,
  v6_14,
  v6_15,
  v6_16,
  v6_19,
  v7_0,
  v7_1,
  v7_1_simd,  ///< 7.1 with revision 7 of the patch series for SIMD register sampling
  v7_3,       ///< as 7.3.4 of Debian has it
  v7_4,       ///< SIMD register sampling as it was posted for merging
};
inline constexpr Kernel default_kernel = Kernel::v7_3;

/// Something that some releases do and others do not; docs/perf-abi-notes.md tells each at length.
struct Change {
  Kernel since;
  bool in_stable_6_12 = false;  ///< reached 6.12 by way of its stable series
};

/// Of the perf core. A PMU driver has its own.
namespace change {
inline constexpr Change branch_stack_limit{Kernel::v6_15};  ///< sample_max_stack limits branch entries too
inline constexpr Change group_throttling{
    Kernel::v6_16};  ///< an event that interrupts too often stops its whole group
inline constexpr Change kernel_chains_need_rights{
    Kernel::v7_3, true};  ///< call chains and text pokes of the kernel, whatever the event counts
/// What an inherited event has counted goes to the original before the event ends: the time for which it
/// waited for its turn at last is not in it.
inline constexpr Change children_fold_early{Kernel::v7_3};
/// A sample of an event that excludes the kernel shows nothing of registers that are the kernel's.
inline constexpr Change kernel_registers_hidden{Kernel::v7_3};
}  // namespace change

/// Whether `kernel` behaves in the changed way.
constexpr bool has(Kernel kernel, const Change& change) {
  return kernel >= change.since || (kernel == Kernel::v6_12 && change.in_stable_6_12);
}

/// "6.12": as --kernel takes it, and the OSRELEASE of a recorded file.
std::string_view name_of(Kernel kernel);
/// Errors: no such kernel, with the names that there are.
Result<Kernel, Error> find_kernel(std::string_view name);
/// Oldest first.
std::vector<std::string_view> kernel_names();
/// "Linux 6.16": the first release with the change, for refusals.
std::string first_release_with(const Change& change);

/// How SIMD registers are sampled, if at all.
constexpr SimdAbi simd_abi(Kernel kernel) {
  if (kernel == Kernel::v7_1_simd) return SimdAbi::series_v7;
  return kernel >= Kernel::v7_4 ? SimdAbi::merged : SimdAbi::none;
}

/// The release that has `simd`; of those without it the newest.
constexpr Kernel kernel_with(SimdAbi simd) {
  if (simd == SimdAbi::none) return Kernel::v7_3;
  return simd == SimdAbi::series_v7 ? Kernel::v7_1_simd : Kernel::v7_4;
}

/// What registers the kernel of this architecture can sample at all.
enum class RegisterSampling : u8 {
  none,     ///< no register
  general,  ///< those that sample_regs_* name without SIMD sampling
  simd,     ///< all
};

/// Settings of the system (sysctl kernel.perf_*) and rights of the caller. The default caller may do
/// anything: a replay owns all that it observes.
struct Limits {
  int paranoid = 2;              ///< perf_event_paranoid
  bool perfmon_capable = true;   ///< CAP_PERFMON
  bool ipc_lock_capable = true;  ///< CAP_IPC_LOCK
  /// PHYS_ADDR is permitted whatever the two say: to who may know them without any kernel mode to watch.
  bool physical_addresses = false;
  /// So are kernel call chains of events that exclude the kernel: where there is no kernel mode to watch.
  bool kernel_chains = false;
  u32 mlock_kib = 516;  ///< perf_event_mlock_kb, for each CPU
  u32 max_sample_rate = 100'000;
  u16 max_stack = 127;
  bool cgroups = true;
  Kernel kernel = default_kernel;  ///< the release that this system runs
  RegisterSampling register_sampling = RegisterSampling::simd;

  SimdAbi simd() const { return simd_abi(kernel); }
  bool may_see_kernel() const { return paranoid <= 1 || perfmon_capable; }
  bool may_see_cpu() const { return paranoid <= 0 || perfmon_capable; }
};

}  // namespace pmusim::perf

#endif
