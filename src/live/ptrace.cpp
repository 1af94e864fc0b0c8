// SPDX-License-Identifier: MIT
#include "live/ptrace.h"

#include <sys/ptrace.h>

#include <cerrno>

namespace pmusim::live {
namespace {

constexpr long options = PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACEEXEC | PTRACE_O_TRACEFORK |
                         PTRACE_O_TRACEVFORK | PTRACE_O_TRACECLONE | PTRACE_O_TRACEEXIT;

void* data_of(long value) { return reinterpret_cast<void*>(value); }

}  // namespace

int seize(u32 tid, WithoutTracer fate) {
  const long all = options | (fate == WithoutTracer::killed ? PTRACE_O_EXITKILL : 0);
  return ::ptrace(PTRACE_SEIZE, tid, nullptr, data_of(all)) == 0 ? 0 : errno;
}
void interrupt(u32 tid) { ::ptrace(PTRACE_INTERRUPT, tid, nullptr, nullptr); }
void listen(u32 tid) { ::ptrace(PTRACE_LISTEN, tid, nullptr, nullptr); }

std::optional<user_regs_struct> all_registers(u32 tid) {
  user_regs_struct registers{};
  if (::ptrace(PTRACE_GETREGS, tid, nullptr, &registers) != 0) return std::nullopt;
  return registers;
}

void set_all_registers(u32 tid, const user_regs_struct& registers) {
  user_regs_struct copy = registers;
  ::ptrace(PTRACE_SETREGS, tid, nullptr, &copy);
}

}  // namespace pmusim::live
