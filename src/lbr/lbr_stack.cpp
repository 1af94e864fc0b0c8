// SPDX-License-Identifier: MIT
#include "lbr/lbr_stack.h"

#include <algorithm>

#include "pmusim/arch/msr.h"

namespace pmusim {
namespace {

constexpr u16 kind_bit(BranchKind kind) { return static_cast<u16>(1u << static_cast<unsigned>(kind)); }

constexpr u16 calls = kind_bit(BranchKind::direct_call) | kind_bit(BranchKind::indirect_call);
constexpr u16 returns = kind_bit(BranchKind::near_return);
constexpr u16 near_kinds = kind_bit(BranchKind::conditional) | kind_bit(BranchKind::direct_jump) |
                           kind_bit(BranchKind::indirect_jump) | calls | returns;
constexpr u16 all_kinds = 0xFFFE;  // everything but BranchKind::none
constexpr u16 other_kinds = all_kinds & ~near_kinds;

/// A filter bit and the branches that it is about.
struct FilterBit {
  u64 mask;
  u16 kinds;
};
constexpr FilterBit select_bits[] = {
    {lbr_select::JCC, kind_bit(BranchKind::conditional)},
    {lbr_select::NEAR_REL_CALL, kind_bit(BranchKind::direct_call)},
    {lbr_select::NEAR_IND_CALL, kind_bit(BranchKind::indirect_call)},
    {lbr_select::NEAR_RET, returns},
    {lbr_select::NEAR_IND_JMP, kind_bit(BranchKind::indirect_jump)},
    {lbr_select::NEAR_REL_JMP, kind_bit(BranchKind::direct_jump)},
    {lbr_select::FAR_BRANCH, other_kinds},
};
/// What two of them also keep out on Nehalem-class parts.
constexpr FilterBit nehalem_select_bits[] = {
    {lbr_select::NEAR_IND_JMP, kind_bit(BranchKind::indirect_call) | returns},
    {lbr_select::NEAR_REL_JMP, kind_bit(BranchKind::direct_call)},
};
constexpr FilterBit ctl_bits[] = {
    {lbr_ctl::COND, kind_bit(BranchKind::conditional)},
    {lbr_ctl::NEAR_REL_JMP, kind_bit(BranchKind::direct_jump)},
    {lbr_ctl::NEAR_IND_JMP, kind_bit(BranchKind::indirect_jump)},
    {lbr_ctl::NEAR_REL_CALL, kind_bit(BranchKind::direct_call)},
    {lbr_ctl::NEAR_IND_CALL, kind_bit(BranchKind::indirect_call)},
    {lbr_ctl::NEAR_RET, returns},
    {lbr_ctl::OTHER_BRANCH, other_kinds},
};

/// BR_TYPE (SDM: COND 0, IND_JMP 1, REL_JMP 2, IND_CALL 3, REL_CALL 4, RET 5, 1xxx other).
constexpr u64 br_type(BranchKind kind) {
  switch (kind) {
    case BranchKind::none:
    case BranchKind::conditional:
      return 0;
    case BranchKind::indirect_jump:
      return 1;
    case BranchKind::direct_jump:
      return 2;
    case BranchKind::indirect_call:
      return 3;
    case BranchKind::direct_call:
      return 4;
    case BranchKind::near_return:
      return 5;
    default:
      return 8;
  }
}

u16 kinds_of(std::span<const FilterBit> bits_of_register, u64 value) {
  u16 kinds = 0;
  for (const FilterBit& b : bits_of_register)
    if (value & b.mask) kinds |= b.kinds;
  return kinds;
}

}  // namespace

LbrStack::LbrStack(const CpuModel& model)
    : model_(&model),
      layout_(model),
      by_age_(model.has_lbr_by_age()),
      depth_(model.lbr.depth),
      ring_mask_(by_age_ ? ring_size - 1 : std::max(depth_, 1u) - 1) {
  for (unsigned kind = 0; kind < info_of_kind_.size(); ++kind)
    info_of_kind_[kind] =
        lbr_info::CYC_CNT_VALID | LbrLayout::valid | br_type(static_cast<BranchKind>(kind)) << 56;
  derive();
}

/// Records made by one execution of a block.
unsigned LbrStack::record_execution(std::span<const Branch> block, u64 start) {
  const unsigned before = head_;
  for (Branch branch : block) {
    branch.cycle += start;
    record(branch, LbrGate::open);
  }
  return head_ - before;
}

void LbrStack::record_repeated(std::span<const Branch> block, u64 start, u64 times, u64 stride,
                               LbrGate gate) {
  if (gate == LbrGate::closed || block.empty() || times == 0) return;
  if (call_stack_mode()) return record_repeated_calls(block, start, times, stride);
  const unsigned records = record_execution(block, start);
  u64 next = 1;
  // One execution beyond a full ring: cycle counts and LER look back at the record before.
  const u64 visible = records == 0 ? 0 : ring_size / records + 2;
  if (times - next > visible) {
    const u64 unseen = times - next - visible;
    pass_over(unseen * records);
    next += unseen;
  }
  for (; next < times; ++next) record_execution(block, start + next * stride);
}

// Calls and returns of a block take the stack up, down, or back to where it was. After so many executions as
// turn the ring once, one more only moves the records; then so do all the others.
void LbrStack::record_repeated_calls(std::span<const Branch> block, u64 start, u64 times, u64 stride) {
  for (u64 next = 0; next < times; ++next) {
    const LbrStack before = *this;
    record_execution(block, start + next * stride);
    const u64 passed = last_cycle_ - before.last_cycle_;
    if ((passed != stride && passed != 0) || !is_moved(before)) continue;
    const u64 rest = times - next - 1;
    move_records(static_cast<unsigned>((head_ - before.head_) * rest));
    last_cycle_ += passed * rest;
    return;
  }
}

/// Whether `before` had the same records at the same distances from its newest one.
bool LbrStack::is_moved(const LbrStack& before) const {
  if (timed_ != before.timed_ || events_ != before.events_ || last_exception_ != before.last_exception_)
    return false;
  for (unsigned age = 0; age <= ring_mask_; ++age)
    if (ring_[(head_ - age) & ring_mask_] != before.ring_[(before.head_ - age) & ring_mask_]) return false;
  return true;
}

void LbrStack::move_records(unsigned places) {
  const auto from = ring_;
  for (unsigned slot = 0; slot <= ring_mask_; ++slot) ring_[(slot + places) & ring_mask_] = from[slot];
  head_ += places;
}

void LbrStack::count_events(u64 counters) {
  for (unsigned n : set_bits(counters & lbr_leaf::event_counters(model_->lbr.cpuid_1c_ecx))) {
    const u64 full = u64{3} << (32 + 2 * n);
    if ((events_ & full) != full) events_ += bit(32 + 2 * n);
  }
  derived_.special = special_kinds();
}

void LbrStack::on_debug_exception() {
  if (by_age_) write_ctl(ctl_ & ~enable_bit());
}

LbrStack LbrStack::after_warm_reset() const {
  if (!model_->has_arch_lbr()) return LbrStack(*model_);
  LbrStack kept = *this;
  kept.write_ctl(ctl_ & ~enable_bit());
  return kept;
}

void LbrStack::lose_records_in_deep_sleep() {
  const bool loses_records = by_age_ ? (model_->lbr.cpuid_1c_eax_flags & lbr_leaf::EAX_DEEP_CSTATE_RESET) != 0
                                     : (layout_.info_register != 0 || layout_.cycles_in_to);
  if (!loses_records) return;
  clear_records();
  last_exception_ = {};
  if (!by_age_) head_ = 0;
}

unsigned LbrStack::render(std::span<LbrEntry> out) const {
  const unsigned count = static_cast<unsigned>(std::min<std::size_t>(depth_, out.size()));
  for (unsigned i = 0; i < count; ++i) {
    const LbrEntry& record = ring_[(head_ - i) & ring_mask_];
    out[i] = {layout_.from(record), layout_.to(record), layout_.info(record)};
  }
  return count;
}

void LbrStack::keep_last(const Branch& branch) {
  if (branch.kind == BranchKind::interrupt) last_exception_ = last_branch_;
  last_branch_ = {branch.from, branch.to, 0};
}

bool LbrStack::record_special(const Branch& branch) {
  if (!derived_.enabled) return false;
  if (branch.kind == BranchKind::interrupt || branch.kind == BranchKind::software_interrupt)
    last_exception_ = newest();
  if (!accepts(branch)) return false;
  if (branch.zero_length_call && (call_stack_mode() || !model_->policies.lbr_zero_call_recorded))
    return false;
  if (branch.kind == BranchKind::near_return && call_stack_mode()) {
    pop();
    return false;
  }
  append_special(branch);
  return true;
}

void LbrStack::append_special(const Branch& branch) {
  // A source at a privilege that is filtered out is not recorded. Legacy parts record it.
  const u64 source = branch.cpl_before == Cpl::kernel ? lbr_ctl::OS : lbr_ctl::USR;
  const bool hidden =
      by_age_ && (model_->lbr.cpuid_1c_ebx & lbr_leaf::EBX_CPL_FILTER) != 0 && (ctl_ & source) == 0;
  u64 info = info_of(branch) | events_;
  if (!timed_) info &= ~(lbr_info::CYC_CNT | lbr_info::CYC_CNT_VALID);
  if (branch.tx == TxState::in_tx) info |= lbr_info::IN_TSX;
  if (branch.tx == TxState::aborting) info |= lbr_info::TSX_ABORT;
  append(branch, hidden ? ~u64{0} : source_of(branch), info);
  if (branch.kind == BranchKind::tsx_abort && model_->lbr.double_abort)
    append(branch, branch.from, info_of(branch));
  timed_ = true;
  events_ = 0;
  derived_.special = special_kinds();
}

void LbrStack::pop() {
  if (by_age_) {
    --head_;
    ring_[slot_of(depth_ - 1)] = {};
    return;
  }
  const bool empty = newest().from == 0;
  if (empty && !model_->policies.lbr_callstack_underflow) return;
  if (model_->policies.lbr_callstack_pop_clears) newest() = {};
  --head_;
}

bool LbrStack::call_stack_mode() const {
  return by_age_ ? (ctl_ & lbr_ctl::CALL_STACK) != 0 : (select_ & lbr_select::EN_CALLSTACK) != 0;
}

LbrStack::Derived LbrStack::derivation() const {
  Derived derived;
  derived.enabled = depth_ != 0 && (!by_age_ || (ctl_ & enable_bit()) != 0);
  derived.special = special_kinds();
  if (derived.enabled) derived.accepted = model_->has_arch_lbr() ? arch_filter() : select_filter();
  return derived;
}

u16 LbrStack::special_kinds() const {
  if (!timed_ || events_ != 0) return all_kinds;
  return call_stack_mode() ? other_kinds | returns : other_kinds;
}

LbrStack::Accepted LbrStack::arch_filter() const {
  const u32 ebx = model_->lbr.cpuid_1c_ebx;
  u16 kinds = (ebx & lbr_leaf::EBX_BRANCH_FILTER) != 0 ? kinds_of(ctl_bits, ctl_) : all_kinds;
  if (!model_->policies.lbr_abort_filtered) kinds |= kind_bit(BranchKind::tsx_abort);
  const bool by_privilege = (ebx & lbr_leaf::EBX_CPL_FILTER) != 0;
  return {!by_privilege || (ctl_ & lbr_ctl::OS) != 0 ? kinds : u16{0},
          !by_privilege || (ctl_ & lbr_ctl::USR) != 0 ? kinds : u16{0}};
}

LbrStack::Accepted LbrStack::select_filter() const {
  u16 suppressed = kinds_of(select_bits, select_);
  if (model_->lbr.nehalem_filters) suppressed |= kinds_of(nehalem_select_bits, select_);
  if (!model_->policies.lbr_abort_filtered) suppressed &= static_cast<u16>(~kind_bit(BranchKind::tsx_abort));
  const u16 kinds = all_kinds & static_cast<u16>(~suppressed);
  return {(select_ & lbr_select::CPL_EQ_0) != 0 ? u16{0} : kinds,
          (select_ & lbr_select::CPL_NEQ_0) != 0 ? u16{0} : kinds};
}

u64 LbrStack::enable_bit() const {
  return model_->has_arch_lbr() ? lbr_ctl::LBREN : msr::amd::debug_extn::LBRSE;
}

void LbrStack::clear_records() {
  ring_ = {};
  forget_cycles();
}

void LbrStack::forget_cycles() {
  timed_ = false;
  derived_.special = special_kinds();
}

void LbrStack::write_ctl(u64 value) {
  const bool enables = (value & ~ctl_ & enable_bit()) != 0;
  if (enables && model_->policies.lbr_enable_restarts_cycles) timed_ = false;
  ctl_ = value;
  derive();
}

}  // namespace pmusim
