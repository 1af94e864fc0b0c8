// SPDX-License-Identifier: MIT
#include "host/traps.h"

#include <signal.h>
#include <ucontext.h>

#include <cstdio>
#include <cstdlib>

#include "host/machine.h"

namespace pmusim::linux_driver {

namespace {

constexpr long long ud2_bytes = 2;

/// The trap is synchronous: what stands interrupted is the kernel's code, never the C library's.
void on_illegal_instruction(int, siginfo_t*, void* context) {
  auto& rip = static_cast<ucontext_t*>(context)->uc_mcontext.gregs[REG_RIP];
  const char* file = nullptr;
  unsigned line = 0;
  int is_warning = 0;
  if (linux_find_bug(static_cast<unsigned long>(rip), &file, &line, &is_warning) == 0) {
    std::fprintf(stderr, "pmusim-linux: illegal instruction at %#llx\n", rip);
    std::_Exit(3);
  }
  const Trap trap{.file = file, .line = line, .is_warning = is_warning != 0};
  KernelMachine::present().trapped(trap);
  rip += ud2_bytes;
  if (trap.is_warning) return;
  std::fprintf(stderr, "pmusim-linux: %s\n", text_of(trap).c_str());
  std::_Exit(3);
}

}  // namespace

void catch_traps() {
  struct sigaction action {};
  action.sa_sigaction = on_illegal_instruction;
  action.sa_flags = SA_SIGINFO | SA_NODEFER;
  sigaction(SIGILL, &action, nullptr);
}

}  // namespace pmusim::linux_driver
