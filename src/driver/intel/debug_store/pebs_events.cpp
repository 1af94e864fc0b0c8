// SPDX-License-Identifier: MIT
#include <algorithm>
#include <cerrno>

#include "driver/intel/cores/core_traits.h"
#include "driver/intel/debug_store/pebs.h"
#include "driver/x86/constraint.h"
#include "perf/simd_abi.h"
#include "pmusim/arch/debug_store.h"

namespace pmusim::driver {

namespace {

namespace sample = perf::sample;

constexpr u64 memory_types = sample::ADDR | sample::PHYS_ADDR | sample::DATA_SRC | sample::WEIGHT |
                             sample::WEIGHT_STRUCT | sample::TRANSACTION | sample::DATA_PAGE_SIZE;
constexpr u64 general_register_types = sample::REGS_INTR | sample::REGS_USER;

constexpr u64 rtm_aborted = 0x04C9;  // its weight and abort code come with RAX

/// The memory facility behind an event, as flags.
u32 memory_kind(std::span<const MemoryEvent> events, u64 config) {
  const auto found = std::ranges::find_if(
      events, [&](const MemoryEvent& event) { return (config & event.mask) == event.code; });
  return found == events.end() ? 0 : found->kind;
}

/// What a large PEBS buffer can serve: all of it is in records or does not change from one to the next.
u64 types_for_large(const Enumeration& cpu) {
  u64 types = sample::IP | sample::TID | sample::ADDR | sample::ID | sample::CPU | sample::STREAM_ID |
              sample::DATA_SRC | sample::IDENTIFIER | sample::TRANSACTION | sample::PHYS_ADDR |
              general_register_types | sample::PERIOD | sample::CODE_PAGE_SIZE | sample::WEIGHT |
              sample::WEIGHT_STRUCT;
  using namespace pebs::cfg_c;
  if (cpu.arch_pebs()) {
    types |= sample::TIME;
    if ((cpu.pebs_arch_capabilities & LBR) != 0) types |= sample::BRANCH_STACK;
    if ((cpu.pebs_arch_capabilities & AUX) == 0) types &= ~sample::DATA_SRC;
    if ((cpu.pebs_arch_capabilities & GPRS) == 0) types &= ~general_register_types;
  } else if (pebs::is_fixed(cpu.pebs_format)) {
    if (pebs::has_time(cpu.pebs_format)) types |= sample::TIME;
  } else if (cpu.pebs_baseline) {
    types |= sample::TIME | sample::BRANCH_STACK;
  } else {
    types &= ~(sample::ADDR | sample::TIME | sample::DATA_SRC | sample::TRANSACTION | general_register_types);
  }
  return types;
}

/// Records can carry the values of other counters than their own.
bool can_store_counters(const Enumeration& cpu) {
  using namespace pebs::cfg_c;
  if (!cpu.arch_pebs()) return pebs::stores_counters(cpu.pebs_format) && cpu.pebs_baseline;
  return (cpu.pebs_arch_capabilities & (GP | FIXED | METRICS)) != 0;
}

/// Of perf's mask of general registers, what records hold: not CS and SS.
constexpr u64 recorded_general = 0x00ff'03ff;

/// The registers of sample_regs_* that large buffers may serve: what records hold, but CS and SS.
u64 registers_for_large(const perf::Attr& attr, perf::SimdAbi simd) {
  using namespace perf::register_mask;
  if (simd == perf::SimdAbi::none) return recorded_general;
  if (attr.sample_simd_regs_enabled == 0) return recorded_general | XMM_HALVES;
  return simd == perf::SimdAbi::merged ? recorded_general | EGPR | SSP : recorded_general;
}

/// Series v7 has no more of SIMD sampling in large buffers than XMM0 to XMM15.
bool fits_large(const perf::Attr& attr, perf::RegisterSide side, perf::SimdAbi simd) {
  const perf::RegisterMasks masks = perf::register_masks(attr, side);
  if ((masks.general & ~registers_for_large(attr, simd)) != 0) return false;
  if (attr.sample_simd_regs_enabled == 0 || simd == perf::SimdAbi::merged) return true;
  return attr.sample_simd_vec_reg_qwords <= 2 && masks.vectors >> 16 == 0 && masks.predicates == 0;
}

bool can_be_large(const Enumeration& cpu, const perf::Attr& attr, perf::SimdAbi simd) {
  u64 types = types_for_large(cpu);
  if (can_store_counters(cpu)) types |= sample::READ;
  if (attr.use_clockid) types &= ~sample::TIME;
  if (!attr.exclude_kernel) types &= ~sample::REGS_USER;
  if (!fits_large(attr, perf::RegisterSide::user, simd)) types &= ~sample::REGS_USER;
  if (!fits_large(attr, perf::RegisterSide::interrupt, simd)) types &= ~sample::REGS_INTR;
  return (attr.sample_type & ~types) == 0;
}

bool wants_gprs(const perf::Event& event) {
  const perf::Attr& attr = event.attr;
  const u64 registers = ((attr.sample_type & sample::REGS_INTR) != 0 ? attr.sample_regs_intr : 0) |
                        ((attr.sample_type & sample::REGS_USER) != 0 ? attr.sample_regs_user : 0);
  const bool shadow_stack = (perf::needed_registers(attr) & perf::register_set::SSP) != 0;
  const bool abort_code = (data_of(event).config & 0xFFFF) == rtm_aborted &&
                          (attr.sample_type & (sample::WEIGHT | sample::WEIGHT_STRUCT)) != 0;
  return (registers & recorded_general) != 0 || shadow_stack || attr.precise_ip < 2 || abort_code;
}

bool wants_xmm(const perf::Attr& attr) {
  return (perf::needed_registers(attr) & perf::register_set::XMM) != 0;
}

/// Vector groups of architectural PEBS: register sets and what CFG_C calls them. SSP is in the GPR group.
struct GroupOfSet {
  u32 set;
  u64 group;
};
constexpr GroupOfSet arch_groups[] = {
    {perf::register_set::XMM, pebs::cfg_c::XMM},       {perf::register_set::YMM_HIGH, pebs::cfg_c::YMMH},
    {perf::register_set::EGPR, pebs::cfg_c::EGPR},     {perf::register_set::OPMASK, pebs::cfg_c::OPMASK},
    {perf::register_set::ZMM_HIGH, pebs::cfg_c::ZMMH}, {perf::register_set::HI16_ZMM, pebs::cfg_c::HI16_ZMM},
};

u64 vector_groups_of(const perf::Attr& attr) {
  const u32 sets = perf::needed_registers(attr);
  u64 groups = 0;
  for (const GroupOfSet& row : arch_groups)
    if ((sets & row.set) != 0) groups |= row.group;
  return groups;
}

/// CFG_C for records that store these counters, which it names by their kinds. Each of them lets itself be
/// stored on its own; records of events outside of the group have them too.
u64 stored_in_arch(u64 counters) {
  using namespace pebs::cfg_c;
  if (counters == 0) return 0;
  return ((counters & counter::GP_BITS) != 0 ? GP : 0) |
         ((counters & bits(counter::METRICS - 1, counter::FIXED)) != 0 ? FIXED : 0) |
         ((counters & counter::METRIC_BITS) != 0 ? METRICS : 0);
}

}  // namespace

u64 PebsDriver::cfg_c_beside(const perf::Event& event) {
  return counts_from_records(event) ? pebs::cfg_c::ALLOW_IN_RECORD : 0;
}

u32 PebsDriver::recorded_registers() const {
  using namespace perf::register_set;
  if (!available()) return 0;
  if (!enumeration_.arch_pebs())
    return pebs::is_adaptive(enumeration_.pebs_format) && enumeration_.pebs_baseline ? GENERAL | XMM
                                                                                     : GENERAL;
  const u64 groups = enumeration_.pebs_arch_capabilities;
  u32 sets = (groups & pebs::cfg_c::GPRS) != 0 ? GENERAL | SSP : 0;
  for (const GroupOfSet& row : arch_groups)
    if ((groups & row.group) != 0) sets |= row.set;
  return sets;
}

unsigned PebsDriver::max_precise() const {
  return pebs::max_precise({.format = enumeration_.pebs_format,
                            .branch_records = enumeration_.lbr_entries != 0,
                            .distribution = enumeration_.pebs_distribution != 0});
}

Result<Done, KernelError> PebsDriver::init(perf::Event& event) const {
  const perf::Attr& attr = event.attr;
  if (attr.precise_ip == 0) return Done{};
  if (attr.precise_ip > max_precise())
    return Failure(KernelError(EOPNOTSUPP, "precise_ip is larger than this CPU's PEBS can do"));
  if (!event.is_sampling())
    return Failure(KernelError(EINVAL, "precise_ip needs a sampling event: sample_period is 0"));
  u32 flags = pebs_flag::PRECISE |
              memory_kind(traits_of(enumeration_.microarchitecture).memory_events, data_of(event).config) |
              register_flag(attr);
  const bool counts_wakeups = attr.wakeup_events != 0 && !attr.watermark;
  if (!attr.freq && !counts_wakeups) {
    flags |= pebs_flag::AUTO_RELOAD;
    if (can_be_large(enumeration_, attr, perf::simd_abi(enumeration_.kernel))) flags |= pebs_flag::LARGE;
  }
  data_of(event).flags |= flags;
  if (enumeration_.arch_pebs()) {
    constexpr unsigned distributed = 3;
    const u64 able =
        attr.precise_ip == distributed ? enumeration_.pebs_distribution : enumeration_.pebs_counters;
    if (able != enumeration_.counters) data_of(event).dynamic_constraint &= able;
  }
  if ((attr.sample_type & sample::READ) != 0 && can_store_counters(enumeration_))
    data_of(*event.leader).flags |= pebs_flag::COUNTERS_RECORDED;
  return Done{};
}

u64 PebsDriver::data_config_of(const perf::Event& event) const {
  using namespace pebs::data_cfg;
  const perf::Attr& attr = event.attr;
  u64 config = 0;
  if ((attr.sample_type & memory_types) != 0) config |= MEMORY;
  if (wants_gprs(event)) config |= GPRS;
  if (wants_xmm(attr)) config |= XMM;
  if ((attr.sample_type & sample::BRANCH_STACK) != 0 && enumeration_.lbr_entries != 0)
    config |= LBR | to_field(enumeration_.lbr_entries - 1, 31, 24);
  return config;
}

u64 PebsDriver::cfg_c_of(const perf::Event& event) const {
  using namespace pebs::cfg_c;
  const perf::Attr& attr = event.attr;
  u64 config = vector_groups_of(attr);
  if ((attr.sample_type & memory_types) != 0) config |= AUX;
  if (wants_gprs(event)) config |= GPRS;
  if ((attr.sample_type & sample::BRANCH_STACK) != 0) config |= LBR;
  config |= stored_in_arch(recorded_counters_);
  config &= enumeration_.pebs_arch_capabilities & ~ALLOW_IN_RECORD;
  config |= cfg_c_beside(event);
  if (has_flag(event, pebs_flag::AUTO_RELOAD)) config |= (0 - event.hw.sample_period) & RELOAD;
  return config | ENABLE;
}

}  // namespace pmusim::driver
