// SPDX-License-Identifier: MIT
#ifndef PMUSIM_DRIVER_LINUX_CHANGES_H
#define PMUSIM_DRIVER_LINUX_CHANGES_H

// What the driver does differently from one Linux release to another, beside what options.h says.

#include "pmusim/driver/drivers.h"

namespace pmusim::driver::change {

using perf::Change;
using perf::Kernel;

/// PEBS samples of several events leave a drain as the records came.
inline constexpr Change drain_in_record_order{Kernel::v6_14};
/// A new period of frequency mode acts on the very next PEBS interval.
inline constexpr Change overflow_before_rearming{Kernel::v6_14};
/// Counter values in adaptive PEBS records.
inline constexpr Change counter_snapshots{Kernel::v6_15};
/// Call stacks of the LBR go with their task for events of the CPU too.
inline constexpr Change call_stacks_of_cpu_events{Kernel::v6_15};
/// AMD: samples of IBS can be filtered by privilege in software.
inline constexpr Change ibs_software_filter{Kernel::v6_14};
/// AMD: periods of IBS have a least one for each unit and may be any number.
inline constexpr Change ibs_period_rules{Kernel::v6_15};
/// AMD: IBS is switched off before an event starts on it, and each sample that software drops counts as an
/// interrupt.
inline constexpr Change ibs_interrupts_accounted{Kernel::v7_1};
/// CPUID leaf 23H describes every CPU; before, those of a hybrid only.
inline constexpr Change perfmon_ext_of_all{Kernel::v6_16};
/// Event tables of Cougar Cove and Darkmont.
inline constexpr Change cougar_cove{Kernel::v6_16};
/// Architectural PEBS.
inline constexpr Change arch_pebs{Kernel::v6_19};
/// Counters that user code may not read.
inline constexpr Change rdpmc_user_disable{Kernel::v7_0};
/// Event tables, data sources and OMR events of Panther Cove and Arctic Wolf.
inline constexpr Change panther_cove{Kernel::v7_0};
/// A stack of user branches holds none that left the kernel.
inline constexpr Change user_branches_start_in_user_code{Kernel::v7_1, true};
/// Event tables as corrected by then, of cores that 6.12 knows: fixed counters by the codes of all of them,
/// counters of precise events, values of last-level events. (What Linux 7.3 has and 6.12 has not; in between
/// is not known.)
inline constexpr Change corrected_tables{Kernel::v7_3};
/// Call stacks of the LBR belong to the thread that an event was opened for. (In 7.3 and not in 6.12; in
/// between is not known.)
inline constexpr Change call_stacks_by_target{Kernel::v7_3};
/// Whether a hybrid's core has metrics is what its own PERF_CAPABILITIES says. (In 7.3 and not in 6.12; in
/// between is not known.)
inline constexpr Change capabilities_as_each_core_reads{Kernel::v7_3};
/// Of a group with auto counter reload that is on the PMU already, members start anew if their counter or its
/// causes change; before, as it was posted, all of them. (In 7.3; no release between 6.12 and it is known.)
inline constexpr Change reloads_restart_if_changed{Kernel::v7_3};
/// A member of a snapshot group stops without a drain, and is read from the records of its group's members
/// alone; a recorded value that lies behind what the counter was last seen with counts as a round of it.
/// (In 7.3; no release between 6.12 and it is known.)
inline constexpr Change snapshots_as_in_7_3{Kernel::v7_3};
/// An event that is stopped and has to take another counter presets it, and stays stopped. (In 7.3 and not in
/// 6.12; in between is not known.)
inline constexpr Change stopped_events_preset{Kernel::v7_3};
/// Slots whose RDPMC clears the metrics (config1 bit 0). (In 7.3 and not in 6.12; in between is not known.)
inline constexpr Change metrics_clear{Kernel::v7_3};

/// A drain of architectural PEBS that finds no record brings the event on GP 6 up to date and no other: the
/// number of counters, 64, is taken for a mask of them. (In 7.3; no release between 6.12 and it is known.)
inline constexpr Change empty_drains_as_in_7_3{Kernel::v7_3};

}  // namespace pmusim::driver::change

#endif
