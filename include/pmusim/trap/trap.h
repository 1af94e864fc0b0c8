// SPDX-License-Identifier: MIT
#ifndef PMUSIM_TRAP_TRAP_H
#define PMUSIM_TRAP_TRAP_H

#include <functional>
#include <memory>
#include <span>

#include "pmusim/base/types.h"
#include "pmusim/pmu/pmu.h"

/// A driver's own machine code on the emulated CPU: privileged instructions that a thread executes reach its
/// Pmu instead of killing the process.
///
/// @code
/// using namespace pmusim;
/// Pmu pmu(*find_cpu_model("skylake"));
/// const auto trap = Trap::enable(pmu);  // of this thread, until it is destroyed
/// if (trap.ok()) {
///   asm volatile("wrmsr" : : "c"(0x38F), "a"(1), "d"(0));  // IA32_PERF_GLOBAL_CTRL of `pmu`
///   Trap::begin_stepping(Cpl::kernel);
///   asm volatile("nop");  // retires in `pmu`
///   Trap::end_stepping();
/// }
/// @endcode
///
/// x86-64 Linux. docs/trap.md has more.
namespace pmusim {

namespace trap {
class Thread;
}

/// A fault that the emulated CPU raises in the process's own code.
struct TrapFault {
  Fault fault = Fault::gp;
  u64 ip = 0;  ///< of the instruction
  /// The access to a register that it was, for Pmu::why; of anything else its fault is Fault::none.
  observed::AccessFault access{.fault = Fault::none};
};

/// What becomes of code that faulted.
enum class AfterFault : u8 {
  skip,     ///< goes on behind the instruction
  resume,   ///< goes on with the registers as the handler left them, at their rip
  deliver,  ///< the process's own handler of SIGSEGV decides, or kills it
};
using TrapFaultHandler = std::function<AfterFault(const TrapFault& fault, Registers& registers)>;

/// What CPUID answers.
enum class TrapCpuid : u8 {
  native,    ///< as the machine does
  emulated,  ///< as the model does, if the machine can make CPUID fault (traps_cpuid())
};

/// When instructions that are stepped retire, and where their accesses hit.
enum class TrapTiming : u8 {
  flat,  ///< one in each cycle; accesses hit the L1, branches are predicted
  core,  ///< as the core model says (docs/core-model.md), with its caches and predictors, as Replay has it
};

/// How instructions are trapped.
struct TrapOptions {
  TrapCpuid cpuid = TrapCpuid::native;
  TrapTiming timing = TrapTiming::flat;
  /// Called in the handler of a signal. None: as if it answered `deliver`.
  TrapFaultHandler on_fault;
  /// Called in front of each instruction while it is stepped, where a PMI comes: with
  /// explore::Cpu::boundary() in it, PMIs are placed between instructions. None: nothing.
  std::function<void(const Registers& registers)> on_boundary;
};

/// RDMSR, WRMSR, RDPMC, XSAVES, XRSTORS, XSETBV, CLI and STI of the thread that made it go to a Pmu, at ring
/// 0. CLI and STI set the interrupt flag that PMIs see. XBEGIN, XEND, XABORT and XTEST of a machine without
/// TSX are executed for it, where the model has RTM: each transaction aborts at once.
///
/// While stepping is on, every instruction retires in the Pmu, one a cycle or as the core model says, at the
/// ring that was said; PMIs that are due are handled between them, and RDTSC, CPUID, XGETBV, PUSHF, POPF and
/// those of TSX go to the Pmu as well.
///
/// It takes SIGSEGV, SIGTRAP, SIGILL, SIGFPE and SIGBUS. What is none of its business goes to whoever had
/// them before, as if it were not there. PMI and fault handlers run in the handler of a signal, on a stack of
/// their own; they must return, and do not retire. Nothing is allocated there.
class Trap {
 public:
  /// For the calling thread. The Pmu must outlive it. Errors: this thread has one, no such operating system,
  /// no memory for a stack, parameters of the model that make no core.
  static Result<std::unique_ptr<Trap>, Error> enable(Pmu& pmu, TrapOptions options = {});
  /// In the thread that made it.
  ~Trap();
  Trap(const Trap&) = delete;
  Trap& operator=(const Trap&) = delete;

  /// Makes the process's own bytes memory of the Pmu at the address that they have: what XSAVES and a DS area
  /// need. False if part of it is mapped already.
  [[nodiscard]] bool share(std::span<std::byte> memory);
  /// Takes the signals back after other code has installed handlers; foreign signals go to those.
  void retake_signals();

  /// Instructions that follow retire in the Pmu of this thread at ring `cpl`, up to end_stepping(). Neither
  /// call retires itself. Both are single WRMSRs of a register that no processor has, so that code in
  /// assembler can do the same: stepping_register, with EAX 0 to end, 1 to step at ring 0, 2 at ring 3.
  [[gnu::always_inline]] static void begin_stepping(Cpl cpl) { control(cpl == Cpl::kernel ? 1 : 2); }
  [[gnu::always_inline]] static void end_stepping() { control(0); }
  static constexpr u32 stepping_register = 0x400000F0;

  /// Whether stepping has begun and not ended.
  bool stepping() const;
  /// Instructions that have retired by stepping.
  u64 retired() const;
  /// RFLAGS.IF of the emulated CPU.
  bool interrupts_enabled() const;
  /// Whether CPUID is emulated.
  bool traps_cpuid() const;

 private:
  explicit Trap(std::unique_ptr<trap::Thread> thread);
  [[gnu::always_inline]] static void control(u32 value) {
#if defined(__x86_64__)
    asm volatile("wrmsr" : : "c"(stepping_register), "a"(value), "d"(0) : "memory");
#else
    static_cast<void>(value);
#endif
  }

  std::unique_ptr<trap::Thread> thread_;
};

}  // namespace pmusim

#endif
