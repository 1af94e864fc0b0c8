// SPDX-License-Identifier: MIT
#ifndef PMUSIM_PMU_SEQUENCER_H
#define PMUSIM_PMU_SEQUENCER_H

#include <memory>

#include "acr/acr_unit.h"
#include "base/memory.h"
#include "ibs/ibs_unit.h"
#include "lbr/branch_sampling.h"
#include "lbr/lbr_stack.h"
#include "msr/control.h"
#include "msr/counters.h"
#include "msr/register_file.h"
#include "pebs/pebs_unit.h"
#include "pmu/attached.h"
#include "pmu/block_sums.h"
#include "pmu/pmi_line.h"
#include "pmu/sibling_link.h"
#include "pmusim/pmu/observer.h"
#include "pmusim/pmu/pmu.h"
#include "xsave/xsave_unit.h"

namespace pmusim {

/// The registers of a logical processor.
using PmuRegisters = RegisterFile<CounterFile, LbrStack, ControlRegisters, PebsUnit, AcrUnit, XsaveUnit,
                                  IbsUnit, BranchSampling>;

/// What a Pmu is made of: the hardware units, and the order in which things happen in a cycle. Units answer
/// questions, this class applies the answers, and `retire` reads as that order. What its functions do to
/// software is said where Pmu declares them.
///
/// Memory is no part of it: it is connected to one that other CPUs may share. A copy is connected to the same
/// one until connect() says otherwise. Neither is the other thread of its core, which a copy has none of.
class Sequencer {
 public:
  /// CPU `number` at a memory.
  Sequencer(CpuModel model, Memory& memory, unsigned number);

  /// Makes it CPU `number` at `memory`, which must outlive it.
  void connect(Memory& memory, unsigned number) {
    memory_ = &memory;
    number_ = number;
    counters_.share_core(static_cast<bool>(sibling_));
  }
  /// Makes the two the threads of one core.
  void pair_with(Sequencer& other);
  Sequencer* sibling() const { return sibling_.get(); }

  void retire(const Retirement& retirement);
  void wait_until(u64 cycle, const InterruptFrame& frame);
  void halt_until(u64 cycle, const InterruptFrame& frame);
  void take_interrupts(const InterruptFrame& frame);

  BlockSums totals(std::span<const Retirement> execution, u64 since, BlockBranches branches) const;
  u64 headroom(const BlockSums& block, u64 at_most) const;
  u64 advance(const BlockSums& block, u64 at_most, const Registers* registers);
  u64 quiet_instructions(u32 most) const;
  bool records_branches() const;
  void log_branch(const Retirement& branch);

  // what BlockRuns sums up
  CounterRoom room(const RunShape& shape) const;
  LbrGate lbr_gate() const { return pmusim::lbr_gate(*model_, control_.debugctl(), counters_.status()); }
  LbrStack& lbr() { return lbr_; }
  void advance(const CounterTotals& sum, const Registers* registers);

  void set_extended_state(const ExtendedState* state);
  void reset();
  void warm_reset();
  void deep_sleep() { lbr_.lose_records_in_deep_sleep(); }
  void debug_exception();
  void set_pmi_handler(PmiHandler* handler) { handler_ = handler; }
  void set_observer(Observer* observer) { observer_.attach(observer); }
  void set_retirement_observer(RetirementObserver* observer) { retirement_observer_.attach(observer); }
  void set_user_rdpmc(UserRdpmc right) { user_rdpmc_ = right; }
  void set_vm_mode(VmMode mode) {
    vm_mode_ = mode;
    derive();
  }
  void set_xsave_control(XsaveControl control) { xsave_.set_control(control); }

  FaultOr<u64> rdmsr(u32 address);
  Fault wrmsr(u32 address, u64 value);
  FaultOr<u64> rdpmc(u32 ecx, Cpl cpl);
  CpuidResult cpuid(u32 leaf, u32 subleaf) const;
  FaultOr<u64> xgetbv(u32 ecx);
  Fault xsetbv(u32 ecx, u64 value);
  Fault save(SaveInstruction which, const XsaveOperands& operands);
  Fault restore(RestoreInstruction which, const XsaveOperands& operands);

  Fault read_memory(u64 address, std::span<std::byte> out) const {
    const u32 apic = control_.xapic_register(address);
    return apic != 0 ? read_xapic(apic, out) : memory_->read(address, out);
  }
  Fault write_memory(u64 address, std::span<const std::byte> in) {
    const u32 apic = control_.xapic_register(address);
    return apic != 0 ? write_xapic(apic, in) : memory_->write(address, in);
  }

  const CpuModel& model() const { return *model_; }
  unsigned number() const { return number_; }
  const RegisterList& registers() const { return *registers_; }
  const CounterFile& counters() const { return counters_; }
  const ControlRegisters& control() const { return control_; }
  const LbrStack& lbr() const { return lbr_; }
  const PebsUnit& pebs() const { return pebs_; }
  const AcrUnit& acr() const { return acr_; }
  const XsaveUnit& xsave() const { return xsave_; }
  u64 now() const { return counters_.now(); }
  u64 tsc() const { return control_.tsc_at(now()); }
  const observed::AccessFault& last_fault() const { return last_fault_; }
  /// Whether everything that is derived from registers is as a fresh derivation would have it. Always true
  /// between two calls; tests ask.
  bool is_derived() const;
  /// All but the memory.
  void add_to(StateHash& hash) const;

  // what a test makes happen
  u64 overflow(u64 counters, const Retirement& at);
  void request_pmi() { request_pmi(0, observed::PmiCause::overflow); }
  bool interrupt(const InterruptFrame& frame);
  bool in_pmi_handler() const { return handling_; }
  bool pmi_pending() const { return pmi_.pending() || ibs_interrupt_.pending(); }

 private:
  Sequencer(const std::shared_ptr<const CpuModel>& model, Memory& memory, unsigned number);
  Sequencer(std::shared_ptr<const CpuModel> model, std::shared_ptr<const PmuRegisters> registers,
            Memory& memory, unsigned number);
  void pass_time(u64 cycle, Cpl cpl);
  void pass_time_on_core(u64 cycle, Cpl cpl);
  void see_cycles(CycleSpan span);
  void see_retirement(const Retirement& retirement);
  /// The other thread counts what this one does.
  bool is_watched() const { return sibling_ && sibling_->counters_.of_core() != 0; }
  bool deliver_pmi(const InterruptFrame& frame);
  bool take_interrupt(InterruptFrame frame, PmiLine& line, u64 entry);
  bool pmi_due() const {
    return !handling_ &&
           (pmi_.deliverable(now(), pmi_masked()) || ibs_interrupt_.deliverable(now(), ibs_masked()));
  }
  u64 due_cycle() const;
  void retire_late(const Retirement& retirement);
  InterruptFrame frame_before(const Retirement& retirement) const;
  InterruptFrame frame_after(const Retirement& retirement) const;
  void remember(const Registers* registers);
  void write_extended(const ExtendedChange& change);
  bool acts_between_blocks() const;
  bool stores_branches() const;
  bool keeps_last_branch() const {
    return model_->has_last_branch_pair() && (control_.debugctl() & msr::debugctl::LBR) != 0;
  }
  void advance_counters(const CounterTotals& block, u64 executions, const Registers* registers);
  void log_branch(const Retirement& retirement, Counted& counted);
  void follow_ibs(const Retirement& retirement, Counted& counted);
  void store_branch(const Retirement& retirement);
  void sample_branch(const Retirement& retirement);
  void apply_overflows(u64 overflowed) { apply_overflows(overflowed, now()); }
  void apply_overflows(u64 overflowed, u64 cycle);
  u64 write_pebs_record(const Retirement& retirement, u64 served);
  u64 assist_cycles(u32 record_bytes) const;
  bool is_drained_for(const Retirement& next) const;
  void reload_counter(unsigned counter, u64 value, observed::ReloadCause cause, u64 cycle);
  void arm_assists(u64 overflowed, u64 cycle);
  void request_pmi(u32 skid_cycles, observed::PmiCause cause) { request_pmi(skid_cycles, cause, now()); }
  void request_pmi(u32 skid_cycles, observed::PmiCause cause, u64 cycle);
  void drop_served_pmi();
  void freeze_lbr(u64 cycle);
  void freeze_counters(u64 cycle);
  bool pmi_on_its_way() const {
    return handler_ != nullptr &&
           ((pmi_.pending() && !pmi_masked()) || (ibs_interrupt_.pending() && !ibs_masked()));
  }
  bool pmi_masked() const { return (control_.lvtpc() & msr::lvtpc::MASKED) != 0; }
  bool ibs_masked() const { return (control_.ibs_lvt() & msr::lvtpc::MASKED) != 0; }
  void request_ibs_interrupt();
  Fault read_xapic(u32 number, std::span<std::byte> out) const;
  Fault write_xapic(u32 number, std::span<const std::byte> in);
  EventFilters event_filters() const;
  void derive();
  Written write_register(u32 address, u64 value);
  void tell_load(u32 address);
  void note_fault(observed::AccessFault fault);
  struct OverflowKinds {
    u64 with_status, precise, interrupting;
  };
  void tell_overflows(u64 overflowed, const OverflowKinds& kinds, u64 cycle) const;

  std::shared_ptr<const CpuModel> model_;
  std::shared_ptr<const PmuRegisters> registers_;
  CounterFile counters_;
  ControlRegisters control_;
  LbrStack lbr_;
  PebsUnit pebs_;
  AcrUnit acr_;
  XsaveUnit xsave_;
  IbsUnit ibs_;
  BranchSampling branch_sampling_;
  PmiLine pmi_, ibs_interrupt_;
  Memory* memory_;
  unsigned number_;
  UserRdpmc user_rdpmc_ = UserRdpmc::forbidden;
  VmMode vm_mode_ = VmMode::host;
  u64 occurred_while_waiting_ = 0;  // counters whose event occurred since the last retirement
  Registers last_registers_;        // after the last retirement, if the trace knows them
  bool registers_known_ = false;
  bool extended_known_ = false;
  PmiHandler* handler_ = nullptr;
  bool handling_ = false;  // in handle_pmi: further PMIs wait
  observed::AccessFault last_fault_{.fault = Fault::none};
  Attached<Observer> observer_;
  Attached<RetirementObserver> retirement_observer_;
  SiblingLink<Sequencer> sibling_;
};

}  // namespace pmusim

#endif
