// SPDX-License-Identifier: MIT
#include "trace/lost_trap.h"

#include <sys/ucontext.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

namespace pmusim::trace {
namespace {

enum Exit { trapped, lost };

/// R8 is the address behind CPUID.
[[noreturn]] void on_trap(int, siginfo_t*, void* context) {
  const greg_t* const registers = static_cast<const ucontext_t*>(context)->uc_mcontext.gregs;
  ::_exit(registers[REG_RIP] == registers[REG_R8] ? trapped : lost);
}

// Behind fork: only what is safe there. The trap flag takes effect behind the instruction after POPFQ.
[[noreturn]] void step_over_cpuid() {
  struct sigaction action {};
  action.sa_sigaction = on_trap;
  action.sa_flags = SA_SIGINFO;
  ::sigaction(SIGTRAP, &action, nullptr);
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  __asm__ volatile(
      "leaq 1f(%%rip), %%r8\n"
      "xorl %%eax, %%eax\n xorl %%ecx, %%ecx\n"
      "pushfq\n orq $0x100, (%%rsp)\n popfq\n"
      "cpuid\n"
      "1: nop\n nop\n" ::
          : "rax", "rbx", "rcx", "rdx", "r8", "cc", "memory");
  ::_exit(lost);
}

bool try_in_child() {
  const pid_t child = ::fork();
  if (child == 0) step_over_cpuid();
  int status = 0;
  if (child < 0 || ::waitpid(child, &status, 0) != child) return true;
  return !WIFEXITED(status) || WEXITSTATUS(status) != trapped;
}

}  // namespace

bool loses_trap_behind_cpuid() {
  static const bool loses = try_in_child();
  return loses;
}

}  // namespace pmusim::trace
