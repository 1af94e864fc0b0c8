#ifndef PMUSIM_BASE_BUS_H
#define PMUSIM_BASE_BUS_H

#include <array>
#include <span>

#include "pmusim/base/fault.h"
#include "pmusim/base/types.h"

namespace pmusim {

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

/// What the CPU pushes when it delivers a PMI, and what software sees of the interrupted code.
struct InterruptFrame {
  Registers registers;  ///< rip is the next instruction of the interrupted code
  Cpl cpl = Cpl::user;
  bool registers_known = false;  ///< false where the trace has no register values: only rip is real
};

/// The wall between hardware and driver: everything that privileged software can do to the PMU of the logical
/// processor it runs on. A driver written against this would also run on silicon; a user's own driver can
/// take the place of ours.
///
/// Every access acts as the instruction of the same name executed at CPL 0 (SDM vol. 2).
class Bus {
 public:
  virtual ~Bus() = default;

  virtual Faulty<u64> rdmsr(u32 address) = 0;
  [[nodiscard]] virtual Fault wrmsr(u32 address, u64 value) = 0;
  /// `ecx` as the instruction takes it: type in 31:16, index in 15:0.
  virtual Faulty<u64> rdpmc(u32 ecx) = 0;
  virtual CpuidResult cpuid(u32 leaf, u32 subleaf) = 0;
  /// Time-stamp counter, in TSC ticks.
  virtual u64 rdtsc() = 0;

  /// Memory shared with hardware (DS area, PEBS buffer, XSAVE images). Fault::pf where it is not mapped.
  [[nodiscard]] virtual Fault read_memory(u64 address, std::span<std::byte> out) = 0;
  [[nodiscard]] virtual Fault write_memory(u64 address, std::span<const std::byte> in) = 0;
  /// Gives the driver `bytes` zeroed bytes at `address`; false if the range is taken.
  [[nodiscard]] virtual bool map_memory(u64 address, u64 bytes) = 0;
  /// A direct view of mapped memory for bulk reading; empty where it is not mapped.
  virtual std::span<std::byte> memory(u64 address, u64 bytes) = 0;

  /// XSAVES / XRSTORS of the supervisor components in `rfbm` (requested-feature bitmap) at a 64-byte aligned
  /// address. Faults: gp (alignment, bad image, XSS), pf.
  [[nodiscard]] virtual Fault xsaves(u64 address, u64 rfbm) = 0;
  [[nodiscard]] virtual Fault xrstors(u64 address, u64 rfbm) = 0;
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
