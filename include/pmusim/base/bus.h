// SPDX-License-Identifier: MIT
#ifndef PMUSIM_BASE_BUS_H
#define PMUSIM_BASE_BUS_H

#include <array>
#include <span>
#include <string_view>

#include "pmusim/base/types.h"

namespace pmusim {

/// A fault that the CPU raises instead of completing an instruction. A fault changes no state.
enum class Fault : u8 {
  none,
  gp,  ///< general protection, error code 0
  ud,  ///< invalid opcode
  pf,  ///< page fault: an address that is not mapped
  nm,  ///< device not available: CR0.TS, or a component that IA32_XFD disables
};

/// As manuals name it: "#GP"; "no fault" for none.
std::string_view name_of(Fault fault);

template <class T>
using FaultOr = Result<T, Fault>;

/// Result of the CPUID instruction.
struct CpuidResult {
  u32 eax = 0, ebx = 0, ecx = 0, edx = 0;
  friend bool operator==(const CpuidResult&, const CpuidResult&) = default;
};

/// General registers in the order of their encoding: RAX, RCX, RDX, RBX, RSP, RBP, RSI, RDI, R8..R15.
enum class Gpr : u8 { rax, rcx, rdx, rbx, rsp, rbp, rsi, rdi, r8, r9, r10, r11, r12, r13, r14, r15 };

/// The general-purpose register state of one logical processor.
struct Registers {
  std::array<u64, 16> gpr{};  ///< indexed by Gpr
  u64 rip = 0;
  u64 rflags = 0x202;
  u64 operator[](Gpr r) const { return gpr[static_cast<unsigned>(r)]; }
  u64& operator[](Gpr r) { return gpr[static_cast<unsigned>(r)]; }
  friend bool operator==(const Registers&, const Registers&) = default;
};

/// Privilege level of executing code.
enum class Cpl : u8 { kernel = 0, user = 3 };

class ExtendedState;

/// What the CPU pushes when it delivers a PMI, and what software sees of the interrupted code.
struct InterruptFrame {
  Registers registers;  ///< rip is the next instruction of the interrupted code
  Cpl cpl = Cpl::user;
  bool registers_known = false;  ///< false where the trace has no register values: only rip is real
  /// The register file at the interrupt, which is the interrupted code's until the handler returns; null
  /// where the trace has no extended registers: what XSAVES stores then is nobody's. Hardware hands over no
  /// such pointer: a driver executes `Bus::xsaves` in the handler.
  const ExtendedState* extended = nullptr;
};

/// Which addresses a piece of memory has. Emulated hardware reaches most of it by linear addresses (DS area,
/// its buffers, XSAVE images) and the buffer of architectural PEBS by a physical one, as IA32_PEBS_BASE has
/// it.
enum class AddressSpace : u8 { both, linear, physical };

/// The wall between hardware and driver: everything that privileged software can do to the PMU of the logical
/// processor it runs on. A driver written against this would also run on silicon; a user's own driver can
/// take the place of ours.
///
/// Every access acts as the instruction of the same name executed at CPL 0 (SDM vol. 2).
class Bus {
 public:
  virtual ~Bus() = default;

  virtual FaultOr<u64> rdmsr(u32 address) = 0;
  [[nodiscard]] virtual Fault wrmsr(u32 address, u64 value) = 0;
  /// `ecx` as the instruction takes it: type in 31:16, index in 15:0.
  virtual FaultOr<u64> rdpmc(u32 ecx) = 0;
  virtual CpuidResult cpuid(u32 leaf, u32 subleaf) = 0;
  /// Time-stamp counter, in TSC ticks.
  virtual u64 rdtsc() = 0;

  /// Memory shared with hardware (DS area, PEBS buffer, XSAVE images), by linear addresses. Fault::pf where
  /// it is not mapped.
  [[nodiscard]] virtual Fault read_memory(u64 address, std::span<std::byte> out) = 0;
  [[nodiscard]] virtual Fault write_memory(u64 address, std::span<const std::byte> in) = 0;
  /// Gives the driver `bytes` zeroed bytes at linear `address`, which is their physical address too; false if
  /// the range is taken.
  [[nodiscard]] virtual bool map_memory(u64 address, u64 bytes) = 0;
  /// The same where the two differ, as in a kernel: software reads and writes the bytes at linear `address`,
  /// and IA32_PEBS_BASE takes `physical`. False too on a machine that maps all its memory one to one.
  [[nodiscard]] virtual bool map_memory_at(u64 address, u64 physical, u64 bytes) {
    return address == physical && map_memory(address, bytes);
  }
  /// A direct view of mapped memory for bulk reading; empty where it is not mapped.
  virtual std::span<std::byte> memory(u64 address, u64 bytes) = 0;

  /// XSAVES / XRSTORS between the register file and the area at a 64-byte aligned address. `features` is
  /// EDX:EAX: what is not enabled in XCR0 or IA32_XSS is left out silently. `xsave::compacted_layout` says
  /// how long the area is and where components lie, `xsave::CompactedImage` reads it. Components in their
  /// initial configuration have their XSTATE_BV bit clear, and their old bytes stay.
  ///
  /// In a PMI handler the register file is still the interrupted code's, so that a per-CPU buffer, mapped
  /// once with `map_memory`, takes its vector registers:
  ///
  ///     bus.xsaves(buffer, state_bits(StateComponent::sse, StateComponent::avx));
  ///
  /// Faults: ud (no XSAVES), gp (alignment, a bad image), pf.
  [[nodiscard]] virtual Fault xsaves(u64 address, u64 features) = 0;
  [[nodiscard]] virtual Fault xrstors(u64 address, u64 features) = 0;
  /// XGETBV: 0 is XCR0, 1 is XCR0 & XINUSE. Faults: ud (no XSAVE), gp (another number).
  virtual FaultOr<u64> xgetbv(u32 ecx) = 0;
  /// XSETBV: the operating system enables user components in XCR0 (`ecx` 0), which is 1 after RESET.
  /// Supervisor components are enabled in IA32_XSS. Faults: ud (no XSAVE), gp (another number, an illegal
  /// combination).
  [[nodiscard]] virtual Fault xsetbv(u32 ecx, u64 value) = 0;
};

/// Software that a PMI enters. The call is the interrupt: it happens between two retired instructions, and no
/// emulated time passes in it.
class PmiHandler {
 public:
  virtual ~PmiHandler() = default;
  virtual void handle_pmi(const InterruptFrame& frame) = 0;
};

}  // namespace pmusim

#endif
