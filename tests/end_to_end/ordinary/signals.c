// SPDX-License-Identifier: MIT
// Takes signals in each way there is: queued, nested, on another stack, waited for, from timers, children,
// other threads and its own faults; restarted and interrupted calls; children that stop and go on.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/signalfd.h>
#include <sys/time.h>
#include <sys/wait.h>

#include "self.h"

static volatile int taken[65], values[64], count;
static sigjmp_buf back;

static void take(int signal, siginfo_t* info, void* context) {
  (void)context;
  ++taken[signal];
  if (count < 64) values[count++] = info->si_code == SI_QUEUE ? info->si_value.sival_int : info->si_code;
}

static void take_nested(int signal, siginfo_t* info, void* context) {
  take(signal, info, context);
  if (taken[signal] < 4) raise(signal);
}

static void escape(int signal, siginfo_t* info, void* context) {
  take(signal, info, context);
  siglongjmp(back, 1);
}

static void handle(int signal, void (*handler)(int, siginfo_t*, void*), int flags) {
  struct sigaction action;
  memset(&action, 0, sizeof action);
  action.sa_sigaction = handler;
  action.sa_flags = SA_SIGINFO | flags;
  sigaction(signal, &action, NULL);
}

static void block(int how, int signal) {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, signal);
  pthread_sigmask(how, &set, NULL);
}

static void report(const char* what) {
  printf("%s:", what);
  for (int n = 0; n < count; ++n) printf(" %d", values[n]);
  printf("\n");
  count = 0;
}

static void queue(void) {
  handle(SIGRTMIN + 1, take, 0);
  handle(SIGRTMIN + 2, take, 0);
  block(SIG_BLOCK, SIGRTMIN + 1);
  block(SIG_BLOCK, SIGRTMIN + 2);
  for (int n = 0; n < 6; ++n) sigqueue(getpid(), SIGRTMIN + 2 - n % 2, (union sigval){.sival_int = 100 + n});
  block(SIG_UNBLOCK, SIGRTMIN + 2);
  block(SIG_UNBLOCK, SIGRTMIN + 1);
  report("queued");
}

static void nest(void) {
  static char stack[16384];
  const stack_t other = {.ss_sp = stack, .ss_size = sizeof stack};
  sigaltstack(&other, NULL);
  handle(SIGUSR1, take_nested, SA_NODEFER | SA_ONSTACK);
  raise(SIGUSR1);
  report("nested");
  handle(SIGUSR2, take_nested, SA_RESETHAND);
  block(SIG_BLOCK, SIGUSR2);
  raise(SIGUSR2);
  raise(SIGUSR2);
  struct sigaction now;
  sigaction(SIGUSR2, NULL, &now);
  signal(SIGUSR2, SIG_IGN);
  block(SIG_UNBLOCK, SIGUSR2);
  report("once, then ignored");
}

static void fault(void) {
  static const int faults[] = {SIGSEGV, SIGFPE, SIGILL};
  for (volatile unsigned n = 0; n < 3; ++n) {
    handle(faults[n], escape, n == 0 ? SA_ONSTACK : 0);
    if (sigsetjmp(back, 1) != 0) continue;
    if (n == 0) *(volatile int*)16 = 1;
    if (n == 1) __asm__ volatile("xorl %%ecx, %%ecx\n divl %%ecx" ::: "eax", "ecx", "edx", "cc");
    if (n == 2) __asm__ volatile("ud2");
  }
  report("faults");
}

static void tick(void) {
  handle(SIGALRM, take, 0);
  const struct itimerval often = {{0, 2000}, {0, 2000}}, never = {{0, 0}, {0, 0}};
  sigset_t none;
  sigemptyset(&none);
  block(SIG_BLOCK, SIGALRM);
  setitimer(ITIMER_REAL, &often, NULL);
  for (int n = 0; n < 5; ++n) sigsuspend(&none);
  setitimer(ITIMER_REAL, &never, NULL);
  signal(SIGALRM, SIG_IGN);
  block(SIG_UNBLOCK, SIGALRM);
  report("ticks");
}

static void wait_for_them(void) {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGHUP);
  block(SIG_BLOCK, SIGHUP);
  raise(SIGHUP);
  siginfo_t info;
  printf("waited for %d", sigwaitinfo(&set, &info));
  const int file = signalfd(-1, &set, SFD_CLOEXEC);
  raise(SIGHUP);
  struct signalfd_siginfo read_info;
  printf(", read %d bytes of signal %u\n", (int)read(file, &read_info, sizeof read_info),
         read_info.ssi_signo);
  close(file);
  block(SIG_UNBLOCK, SIGHUP);
}

static volatile int* alarms;  // seen by the child, too

static void take_alarm(int signal, siginfo_t* info, void* context) {
  take(signal, info, context);
  ++*alarms;
}

/// Until the parent sleeps in its read, after so many alarms: a signal that came earlier would not find it there.
static void wait_for_read(int after_alarms) {
  char path[32], text[256], state = 0;
  snprintf(path, sizeof path, "/proc/%d/stat", getppid());
  while (state != 'S' || *alarms != after_alarms) {
    usleep(1000);
    const int file = open(path, O_RDONLY);
    const ssize_t bytes = read(file, text, sizeof text - 1);
    close(file);
    text[bytes > 0 ? bytes : 0] = 0;
    const char* const name_end = strrchr(text, ')');
    state = name_end != NULL ? name_end[2] : 0;
  }
}

/// The read is begun again after the first signal, and interrupted by the second.
static void restart(void) {
  int ends[2];
  (void)!pipe(ends);
  alarms = mmap(NULL, sizeof *alarms, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  handle(SIGALRM, take_alarm, SA_RESTART);
  handle(SIGVTALRM, take, 0);
  const pid_t child = fork();
  if (child == 0) {
    wait_for_read(0);
    kill(getppid(), SIGALRM);
    wait_for_read(1);
    kill(getppid(), SIGVTALRM);
    _exit(5);
  }
  char byte;
  const int got = (int)read(ends[0], &byte, 1);
  printf("read: %d, interrupted %d\n", got, errno == EINTR);
  int status = 0;
  while (waitpid(child, &status, 0) < 0) continue;
  report("restarted, interrupted");
  printf("child: %d\n", WEXITSTATUS(status));
  close(ends[0]);
  close(ends[1]);
}

static void* interrupted_thread(void* unused) {
  sigset_t none;
  sigemptyset(&none);
  while (taken[SIGWINCH] == 0) sigsuspend(&none);
  return unused;
}

static void signal_thread(void) {
  pthread_t thread;
  handle(SIGWINCH, take, 0);
  block(SIG_BLOCK, SIGWINCH);
  pthread_create(&thread, NULL, interrupted_thread, NULL);
  pthread_kill(thread, SIGWINCH);
  pthread_join(thread, NULL);
  report("thread");
}

static void end_children(void) {
  static const int signals[] = {SIGKILL, SIGTERM, SIGQUIT, SIGABRT};
  for (unsigned n = 0; n < 4; ++n) {
    const pid_t child = fork();
    if (child == 0)
      for (;;) pause();
    kill(child, signals[n]);
    int status = 0;
    waitpid(child, &status, 0);
    printf("child ended by %d\n", WTERMSIG(status));
  }
}

int main(void) {
  setvbuf(stdout, NULL, _IOLBF, 0);
  setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
  queue();
  nest();
  fault();
  tick();
  wait_for_them();
  restart();
  signal_thread();
  end_children();
  signal(SIGPIPE, SIG_IGN);
  print_self();
  signal(SIGTERM, SIG_DFL);
  raise(SIGTERM);
  return 0;
}
