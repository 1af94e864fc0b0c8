// SPDX-License-Identifier: MIT
// A program that handles, blocks, ignores and raises SIGTRAP, executes INT3, and steps itself with the
// trap flag. Prints what it sees of each.
#define _GNU_SOURCE
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static volatile int traps, codes[64];

static void on_trap(int signal, siginfo_t* info, void* context) {
  (void)signal;
  (void)context;
  if (traps < 64) codes[traps] = info->si_code;
  ++traps;
}

static void report(const char* what) {
  printf("%s: %d traps", what, traps);
  for (int n = 0; n < traps && n < 64; ++n) printf(" %d", codes[n]);
  struct sigaction action;
  sigset_t mask;
  sigaction(SIGTRAP, NULL, &action);
  sigprocmask(SIG_BLOCK, NULL, &mask);
  printf(", %s, %s\n",
         action.sa_handler == SIG_IGN   ? "ignored"
         : action.sa_handler == SIG_DFL ? "default"
                                        : "handled",
         sigismember(&mask, SIGTRAP) ? "blocked" : "not blocked");
  traps = 0;
}

static void block(int how) {
  sigset_t trap;
  sigemptyset(&trap);
  sigaddset(&trap, SIGTRAP);
  sigprocmask(how, &trap, NULL);
}

static void step_itself(void) {
  __asm__ volatile(
      "pushfq\n orq $0x100, (%%rsp)\n popfq\n nop\n nop\n nop\n"
      "pushfq\n andq $~0x100, (%%rsp)\n popfq\n" ::
          : "cc", "memory");
}

static unsigned long flags(void) {
  unsigned long value;
  __asm__ volatile("pushfq\n popq %0" : "=r"(value));
  return value;
}

static int status_of_child(void (*child)(void)) {
  fflush(stdout);
  const pid_t pid = fork();
  if (pid == 0) {
    child();
    _exit(0);
  }
  int status = 0;
  waitpid(pid, &status, 0);
  return status;
}

static volatile int alarms;
static void on_alarm(int signal) {
  (void)signal;
  ++alarms;
}

// Everything is blocked but while it waits.
static void wait_with_all_blocked(void) {
  sigset_t all, none;
  sigfillset(&all);
  sigemptyset(&none);
  signal(SIGALRM, on_alarm);
  sigprocmask(SIG_BLOCK, &all, NULL);
  const struct itimerval soon = {{0, 0}, {0, 1000}};
  setitimer(ITIMER_REAL, &soon, NULL);
  sigsuspend(&none);
  printf("waited with all blocked: %d alarm\n", alarms);
  report("all blocked");
  sigprocmask(SIG_SETMASK, &none, NULL);
}

static void die_of_int3(void) { __asm__ volatile("int3"); }

int main(int argc, char** argv) {
  setlinebuf(stdout);
  if (argc > 1) return report(argv[1]), 0;
  struct sigaction action;
  memset(&action, 0, sizeof action);
  action.sa_sigaction = on_trap;
  action.sa_flags = SA_SIGINFO;
  sigaction(SIGTRAP, &action, NULL);
  raise(SIGTRAP);
  report("raise");
  __asm__ volatile("int3");
  __asm__ volatile(".byte 0xCD, 0x03");
  report("int3, int 3");
  step_itself();
  report("trap flag");
  printf("trap flag seen: %lu\n", flags() & 0x100);

  block(SIG_BLOCK);
  for (volatile int n = 0; n < 10; ++n) continue;
  report("blocked");
  raise(SIGTRAP);
  sigset_t pending;
  sigpending(&pending);
  printf("pending: %d\n", sigismember(&pending, SIGTRAP));
  report("blocked, raised");
  block(SIG_UNBLOCK);
  report("unblocked");

  block(SIG_BLOCK);
  raise(SIGTRAP);
  sigset_t trap;
  sigemptyset(&trap);
  sigaddset(&trap, SIGTRAP);
  const struct timespec now = {0, 0};
  printf("waited for: %d\n", sigtimedwait(&trap, NULL, &now));
  block(SIG_UNBLOCK);
  report("taken");

  wait_with_all_blocked();
  static const struct sigaction ignore = {.sa_handler = SIG_IGN};  // in read-only memory
  sigaction(SIGTRAP, &ignore, NULL);
  raise(SIGTRAP);
  report("ignored");
  printf("killed by int3 although ignored: %d\n", WTERMSIG(status_of_child(die_of_int3)));
  block(SIG_BLOCK);

  cpu_set_t cpus, one;
  sched_getaffinity(0, sizeof cpus, &cpus);
  printf("cpus: %d\n", CPU_COUNT(&cpus));
  CPU_ZERO(&one);
  CPU_SET(0, &one);
  printf("set: %d", sched_setaffinity(0, sizeof one, &one));
  sched_getaffinity(0, sizeof one, &one);
  printf(", cpus: %d, none: ", CPU_COUNT(&one));
  CPU_ZERO(&one);
  printf("%d %d\n", sched_setaffinity(0, sizeof one, &one), errno);

  struct rlimit limit;
  getrlimit(RLIMIT_FSIZE, &limit);
  printf("file size: %lu\n", (unsigned long)limit.rlim_cur);
  fflush(stdout);
  execl("/proc/self/exe", argv[0], "executed", (char*)NULL);
  return 1;
}
