// SPDX-License-Identifier: MIT
// Does to itself what a debugger does: breakpoints of each kind, single steps, and traps that it raises.
#define _GNU_SOURCE
#include <sys/wait.h>
#include <ucontext.h>

#include "self.h"

static volatile int traps, codes[64];
static volatile unsigned long places[64];

static void on_trap(int signal, siginfo_t* info, void* context) {
  greg_t* const ip = &((ucontext_t*)context)->uc_mcontext.gregs[REG_RIP];
  (void)signal;
  if (traps < 64) {
    codes[traps] = info->si_code;
    places[traps] = (unsigned long)*ip;
  }
  ++traps;
  // Some hypervisors trap at ICEBP, not behind it, and would for ever.
  if (*(const unsigned char*)*ip == 0xF1) ++*ip;
}

/// Places are told from the first.
static void report(const char* what) {
  printf("%s:", what);
  for (int n = 0; n < traps; ++n) printf(" %d +%lu", codes[n], places[n] - places[0]);
  printf("\n");
  traps = 0;
}

static void block(int how) {
  sigset_t trap;
  sigemptyset(&trap);
  sigaddset(&trap, SIGTRAP);
  sigprocmask(how, &trap, NULL);
}

static void step(void) {
  __asm__ volatile(
      "pushfq\n orq $0x100, (%%rsp)\n popfq\n"
      "nop\n jmp 1f\n nop\n 1: xorl %%eax, %%eax\n cpuid\n nop\n"
      "pushfq\n andq $~0x100, (%%rsp)\n popfq\n" ::
          : "eax", "ebx", "ecx", "edx", "cc", "memory");
}

/// How a child ends that does this.
static void print_end(const char* what, void (*act)(void)) {
  fflush(stdout);
  const pid_t child = fork();
  if (child == 0) {
    act();
    _exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  printf("%s: %x\n", what, status & 0x7F);
}

static void icebp(void) { __asm__ volatile(".byte 0xF1"); }
static void int3(void) { __asm__ volatile("int3"); }
static void raise_trap(void) { raise(SIGTRAP); }

int main(void) {
  setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
  struct sigaction action;
  memset(&action, 0, sizeof action);
  action.sa_sigaction = on_trap;
  action.sa_flags = SA_SIGINFO;
  sigaction(SIGTRAP, &action, NULL);
  __asm__ volatile("int3\n nop\n .byte 0xCD, 0x03\n nop\n int3");
  report("breakpoints");
  __asm__ volatile(".byte 0xF1\n nop\n .byte 0xF1\n nop");
  report("ICEBP");
  step();
  report("steps");
  block(SIG_BLOCK);
  raise(SIGTRAP);
  block(SIG_UNBLOCK);
  report("raised while blocked");
  print_self();
  signal(SIGTRAP, SIG_DFL);
  print_end("int3", int3);
  print_end("ICEBP", icebp);
  print_end("raised", raise_trap);
  signal(SIGTRAP, SIG_IGN);
  print_end("int3, ignored", int3);
  print_end("ICEBP, ignored", icebp);
  print_end("raised, ignored", raise_trap);
  block(SIG_BLOCK);
  print_end("ICEBP, blocked", icebp);
  print_end("raised, blocked", raise_trap);
  fflush(stdout);
  int3();
  return 0;
}
