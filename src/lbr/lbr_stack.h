// SPDX-License-Identifier: MIT
#ifndef PMUSIM_LBR_LBR_STACK_H
#define PMUSIM_LBR_LBR_STACK_H

#include <array>
#include <span>

#include "lbr/branch.h"
#include "lbr/layout.h"
#include "msr/row.h"
#include "pmusim/base/types.h"

namespace pmusim {

/// Last Branch Record stack of one logical processor (SDM vol. 3, LBR; architectural LBR).
///
/// Hardware keeps the newest N taken branches that pass the filter: legacy parts in N slots with TOS naming
/// the newest, architectural LBR and AMD's (APM vol. 2, 13.1) as entries that shift by age. This class keeps
/// one ring of records with clean addresses and makes FROM, TO, INFO, XSAVE and PEBS views of it when someone
/// reads: in a replay that is a few times per million branches.
///
/// Invariant: `head_ & ring_mask_` is the slot of the newest record. On legacy parts slots are the MSR
/// numbers and the head is TOS; where entries go by age, entry i is i slots behind it.
class LbrStack {
 public:
  explicit LbrStack(const CpuModel& model);

  /// Takes in a taken branch if `gate` is open and enable and filters let it pass. True if it was recorded:
  /// the event LBR_INSERTS occurs. A RET of call-stack mode removes a record and records nothing.
  bool record(const Branch& branch, LbrGate gate) {
    if (gate == LbrGate::closed) return false;
    if (needs_more(branch, derived_.special)) return record_special(branch);
    if (!accepts(branch)) return false;
    append(branch, source_of(branch), info_of(branch));
    return true;
  }

  /// Whether it takes in any branches while the gate is open: its own enable, filters aside.
  bool is_enabled() const { return derived_.enabled; }

  /// AMD's pair beside the stack takes in any taken branch, and what it had before an interrupt is kept.
  void keep_last(const Branch& branch);

  /// Kinds of taken branches in user mode, bits by BranchKind: those that record() appends, and those that it
  /// may do more with. Both hold until a register is written, an event is counted or one of the latter comes.
  struct UserKinds {
    u16 appended = 0, special = 0;
  };
  UserKinds user_kinds() const {
    if (!derived_.enabled) return {};
    return {static_cast<u16>(derived_.accepted[1] & ~derived_.special), derived_.special};
  }
  /// Whether record() may do more with `branch` than append it, if `special` are the kinds with which it
  /// does.
  static bool needs_more(const Branch& branch, u16 special) {
    return ((special >> static_cast<unsigned>(branch.kind) & 1) | static_cast<unsigned>(branch.tx) |
            static_cast<unsigned>(branch.zero_length_call)) != 0;
  }
  /// Most records that can be seen.
  static constexpr unsigned ring_size = 64;
  /// So many branches were appended that nobody can see: more than ring_size come after them.
  void pass_over(u64 appended) { head_ += static_cast<unsigned>(appended); }

  /// Takes in the taken branches of a block that is executed `times` times from cycle `start` on, `stride`
  /// cycles apart; their own cycles count from the start of an execution. Executions of which nothing can be
  /// seen afterwards are passed over: all but the newest that fill the ring. Time does not grow with `times`.
  void record_repeated(std::span<const Branch> block, u64 start, u64 times, u64 stride, LbrGate gate);

  /// Logs one occurrence of the events of `counters` (bit n = GP n, those with PERFEVTSELn.BR_CNTR set) for
  /// the BR_CNTR fields of the next record. Counters that CPUID.1CH:ECX[19:16] leaves out are ignored.
  void count_events(u64 counters);

  /// Delivery of #DB clears LBREn. (DEBUGCTL.LBR of legacy parts: debugctl_after_debug_exception().)
  void on_debug_exception();
  /// What a warm RESET leaves: on architectural LBR everything but the enable.
  LbrStack after_warm_reset() const;
  /// MWAIT beyond C1: records are lost where the part says so (CPUID.1CH), and where they have cycle counts;
  /// controls stay.
  void lose_records_in_deep_sleep();

  /// Records in use: N, or IA32_LBR_DEPTH.
  unsigned depth() const { return depth_; }
  /// IA32_LBR_CTL, AMD's DebugExtnCtl; 0 on legacy parts.
  u64 control() const { return ctl_; }
  /// LER: the newest record before the last exception or interrupt.
  const LbrEntry& last_exception() const { return last_exception_; }
  /// FROM, TO and INFO as the registers show them, newest first, zeros where there is no record: what
  /// adaptive and architectural PEBS write. Returns the number of entries written, at most depth().
  unsigned render(std::span<LbrEntry> out) const;

  /// XSAVE component 15: whether it is in use (XINUSE), XSAVES, XRSTORS and initialisation.
  /// `image` is lbr_component::bytes(N) long. Restoring faults (gp) on reserved CTL bits or an unsupported
  /// DEPTH.
  bool component_in_use() const;
  void save_component(std::span<std::byte> image) const;
  [[nodiscard]] Fault restore_component(std::span<const std::byte> image);
  void initialize_component();

  /// Brings everything that is derived from registers up to date. Every register write ends in it.
  void derive() { derived_ = derivation(); }
  /// Whether derive() would change nothing.
  bool is_derived() const { return derived_ == derivation(); }

  void add_to(StateHash& hash) const;
  static RowFamilies<LbrStack> registers(Vendor vendor);

 private:
  static Rows<LbrStack> legacy_registers();
  static Rows<LbrStack> arch_registers();
  static Rows<LbrStack> last_exception_registers();
  static Rows<LbrStack> amd_registers();
  static Rows<LbrStack> amd_last_branch_registers();

  bool accepts(const Branch& branch) const {
    const unsigned ring = branch.cpl_after == Cpl::kernel ? 0 : 1;
    return (derived_.accepted[ring] >> static_cast<unsigned>(branch.kind) & 1) != 0;
  }
  /// INFO of a branch, all fields but transaction flags and event counts.
  u64 info_of(const Branch& branch) const {
    const u64 since = branch.cycle - last_cycle_;
    const u64 cycles = since < lbr_info::CYC_CNT ? since : lbr_info::CYC_CNT;
    return u64{branch.mispredicted} << 63 | info_of_kind_[static_cast<unsigned>(branch.kind)] | cycles;
  }
  /// AMD's names the instruction that a branch is fused with.
  u64 source_of(const Branch& branch) const { return branch.from - (layout_.amd ? branch.fused_bytes : 0); }
  void append(const Branch& branch, u64 from, u64 info) {
    ring_[++head_ & ring_mask_] = {from, branch.to, info & layout_.produced};
    last_cycle_ = branch.cycle;
  }

  unsigned record_execution(std::span<const Branch> block, u64 start);
  void record_repeated_calls(std::span<const Branch> block, u64 start, u64 times, u64 stride);
  bool is_moved(const LbrStack& before) const;
  void move_records(unsigned places);
  bool record_special(const Branch& branch);
  void append_special(const Branch& branch);
  void pop();
  bool call_stack_mode() const;
  /// Branch kinds that pass the filter, by target privilege: kernel, user.
  using Accepted = std::array<u16, 2>;
  /// What the control registers come to, kept ready.
  struct Derived {
    bool enabled = true;  ///< its own enable; true on legacy parts, where DEBUGCTL has it
    u16 special = 0;      ///< branch kinds that need more than appending, for now or always
    Accepted accepted{};
    friend bool operator==(const Derived&, const Derived&) = default;
  };
  Derived derivation() const;
  Accepted arch_filter() const;
  Accepted select_filter() const;
  u16 special_kinds() const;
  u64 enable_bit() const;
  void clear_records();
  void write_ctl(u64 value);
  bool depth_supported(u64 depth) const;
  u64 writable_ctl() const;
  static bool in_depth(const LbrStack& stack, unsigned entry) { return entry < stack.depth_; }
  const LbrEntry& record_at(unsigned entry) const { return ring_[slot_of(entry)]; }
  LbrEntry& record_at(unsigned entry) { return ring_[slot_of(entry)]; }
  unsigned slot_of(unsigned entry) const { return by_age_ ? (head_ - entry) & ring_mask_ : entry; }

  /// Of a record and how software wrote one of its registers; nothing is written where that faults.
  static Fault assign(LbrEntry& record, const std::optional<LbrEntry>& written);
  LbrEntry& newest() { return ring_[head_ & ring_mask_]; }
  void forget_cycles();

  const CpuModel* model_;
  LbrLayout layout_;
  std::array<u64, 16> info_of_kind_{};  ///< by BranchKind: BR_TYPE and CYC_CNT_VALID
  bool by_age_;
  Derived derived_;
  unsigned depth_;
  unsigned ring_mask_;
  unsigned head_ = 0;
  u64 last_cycle_ = 0;  ///< cycle of the last record
  bool timed_ = false;  ///< last_cycle_ means something: the next record has a cycle count
  u64 events_ = 0;      ///< BR_CNTR fields of the next record
  u64 select_ = 0, ctl_ = 0;
  LbrEntry last_exception_, last_branch_;
  std::array<LbrEntry, ring_size> ring_{};
};

}  // namespace pmusim

#endif
