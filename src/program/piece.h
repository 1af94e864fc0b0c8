// SPDX-License-Identifier: MIT
#ifndef PMUSIM_SRC_PROGRAM_PIECE_H
#define PMUSIM_SRC_PROGRAM_PIECE_H

#include <variant>

#include "pmusim/program/program.h"

namespace pmusim::program {

/// The pieces of a program, as they were asked for.
struct Plain {
  u64 count = 0;
};
struct Access {
  AccessKind kind = AccessKind::load;
  Data data;
};
struct Flush {
  u64 address = 0;
};
struct Loop {
  u64 iterations = 0;
  LoopExit exit = LoopExit::predicted;
  Program body;
};
struct Around {
  std::string outcomes;
  Program body;
};
struct Jump {};
struct Call {
  BranchKind kind = BranchKind::direct_call;  // or syscall
  Program body;
};

struct Program::Piece {
  std::variant<Plain, Access, Flush, Loop, Around, Jump, Call> what;
};

}  // namespace pmusim::program

#endif
