// SPDX-License-Identifier: MIT
// Any bytes at any address: decode() and classify_branch() agree with each other and stay in bounds.
#include <cstdlib>
#include <cstring>

#include "pmusim/x86/instruction.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace pmusim;
  const std::span code(reinterpret_cast<const std::byte*>(data), size);
  const x86::Instruction instruction = x86::decode(code, 0x401000);
  const x86::BranchClass branch = x86::classify_branch(code, 0x401000);
  if (instruction.length > size || instruction.length > 15) std::abort();
  if (branch.length != instruction.length || branch.kind != instruction.branch) std::abort();
  if (instruction.signals.empty() != (instruction.length == 0)) std::abort();
  for (const x86::MemoryOperand& m : instruction.accesses()) {
    if (!m.load && !m.store) std::abort();
    (void)x86::effective_address(instruction, m, Registers{}, 0, 0);
  }
  (void)x86::disassemble(code, 0x401000);
  return 0;
}
