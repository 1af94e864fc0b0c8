#ifndef PMUSIM_PMU_PMU_H
#define PMUSIM_PMU_PMU_H

#include <memory>

#include "pmusim/acr/acr_unit.h"
#include "pmusim/base/bus.h"
#include "pmusim/base/memory.h"
#include "pmusim/cpu/model.h"
#include "pmusim/cpu/retirement.h"
#include "pmusim/lbr/lbr_stack.h"
#include "pmusim/msr/control.h"
#include "pmusim/msr/counters.h"
#include "pmusim/msr/register_file.h"
#include "pmusim/pebs/pebs_unit.h"
#include "pmusim/pmu/block_totals.h"
#include "pmusim/pmu/pmi_line.h"
#include "pmusim/xsave/xsave_unit.h"

namespace pmusim {

/// The registers of a logical processor.
using PmuRegisters = RegisterFile<CounterFile, LbrStack, ControlRegisters, PebsUnit, AcrUnit, XsaveUnit>;

/// What CR4.PCE lets code outside of ring 0 do.
enum class UserRdpmc : u8 { forbidden, allowed };

/// The performance monitoring unit of one logical processor.
///
/// Instructions go in through `retire`, or through `advance` where all that they do is count; software
/// reaches it through `Bus`; it reaches software through the PMI handler. It owns the hardware units and the
/// order in which things happen in a cycle: units answer questions, this class applies the answers, and
/// `retire` reads as that order.
///
/// A Pmu is a value: a copy is a snapshot of the whole unit with its memory. The handler pointer is copied
/// too.
class Pmu final : public Bus {
 public:
  explicit Pmu(CpuModel model);

  /// An instruction retires. Cycles never decrease. A PMI that is due is handled before it (or after the
  /// instruction that finds it due: policy pmi_boundary). The handler may retire instructions of its own,
  /// from now() on; what should have retired while it ran retires when it is done.
  void retire(const Retirement& retirement);
  /// Core time passes up to `cycle` while the code of `frame` waits to go on: clocks count, and a PMI that
  /// becomes due is handled.
  void wait_until(u64 cycle, const InterruptFrame& frame);

  /// What one execution of a block of instructions adds, under the present programming. `execution` is one
  /// that has been seen, `since` the cycle of the retirement before it; all executions are taken to be alike.
  BlockTotals totals(std::span<const Retirement> execution, u64 since) const;
  /// How many executions of the block, one after the other from now() on, and `at_most` that many, fit before
  /// anything observable can happen: a counter wraps (which is when ACR reloads, PEBS arms and a PMI is asked
  /// for). 0 while a PMI is on its way or a PEBS assist waits for its instruction, for blocks whose branches
  /// go to the branch trace store, and where the totals do not hold (CounterFile::headroom).
  u64 headroom(const BlockTotals& block, u64 at_most = ~u64{0}) const;
  /// Executes the block `at_most` times, or headroom() times if that is less, and returns how often: the same
  /// as retire() with every instruction of every execution. `registers`: after the last of them, null if not
  /// known. Extended registers stay as they are: what the block does to them is the caller's to tell.
  [[nodiscard]] u64 advance(const BlockTotals& block, u64 at_most, const Registers* registers = nullptr);

  /// The extended registers of the code that runs from now on, which retirements then change: another thread
  /// has been switched to. Null: they are not known until a retirement writes some.
  void set_extended_state(const ExtendedState* state);

  /// RESET: every register takes its reset value; memory, time and handler stay. (INIT keeps PMU state.)
  void reset();
  /// Delivery of #DB, which stops the recording of branches.
  void debug_exception();

  /// Who handles PMIs; null: they stay pending.
  void set_pmi_handler(PmiHandler* handler) { handler_ = handler; }
  /// CR4.PCE.
  void set_user_rdpmc(UserRdpmc right) { user_rdpmc_ = right; }

  Faulty<u64> rdmsr(u32 address) override;
  [[nodiscard]] Fault wrmsr(u32 address, u64 value) override;
  Faulty<u64> rdpmc(u32 ecx) override { return rdpmc(ecx, Cpl::kernel); }
  Faulty<u64> rdpmc(u32 ecx, Cpl cpl);
  CpuidResult cpuid(u32 leaf, u32 subleaf) override { return xsave_.cpuid(leaf, subleaf); }
  u64 rdtsc() override { return tsc(); }
  /// Where the local APIC is not in MSRs, its LVTPC is in memory: four bytes at FEE00340.
  [[nodiscard]] Fault read_memory(u64 address, std::span<std::byte> out) override {
    return is_xapic(address) ? read_xapic(out) : memory_.read(address, out);
  }
  [[nodiscard]] Fault write_memory(u64 address, std::span<const std::byte> in) override {
    return is_xapic(address) ? write_xapic(in) : memory_.write(address, in);
  }
  [[nodiscard]] bool map_memory(u64 address, u64 bytes) override { return memory_.map(address, bytes); }
  /// Maps the caller's bytes, which copies of this Pmu share; they must outlive them or be unmapped.
  [[nodiscard]] bool map_memory(u64 address, std::span<std::byte> bytes) {
    return memory_.map(address, bytes);
  }
  /// Removes the region that starts at `address`; false if there is none.
  bool unmap_memory(u64 address) { return memory_.unmap(address); }
  std::span<std::byte> memory(u64 address, u64 bytes) override { return memory_.at(address, bytes); }
  [[nodiscard]] Fault xsaves(u64 address, u64 features) override {
    return save(SaveInstruction::xsaves, {.address = address, .features = features});
  }
  [[nodiscard]] Fault xrstors(u64 address, u64 features) override {
    return restore(RestoreInstruction::xrstors, {.address = address, .features = features});
  }
  Faulty<u64> xgetbv(u32 ecx) override { return xsave_.xgetbv(ecx); }
  [[nodiscard]] Fault xsetbv(u32 ecx, u64 value) override { return xsave_.xsetbv(ecx, value); }

  /// The XSAVE instructions of any software, in the processor's memory. Faults: XsaveUnit, and pf.
  [[nodiscard]] Fault save(SaveInstruction which, const XsaveOperands& operands);
  [[nodiscard]] Fault restore(RestoreInstruction which, const XsaveOperands& operands);
  /// CR4.OSXSAVE and CR0.TS.
  void set_xsave_control(XsaveControl control) { xsave_.set_control(control); }

  const CpuModel& model() const { return *model_; }
  const RegisterList& registers() const { return *registers_; }
  const CounterFile& counters() const { return counters_; }
  const ControlRegisters& control() const { return control_; }
  const LbrStack& lbr() const { return lbr_; }
  const PebsUnit& pebs() const { return pebs_; }
  const AcrUnit& acr() const { return acr_; }
  const XsaveUnit& xsave() const { return xsave_; }
  const PmiLine& pmi_line() const { return pmi_; }
  /// Whether everything that is derived from registers is as a fresh derivation would have it. Always true
  /// between two calls; tests ask.
  bool is_derived() const;
  /// Core cycle that the unit has reached.
  u64 now() const { return counters_.now(); }
  /// Time-stamp counter at now().
  u64 tsc() const { return control_.tsc_at(now()); }

 private:
  void pass_time(u64 cycle, Cpl cpl);
  void deliver_pmi(InterruptFrame frame);
  bool pmi_due() const { return pmi_.deliverable(now(), pmi_masked()) && !handling_; }
  void retire_late(const Retirement& retirement);
  InterruptFrame frame_before(const Retirement& retirement) const;
  InterruptFrame frame_after(const Retirement& retirement) const;
  void remember(const Registers* registers);
  void write_extended(const ExtendedChange& change);
  void log_branch(const Retirement& retirement, Counted& counted);
  void store_branch(const Retirement& retirement);
  void apply_overflows(u64 overflowed);
  void write_pebs_record(const Retirement& retirement, u64 served);
  void request_pmi(u32 skid_cycles);
  bool pmi_on_its_way() const { return pmi_.pending() && !pmi_masked() && handler_ != nullptr; }
  bool pmi_masked() const { return (control_.lvtpc() & msr::lvtpc::MASKED) != 0; }
  bool is_xapic(u64 address) const { return address == msr::lvtpc::XAPIC_ADDRESS && !model_->has_x2apic; }
  Fault read_xapic(std::span<std::byte> out) const;
  Fault write_xapic(std::span<const std::byte> in);
  EventFilters event_filters() const;
  void derive();

  std::shared_ptr<const CpuModel> model_;
  std::shared_ptr<const PmuRegisters> registers_;
  CounterFile counters_;
  ControlRegisters control_;
  LbrStack lbr_;
  PebsUnit pebs_;
  AcrUnit acr_;
  XsaveUnit xsave_;
  PmiLine pmi_;
  Memory memory_;
  UserRdpmc user_rdpmc_ = UserRdpmc::forbidden;
  u64 occurred_while_waiting_ = 0;  // counters whose event occurred since the last retirement
  Registers last_registers_;        // after the last retirement, if the trace knows them
  bool registers_known_ = false;
  bool extended_known_ = false;
  PmiHandler* handler_ = nullptr;
  bool handling_ = false;  // in handle_pmi: further PMIs wait
};

}  // namespace pmusim

#endif
