// SPDX-License-Identifier: MIT
#include "driver/intel/cores/core_traits.h"
#include "driver/intel/lbr/registers.h"

namespace pmusim::driver {
namespace {

LbrTraits architectural_traits(const Enumeration& cpu) {
  LbrTraits t;
  const CpuidResult& leaf = cpu.lbr_leaf;
  t.entries = cpu.lbr_entries;
  t.architectural = true;
  t.from_base = msr::ARCH_LBR_FROM_0;
  t.to_base = msr::ARCH_LBR_TO_0;
  t.info_base = msr::ARCH_LBR_INFO_0;
  t.tsx = true;
  t.filter_features = leaf.ebx;
  constexpr u32 filters = lbr_leaf::EBX_CPL_FILTER | lbr_leaf::EBX_BRANCH_FILTER;
  constexpr u32 for_call_stack = filters | lbr_leaf::EBX_CALL_STACK;
  if ((leaf.ebx & filters) != 0) t.filter = BranchFilterMap::architectural;
  t.call_stack = (leaf.ebx & for_call_stack) == for_call_stack;
  t.mispredict_known = (leaf.ecx & lbr_leaf::ECX_MISPRED) != 0;
  t.cycles_known = (leaf.ecx & lbr_leaf::ECX_TIMED) != 0;
  t.type_known = (leaf.ecx & lbr_leaf::ECX_BRANCH_TYPE) != 0;
  t.lost_in_deep_cstate = (leaf.eax & lbr_leaf::EAX_DEEP_CSTATE_RESET) != 0;
  t.event_counters = lbr_leaf::event_counters(leaf.ecx);
  return t;
}

}  // namespace

LbrTraits lbr_traits(const Enumeration& cpu) {
  if (cpu.arch_lbr) return architectural_traits(cpu);
  LbrTraits t;
  t.entries = cpu.lbr_entries;
  const LegacyLbr& core = traits_of(cpu.microarchitecture).lbr;
  t.filter = core.filter;
  t.call_stack = t.filter == BranchFilterMap::haswell;
  t.from_base = core.core_style_addresses ? msr::LBR_CORE_FROM_IP : msr::LBR_NHM_FROM_IP;
  t.to_base = core.core_style_addresses ? msr::LBR_CORE_TO_IP : msr::LBR_NHM_TO_IP;
  t.lost_in_deep_cstate = true;
  const bool flags_unsaid = core.has_unsaid_flags && cpu.lbr_format == 1;
  switch (flags_unsaid ? 3 : cpu.lbr_format) {
    case 0:
      t.packed = true;
      break;
    case 3:
      t.flags_in_from = true;
      break;
    case 4:
      t.flags_in_from = t.tsx = true;
      t.sign_quirk = !cpu.rtm && !cpu.hle;
      t.double_abort = core.double_abort;
      break;
    case 5:
      t.info_base = msr::LBR_INFO_0;
      t.tsx = true;
      break;
    case 6:
      t.flags_in_from = t.cycles_in_to = true;
      break;
    case 7:
      t.info_base = msr::LBR_INFO_0;
      break;
    default:
      break;
  }
  t.mispredict_known = t.cycles_known = t.info_base != 0;
  return t;
}

namespace {

bool holds(Bus& bus, u32 address, u64 toggled) {
  const auto old = bus.rdmsr(address);
  if (!old.ok() || bus.wrmsr(address, *old ^ toggled) != Fault::none) return false;
  const auto changed = bus.rdmsr(address);
  return changed.ok() && *changed == (*old ^ toggled) && bus.wrmsr(address, *old) == Fault::none;
}

}  // namespace

void probe_lbr(Bus& bus, LbrTraits& traits) {
  constexpr u64 top_bits = 0x3, address_bits = 0xFFFF, select_bits = 0x11;
  bool usable = holds(bus, msr::LBR_TOS, top_bits);
  for (unsigned i = 0; usable && i < traits.entries; ++i) {
    usable = holds(bus, traits.from_base + i, address_bits);
    if (usable && !traits.packed) usable = holds(bus, traits.to_base + i, address_bits);
  }
  if (!usable) traits.entries = 0;
  if (!holds(bus, msr::LBR_SELECT, select_bits)) {
    traits.filter = BranchFilterMap::none;
    traits.call_stack = false;
  }
}

}  // namespace pmusim::driver
