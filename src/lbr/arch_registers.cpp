// SPDX-License-Identifier: MIT
// Architectural LBR (SDM vol. 3): control, depth, and entries that go by age, 0 the newest. `n` is the age.
#include "lbr/lbr_stack.h"

namespace pmusim {
namespace {

constexpr u64 all_bits = ~u64{0};
constexpr std::string_view canonical = "the address must be canonical",
                           below_depth = "entries from IA32_LBR_DEPTH on are not there";
u64 any_value(const CpuModel&, unsigned) { return all_bits; }

bool has_arch_lbr(const CpuModel& m, unsigned) { return m.has_arch_lbr(); }
bool has_entry(const CpuModel& m, unsigned n) { return m.has_arch_lbr() && n < m.lbr.depth; }

template <u32 feature>
u64 leaf_1c_ebx(const CpuModel& m, unsigned) {
  return all_if((m.lbr.cpuid_1c_ebx & feature) != 0);
}
constexpr auto filters_privilege = leaf_1c_ebx<lbr_leaf::EBX_CPL_FILTER>;
constexpr auto filters_branches = leaf_1c_ebx<lbr_leaf::EBX_BRANCH_FILTER>;

constexpr Field ctl_fields[] = {
    {lbr_ctl::LBREN, "enable"},
    {lbr_ctl::OS, "let in CPL 0", filters_privilege},
    {lbr_ctl::USR, "let in CPL > 0", filters_privilege},
    {lbr_ctl::CALL_STACK, "call-stack mode", leaf_1c_ebx<lbr_leaf::EBX_CALL_STACK>},
    {lbr_ctl::COND, "let in Jcc", filters_branches},
    {lbr_ctl::NEAR_REL_JMP, "let in relative jmp", filters_branches},
    {lbr_ctl::NEAR_IND_JMP, "let in indirect jmp", filters_branches},
    {lbr_ctl::NEAR_REL_CALL, "let in relative call", filters_branches},
    {lbr_ctl::NEAR_IND_CALL, "let in indirect call", filters_branches},
    {lbr_ctl::NEAR_RET, "let in ret", filters_branches},
    {lbr_ctl::OTHER_BRANCH, "let in other", filters_branches},
};
constexpr Field depth_fields[] = {{all_bits, "records in use; any write clears the records"}};
constexpr Field arch_from_fields[] = {{all_bits, "address of the branch, entry 0 newest"}};
constexpr Field arch_to_fields[] = {{all_bits, "address of the target"}};
constexpr Field arch_info_fields[] = {
    {lbr_info::MISPRED, "mispredicted"}, {lbr_info::IN_TSX, "in_tx"},
    {lbr_info::TSX_ABORT, "abort"},      {lbr_info::CYC_CNT_VALID, "cycles valid"},
    {lbr_info::BR_TYPE, "branch type"},  {lbr_info::BR_CNTR, "event counts"},
    {lbr_info::CYC_CNT, "cycles"},
};
constexpr Field ler_from_fields[] = {{all_bits, "last branch before the last exception or interrupt"}};
constexpr Field ler_to_fields[] = {{all_bits, "its target"}};
constexpr Field ler_info_fields[] = {
    {lbr_info::MISPRED, "mispredicted"},
    {lbr_info::IN_TSX, "in_tx"},
    {lbr_info::TSX_ABORT, "abort"},
    {lbr_info::BR_TYPE, "branch type"},
};
constexpr u64 ler_info_bits = bits(63, 61) | lbr_info::BR_TYPE;

}  // namespace

u64 LbrStack::writable_ctl() const { return bits_on(ctl_fields, *model_, 0); }

bool LbrStack::depth_supported(u64 depth) const {
  return depth != 0 && depth % 8 == 0 && depth <= model_->lbr.depth &&
         (model_->lbr.arch_depths & bit(static_cast<unsigned>(depth / 8 - 1))) != 0;
}

Rows<LbrStack> LbrStack::arch_registers() {
  using L = LbrStack;
  static constexpr Row<L> rows[] = {
      {.address = msr::ARCH_LBR_CTL,
       .name = "IA32_LBR_CTL",
       .exists = has_arch_lbr,
       .fields = ctl_fields,
       .read = read_word<&L::ctl_>,
       .write =
           [](L& l, At, u64 value) {
             l.write_ctl(value);
             return Fault::none;
           }},
      {.address = msr::ARCH_LBR_DEPTH,
       .name = "IA32_LBR_DEPTH",
       .exists = has_arch_lbr,
       .reset = [](const CpuModel& m, unsigned) { return u64{m.lbr.depth}; },
       .fields = depth_fields,
       .read = read_word<&L::depth_>,
       .write =
           [](L& l, At, u64 value) {
             if (!l.depth_supported(value)) return Fault::gp;
             l.depth_ = static_cast<unsigned>(value);
             l.clear_records();
             if (l.model_->policies.lbr_depth_write_clears_ler) l.last_exception_ = {};
             return Fault::none;
           },
       .takes = "the depth must be one that CPUID.1CH:EAX[7:0] has"},

      {.address = msr::ARCH_LBR_FROM_0,
       .count = 64,
       .name = "IA32_LBR_{}_FROM_IP",
       .exists = has_entry,
       .present = in_depth,
       .fields = arch_from_fields,
       .read = [](const L& l, At at) { return l.layout_.from(l.record_at(at.n)); },
       .write =
           [](L& l, At at, u64 value) {
             return assign(l.record_at(at.n), l.layout_.with_from(l.record_at(at.n), value));
           },
       .takes = canonical,
       .present_if = below_depth,
       .is_data = true},
      {.address = msr::ARCH_LBR_TO_0,
       .count = 64,
       .name = "IA32_LBR_{}_TO_IP",
       .exists = has_entry,
       .present = in_depth,
       .fields = arch_to_fields,
       .read = [](const L& l, At at) { return l.layout_.to(l.record_at(at.n)); },
       .write =
           [](L& l, At at, u64 value) {
             return assign(l.record_at(at.n), l.layout_.with_to(l.record_at(at.n), value));
           },
       .takes = canonical,
       .present_if = below_depth,
       .is_data = true},
      {.address = msr::ARCH_LBR_INFO_0,
       .count = 64,
       .name = "IA32_LBR_{}_INFO",
       .exists = has_entry,
       .present = in_depth,
       .fields = arch_info_fields,
       .writable = any_value,
       .read = [](const L& l, At at) { return l.layout_.info(l.record_at(at.n)); },
       .write =
           [](L& l, At at, u64 value) {
             return assign(l.record_at(at.n), l.layout_.with_info(l.record_at(at.n), value));
           },
       .present_if = below_depth,
       .is_data = true},
  };
  return rows;
}

// LER: the newest record before the last exception or interrupt. Legacy parts have it read-only.
Rows<LbrStack> LbrStack::last_exception_registers() {
  using L = LbrStack;
  constexpr auto is_legacy = [](const CpuModel& m, unsigned) {
    return m.lbr.depth != 0 && !m.has_arch_lbr();
  };
  constexpr auto read_from = [](const L& l, At) { return l.last_exception_.from; };
  constexpr auto read_to = [](const L& l, At) { return l.last_exception_.to; };
  static constexpr Row<L> rows[] = {
      {.address = msr::LER_FROM_IP,
       .name = "IA32_LER_FROM_IP",
       .exists = is_legacy,
       .fields = ler_from_fields,
       .read = read_from},
      {.address = msr::LER_TO_IP,
       .name = "IA32_LER_TO_IP",
       .exists = is_legacy,
       .fields = ler_to_fields,
       .read = read_to},
      {.address = msr::LER_FROM_IP,
       .name = "IA32_LER_FROM_IP",
       .exists = has_arch_lbr,
       .fields = ler_from_fields,
       .read = read_from,
       .write =
           [](L& l, At, u64 value) {
             return assign(l.last_exception_, l.layout_.with_from(l.last_exception_, value));
           },
       .takes = canonical,
       .is_data = true},
      {.address = msr::LER_TO_IP,
       .name = "IA32_LER_TO_IP",
       .exists = has_arch_lbr,
       .fields = ler_to_fields,
       .read = read_to,
       .write =
           [](L& l, At, u64 value) {
             return assign(l.last_exception_, l.layout_.with_to(l.last_exception_, value));
           },
       .takes = canonical,
       .is_data = true},
      {.address = msr::LER_INFO,
       .name = "IA32_LER_INFO",
       .exists = has_arch_lbr,
       .fields = ler_info_fields,
       .writable = any_value,
       .read = [](const L& l, At) { return l.last_exception_.info & ler_info_bits; },
       .write =
           [](L& l, At, u64 value) {
             l.last_exception_.info = value & ler_info_bits;
             return Fault::none;
           },
       .is_data = true},
  };
  return rows;
}

}  // namespace pmusim
