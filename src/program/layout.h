// SPDX-License-Identifier: MIT
#ifndef PMUSIM_SRC_PROGRAM_LAYOUT_H
#define PMUSIM_SRC_PROGRAM_LAYOUT_H

#include "program/piece.h"

namespace pmusim::program {

inline constexpr u8 instruction_bytes = 4;

/// One instruction at its address, or a row of equal ones.
struct Placed {
  enum class What : u8 { plain, access, flush, loop_end, branch_around, jump, call, leave, stop };
  What what = What::plain;
  BranchKind branch = BranchKind::none;
  u64 ip = 0;
  u64 count = 1;           // plain: instructions in the row; loop_end: iterations
  std::size_t target = 0;  // where a branch goes, as a place in the layout
  AccessKind kind = AccessKind::load;
  Data data{};
  std::string outcomes{};  // of a branch; of loop_end those at the exit
};

/// A program at its addresses: its own instructions, then the functions that it calls, then those that these
/// call; what system calls execute lies at a kernel's addresses.
std::vector<Placed> lay_out(const Program& program, u64 ip);

}  // namespace pmusim::program

#endif
