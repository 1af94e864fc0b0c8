// SPDX-License-Identifier: MIT
#ifndef PMUSIM_CPU_MODEL_H
#define PMUSIM_CPU_MODEL_H

#include <array>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "pmusim/arch/debug_store.h"
#include "pmusim/arch/msr.h"
#include "pmusim/arch/xsave.h"
#include "pmusim/base/bus.h"
#include "pmusim/base/types.h"
#include "pmusim/cpu/core_parameters.h"
#include "pmusim/cpu/retirement.h"

/// A CPU as data: which design its core is of, what manuals leave open about it (`Policies`), and all else
/// that hardware and driver go by (`CpuModel`):
/// @code
/// CpuModel model = *find_cpu_model("icelake");
/// model.policies.pmi_skid_cycles = 0;
/// Pmu pmu(model);
/// @endcode
namespace pmusim {

enum class Vendor : u8 { intel, amd };

/// As CPUID leaf 0 spells it, and perf does in a file's CPUID.
constexpr std::string_view cpuid_name(Vendor vendor) {
  return vendor == Vendor::amd ? "AuthenticAMD" : "GenuineIntel";
}

enum class CoreType : u8 { core, atom };

// In the order in which models are listed: P cores, then Atoms, each by age. Each has a file of its name in
// src/cpu/cores, and Intel's have one in src/driver/intel/cores, too.
// clang-format off
#define PMUSIM_INTEL_CORES(EACH) \
  EACH(core2) EACH(nehalem) EACH(westmere) EACH(sandy_bridge) EACH(ivy_bridge) EACH(haswell) EACH(broadwell) \
  EACH(skylake) EACH(skylake_x) EACH(ice_lake) EACH(golden_cove) EACH(redwood_cove) EACH(lion_cove) \
  EACH(cougar_cove) EACH(panther_cove) EACH(coyote_cove) \
  EACH(bonnell) EACH(silvermont) EACH(knights_landing) EACH(goldmont) EACH(goldmont_plus) EACH(tremont) \
  EACH(gracemont) EACH(crestmont) EACH(skymont) EACH(darkmont) EACH(arctic_wolf)
#define PMUSIM_AMD_CORES(EACH) EACH(zen1) EACH(zen2) EACH(zen3) EACH(zen4) EACH(zen5)
// clang-format on

/// The microarchitectures that drivers and event tables tell apart.
enum class Microarchitecture : u8 {
  unknown,
#define PMUSIM_ENUMERATOR(core) core,
  PMUSIM_INTEL_CORES(PMUSIM_ENUMERATOR) PMUSIM_AMD_CORES(PMUSIM_ENUMERATOR)
#undef PMUSIM_ENUMERATOR
};

/// The core types that one CPUID display family and model stands for; the same unless the product is a hybrid
/// (leaf 1AH then tells which one is asked). Both are `unknown` for products that are not in the list.
struct ProductCores {
  Microarchitecture core = Microarchitecture::unknown, atom = Microarchitecture::unknown;
  bool hybrid() const { return core != atom; }
};

ProductCores product_cores(u32 family, u32 model);

/// Products whose PEBS Linux leaves off for its errata (Merom: AJ67 to AJ69, AJ106).
bool has_unreliable_pebs(u32 family, u32 model);

/// What manuals leave open, each with its default. `policy_table()` says what each number means and on what
/// it rests, docs/policies.md shows that as a page; `--policy NAME=VALUE` and `set_policy(policies, name,
/// value)` change one.
struct Policies {
  // PMI
  u32 pmi_skid_cycles = 24;
  u32 pebs_pmi_skid_cycles = 0;
  u32 pmi_while_masked = 0;
  u32 pmi_repeat = 1;
  u32 pmi_boundary = 0;
  u32 pmi_drain = 0;
  // core
  u32 prefetchers_off = 0;
  u32 pmi_cost_cycles = 0;
  u32 pmi_cost_instructions = 0;
  u32 pebs_assist_cycles = 0;
  u32 pebs_assist_line_cycles = 0;
  u32 tx_conflict_every = 0;
  // IBS
  u32 ibs_wrong_path_ops = 0;
  // counters
  u32 global_ctrl_reset = 0;
  u32 in_txcp_abort = 0;
  u32 evtsel_eq_without_cmask = 0;
  u32 status_set_cond_chgd = 0;
  u32 edge_history_at_enable = 0;
  // PEBS
  u32 pebs_arm_cycles = 4;
  u32 pebs_merge_cycles = 2;
  u32 pebs_reload_scope = 0;
  u32 pebs_reload_when_full = 1;
  u32 pebs_status_race = 0;
  u32 pebs_mixed_layout = 1;
  u32 pebs_fragment_bytes = 0;
  u32 pebs_vector_groups = 0;
  // LBR
  u32 lbr_callstack_pop_clears = 1;
  u32 lbr_callstack_underflow = 0;
  u32 lbr_tos_reserved_faults = 1;
  u32 lbr_depth_write_clears_ler = 0;
  u32 lbr_arch_canonical_faults = 1;
  u32 lbr_zero_call_recorded = 1;
  u32 lbr_abort_filtered = 1;
  u32 lbr_enable_restarts_cycles = 1;
  u32 lbr_info_reserved_faults = 1;
  u32 lbr_xsaves_beyond_depth = 0;
  // XSAVE
  u32 xsave_modified_optimization = 1;
  // ACR
  u32 acr_reload_extension = 0;
  u32 acr_tie = 0;
  u32 acr_lost_increment = 1;
};

/// One row of the list of policies: all that is said of one, but for its default, which `Policies` has.
struct PolicyInfo {
  std::string_view name;
  u32 Policies::*member;
  u32 greatest;              ///< the largest value that it takes; the smallest is 0
  std::string_view meaning;  ///< one sentence with what the values do
  std::string_view source;   ///< what manuals and drivers say, or do not
};

/// All policies, in the order of `Policies`.
std::span<const PolicyInfo> policy_table();

/// Sets one policy from text (a decimal or 0x number). Errors name the policy and near matches, or its range.
[[nodiscard]] Result<Done, Error> set_policy(Policies& policies, std::string_view name,
                                             std::string_view value);

/// How software resumes what a PMI froze (SDM vol. 3, freeze on PMI).
enum class FreezeStyle : u8 {
  legacy,       ///< perfmon 2-3: hardware clears the enables
  streamlined,  ///< perfmon 4+: hardware sets CTR_FRZ / LBR_FRZ in GLOBAL_STATUS
};

/// How branch records are laid out: IA32_PERF_CAPABILITIES[5:0].
enum class LbrFormat : u8 {
  addresses_32 = 0,
  lip = 1,
  eip = 2,
  eip_flags = 3,
  eip_flags_tsx = 4,
  info = 5,
  time = 6,
  info_no_tsx = 7,
  arch = 0x3F,
  amd_v2 = 0x40,  ///< AMD's LBR stack, which that field does not name
};

/// What a model has of last-branch records.
struct LbrFeatures {
  unsigned depth = 0;  ///< records; 0 = no LBR. The largest depth on architectural LBR
  LbrFormat format = LbrFormat::eip;
  bool has_select = false;       ///< LBR_SELECT exists
  bool nehalem_filters = false;  ///< NHM-class LBR_SELECT side effects of bits 6 and 7
  bool call_stack = false;
  bool double_abort = false;   ///< a TSX abort leaves a second record without the ABORT flag (Haswell)
  u32 from_base = 0;           ///< first FROM MSR (0x40 or 0x680); unused on architectural LBR
  u32 arch_depths = 0;         ///< CPUID.1CH:EAX[7:0]
  u32 cpuid_1c_eax_flags = 0;  ///< CPUID.1CH:EAX[31:30]
  u32 cpuid_1c_ebx = 0, cpuid_1c_ecx = 0;
};

/// What a model has of PEBS.
struct PebsFeatures {
  static constexpr unsigned none = ~0u, architectural = 0xF;
  unsigned format = none;      ///< 0..6, `architectural`, or `none`
  bool dtes64 = true;          ///< CPUID.1:ECX[2]: the DS area has 64-bit fields
  u64 counters = 0;            ///< PEBS-capable: bit n GP, bit 32+m fixed
  u64 distribution = 0;        ///< PDIR / PDIST counters, same bits
  bool baseline = false;       ///< adaptive records
  bool precise_store = false;  ///< PEBS_ENABLE[63]
  bool load_latency = false;   ///< MSR 3F6
  bool frontend = false;       ///< MSR 3F7
  bool latency_split = false;  ///< memory group reports instruction and access latency separately
  bool eventing_ip = false;    ///< records carry the IP of the sampled instruction itself
  u32 arch_capabilities = 0;   ///< CPUID.23H.4:EBX, less what a policy adds (CpuModel::pebs_groups)
  DataSourceEncoding data_source = DataSourceEncoding::none;
};

/// Counters that take part in auto counter reload: bit n GP, bit 32 + m fixed.
struct AcrFeatures {
  u64 reloadable = 0;  ///< CPUID.23H.2 EAX | EBX << 32
  u64 cause = 0;       ///< CPUID.23H.2 ECX | EDX << 32
};

/// What a part of AMD's says of itself in CPUID, as dumped (APM vol. 3, appendix E). cpuid() leaves out what
/// the hardware model does not have: counters outside of the core.
struct AmdFeatures {
  u32 cpuid_80000001_ecx = 0;  ///< 23: six core counters
  u32 cpuid_80000008_eax = 0;  ///< 15:8: linear address bits
  u32 cpuid_80000008_ebx = 0;
  u32 cpuid_8000001b_eax = 0;  ///< what instruction-based sampling has (arch/msr.h)
  u32 cpuid_80000021_eax = 0;  ///< 12: PREC_RET of PERF_CTL2
  u32 cpuid_80000022_eax = 0;  ///< 0 PerfMonV2, 1 LBR stack, 2 freezing on PMI
  u32 cpuid_80000022_ebx = 0;  ///< 3:0 core counters, 9:4 LBR records

  bool has_core_extension() const { return (cpuid_80000001_ecx & bit(23)) != 0; }
  bool has_ibs() const { return (cpuid_80000001_ecx & bit(10)) != 0; }
  bool has_branch_sampling() const { return (cpuid_80000008_ebx & bit(31)) != 0; }
  bool has_irperf() const { return (cpuid_80000008_ebx & bit(1)) != 0; }
  bool has_precise_retire() const { return (cpuid_80000021_eax & bit(12)) != 0; }
  bool has_perfmon_v2() const { return (cpuid_80000022_eax & bit(0)) != 0; }
  bool has_lbr_stack() const { return (cpuid_80000022_eax & bit(1)) != 0; }
  bool has_freeze() const { return (cpuid_80000022_eax & bit(2)) != 0; }
};

/// How RDPMC names a counter in ECX.
enum class RdpmcEncoding : u8 {
  typed,  ///< bits 31:16 a type, 15:0 the number in it
  plain,  ///< the number
};

/// Where an event select has the number of its event, and what is in the bits above 31.
enum class SelectLayout : u8 {
  modifiers,    ///< bits 7:0; above 31 transactions, EQ, UMASK2 and others (SDM vol. 3)
  wide_events,  ///< bits 35:32 and 7:0; GuestOnly and HostOnly (APM vol. 2, 13.2)
};

/// One row of a model's event table.
struct EventDefinition {
  std::string_view name;  ///< the vendor's name, for example "BR_MISP_RETIRED.ALL_BRANCHES"
  u16 event = 0;          ///< the code: 8 bits of an event select of Intel, 12 of one of AMD
  u16 umask = 0;          ///< with UMASK2 (event select bits 47:40) as its upper byte
  u8 cmask = 0;           ///< modifiers that the name itself carries
  bool inv = false, edge = false;
  EventRule rule;
  /// What the extra register of the event must hold (PEBS_FRONTEND, OFFCORE_RSP); for load latency the
  /// threshold that the name stands for. 0: none.
  u64 extra = 0;
};

/// What CPUID leaf 0AH reports on a hybrid product: the part common to all its core types, which understates
/// each of them. Leaf 23H and the registers are right for one core.
struct CommonView {
  u32 gp_counters = 0, fixed_counters = 0;  ///< bitmaps
  u32 arch_events = 0;
};

/// One product (or one core type of a hybrid product) as data: everything that the hardware units derive
/// their registers, masks, faults, CPUID leaves and formats from. Copy a preset and change members to make
/// your own.
struct CpuModel {
  std::string name;      ///< what --model takes: "icelake"
  std::string title;     ///< "Ice Lake"
  std::string pfm_name;  ///< libpfm4's PMU name for vendor event names: "icl"
  Vendor vendor = Vendor::intel;
  CoreType core_type = CoreType::core;
  u32 family = 6, model = 0, stepping = 0;
  bool hybrid = false;
  bool has_neighbours = false;  ///< of a machine with other cores, whose caches can have its lines
  /// MSR 8B[63:32]. Drivers compare it with the revision that repaired an erratum; the presets' is later than
  /// any of those.
  u32 microcode_revision = 0xFFFFFF;
  u32 native_model_id = 0;  ///< CPUID.1AH:EAX[23:0]; 0: the leaf is all zero

  unsigned perfmon_version = 0;
  u32 gp_counters = 0;  ///< bitmap
  /// The same with Hyper-Threading off, where the threads of a core divide its counters; 0: they have their
  /// own.
  u32 gp_counters_smt_off = 0;
  u32 fixed_counters = 0;  ///< bitmap, may be sparse
  unsigned counter_width = 48;
  u32 arch_events = 0;  ///< architectural events present, bit i = event i of CPUID.0AH:EBX (positive)
  unsigned arch_events_length = 7;         ///< CPUID.0AH:EAX[31:24]
  u32 leaf_0a_edx_strays = 0;              ///< undefined bits that early Atoms set in CPUID.0AH:EDX
  std::optional<CommonView> package_view;  ///< set where leaf 0AH says less than this core has
  u64 perf_capabilities = 0;               ///< MSR 345; on a hybrid, what all core types have in common
  FreezeStyle freeze = FreezeStyle::legacy;
  RdpmcEncoding rdpmc = RdpmcEncoding::typed;
  SelectLayout select = SelectLayout::modifiers;
  bool pmi_masks_lvtpc = true;  ///< delivery of a PMI sets the mask of LVTPC
  bool has_pdcm = true;
  bool has_x2apic = true;  ///< the local APIC is in MSRs; without, its LVTPC is in memory at FEE00340
  bool has_ibpb = true;    ///< SPEC_CTRL and PRED_CMD: CPUID.7:EDX[26]
  bool anythread = false;  ///< EVTSEL.ANY and FIXED_CTR_CTRL ANY bits usable
  /// The threads of a core have one OFFCORE_RSP, LBR_SELECT and PEBS_LD_LAT_THRESHOLD together.
  bool smt_shared_filters = false;
  bool rtm = false, hle = false;  ///< TSX
  bool arch_perfmon_ext = false;  ///< CPUID leaf 23H
  u32 perfmon_ext_ebx = 0;        ///< CPUID.23H.0:EBX: 0 UMASK2, 1 EQ, 2 RDPMC_USR_DISABLE
  unsigned metrics_levels = 0;    ///< PERF_METRICS: 0 none, 1 four bytes, 2 eight bytes

  // registers beside the counters
  u64 misc_enable = 0x850089;  ///< reset value of MSR 1A0
  bool has_rdtscp = true, has_tsc_adjust = false;
  bool has_pperf = false;            ///< MSR 64E
  bool has_tsx_force_abort = false;  ///< MSR 10F
  bool has_bus_lock_detect = false;  ///< DEBUGCTL[2]
  std::array<u64, 2> offcore_rsp{};  ///< bits that MSRs 1A6 and 1A7 accept; 0: absent
  u64 omr = 0;                       ///< the same for MSRs 3E0..3E3
  u64 snoop_rsp = 0;                 ///< the same for MSRs 1328 and 1329
  u64 xcr0 = 0x7, xss = 0;           ///< XSAVE components that XCR0 and IA32_XSS accept
  bool has_xsaves = false;           ///< XSAVES, IA32_XSS
  xsave::ComponentTable xsave_components = xsave::intel_components;
  u32 mxcsr_mask = 0xFFFF;              ///< bits of MXCSR that exist
  bool reference_event_is_tsc = false;  ///< event 3C.01 runs at TSC rate, not at bus clock

  LbrFeatures lbr;
  PebsFeatures pebs;
  AcrFeatures acr;
  AmdFeatures amd;  ///< of AMD's parts
  CoreParameters core;
  /// Whether `core` has the numbers of the part, so that its time means something.
  bool has_timing_model = true;
  std::span<const EventDefinition> events;
  Policies policies;

  /// General-purpose counters that software can reach: Intel has none without architectural perfmon.
  u32 usable_gp_counters() const { return vendor == Vendor::amd || perfmon_version >= 1 ? gp_counters : 0; }
  /// Whether one register enables all counters, and one has what overflowed.
  bool has_global_control() const {
    return vendor == Vendor::amd ? amd.has_perfmon_v2() : perfmon_version >= 2;
  }
  /// AMD: two counters can be one for events that occur more than 15 times in a cycle.
  bool merges_counters() const { return vendor == Vendor::amd && family >= 0x17; }
  /// AMD: DEBUGCTL.LBR keeps the last branch, and that before the last interrupt, in a pair of registers
  /// each.
  bool has_last_branch_pair() const { return vendor == Vendor::amd; }
  /// Fixed counters that software can reach: they came with version 2.
  u32 usable_fixed_counters() const { return perfmon_version >= 2 ? fixed_counters : 0; }
  /// Every counter: GP bit n, fixed bit 32 + m. The legal counter bits of GLOBAL_CTRL.
  u64 counters() const { return usable_gp_counters() | u64{usable_fixed_counters()} << 32; }
  bool has_capability(u64 mask) const { return (perf_capabilities & mask) != 0; }
  bool has_arch_pebs() const { return pebs.format == PebsFeatures::architectural; }
  /// What architectural PEBS records may hold, as CFG_C has the bits: those of the preset, and the vector
  /// groups that policy `pebs_vector_groups` adds.
  u64 pebs_groups() const;
  Microarchitecture microarchitecture() const {
    const ProductCores cores = product_cores(family, model);
    return core_type == CoreType::atom ? cores.atom : cores.core;
  }
  bool has_arch_lbr() const { return lbr.depth != 0 && lbr.format == LbrFormat::arch; }
  /// Branch records by age, 0 the newest, with an enable of their own: DEBUGCTL.LBR has none for them.
  bool has_lbr_by_age() const {
    return lbr.depth != 0 && (lbr.format == LbrFormat::arch || lbr.format == LbrFormat::amd_v2);
  }
};

/// Every preset of a vendor, oldest first, P cores before E cores.
std::span<const CpuModel> cpu_models(Vendor vendor = Vendor::intel);

/// The preset with that name, of any vendor. Errors list near matches.
[[nodiscard]] Result<CpuModel, Error> find_cpu_model(std::string_view name);

/// What an event select with this event and umask counts, or nothing: the model cannot count it.
///
/// Where a umask is no row of its own but each of its bits is (MEM_LOAD_RETIRED with L1_HIT and L2_HIT), the
/// event is the union: it occurs once at an instruction that has any of them. `extra` is the value of the
/// event's extra register, for events that have one (FRONTEND_RETIRED, OFFCORE_RESPONSE). Event 00 counts
/// nothing on a general-purpose counter. Architectural events that the model enumerates need no row in its
/// table.
std::optional<EventDefinition> find_event(const CpuModel& model, u16 event, u16 umask, u64 extra = 0);

/// The same for the event and umask (UMASK2 included) of an IA32_PERFEVTSEL value.
std::optional<EventDefinition> selected_event(const CpuModel& model, u64 event_select, u64 extra = 0);

/// The event of a fixed counter; the architectural ones need no row either.
std::optional<EventDefinition> find_fixed_event(const CpuModel& model, unsigned fixed);

/// CPUID as this model answers it.
CpuidResult cpuid(const CpuModel& model, u32 leaf, u32 subleaf);

}  // namespace pmusim

#endif
