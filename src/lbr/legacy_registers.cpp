// SPDX-License-Identifier: MIT
// LBR before architectural LBR: N slots of FROM and TO (and INFO), LBR_SELECT, TOS. `n` is the slot.
#include "lbr/lbr_stack.h"

namespace pmusim {
namespace {

bool is_legacy(const CpuModel& m, unsigned) { return m.lbr.depth != 0 && !m.has_arch_lbr(); }
bool has_slot(const CpuModel& m, unsigned n) { return is_legacy(m, n) && n < m.lbr.depth; }
template <u32 base>
bool has_from_at(const CpuModel& m, unsigned n) {
  return has_slot(m, n) && m.lbr.from_base == base;
}
template <u32 base>
bool has_to_at(const CpuModel& m, unsigned n) {
  return has_from_at<base>(m, n) && m.lbr.format != LbrFormat::addresses_32;
}

constexpr std::string_view legacy_canonical = "the address must be canonical, flags above it apart";

u64 flags_in_from(const CpuModel& m, unsigned) { return LbrLayout(m).flags_in_from; }
u64 cycles_in_to(const CpuModel& m, unsigned) { return all_if(LbrLayout(m).cycles_in_to); }
u64 packed(const CpuModel& m, unsigned) { return all_if(LbrLayout(m).packed); }
u64 info_bits(const CpuModel& m, unsigned) { return LbrLayout(m).info_register; }

constexpr Field legacy_from_fields[] = {
    {lbr_info::MISPRED, "mispredicted", flags_in_from},
    {lbr_info::IN_TSX, "in_tx", flags_in_from},
    {lbr_info::TSX_ABORT, "abort", flags_in_from},
    {bits(63, 32), "address of the target", packed},
    {low_bits(64), "address of the branch",
     [](const CpuModel& m, unsigned n) { return ~flags_in_from(m, n) & ~(packed(m, n) & bits(63, 32)); }},
};
constexpr Field legacy_to_fields[] = {
    {bits(63, 48), "cycles since the previous record", cycles_in_to},
    {low_bits(64), "address of the target",
     [](const CpuModel& m, unsigned n) { return ~(cycles_in_to(m, n) & bits(63, 48)); }},
};
constexpr Field legacy_info_fields[] = {
    {lbr_info::MISPRED, "mispredicted", info_bits},
    {lbr_info::IN_TSX, "in_tx", info_bits},
    {lbr_info::TSX_ABORT, "abort", info_bits},
    {lbr_info::CYC_CNT, "cycles since the previous record", info_bits},
};
constexpr Field select_fields[] = {
    {lbr_select::CPL_EQ_0, "keep out CPL 0"},
    {lbr_select::CPL_NEQ_0, "keep out CPL > 0"},
    {lbr_select::JCC, "keep out Jcc"},
    {lbr_select::NEAR_REL_CALL, "keep out relative call"},
    {lbr_select::NEAR_IND_CALL, "keep out indirect call"},
    {lbr_select::NEAR_RET, "keep out ret"},
    {lbr_select::NEAR_IND_JMP, "keep out indirect jmp"},
    {lbr_select::NEAR_REL_JMP, "keep out relative jmp"},
    {lbr_select::FAR_BRANCH, "keep out far"},
    {lbr_select::EN_CALLSTACK, "call-stack mode",
     [](const CpuModel& m, unsigned) { return all_if(m.lbr.call_stack); }},
};
constexpr Field tos_fields[] = {
    {low_bits(64), "slot of the newest record",
     [](const CpuModel& m, unsigned) { return u64{m.lbr.depth} - 1; }},
};

}  // namespace

Rows<LbrStack> LbrStack::legacy_registers() {
  using L = LbrStack;
  constexpr auto read_from = [](const L& l, At at) { return l.layout_.from(l.record_at(at.n)); };
  constexpr auto read_to = [](const L& l, At at) { return l.layout_.to(l.record_at(at.n)); };
  constexpr auto write_from = [](L& l, At at, u64 value) {
    return assign(l.record_at(at.n), l.layout_.with_from(l.record_at(at.n), value));
  };
  constexpr auto write_to = [](L& l, At at, u64 value) {
    return assign(l.record_at(at.n), l.layout_.with_to(l.record_at(at.n), value));
  };
  static constexpr Row<L> rows[] = {
      // At the addresses of Core, and from Nehalem on at those after them.
      {.address = msr::LBR_CORE_FROM_IP,
       .count = 8,
       .name = "MSR_LASTBRANCH_{}_FROM_IP",
       .exists = has_from_at<msr::LBR_CORE_FROM_IP>,
       .fields = legacy_from_fields,
       .read = read_from,
       .write = write_from,
       .takes = legacy_canonical,
       .is_data = true},
      {.address = msr::LBR_CORE_TO_IP,
       .count = 8,
       .name = "MSR_LASTBRANCH_{}_TO_IP",
       .exists = has_to_at<msr::LBR_CORE_FROM_IP>,
       .fields = legacy_to_fields,
       .read = read_to,
       .write = write_to,
       .takes = legacy_canonical,
       .is_data = true},
      {.address = msr::LBR_NHM_FROM_IP,
       .count = 32,
       .name = "MSR_LASTBRANCH_{}_FROM_IP",
       .exists = has_from_at<msr::LBR_NHM_FROM_IP>,
       .fields = legacy_from_fields,
       .read = read_from,
       .write = write_from,
       .takes = legacy_canonical,
       .is_data = true},
      {.address = msr::LBR_NHM_TO_IP,
       .count = 32,
       .name = "MSR_LASTBRANCH_{}_TO_IP",
       .exists = has_to_at<msr::LBR_NHM_FROM_IP>,
       .fields = legacy_to_fields,
       .read = read_to,
       .write = write_to,
       .takes = legacy_canonical,
       .is_data = true},
      {.address = msr::LBR_INFO_0,
       .count = 32,
       .name = "MSR_LBR_INFO_{}",
       .exists = [](const CpuModel& m, unsigned n) { return has_slot(m, n) && info_bits(m, n) != 0; },
       .fields = legacy_info_fields,
       .writable =
           [](const CpuModel& m, unsigned n) {
             return m.policies.lbr_info_reserved_faults ? info_bits(m, n) : low_bits(64);
           },
       .read = [](const L& l, At at) { return l.layout_.info(l.record_at(at.n)); },
       .write =
           [](L& l, At at, u64 value) {
             return assign(l.record_at(at.n), l.layout_.with_info(l.record_at(at.n), value));
           },
       .is_data = true},

      {.address = msr::LBR_SELECT,
       .name = "MSR_LBR_SELECT",
       .exists = [](const CpuModel& m, unsigned n) { return is_legacy(m, n) && m.lbr.has_select; },
       .fields = select_fields,
       .read = read_word<&L::select_>,
       .write = write_word<&L::select_>,
       .of_core = are_filters_of_core},
      {.address = msr::LBR_TOS,
       .name = "MSR_LASTBRANCH_TOS",
       .exists = is_legacy,
       .fields = tos_fields,
       .writable =
           [](const CpuModel& m, unsigned n) {
             return m.policies.lbr_tos_reserved_faults ? bits_on(tos_fields, m, n) : low_bits(64);
           },
       .read = [](const L& l, At) { return u64{l.head_ & l.ring_mask_}; },
       .write = write_word<&L::head_>,
       .is_data = true},
  };
  return rows;
}

Fault LbrStack::assign(LbrEntry& record, const std::optional<LbrEntry>& written) {
  if (!written) return Fault::gp;
  record = *written;
  return Fault::none;
}

RowFamilies<LbrStack> LbrStack::registers(Vendor vendor) {
  if (vendor == Vendor::amd) return {amd_registers(), amd_last_branch_registers()};
  return {legacy_registers(), arch_registers(), last_exception_registers()};
}

}  // namespace pmusim
