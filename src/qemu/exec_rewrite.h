// SPDX-License-Identifier: MIT
#ifndef PMUSIM_QEMU_EXEC_REWRITE_H
#define PMUSIM_QEMU_EXEC_REWRITE_H

#include <string>
#include <vector>

#include "pmusim/base/types.h"

namespace pmusim::qemu {

/// How a program is started under qemu: everything before the program's own path and arguments.
struct Emulation {
  std::string qemu;
  std::vector<std::string> options;  ///< without -0, which depends on the program
};

enum class Rewritten : u8 {
  under_qemu,
  will_fail,  ///< no such program, or not executable: left alone, so that the caller sees the kernel's error
  as_it_is,   ///< not a 64-bit x86 program, or too many arguments: runs without being recorded
};

/// Makes a thread that is stopped at the entry of execve or execveat (PTRACE_EVENT_SECCOMP) start qemu with
/// the program instead. Scripts are resolved to their interpreters, as the kernel does.
Rewritten rewrite_exec(u32 tid, const Emulation& emulation);

}  // namespace pmusim::qemu

#endif
