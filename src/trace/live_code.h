// SPDX-License-Identifier: MIT
#ifndef PMUSIM_TRACE_LIVE_CODE_H
#define PMUSIM_TRACE_LIVE_CODE_H

#include <array>
#include <deque>
#include <map>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "pmusim/trace/trace.h"

namespace pmusim::trace {

/// An instruction as it stood in a process's memory. The same address with other bytes is another one.
struct LiveInstruction {
  u32 id = 0;  // dense
  x86::Instruction instruction;
  std::array<std::byte, 15> bytes{};
  bool system_call = false;
  bool pushes_flags = false;
  bool pops_flags = false;           // POPF, IRET
  bool raises_trap = false;          // INT3, INT 3, ICEBP: its SIGTRAP is the program's
  bool may_change_extended = false;  ///< vector, mask, x87 and other registers that XSAVE manages
  bool moves_shadow_stack = false;   ///< calls and returns, of threads that have one
  std::span<const std::byte> code() const { return {bytes.data(), instruction.length}; }
};

/// Every instruction that a recording has met. References stay valid.
class InstructionStore {
 public:
  const LiveInstruction& find_or_add(std::span<const std::byte> code, u64 ip);

 private:
  std::deque<LiveInstruction> instructions_;
  std::map<std::pair<u64, std::vector<std::byte>>, const LiveInstruction*> by_code_;
};

/// What the recorder knows of one process's address space.
///
/// Decoded instructions are kept until executable mappings change. Where code can change without a system
/// call (writable or shared executable memory) they are read anew each time.
class AddressSpace {
 public:
  /// Null where the memory cannot be read or holds no instruction.
  const LiveInstruction* instruction_at(u32 pid, u64 ip, InstructionStore& store);

  /// Reads the process's maps; the side-band records that bring a trace up to date.
  std::vector<SideBandRecord> refresh(u32 pid);

 private:
  bool is_volatile(u64 ip) const;

  std::vector<Mapping> maps_;
  std::unordered_map<u64, const LiveInstruction*> cache_;
};

}  // namespace pmusim::trace

#endif
