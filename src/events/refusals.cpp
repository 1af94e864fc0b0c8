// SPDX-License-Identifier: MIT
#include "events/refusals.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <utility>

#include "cpu/quantity_set.h"
#include "cpu/unmodelled_signals.h"

namespace pmusim::events {
namespace {

/// What a name that fits a pattern is refused for. An asterisk stands for anything.
struct Refusal {
  std::string_view pattern, reason;
};

constexpr std::string_view second_thread = "it needs a second hardware thread, and there is one";
constexpr std::string_view sleep = "it counts time that a core sleeps in, and a replay never waits";
constexpr std::string_view bus_clock = "no counter of this core is known to count its clock";
constexpr std::string_view front_side_bus =
    "it counts what passes between a core and the uncore or the bus, which is not modelled";
constexpr std::string_view one_socket = "it needs a second socket, and there is one";
constexpr std::string_view snoops = "it needs the caches of other cores, and there is one core";
constexpr std::string_view persistent_memory = "there is no persistent memory";
constexpr std::string_view uncached = "all memory is cacheable";
constexpr std::string_view page_sizes = "page sizes are not in the trace: all pages are 4 KiB";
constexpr std::string_view page_levels = "of a page table, only the last level is read through the caches";
constexpr std::string_view hypervisor = "it needs a hypervisor's page tables, and there is none";
constexpr std::string_view tlb_flushes =
    "a program's trace does not tell when its kernel flushes translations";
constexpr std::string_view line_states =
    "caches do not tell which lines are modified, exclusive or shared, and nothing is written back";
constexpr std::string_view all_transactions = "it includes write-backs, which are not modelled";
constexpr std::string_view atom_requests = "it counts requests of L1 together that are distinct here";
constexpr std::string_view prefetch_hits = "prefetches are not distinguished by what they find";
constexpr std::string_view software_prefetches =
    "software prefetches bring no lines: the trace has no addresses for them";
constexpr std::string_view stores_prefetched = "streaming stores are stores like others here";
constexpr std::string_view values =
    "it needs the values of operands, which decide about assists and saturation, and a trace has none";
constexpr std::string_view assist_states =
    "stalls of the renamer (merged flags, segments, states of x87 and vectors) are not modelled";
constexpr std::string_view kernel = "it happens in the kernel, which is not in the trace";
constexpr std::string_view hle = "lock elision is not modelled";
constexpr std::string_view abort_kinds = "transactions do not abort for this reason here";
constexpr std::string_view power = "the core has one frequency, and no limits of power or bandwidth";
constexpr std::string_view tiles = "tile instructions are not distinguished";
constexpr std::string_view wrong_path = "it is speculative work that never retires, and no wrong path is run";
constexpr std::string_view direct_calls_never_wrong = "direct jumps and calls are never mispredicted here";
constexpr std::string_view clears =
    "clears of the pipeline are distinguished only as memory ordering and self-modifying code";
constexpr std::string_view decoders = "this step of fetch and decode is not modelled by itself";
constexpr std::string_view load_scheduling = "how loads and stores are scheduled again is not modelled";
constexpr std::string_view queue_full = "the queue of requests that leave the core is never full here";
constexpr std::string_view locks = "how long a lock keeps its line or the bus is not modelled";
constexpr std::string_view eliminated = "the renamer eliminates every move that it can here";
constexpr std::string_view ports_together = "ports are counted one by one";
constexpr std::string_view within_cycle =
    "it compares how many there are within a cycle, of which the core model knows less";
constexpr std::string_view uop_kinds = "uops and instructions are not distinguished in this way";
constexpr std::string_view fixed = "its code is event 00, which counts nothing on general counters";

constexpr std::string_view head_of_loads =
    "what the oldest load waits for is known as a miss of L1 or anything else";
constexpr std::string_view slot_reasons = "slots are not counted by this reason";
constexpr std::string_view no_fast_clears =
    "clears for the order of memory accesses are not modelled on this core, and all others go through "
    "microcode";
constexpr std::string_view no_restrictions = "dispatch takes any mix of uops here";
constexpr std::string_view stall_levels =
    "stalls are known by the level that was missed, not by the one that answered, and not of code or stores";
constexpr std::string_view small_core_ports = "ports of this core are not counted by kinds of uops";
constexpr std::string_view throttling = "prefetchers are never throttled here";
constexpr std::string_view special_instructions = "these instructions and faults are not distinguished";
constexpr std::string_view branch_kinds =
    "branches are not distinguished in this way (direction of the target, cost in cycles, wrong path)";
constexpr std::string_view memory_side = "there is no cache beside the memory, and no memory on another link";
constexpr std::string_view load_kinds = "loads and stores are not distinguished in this way";
constexpr std::string_view code_sources = "where code came from is known as a miss of L1I or L2 only";
constexpr std::string_view operation_counts =
    "floating-point work is counted by instructions, not by operations";
constexpr std::string_view first_level = "the two parts of the first data cache are one here";
constexpr std::string_view all_requests = "requests of this kind are not added up by themselves";
constexpr std::string_view bus_lock_kinds = "no lock goes to the bus here";

constexpr std::string_view no_neighbours =
    "a lone core has no other cores to snoop: a machine of several (--machine) counts it";
constexpr std::string_view no_transactions = "this model has no transactions";
constexpr std::string_view unknown_source = "uops of this core come from no such source";

/// The first that fits counts.
constexpr Refusal refusals[] = {
    {"LD_HEAD*", head_of_loads},
    {"MEM_SCHEDULER_BLOCK*", slot_reasons},
    {"SERIALIZATION*", slot_reasons},
    {"STALL_CORE_BOUND*", slot_reasons},
    {"BE_STALLS*", slot_reasons},
    {"C0_STALLS*", stall_levels},
    {"MEM_BOUND_STALLS*", stall_levels},
    {"MEMORY_STALLS*", stall_levels},
    {"INT_UOPS_EXECUTED*", small_core_ports},
    {"FP_VINT_UOPS_EXECUTED*", small_core_ports},
    {"UOPS_DISPATCHED.*", small_core_ports},
    {"PORT_*", small_core_ports},
    {"*PREFETCHES_THROTTLED*", throttling},
    {"DYNAMIC_PREFETCH*", throttling},
    {"MISC_RETIRED*", special_instructions},
    {"MISC2_RETIRED*", special_instructions},
    {"MICROCODE_RETIRED*", special_instructions},
    {"EXE_RETIRED*", special_instructions},
    {"BUS_LOCK*", bus_lock_kinds},
    {"SQ_MISC.BUS_LOCK", bus_lock_kinds},
    {"BR_INST_TYPE*", branch_kinds},
    {"BR_MISSP_TYPE*", branch_kinds},
    {"BR_INST_EXEC*", branch_kinds},
    {"*_COST", branch_kinds},
    {"*_TPEBS", branch_kinds},
    {"BR_INST_RETIRED*", branch_kinds},
    {"BR_MISP_RETIRED.*JMP", branch_kinds},
    {"BR_MISP_RETIRED.NEAR*", branch_kinds},
    {"BR_MISP_RETIRED.COND*", branch_kinds},
    {"BTCLEAR*", wrong_path},
    {"PREDICTION*", wrong_path},
    {"*MEMSIDE*", memory_side},
    {"*CXL*", memory_side},
    {"*MEM_REGION*", memory_side},
    {"FRONTEND_RETIRED_SOURCE*", code_sources},
    {"FRONTEND_RETIRED.ICACHE*", code_sources},
    {"FP_FLOPS*", operation_counts},
    {"FP_ARITH_OPS*", operation_counts},
    {"*L1_HIT_L*", first_level},
    {"L1D.L1_REPLACEMENT", first_level},
    {"CPU_CLK_THREAD_UNHALTED.*", second_thread},
    {"CPU_CLK_UNHALTED.ONE_THREAD_ACTIVE", second_thread},
    {"CPU_CLK_UNHALTED.NO_OTHER", second_thread},
    {"THREAD_ACTIVE*", second_thread},
    {"TX_EXEC.*", second_thread},
    {"CPU_CLK_UNHALTED.C0*", sleep},
    {"CPU_CLK_UNHALTED.PAUSE*", sleep},
    {"CPU_CLK_UNHALTED.BUS", bus_clock},
    {"CPU_CLK_UNHALTED.REF*", bus_clock},
    {"CPU_CLK_UNHALTED.CORE*", bus_clock},
    {"BUS*", front_side_bus},
    {"EXT_SNOOP*", front_side_bus},
    {"CMP_SNOOP*", front_side_bus},
    {"SNOOP*", front_side_bus},
    {"L2_ADS*", front_side_bus},
    {"L2_DBUS*", front_side_bus},
    {"L2_NO_REQ*", front_side_bus},
    {"L2_REJECT*", front_side_bus},
    {"L2_REQUESTS_REJECT*", front_side_bus},
    {"CORE_REJECT*", front_side_bus},
    {"IO_TRANSACTIONS*", front_side_bus},
    {"L2_IFETCH.BOTH_CORES", front_side_bus},
    {"L2_LINES_*.BOTH_CORES", front_side_bus},
    {"L2_M_LINES*BOTH_CORES", front_side_bus},
    {"L2_LD.BOTH*", front_side_bus},
    {"L2_ST.BOTH*", front_side_bus},
    {"L2_LOCK.BOTH*", front_side_bus},
    {"L2_RQSTS.BOTH*", front_side_bus},
    {"CORE_SNOOP*", front_side_bus},
    {"MEM_UNCORE_RETIRED.OTHER*", front_side_bus},
    {"STORE_BLOCK.SNOOP", front_side_bus},
    {"*REMOTE*", one_socket},
    {"*XSNP_*", snoops},
    {"*HITM*", snoops},
    {"MEM_LOAD_RETIRED.OTHER_CORE*", snoops},
    {"*SNOOP*", snoops},
    {"*PMM*", persistent_memory},
    {"*.UC", uncached},
    {"*UNCACHE*", uncached},
    {"*UC_LOCK*", uncached},
    {"*2M*", page_sizes},
    {"*1G*", page_sizes},
    {"*LARGE*", page_sizes},
    {"*ITLB.LARGE*", page_sizes},
    {"*PDE_*", page_levels},
    {"*PDP_*", page_levels},
    {"PAGE_WALKER_LOADS.EPT*", page_levels},
    {"PAGE_WALKER_LOADS*", page_levels},
    {"PAGE_WALKS.LLC_MISS", page_levels},
    {"EPT*", hypervisor},
    {"ITLB_FLUSH*", tlb_flushes},
    {"ITLB.*FLUSH", tlb_flushes},
    {"TLB_FLUSH*", tlb_flushes},
    {"*_STATE", line_states},
    {"L2_LINES_IN.E", line_states},
    {"L2_LINES_IN.I", line_states},
    {"L2_LINES_IN.S", line_states},
    {"L2_*WB*", line_states},
    {"L1D_WB*", line_states},
    {"L2_L1D_WB*", line_states},
    {"L2_LINES_OUT*", line_states},
    {"L2_M_LINES*", line_states},
    {"L1D_M_*", line_states},
    {"L1D.*", line_states},
    {"DL1.*", line_states},
    {"*EVICT*", line_states},
    {"L2_STORE_LOCK_RQSTS.HIT*", line_states},
    {"L2_DEMAND_RQSTS.WB*", line_states},
    {"IDI_MISC*", line_states},
    {"OFFCORE_REQUESTS.L1D_WRITEBACK", line_states},
    {"OTHER_ASSISTS.*WB*", line_states},
    {"L2_TRANS.*WB", line_states},
    {"L2_DATA_RQSTS*", line_states},
    {"L2_WRITE*", line_states},
    {"L2_TRANS*.ALL", all_transactions},
    {"L2_TRANS*.ALL_REQUESTS", all_transactions},
    {"L2_TRANSACTIONS.ANY", all_transactions},
    {"OFFCORE_REQUESTS.ANY*", all_transactions},
    {"OFFCORE_REQUESTS_OUTSTANDING.ANY*", all_transactions},
    {"L2_LOCK*", atom_requests},
    {"L2_LD.*", atom_requests},
    {"L2_ST.*", atom_requests},
    {"L2_IFETCH*", atom_requests},
    {"L2_RQSTS.SELF", atom_requests},
    {"L2_RQSTS.ANY", atom_requests},
    {"L2_RQSTS.MESI", atom_requests},
    {"L1D_CACHE_LOCK*", atom_requests},
    {"L1D_CACHE_PREFETCH*", atom_requests},
    {"L2_RQSTS.*", prefetch_hits},
    {"L2_HW_PREFETCH*", prefetch_hits},
    {"L1D_PREFETCH*", prefetch_hits},
    {"HW_PRE_REQ*", prefetch_hits},
    {"PREF_RQSTS*", prefetch_hits},
    {"L2_LINES_IN.*PREFETCH", prefetch_hits},
    {"LOAD_HIT_PRE*", software_prefetches},
    {"SSE_PRE_MISS*", software_prefetches},
    {"SSE_MEM_EXEC*", software_prefetches},
    {"*SWPF*", software_prefetches},
    {"SSE_PRE_EXEC.STORES", stores_prefetched},
    {"*FP_ASSIST*", values},
    {"FP_ASSIST*", values},
    {"ASSISTS*", values},
    {"SIMD_ASSIST*", values},
    {"OTHER_ASSISTS*", values},
    {"SIMD_SAT*", values},
    {"INST_RETIRED.REP_ITERATION", values},
    {"UOPS_ISSUED.FLAGS_MERGE", assist_states},
    {"UOPS_ISSUED.VECTOR_WIDTH*", assist_states},
    {"PARTIAL_RAT*", assist_states},
    {"RAT_STALLS*", assist_states},
    {"ESP*", assist_states},
    {"UOPS_DECODED.ESP*", assist_states},
    {"UOP_UNFUSION*", assist_states},
    {"FP_MMX_TRANS*", assist_states},
    {"SEG_*", assist_states},
    {"ES_REG*", assist_states},
    {"SEGMENT_REG*", assist_states},
    {"X87_OPS_RETIRED*", assist_states},
    {"RESOURCE_STALLS.*CW", assist_states},
    {"RESOURCE_STALLS.MXCSR", assist_states},
    {"NO_ALLOC_CYCLES.RAT_STALL", assist_states},
    {"INT_MISC.RAT*", assist_states},
    {"DELAYED_BYPASS*", assist_states},
    {"AGU_BYPASS*", assist_states},
    {"*SIMD_PRF", assist_states},
    {"RESOURCE_STALLS2*", assist_states},
    {"RESOURCE_STALLS.OOO_SRC", assist_states},
    {"RESOURCE_STALLS.OTHER", assist_states},
    {"RESOURCE_STALLS.FCSW", assist_states},
    {"HW_INT*", kernel},
    {"CYCLES_INT*", kernel},
    {"CPL_CYCLES*", kernel},
    {"EIST*", kernel},
    {"THERMAL*", kernel},
    {"PIC_ACCESSES*", kernel},
    {"ASSISTS.PAGE_FAULT", kernel},
    {"HLE*", hle},
    {"TX_MEM.*HLE*", hle},
    {"TX_MEM.*ELISION*", hle},
    {"RTM_RETIRED*", abort_kinds},
    {"TX_MEM*", abort_kinds},
    {"CORE_POWER*", power},
    {"INT_MISC.MBA*", power},
    {"AMX*", tiles},
    {"EXE.AMX*", tiles},
    {"BOGUS_BR*", wrong_path},
    {"BR_BAC*", wrong_path},
    {"BR_RET_BAC*", wrong_path},
    {"BPU_*", wrong_path},
    {"BACLEAR*", wrong_path},
    {"BACLEARS*", wrong_path},
    {"BR_MISP_RETIRED*", wrong_path},
    {"BR_MISP_EXEC*", wrong_path},
    {"MACHINE_CLEARS.MASKMOV", wrong_path},
    {"BR_MISP_EXEC.*DIRECT*", direct_calls_never_wrong},
    {"MACHINE_CLEARS*", clears},
    {"MEMORY_DISAMBIGUATION*", clears},
    {"MACRO_INSTS*", decoders},
    {"INST_DECODED*", decoders},
    {"UOPS_DECODED*", decoders},
    {"INST_QUEUE*", decoders},
    {"INSTS_WRITTEN*", decoders},
    {"TWO_UOP*", decoders},
    {"DECODE*", decoders},
    {"ILD_STALL*", decoders},
    {"IFU_IVC*", decoders},
    {"L1I_OPPORT*", decoders},
    {"MS_DECODED*", decoders},
    {"BR_TKN*", decoders},
    {"LSD_OVERFLOW*", decoders},
    {"DSB_FILL*", decoders},
    {"LSD.INACTIVE", decoders},
    {"IDQ.EMPTY", decoders},
    {"IDQ.MS_*", decoders},
    {"IDQ.MS_SWITCHES", decoders},
    {"DSB2MITE*", decoders},
    {"FETCH_STALL*", decoders},
    {"RS.*", decoders},
    {"FRONTEND_RETIRED*", decoders},
    {"ISSUE_SLOTS*", decoders},
    {"NO_ALLOC_CYCLES*", decoders},
    {"ICACHE*TAG*STALL*", decoders},
    {"IDQ_UOPS*", decoders},
    {"INT_MISC.*", decoders},
    {"LSD*", decoders},
    {"IDQ*", decoders},
    {"LOAD_DISPATCH*", load_scheduling},
    {"LOAD_BLOCK*", load_scheduling},
    {"LD_BLOCKS*", load_scheduling},
    {"LD_BLOCKS_PARTIAL*", load_scheduling},
    {"STORE_BLOCK*", load_scheduling},
    {"REHABQ*", load_scheduling},
    {"RECYCLEQ*", load_scheduling},
    {"SB_DRAIN*", load_scheduling},
    {"STORE_FORWARDS*", load_scheduling},
    {"MISALIGN_MEM_REF*", load_scheduling},
    {"RS_FULL_STALL.MEC", load_scheduling},
    {"L1D_BLOCKS*", load_scheduling},
    {"SQ_*", queue_full},
    {"OFFCORE_REQUESTS_SQ*", queue_full},
    {"OFFCORE_REQUESTS_BUFFER*", queue_full},
    {"XQ*", queue_full},
    {"L1D_PEND_MISS.L2_STALL*", queue_full},
    {"*LOCK_CYCLES*", locks},
    {"CACHE_LOCK*", locks},
    {"LOCK_CYCLES*", locks},
    {"MOVE_ELIMINATION*NOT*", eliminated},
    {"UOPS_EXECUTED.PORT015*", ports_together},
    {"UOPS_EXECUTED.PORT234*", ports_together},
    {"UOPS_EXECUTED.*PORT5", ports_together},
    {"UOPS_DISPATCHED_PORT*", ports_together},
    {"FP_ARITH_DISPATCHED*", ports_together},
    {"RS_UOPS_DISPATCHED*", ports_together},
    {"UOPS_EXECUTED*", within_cycle},
    {"UOPS_ISSUED*", within_cycle},
    {"L1D_PEND_MISS*", within_cycle},
    {"OFFCORE_REQUESTS_OUTSTANDING*", within_cycle},
    {"CYCLE_ACTIVITY*", within_cycle},
    {"EXE_ACTIVITY*", within_cycle},
    {"PAGE_WALKS*", within_cycle},
    {"ARITH*", within_cycle},
    {"IDLE_DURING_DIV*", within_cycle},
    {"UOPS_RETIRED*", uop_kinds},
    {"INST_RETIRED*", uop_kinds},
    {"AVX*", uop_kinds},
    {"SIMD_INT*", uop_kinds},
    {"INT_VEC*", uop_kinds},
    {"FP_ARITH*", uop_kinds},
    {"TOPDOWN_BAD_SPECULATION.*NUKE", no_fast_clears},
    {"TOPDOWN_BE_BOUND.ALLOC_RESTRICTIONS", no_restrictions},
    {"TOPDOWN_*", slot_reasons},
    {"TOPDOWN*", fixed},
    {"DEPENDENT_LOADS*", load_scheduling},
    {"DISPATCH_BLOCKED*", load_scheduling},
    {"REISSUE*", load_scheduling},
    {"LOAD_HIT*", prefetch_hits},
    {"L1D.HWPF*", prefetch_hits},
    {"L2_PREFETCH*", prefetch_hits},
    {"PREFETCH*", prefetch_hits},
    {"HW_PREFETCH*", prefetch_hits},
    {"ICACHE*", decoders},
    {"CYCLES_ICACHE*", decoders},
    {"UOPS.MS_CYCLES", decoders},
    {"TLB_FLUSHES*", tlb_flushes},
    {"DTLB*", page_levels},
    {"ITLB*", page_levels},
    {"DATA_TLB*", page_levels},
    {"L2_REQUEST*", all_requests},
    {"L2_TRANS*", all_requests},
    {"L2_LINES_IN*", line_states},
    {"L2_LD_IFETCH*", atom_requests},
    {"L1D_CACHE*", line_states},
    {"L1D_MISS*", all_requests},
    {"L1D_PENDING*", within_cycle},
    {"OFFCORE_REQUESTS*", all_requests},
    {"LONGEST_LAT*", all_requests},
    {"MEM_LOAD*", load_kinds},
    {"MEM_INST*", load_kinds},
    {"MEM_UOP*", load_kinds},
    {"MEM_STORE*", load_kinds},
    {"MEM_TRANS*", load_kinds},
    {"SW_PREFETCH*", load_kinds},
    {"X87_COMP*", uop_kinds},
    {"FP_COMP*", uop_kinds},
    {"FP_INST*", uop_kinds},
    {"CYCLES_DIV*", within_cycle},
    {"RESOURCE_STALLS*", assist_states},
    {"UOP_DISPATCHES*", assist_states},
    {"LBR_INSERTS*", branch_kinds},
};

bool fits(std::string_view pattern, std::string_view name) {
  const std::size_t star = pattern.find('*');
  if (star == std::string_view::npos) return pattern == name;
  if (!name.starts_with(pattern.substr(0, star))) return false;
  name.remove_prefix(star);
  pattern.remove_prefix(star + 1);
  for (std::size_t skipped = 0; skipped <= name.size(); ++skipped)
    if (fits(pattern, name.substr(skipped))) return true;
  return false;
}

}  // namespace

std::string_view why_not_modelled(std::string_view name) {
  const auto* found = std::ranges::find_if(refusals, [&](const Refusal& r) { return fits(r.pattern, name); });
  return found == std::end(refusals) ? std::string_view() : found->reason;
}

std::string refusal_of_unmodelled(const CpuModel& model, std::string_view name) {
  const std::string_view reason = why_not_modelled(name);
  return fmt::format("{} exists on {}, but {}", name, model.title,
                     reason.empty() ? "the core model cannot produce it" : reason);
}

std::string_view why_never_reported(const EventRule& rule, const CpuModel& model) {
  constexpr std::pair<Signal, std::string_view> of_signals[] = {
      {Signal::macro_fused, "this core fuses no pairs"},
      {Signal::memory_ordering_clear, "loads of this core pass no store that they could need"},
      {Signal::load_hit_hw_prefetch, "this core has no prefetcher of L1"},
      {Signal::address_alias, "loads of this core wait for no store at another address"},
      {Signal::load_snoop_miss, no_neighbours},
      {Signal::load_snoop_hit, no_neighbours},
      {Signal::load_snoop_forward, no_neighbours},
      {Signal::load_snoop_modified, no_neighbours},
      {Signal::load_remote_forward, no_neighbours},
      {Signal::load_remote_modified, no_neighbours},
      {Signal::tx_start, no_transactions},
      {Signal::tx_commit, no_transactions},
      {Signal::tx_abort, no_transactions},
      {Signal::tx_abort_conflict, "nothing conflicts but where policy tx_conflict_every says so"},
      {Signal::tx_abort_capacity, no_transactions},
      {Signal::tx_abort_explicit, no_transactions},
      {Signal::tx_abort_unfriendly, no_transactions},
      {Signal::tx_abort_event, no_transactions},
      {Signal::dsb_miss, unknown_source},
      {Signal::dsb_to_mite, unknown_source},
  };
  const SignalSet never = signals_never_raised(model);
  bool unreported = false;
  quantities_of(rule).each_index(
      [&](unsigned which) { unreported |= is_never_reported(static_cast<Quantity>(which), model.core); });
  if (unreported) return unknown_source;
  const bool possible = !rule.all.intersects(never) && (rule.any.empty() || !never.contains(rule.any));
  if (possible) return {};
  const auto* found = std::ranges::find_if(of_signals, [&](const auto& s) {
    return never.has(s.first) && (rule.all.has(s.first) || rule.any.has(s.first));
  });
  return found == std::end(of_signals) ? "the core model never tells it" : found->second;
}

}  // namespace pmusim::events
