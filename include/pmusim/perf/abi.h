// SPDX-License-Identifier: MIT
#ifndef PMUSIM_PERF_ABI_H
#define PMUSIM_PERF_ABI_H

#include <string>
#include <string_view>
#include <vector>

#include "pmusim/base/types.h"

/// The perf_event ABI: names, numbers and layouts of <linux/perf_event.h>, declared here so that every
/// version (VER0 to VER10) is known wherever pmusim is built.
namespace pmusim::perf {

enum class EventType : u32 { hardware, software, tracepoint, hw_cache, raw, breakpoint };

enum class HardwareId : u32 {
  cpu_cycles,
  instructions,
  cache_references,
  cache_misses,
  branch_instructions,
  branch_misses,
  bus_cycles,
  stalled_cycles_frontend,
  stalled_cycles_backend,
  ref_cycles,
  count_,
};
enum class SoftwareId : u32 {
  cpu_clock,
  task_clock,
  page_faults,
  context_switches,
  cpu_migrations,
  page_faults_min,
  page_faults_maj,
  alignment_faults,
  emulation_faults,
  dummy,
  bpf_output,
  cgroup_switches,
  count_,
};

namespace sample {  // attr.sample_type
inline constexpr u64 IP = bit(0), TID = bit(1), TIME = bit(2), ADDR = bit(3), READ = bit(4),
                     CALLCHAIN = bit(5), ID = bit(6), CPU = bit(7), PERIOD = bit(8), STREAM_ID = bit(9),
                     RAW = bit(10), BRANCH_STACK = bit(11), REGS_USER = bit(12), STACK_USER = bit(13),
                     WEIGHT = bit(14), DATA_SRC = bit(15), IDENTIFIER = bit(16), TRANSACTION = bit(17),
                     REGS_INTR = bit(18), PHYS_ADDR = bit(19), AUX = bit(20), CGROUP = bit(21),
                     DATA_PAGE_SIZE = bit(22), CODE_PAGE_SIZE = bit(23), WEIGHT_STRUCT = bit(24);
inline constexpr u64 ALL = low_bits(25);
}  // namespace sample

namespace read_format {
inline constexpr u64 TOTAL_TIME_ENABLED = bit(0), TOTAL_TIME_RUNNING = bit(1), ID = bit(2), GROUP = bit(3),
                     LOST = bit(4);
inline constexpr u64 ALL = low_bits(5);
}  // namespace read_format

namespace branch {  // attr.branch_sample_type
inline constexpr u64 USER = bit(0), KERNEL = bit(1), HV = bit(2), ANY = bit(3), ANY_CALL = bit(4),
                     ANY_RETURN = bit(5), IND_CALL = bit(6), ABORT_TX = bit(7), IN_TX = bit(8),
                     NO_TX = bit(9), COND = bit(10), CALL_STACK = bit(11), IND_JUMP = bit(12), CALL = bit(13),
                     NO_FLAGS = bit(14), NO_CYCLES = bit(15), TYPE_SAVE = bit(16), HW_INDEX = bit(17),
                     PRIV_SAVE = bit(18), COUNTERS = bit(19);
inline constexpr u64 PLM_ALL = USER | KERNEL | HV;
inline constexpr u64 ALL = low_bits(20);
}  // namespace branch

/// BranchEntry::type, PERF_BR_*.
namespace branch_type {
inline constexpr u8 UNKNOWN = 0, COND = 1, UNCOND = 2, IND = 3, CALL = 4, IND_CALL = 5, RET = 6, SYSCALL = 7,
                    SYSRET = 8, ERET = 11, IRQ = 12, NO_TX = 14;
}  // namespace branch_type

/// The two forms of the SIMD register sampling ABI (docs/sampled-registers.md): revision 7 of the patch
/// series, and what was merged. They differ in three fields of perf_event_attr, in which masks are legal, and
/// in the width of the counts in a sample. `Attr` has the merged layout. Older releases have neither: `none`.
enum class SimdAbi : u8 { none, series_v7, merged };

/// Whose registers: REGS_USER or REGS_INTR.
enum class RegisterSide : u8 { user, interrupt };

/// perf_event_attr in its newest form (VER10, merged layout). Older sizes are prefixes of it.
struct Attr {
  u32 type = 0;
  u32 size = 128;
  u64 config = 0;
  u64 sample_period = 0;  ///< or sample_freq with flag `freq`
  u64 sample_type = 0;
  u64 read_format = 0;
  u64 disabled : 1 = 0, inherit : 1 = 0, pinned : 1 = 0, exclusive : 1 = 0, exclude_user : 1 = 0,
                 exclude_kernel : 1 = 0, exclude_hv : 1 = 0, exclude_idle : 1 = 0, mmap : 1 = 0, comm : 1 = 0,
                 freq : 1 = 0, inherit_stat : 1 = 0, enable_on_exec : 1 = 0, task : 1 = 0, watermark : 1 = 0,
                 precise_ip : 2 = 0, mmap_data : 1 = 0, sample_id_all : 1 = 0, exclude_host : 1 = 0,
                 exclude_guest : 1 = 0, exclude_callchain_kernel : 1 = 0, exclude_callchain_user : 1 = 0,
                 mmap2 : 1 = 0, comm_exec : 1 = 0, use_clockid : 1 = 0, context_switch : 1 = 0,
                 write_backward : 1 = 0, namespaces : 1 = 0, ksymbol : 1 = 0, bpf_event : 1 = 0,
                 aux_output : 1 = 0, cgroup : 1 = 0, text_poke : 1 = 0, build_id : 1 = 0,
                 inherit_thread : 1 = 0, remove_on_exec : 1 = 0, sigtrap : 1 = 0, defer_callchain : 1 = 0,
                 defer_output : 1 = 0, reserved_1 : 24 = 0;
  u32 wakeup_events = 0;  ///< or wakeup_watermark with flag `watermark`
  u32 bp_type = 0;
  u64 config1 = 0;
  u64 config2 = 0;
  u64 branch_sample_type = 0;
  u64 sample_regs_user = 0;
  u32 sample_stack_user = 0;
  i32 clockid = 0;
  u64 sample_regs_intr = 0;
  u32 aux_watermark = 0;
  u16 sample_max_stack = 0;
  u16 reserved_2 = 0;
  u32 aux_sample_size = 0;
  u32 aux_action = 0;
  u64 sig_data = 0;
  u64 config3 = 0;
  u64 config4 = 0;
  u16 sample_simd_regs_enabled = 0;
  u16 sample_simd_pred_reg_qwords = 0;
  u16 sample_simd_vec_reg_qwords = 0;
  u16 reserved_4 = 0;
  u32 sample_simd_pred_reg_intr = 0;
  u32 sample_simd_pred_reg_user = 0;
  u64 sample_simd_vec_reg_intr = 0;
  u64 sample_simd_vec_reg_user = 0;
};
static_assert(sizeof(Attr) == 176);
static_assert(offsetof(Attr, wakeup_events) == 48 && offsetof(Attr, branch_sample_type) == 72 &&
              offsetof(Attr, sample_regs_intr) == 96 && offsetof(Attr, config3) == 128);

/// Parts of the register state that a sample can ask for.
namespace register_set {
inline constexpr u32 GENERAL = 1, XMM = 2, YMM_HIGH = 4, ZMM_HIGH = 8, HI16_ZMM = 16, OPMASK = 32, EGPR = 64,
                     SSP = 128;
inline constexpr u32 EXTENDED = XMM | YMM_HIGH | ZMM_HIGH | HI16_ZMM | OPMASK | EGPR | SSP;
}  // namespace register_set

/// Masks of sample_regs_* (<asm/perf_regs.h>): bits 24 to 31 are free without SIMD sampling, and from 32 up
/// are XMM halves; with it there are R16 to R31 and SSP.
namespace register_mask {
inline constexpr u64 GENERAL = 0x00ff'0fff, XMM_HALVES = bits(63, 32), EGPR = bits(39, 24), SSP = bit(40);
}  // namespace register_mask

/// The register sets that one side of the attribute takes values from: none unless sample_type has the side.
/// A vector is as wide as the event's width, and needs every set up to that.
u32 needed_registers(const Attr& attr, RegisterSide side);
inline u32 needed_registers(const Attr& attr) {
  return needed_registers(attr, RegisterSide::user) | needed_registers(attr, RegisterSide::interrupt);
}

enum class RecordType : u32 {
  mmap = 1,
  lost,
  comm,
  exit,
  throttle,
  unthrottle,
  fork,
  read,
  sample,
  mmap2,
  aux,
  itrace_start,
  lost_samples,
  switch_,
  switch_cpu_wide,
  namespaces,
  ksymbol,
  bpf_event,
  cgroup,
  text_poke,
  aux_output_hw_id,
  callchain_deferred,
};

/// perf_event_header: what each record begins with. `size` in bytes, this included.
struct RecordHeader {
  u32 type = 0;
  u16 misc = 0;
  u16 size = 0;
};
static_assert(sizeof(RecordHeader) == 8);

/// PERF_FLAG_*, of perf_event_open.
namespace open_flag {
inline constexpr u64 NO_GROUP = bit(0), OUTPUT = bit(1), PID_CGROUP = bit(2), CLOEXEC = bit(3),
                     ALL = low_bits(4);
}

namespace misc {
inline constexpr u16 CPUMODE_MASK = 7, KERNEL = 1, USER = 2, GUEST_KERNEL = 4, GUEST_USER = 5;
inline constexpr u16 MMAP_DATA = 1 << 13, COMM_EXEC = 1 << 13, SWITCH_OUT = 1 << 13;
inline constexpr u16 EXACT_IP = 1 << 14, MMAP_BUILD_ID = 1 << 14, SWITCH_OUT_PREEMPT = 1 << 14;
}  // namespace misc

/// perf_branch_entry, 24 bytes, with its word of flags (<linux/perf_event.h>).
struct BranchEntry {
  u64 from = 0, to = 0;
  u64 mispred : 1 = 0, predicted : 1 = 0, in_tx : 1 = 0, abort : 1 = 0, cycles : 16 = 0, type : 4 = 0,
                spec : 2 = 0, new_type : 4 = 0, priv : 3 = 0, reserved : 31 = 0;
};
static_assert(sizeof(BranchEntry) == 24);

/// The flags of a BranchEntry as the one word that they are, for code that sets them all at once.
namespace branch_flags {
inline constexpr u64 MISPRED = bit(0), PREDICTED = bit(1), IN_TX = bit(2), ABORT = bit(3);
inline constexpr unsigned CYCLES_LOW = 4, TYPE_LOW = 20, RESERVED_LOW = 33;
}  // namespace branch_flags

}  // namespace pmusim::perf

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
inline constexpr Change mediated_guests{Kernel::v7_0};  ///< a guest can have a PMU for itself
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
  /// So are all tasks of a CPU, and software events that count in the kernel: clocks, context switches and
  /// migrations, which are known without any kernel mode to watch.
  bool cpus = false;
  u32 mlock_kib = 516;  ///< perf_event_mlock_kb, for each CPU
  u32 max_sample_rate = 100'000;
  u16 max_stack = 127;
  bool cgroups = true;
  Kernel kernel = default_kernel;  ///< the release that this system runs
  RegisterSampling register_sampling = RegisterSampling::simd;

  SimdAbi simd() const { return simd_abi(kernel); }
  bool may_see_kernel() const { return paranoid <= 1 || perfmon_capable; }
  bool may_see_cpu() const { return paranoid <= 0 || perfmon_capable || cpus; }
};

}  // namespace pmusim::perf

#endif
