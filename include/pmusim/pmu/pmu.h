// SPDX-License-Identifier: MIT
#ifndef PMUSIM_PMU_PMU_H
#define PMUSIM_PMU_PMU_H

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "pmusim/arch/debug_store.h"
#include "pmusim/arch/xsave.h"
#include "pmusim/base/bus.h"
#include "pmusim/base/types.h"
#include "pmusim/cpu/model.h"
#include "pmusim/cpu/retirement.h"
#include "pmusim/msr/register.h"

/// The performance monitoring unit of a processor, for whoever has a driver to try on it or instructions to
/// count:
///
///     auto model = find_cpu_model("skylake");
///     if (!model.ok()) return complain(model.error().message);
///     Pmu pmu(*model);
///     static_cast<void>(pmu.wrmsr(msr::PERFEVTSEL0, msr::evtsel::EN | msr::evtsel::USR | 0xC0));
///     static_cast<void>(pmu.wrmsr(msr::PERF_GLOBAL_CTRL, 1));
///     pmu.retire({.ip = 0x401000, .next_ip = 0x401001, .cycle = 1, .signals = {Signal::instruction}});
///     const u64 instructions = pmu.rdmsr(msr::PMC0).value();  // 1
///
namespace pmusim {

class Machine;
class Memory;
class Observer;
class RetirementObserver;
class BlockRuns;
class Sequencer;
struct BlockSums;
struct Topology;

/// What CR4.PCE lets code outside of ring 0 do.
enum class UserRdpmc : u8 { forbidden, allowed };

/// Whose code executes: that of a hypervisor or a system without any, or that of a guest.
enum class VmMode : u8 { host, guest };

/// What one execution of a block of instructions does to a Pmu while nothing overflows: `Pmu::totals` makes
/// it, `Pmu::advance` applies it. An empty one never has headroom.
class BlockTotals {
 public:
  BlockTotals() = default;

 private:
  friend class Pmu;
  std::shared_ptr<const BlockSums> sums_;
};

/// Whether taken branches of a block are recorded whenever it executes, or separately by `Pmu::log_branch`.
enum class BlockBranches : u8 { with_block, apart };

/// The performance monitoring unit of one logical processor.
///
/// Instructions go in through `retire`, or through `advance` where all that they do is count; software
/// reaches it through `Bus`; it reaches software through the PMI handler.
///
/// A Pmu is a value: a copy is a snapshot of the whole unit with its memory. The handler pointer is copied
/// too. Observers are not: a copied Pmu has none, and one that a snapshot is assigned to keeps its own. A Pmu
/// that is moved takes its observers with it.
///
/// One that is constructed has memory of its own; those of a Machine share the machine's. A copy of one of
/// those has its own again and no other thread on its core, and what is assigned to one of them writes to the
/// memory that all of them see.
class Pmu final : public Bus {
 public:
  explicit Pmu(CpuModel model);
  Pmu(const Pmu& other);
  Pmu& operator=(const Pmu& other);
  Pmu(Pmu&& other) noexcept;  ///< what has been moved from can be assigned to, and nothing else
  Pmu& operator=(Pmu&& other) noexcept;
  ~Pmu() override;

  /// An instruction retires. Cycles never decrease. A PMI that is due is handled before it (or after the
  /// instruction that finds it due: policy pmi_boundary). The handler may retire instructions of its own,
  /// from now() on; what should have retired while it ran retires when it is done.
  void retire(const Retirement& retirement);
  /// Core time passes up to `cycle` while the code of `frame` waits to go on: clocks count, and a PMI that
  /// becomes due is handled.
  void wait_until(u64 cycle, const InterruptFrame& frame);
  /// The processor is halted up to `cycle`, and then `frame` goes on: the TSC runs; core cycles, slots and
  /// all that is counted while not halted (SDM vol. 3B, "unhalted") stand still. A PMI that becomes due is
  /// handled.
  void halt_until(u64 cycle, const InterruptFrame& frame);
  /// A PMI that is on its way is handled now, in the code of `frame`: what follows takes longer than its way,
  /// and none of that time is in what retires (a kernel's switch to another task).
  void take_interrupts(const InterruptFrame& frame);

  /// What one execution of a block of instructions adds, under the present programming. `execution` is one
  /// that has been seen, `since` the cycle of the retirement before it; all executions are taken to be alike.
  BlockTotals totals(std::span<const Retirement> execution, u64 since,
                     BlockBranches branches = BlockBranches::with_block) const;
  /// How many executions of the block, one after the other from now() on, and `at_most` that many, fit before
  /// anything observable can happen: a counter wraps (which is when ACR reloads, PEBS arms and a PMI is asked
  /// for). 0 while a PMI is on its way or a PEBS assist waits for its instruction, for blocks whose branches
  /// go to the branch trace store, and where the totals do not hold: under another programming, with counters
  /// that have EDGE, and with those that have CMASK, INV or EQ for blocks whose first cycle is shared with
  /// what is before. 0 while an observer is attached, and while the other thread of the core counts with ANY.
  u64 headroom(const BlockTotals& block, u64 at_most = ~u64{0}) const;
  /// Executes the block `at_most` times, or headroom() times if that is less, and returns how often: the same
  /// as retire() with every instruction of every execution. `registers`: after the last of them, null if not
  /// known. Extended registers stay as they are: what the block does to them is the caller's to tell.
  [[nodiscard]] u64 advance(const BlockTotals& block, u64 at_most, const Registers* registers = nullptr);
  /// How many instructions that retire one in a cycle from now() on fit before anything observable can
  /// happen but branch records, whatever they are and at whatever privilege, if none adds more than `most` to
  /// a counter of a quantity. Any blocks of no more instructions together have headroom(), one after the
  /// other, and add the same in any order that has the same block last. As branch records show the order,
  /// taken branches are logged separately, each once, before or after the block that has it. 0 where no
  /// totals hold, while branches go to the branch trace store or transactions are under way, and before
  /// anything has retired.
  ///
  ///     u64 quiet = pmu.quiet_instructions();
  ///     for (; quiet >= executed.instructions(); quiet -= executed.instructions()) {
  ///       if (pmu.records_branches()) pmu.log_branch(executed.last_retirement());
  ///       ++executions[executed.block];
  ///     }
  ///     // then, the last of them last: pmu.advance(totals[block], executions[block])
  ///
  u64 quiet_instructions(u32 most = 1) const;
  /// Whether taken branches leave more than counts: a record of any kind.
  bool records_branches() const;
  /// The taken branch of an instruction that is summed up without it (BlockBranches::apart), within the quiet
  /// instructions: its addresses, length, kind, privileges and cycle, of which that of the branch before is
  /// no later. Nothing else of it is looked at.
  void log_branch(const Retirement& branch);

  /// The extended registers of the code that runs from now on, which retirements then change: another thread
  /// has been switched to. Null: they are not known until a retirement writes some.
  void set_extended_state(const ExtendedState* state);

  /// RESET: every register takes its reset value; memory, time and handler stay. (INIT keeps PMU state.)
  void reset();
  /// Warm RESET: as reset(), but that architectural LBR keeps its registers and only loses its enable.
  void warm_reset();
  /// MWAIT in a C-state deeper than C1 and back: LBR records are lost where the part says so; everything else
  /// stays.
  void deep_sleep();
  /// Delivery of #DB, which stops the recording of branches.
  void debug_exception();

  /// Who handles PMIs; null: they stay pending.
  void set_pmi_handler(PmiHandler* handler);
  /// Who is called with what the hardware does (pmusim/pmu/observer.h), and for each instruction; null: none.
  /// They must outlive the Pmu or be taken off, and only snapshots of the same Pmu may be assigned while it
  /// is observed.
  void set_observer(Observer* observer);
  void set_retirement_observer(RetirementObserver* observer);
  /// CR4.PCE.
  void set_user_rdpmc(UserRdpmc right);
  /// VM entry or exit: AMD's counters tell the two apart (HostOnly, GuestOnly, while EFER.SVME is set).
  void set_vm_mode(VmMode mode);

  FaultOr<u64> rdmsr(u32 address) override;
  [[nodiscard]] Fault wrmsr(u32 address, u64 value) override;
  FaultOr<u64> rdpmc(u32 ecx) override { return rdpmc(ecx, Cpl::kernel); }
  FaultOr<u64> rdpmc(u32 ecx, Cpl cpl);
  CpuidResult cpuid(u32 leaf, u32 subleaf) override;
  u64 rdtsc() override { return tsc(); }
  /// Where the local APIC is not in MSRs (IA32_APIC_BASE), its LVTPC and EOI are in memory: four bytes at
  /// FEE00340 and FEE000B0.
  [[nodiscard]] Fault read_memory(u64 address, std::span<std::byte> out) override;
  [[nodiscard]] Fault write_memory(u64 address, std::span<const std::byte> in) override;
  [[nodiscard]] bool map_memory(u64 address, u64 bytes) override;
  [[nodiscard]] bool map_memory_at(u64 address, u64 physical, u64 bytes) override;
  /// Maps the caller's bytes, which copies of this Pmu share; they must outlive them or be unmapped.
  ///
  /// `address` is the emulated machine's, whatever the bytes' own is. Without a `space` linear and physical
  /// addresses are equal, and nothing more is to think of. A machine whose kernel has its pages elsewhere
  /// maps them once for each kind, and may map the same bytes:
  ///
  ///     pmu.map_memory(0xFFFF'8880'0000'0000, pages, AddressSpace::linear);  // IA32_DS_AREA, XSAVE images
  ///     pmu.map_memory(0, pages, AddressSpace::physical);                    // IA32_PEBS_BASE
  ///
  [[nodiscard]] bool map_memory(u64 address, std::span<std::byte> bytes,
                                AddressSpace space = AddressSpace::both);
  /// Removes the regions that start at `address`; false if there is none.
  bool unmap_memory(u64 address, AddressSpace space = AddressSpace::both);
  std::span<std::byte> memory(u64 address, u64 bytes) override;
  [[nodiscard]] Fault xsaves(u64 address, u64 features) override;
  [[nodiscard]] Fault xrstors(u64 address, u64 features) override;
  FaultOr<u64> xgetbv(u32 ecx) override;
  [[nodiscard]] Fault xsetbv(u32 ecx, u64 value) override;

  /// The XSAVE instructions of any software, in the processor's memory. Faults: ud (no such instruction,
  /// CR4.OSXSAVE clear), nm (CR0.TS; a component that IA32_XFD disables), gp (CPL above 0 for XSAVES and
  /// XRSTORS, alignment, a non-canonical address, a header or registers that cannot be loaded), pf.
  [[nodiscard]] Fault save(SaveInstruction which, const XsaveOperands& operands);
  [[nodiscard]] Fault restore(RestoreInstruction which, const XsaveOperands& operands);
  /// CR4.OSXSAVE and CR0.TS.
  void set_xsave_control(XsaveControl control);

  const CpuModel& model() const;
  /// The number of this CPU in its machine (`Machine`); 0 of one that was constructed. Copied.
  /// Software has it from CPUID.1:EBX[31:24], the initial APIC ID: its low eight bits.
  unsigned number() const;
  /// The registers that the model has.
  const RegisterList& registers() const;
  /// The vector and other extended registers of the interrupted code.
  const ExtendedState& extended_state() const;
  /// Core cycle that the unit has reached.
  u64 now() const;
  /// Time-stamp counter at now().
  u64 tsc() const;

  // What software cannot see; tests of a driver can.

  /// Why an access to a register faulted: "wrmsr IA32_PERF_GLOBAL_CTRL (38FH) = 0x10: #GP: bit 4 is reserved
  /// on Skylake (...)". The rule is the one of registers() that decided it.
  std::string why(const observed::AccessFault& fault) const;
  /// The same of the last access that faulted; "" where none has.
  std::string why() const;
  /// That access: its fault is Fault::none where none has.
  const observed::AccessFault& last_fault() const;

  /// Auto counter reloads of a counter since construction. Counters are numbered as in GLOBAL_STATUS: GP n is
  /// n, fixed m is 32 + m.
  u64 acr_reload_count(unsigned counter) const;
  /// PEBS assists since construction by what became of them.
  u64 assists(AssistOutcome outcome) const;
  /// Indirect branch prediction barriers that software has asked for (PRED_CMD.IBPB) since construction.
  u64 prediction_barriers() const;

  /// Everything that decides what the unit will do and what can be read of it: registers, what is under way
  /// between instructions, time, memory. Two of the same model with equal hashes behave alike from then on.
  /// Handler and observers are not part of it.
  void add_to(StateHash& hash) const;
  u64 state_hash() const;

  // What no software can do; tests of a driver can.

  /// Makes counters (a mask, numbered as above) wrap at once, of those that run: they stand at 0, and status,
  /// reloads and a request for a PMI follow as from any overflow. The PEBS assist of those that sample comes
  /// to the instruction `at`. Returns those that wrapped.
  u64 overflow(u64 counters, const Retirement& at);
  /// Counters that could count now, if code at the right privilege level ran: those which overflow() wraps.
  u64 running_counters() const;
  /// What those count that have a privilege level to count at.
  std::vector<CountedEvent> counted_events() const;
  /// Counters whose overflow asks for a PMI or writes a PEBS record, running or not.
  u64 interrupting_counters() const;
  /// Of those, the ones whose overflow writes a PEBS record.
  u64 precise_counters() const;
  /// Asks for a PMI for which there is no reason.
  void request_pmi();
  /// An instruction boundary in the code of `frame` which takes a PMI that is pending, skid or no skid, if
  /// LVTPC lets it pass and no handler runs. True if one was taken.
  bool interrupt(const InterruptFrame& frame);
  /// Whether a PMI has been asked for and not taken.
  bool pmi_pending() const;
  /// Whether the PMI handler is running.
  bool in_pmi_handler() const;

 private:
  friend class BlockRuns;
  friend class Machine;
  friend struct PmuUnits;
  Pmu(CpuModel model, std::shared_ptr<Memory> memory, unsigned number);
  Pmu(const Pmu& other, std::shared_ptr<Memory> memory, unsigned number);  // like the other in all else
  void assign_all_but_memory(const Pmu& other);

  std::shared_ptr<Memory> memory_;
  std::unique_ptr<Sequencer> sequencer_;  // at *memory_
};

/// Several CPUs that share memory, for whoever has a driver that runs on each of them:
///
/// @code
/// using namespace pmusim;
/// Machine machine(*find_cpu_model("skylake"), 2);
/// if (!machine.map_memory(0x10000, 0x1000)) return;  // DS areas and their buffers
/// for (unsigned n = 0; n < machine.cpus(); ++n)      // one driver each: a Pmu is a Bus
///   static_cast<void>(machine.cpu(n).wrmsr(msr::DS_AREA, 0x10000 + n * 0x100));
/// const Machine snapshot = machine;
/// machine.cpu(1).retire({.ip = 0x401000, .next_ip = 0x401001, .cycle = 1, .signals =
/// {Signal::instruction}});
/// machine = snapshot;
/// @endcode
///
/// Logical processors at one memory. Each has registers, LVT, PMI handler and clock of its own: a Pmu that is
/// constructed is such a processor alone. Nothing else is shared, and CPUID shows no topology: each CPU
/// presents itself as a package of its own.
///
/// Time passes on a CPU as instructions retire there. How the CPUs' cycles relate is the caller's to say.
///
/// A Machine is a value: a copy is a snapshot of all CPUs with the memory, which the copy's CPUs share, and
/// what holds of a Pmu's handler and observers holds of theirs. A snapshot that is assigned leaves references
/// to CPUs as they are if it has as many CPUs; a machine that is moved takes its CPUs with it. A CPU is not
/// to be moved out of its machine.
class Machine {
 public:
  /// `cpus` CPUs of one model, numbered from 0.
  explicit Machine(const CpuModel& model, unsigned cpus = 1);
  /// A CPU of each model, in their order: a hybrid part has several of two models.
  explicit Machine(const std::vector<CpuModel>& models);
  /// The CPUs of a machine that is described. The two threads of a core count for each other where a counter
  /// has ANY (where the model has that), and share the filters that its generation has once for a core. What
  /// they do comes in the order of its cycles, which are the core's, as far as ANY is to be exact: an
  /// overflow that the other thread brings about is of that one's cycle.
  explicit Machine(const Topology& topology);
  Machine(const Machine& other);
  Machine& operator=(const Machine& other);
  Machine(Machine&& other) noexcept;  ///< what has been moved from can be assigned to, and nothing else
  Machine& operator=(Machine&& other) noexcept;
  ~Machine();

  unsigned cpus() const { return static_cast<unsigned>(cpus_.size()); }
  /// `number` is below cpus(); std::out_of_range otherwise.
  Pmu& cpu(unsigned number) { return cpus_.at(number); }
  const Pmu& cpu(unsigned number) const { return cpus_.at(number); }

  // The memory, which every CPU sees; what these do is said where Pmu has them.
  [[nodiscard]] bool map_memory(u64 address, u64 bytes);
  [[nodiscard]] bool map_memory_at(u64 address, u64 physical, u64 bytes);
  [[nodiscard]] bool map_memory(u64 address, std::span<std::byte> bytes,
                                AddressSpace space = AddressSpace::both);
  bool unmap_memory(u64 address, AddressSpace space = AddressSpace::both);
  std::span<std::byte> memory(u64 address, u64 bytes);

  /// What Pmu::add_to adds of each CPU, and the memory once. Two machines of the same models with equal
  /// hashes behave alike from then on.
  void add_to(StateHash& hash) const;
  u64 state_hash() const;

 private:
  void pair_threads();

  std::shared_ptr<Memory> memory_;
  std::vector<Pmu> cpus_;                // at *memory_
  std::vector<unsigned> first_of_core_;  // by CPU; empty: each is a core
};

}  // namespace pmusim

#endif
