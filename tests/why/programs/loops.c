// SPDX-License-Identifier: MIT
// Loops that go round as often as their names and arguments say.
#include <setjmp.h>
#include <signal.h>

#define WORK __asm__ volatile("" ::: "memory")

__attribute__((noinline)) static void nested(void) {
  for (int outer = 0; outer < 100; ++outer) {  // loop: nested outer
    WORK;
    for (int inner = 0; inner < 10; ++inner) WORK;  // loop: nested inner
  }
}

// 1, 2, ... 50 rounds.
__attribute__((noinline)) static void triangular(int rounds) {
  for (int n = 0; n < rounds; ++n) WORK;  // loop: triangular
}

__attribute__((noinline)) static int work(int n) {
  WORK;
  return n + 1;
}

// Blocks that are left out by turns, and a function in between.
__attribute__((noinline)) static int branching(void) {
  int sum = 0;
  for (int n = 0; n < 300; ++n) {  // loop: branching
    if (n % 3 == 0) continue;
    sum += n % 2 == 0 ? work(n) : n;
    WORK;
  }
  return sum;
}

// The test stands at the end, and the loop is entered there.
__attribute__((noinline)) static void entered_at_test(void) {
  __asm__ volatile(
      "movl $40, %%ecx\n\tjmp 2f\n"
      "1:\tnop\n"
      "2:\tdecl %%ecx\n\tjns 1b" ::
          : "ecx", "cc");
}

// Each call goes round as often as is left: 5, 4, 3, 2, 1, and calls itself in its second round.
__attribute__((noinline)) static void recursive(int rounds) {
  for (int n = 0; n < rounds; ++n) {  // loop: recursive
    WORK;
    if (n == 0) recursive(rounds - 1);
    WORK;
  }
}

static jmp_buf out;

__attribute__((noinline)) static void leave(void) { longjmp(out, 1); }

// Left in its hundredth round from a function.
__attribute__((noinline)) static void left_by_longjmp(void) {
  if (setjmp(out) != 0) return;
  for (int n = 0;; ++n) {  // loop: longjmp
    WORK;
    if (n == 99) leave();
  }
}

static void handler(int signal) {
  (void)signal;
  for (int n = 0; n < 11; ++n) WORK;  // loop: handler
}

// A signal in each of 20 rounds.
__attribute__((noinline)) static void interrupted(void) {
  for (int n = 0; n < 20; ++n) {  // loop: interrupted
    WORK;
    raise(SIGUSR1);
  }
}

int main(void) {
  nested();
  for (int n = 1; n <= 50; ++n) triangular(n);
  branching();
  entered_at_test();
  recursive(5);
  left_by_longjmp();
  signal(SIGUSR1, handler);
  interrupted();
  return 0;
}
