// SPDX-License-Identifier: MIT
#ifndef PMUSIM_SRC_PERF_ATTR_CHECK_H
#define PMUSIM_SRC_PERF_ATTR_CHECK_H

#include <span>

#include "pmusim/base/types.h"
#include "pmusim/perf/abi.h"
#include "pmusim/perf/driver.h"

/// The checks of perf_event_open that need nothing but the attribute and the system's settings, in the order
/// of docs/perf-abi-notes.md, "Order of the checks". Letters and numbers in comments are that table's.
namespace pmusim::perf {

namespace change {
inline constexpr Change config4{Kernel::v7_1};  ///< 144 bytes of attribute, of which config4 is the last
}  // namespace change

/// A1: takes an attribute of any size from memory of the caller. On E2BIG the size field in `user` becomes
/// that of the attribute that `kernel` knows. Errors: EFAULT (`user` is shorter than its size field says),
/// E2BIG.
Result<Attr, KernelError> copy_attr(std::span<std::byte> user, Kernel kernel = default_kernel);

/// A2 to A17. Returns the attribute as the event keeps it: branch privilege levels and stack limit filled in.
Result<Attr, KernelError> check_attr(Attr attr, const Limits& limits);

/// B5 to B10: what the caller may ask for. `pid` and `cpu` as in perf_event_open.
Result<Done, KernelError> check_rights(const Attr& attr, i32 pid, i32 cpu, u64 flags, const Limits& limits);

/// C6 to C12: what the PMU that took the event is capable of.
Result<Done, KernelError> check_capabilities(const Attr& attr, const PmuCapabilities& pmu,
                                             const Limits& limits);
/// C14.
Result<Done, KernelError> check_stack_depth(const Attr& attr, const Limits& limits);

/// B17: the clock that sample times are to come from. `interrupts_are_nmis`: the PMU reads it in an NMI.
Result<Done, KernelError> check_clock(const Attr& attr, bool interrupts_are_nmis);

/// B24: AUX areas do not exist here, so that no event can have the AUX leader that these attributes need.
Result<Done, KernelError> check_aux(const Attr& attr);

}  // namespace pmusim::perf

#endif
