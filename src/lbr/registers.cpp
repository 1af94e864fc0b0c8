#include "pmusim/lbr/lbr_stack.h"

namespace pmusim {
namespace {

constexpr u64 all_bits = ~u64{0};
constexpr u64 ler_info_bits = bits(63, 61) | lbr_info::BR_TYPE;

bool arch(const CpuModel& m, unsigned) { return m.has_arch_lbr(); }
bool legacy(const CpuModel& m, unsigned) { return m.lbr.depth != 0 && !m.has_arch_lbr(); }
bool arch_entry(const CpuModel& m, unsigned i) { return m.has_arch_lbr() && i < m.lbr.depth; }
template <u32 base>
bool from_at(const CpuModel& m, unsigned i) {
  return legacy(m, i) && m.lbr.from_base == base && i < m.lbr.depth;
}
template <u32 base>
bool to_at(const CpuModel& m, unsigned i) {
  return from_at<base>(m, i) && m.lbr.format != LbrFormat::addresses_32;
}
bool legacy_info(const CpuModel& m, unsigned i) {
  return legacy(m, i) && i < m.lbr.depth && LbrLayout(m).info_register != 0;
}
u64 any_value(const CpuModel&, unsigned) { return all_bits; }

}  // namespace

/// The MSR rows of the LBR with their behaviour.
struct LbrRegisters {
  // Entries: `i` is a slot on legacy parts and an age on architectural LBR.
  static bool in_depth(const LbrStack& l, unsigned i) { return i < l.depth_; }
  static u64 read_from(const LbrStack& l, unsigned i) { return l.layout_.from(l.ring_[l.slot_of(i)]); }
  static u64 read_to(const LbrStack& l, unsigned i) { return l.layout_.to(l.ring_[l.slot_of(i)]); }
  static u64 read_info(const LbrStack& l, unsigned i) { return l.layout_.info(l.ring_[l.slot_of(i)]); }
  static Fault assign(LbrEntry& record, const std::optional<LbrEntry>& written) {
    if (!written) return Fault::gp;
    record = *written;
    return Fault::none;
  }
  static Fault write_from(LbrStack& l, unsigned i, u64 value) {
    LbrEntry& record = l.ring_[l.slot_of(i)];
    return assign(record, l.layout_.with_from(record, value));
  }
  static Fault write_to(LbrStack& l, unsigned i, u64 value) {
    LbrEntry& record = l.ring_[l.slot_of(i)];
    return assign(record, l.layout_.with_to(record, value));
  }
  static Fault write_info(LbrStack& l, unsigned i, u64 value) {
    LbrEntry& record = l.ring_[l.slot_of(i)];
    return assign(record, l.layout_.with_info(record, value));
  }
  static u64 legacy_info_bits(const CpuModel& m, unsigned) {
    return m.policies.lbr_info_reserved_faults ? LbrLayout(m).info_register : all_bits;
  }

  static u64 select_bits(const CpuModel& m, unsigned) { return low_bits(m.lbr.call_stack ? 10 : 9); }
  static Fault write_select(LbrStack& l, unsigned, u64 value) {
    l.select_ = value;
    l.update_filter();
    return Fault::none;
  }
  static u64 tos_bits(const CpuModel& m, unsigned) {
    return m.policies.lbr_tos_reserved_faults ? m.lbr.depth - 1 : all_bits;
  }
  static Fault write_tos(LbrStack& l, unsigned, u64 value) {
    l.head_ = static_cast<unsigned>(value);
    return Fault::none;
  }

  static u64 ctl_bits(const CpuModel& m, unsigned) {
    u64 writable = lbr_ctl::LBREN;
    if (m.lbr.cpuid_1c_ebx & lbr_leaf::EBX_CPL_FILTER) writable |= lbr_ctl::OS | lbr_ctl::USR;
    if (m.lbr.cpuid_1c_ebx & lbr_leaf::EBX_CALL_STACK) writable |= lbr_ctl::CALL_STACK;
    if (m.lbr.cpuid_1c_ebx & lbr_leaf::EBX_BRANCH_FILTER) writable |= lbr_ctl::BRANCH_TYPES;
    return writable;
  }
  static Fault write_ctl(LbrStack& l, unsigned, u64 value) {
    l.write_ctl(value);
    return Fault::none;
  }
  static u64 largest_depth(const CpuModel& m, unsigned) { return m.lbr.depth; }
  static Fault write_depth(LbrStack& l, unsigned, u64 value) {
    if (!l.depth_supported(value)) return Fault::gp;
    l.depth_ = static_cast<unsigned>(value);
    l.clear_records();
    if (l.model_->policies.lbr_depth_write_clears_ler) l.last_exception_ = {};
    return Fault::none;
  }

  static Fault write_ler_from(LbrStack& l, unsigned, u64 value) {
    return assign(l.last_exception_, l.layout_.with_from(l.last_exception_, value));
  }
  static Fault write_ler_to(LbrStack& l, unsigned, u64 value) {
    return assign(l.last_exception_, l.layout_.with_to(l.last_exception_, value));
  }
  static Fault write_ler_info(LbrStack& l, unsigned, u64 value) {
    l.last_exception_.info = value & ler_info_bits;
    return Fault::none;
  }
};

u64 LbrStack::writable_ctl() const { return LbrRegisters::ctl_bits(*model_, 0); }

bool LbrStack::depth_supported(u64 depth) const {
  return depth != 0 && depth % 8 == 0 && depth <= model_->lbr.depth &&
         (model_->lbr.arch_depths & bit(static_cast<unsigned>(depth / 8 - 1))) != 0;
}

std::span<const RegisterSpec> LbrStack::registers() {
  using R = LbrRegisters;
  constexpr auto read_from = read_as<LbrStack, R::read_from>;
  constexpr auto read_to = read_as<LbrStack, R::read_to>;
  constexpr auto read_info = read_as<LbrStack, R::read_info>;
  constexpr auto write_from = write_as<LbrStack, R::write_from>;
  constexpr auto write_to = write_as<LbrStack, R::write_to>;
  constexpr auto write_info = write_as<LbrStack, R::write_info>;
  constexpr auto in_depth = present_as<LbrStack, R::in_depth>;
  static const RegisterSpec rows[] = {
      {.address = msr::LBR_CORE_FROM_IP,
       .count = 8,
       .name = "MSR_LASTBRANCH_{}_FROM_IP",
       .owner = Unit::lbr,
       .exists = from_at<msr::LBR_CORE_FROM_IP>,
       .writable = any_value,
       .read = read_from,
       .write = write_from,
       .bits = "address of the branch; format 0 also has its target in 63:32"},
      {.address = msr::LBR_CORE_TO_IP,
       .count = 8,
       .name = "MSR_LASTBRANCH_{}_TO_IP",
       .owner = Unit::lbr,
       .exists = to_at<msr::LBR_CORE_FROM_IP>,
       .writable = any_value,
       .read = read_to,
       .write = write_to,
       .bits = "address of the target"},
      {.address = msr::LBR_SELECT,
       .name = "MSR_LBR_SELECT",
       .owner = Unit::lbr,
       .exists = [](const CpuModel& m, unsigned i) { return legacy(m, i) && m.lbr.has_select; },
       .writable = R::select_bits,
       .read = read_as<LbrStack, [](const LbrStack& l, unsigned) { return l.select_; }>,
       .write = write_as<LbrStack, R::write_select>,
       .bits =
           "keep out: 0 CPL 0, 1 CPL > 0, 2 Jcc, 3 relative call, 4 indirect call, 5 ret, 6 indirect jmp, "
           "7 relative jmp, 8 far; 9 call-stack mode"},
      {.address = msr::LBR_TOS,
       .name = "MSR_LASTBRANCH_TOS",
       .owner = Unit::lbr,
       .exists = legacy,
       .writable = R::tos_bits,
       .read = read_as<LbrStack, [](const LbrStack& l, unsigned) { return u64{l.head_ & l.ring_mask_}; }>,
       .write = write_as<LbrStack, R::write_tos>,
       .bits = "slot of the newest record"},
      {.address = msr::LBR_NHM_FROM_IP,
       .count = 32,
       .name = "MSR_LASTBRANCH_{}_FROM_IP",
       .owner = Unit::lbr,
       .exists = from_at<msr::LBR_NHM_FROM_IP>,
       .writable = any_value,
       .read = read_from,
       .write = write_from,
       .bits = "address of the branch; formats 3, 4, 6: 63 mispredicted; format 4: 62 in_tx, 61 abort"},
      {.address = msr::LBR_NHM_TO_IP,
       .count = 32,
       .name = "MSR_LASTBRANCH_{}_TO_IP",
       .owner = Unit::lbr,
       .exists = to_at<msr::LBR_NHM_FROM_IP>,
       .writable = any_value,
       .read = read_to,
       .write = write_to,
       .bits = "address of the target; format 6: 63:48 cycles"},
      {.address = msr::LBR_INFO_0,
       .count = 32,
       .name = "MSR_LBR_INFO_{}",
       .owner = Unit::lbr,
       .exists = legacy_info,
       .writable = R::legacy_info_bits,
       .read = read_info,
       .write = write_info,
       .bits = "63 mispredicted, 62 in_tx, 61 abort, 15:0 cycles since the previous record"},
      {.address = msr::LER_FROM_IP,
       .name = "IA32_LER_FROM_IP",
       .owner = Unit::lbr,
       .exists = legacy,
       .read = read_as<LbrStack, [](const LbrStack& l, unsigned) { return l.last_exception_.from; }>,
       .bits = "last branch before the last exception or interrupt"},
      {.address = msr::LER_TO_IP,
       .name = "IA32_LER_TO_IP",
       .owner = Unit::lbr,
       .exists = legacy,
       .read = read_as<LbrStack, [](const LbrStack& l, unsigned) { return l.last_exception_.to; }>,
       .bits = "its target"},
      {.address = msr::LER_FROM_IP,
       .name = "IA32_LER_FROM_IP",
       .owner = Unit::lbr,
       .exists = arch,
       .writable = any_value,
       .read = read_as<LbrStack, [](const LbrStack& l, unsigned) { return l.last_exception_.from; }>,
       .write = write_as<LbrStack, R::write_ler_from>,
       .bits = "last branch before the last exception or interrupt"},
      {.address = msr::LER_TO_IP,
       .name = "IA32_LER_TO_IP",
       .owner = Unit::lbr,
       .exists = arch,
       .writable = any_value,
       .read = read_as<LbrStack, [](const LbrStack& l, unsigned) { return l.last_exception_.to; }>,
       .write = write_as<LbrStack, R::write_ler_to>,
       .bits = "its target"},
      {.address = msr::LER_INFO,
       .name = "IA32_LER_INFO",
       .owner = Unit::lbr,
       .exists = arch,
       .writable = any_value,
       .read = read_as<LbrStack,
                       [](const LbrStack& l, unsigned) { return l.last_exception_.info & ler_info_bits; }>,
       .write = write_as<LbrStack, R::write_ler_info>,
       .bits = "63 mispredicted, 62 in_tx, 61 abort, 59:56 branch type"},
      {.address = msr::ARCH_LBR_INFO_0,
       .count = 64,
       .name = "IA32_LBR_{}_INFO",
       .owner = Unit::lbr,
       .exists = arch_entry,
       .present = in_depth,
       .writable = any_value,
       .read = read_info,
       .write = write_info,
       .bits = "63 mispredicted, 62 in_tx, 61 abort, 60 cycles valid, 59:56 branch type, 39:32 event counts, "
               "15:0 cycles"},
      {.address = msr::ARCH_LBR_CTL,
       .name = "IA32_LBR_CTL",
       .owner = Unit::lbr,
       .exists = arch,
       .writable = R::ctl_bits,
       .read = read_as<LbrStack, [](const LbrStack& l, unsigned) { return l.ctl_; }>,
       .write = write_as<LbrStack, R::write_ctl>,
       .bits = "0 enable; let in: 1 CPL 0, 2 CPL > 0, 16 Jcc, 17 relative jmp, 18 indirect jmp, "
               "19 relative call, 20 indirect call, 21 ret, 22 other; 3 call-stack mode"},
      {.address = msr::ARCH_LBR_DEPTH,
       .name = "IA32_LBR_DEPTH",
       .owner = Unit::lbr,
       .exists = arch,
       .writable = any_value,
       .reset = R::largest_depth,
       .read = read_as<LbrStack, [](const LbrStack& l, unsigned) { return u64{l.depth_}; }>,
       .write = write_as<LbrStack, R::write_depth>,
       .bits = "records in use; any write clears the records"},
      {.address = msr::ARCH_LBR_FROM_0,
       .count = 64,
       .name = "IA32_LBR_{}_FROM_IP",
       .owner = Unit::lbr,
       .exists = arch_entry,
       .present = in_depth,
       .writable = any_value,
       .read = read_from,
       .write = write_from,
       .bits = "address of the branch, entry 0 newest"},
      {.address = msr::ARCH_LBR_TO_0,
       .count = 64,
       .name = "IA32_LBR_{}_TO_IP",
       .owner = Unit::lbr,
       .exists = arch_entry,
       .present = in_depth,
       .writable = any_value,
       .read = read_to,
       .write = write_to,
       .bits = "address of the target"},
  };
  return rows;
}

}  // namespace pmusim
