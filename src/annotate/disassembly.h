// SPDX-License-Identifier: MIT
#ifndef PMUSIM_SRC_ANNOTATE_DISASSEMBLY_H
#define PMUSIM_SRC_ANNOTATE_DISASSEMBLY_H

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "pmusim/annotate/report.h"

namespace pmusim::annotate {

struct DisassembledInstruction {
  u64 address = 0;
  u8 bytes = 0;
  std::string text;
  u64 jump_target = 0;  ///< of a direct branch; 0 for everything else
};

/// What stands at an address: "lfsr+0x10"; empty if nobody knows.
using NameAddress = std::function<std::string(u64)>;

/// All of `code`, which lies at `address`. A byte that begins no instruction is shown as "(bad)".
std::vector<DisassembledInstruction> disassemble(std::span<const std::byte> code, u64 address, Syntax syntax,
                                                 const NameAddress& name);

}  // namespace pmusim::annotate

#endif
