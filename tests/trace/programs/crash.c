// SPDX-License-Identifier: MIT
// Computes for a while without a system call, and crashes.
static volatile unsigned sum;

__attribute__((noinline)) void work(unsigned n) { sum += n; }

int main(void) {
  for (unsigned n = 0; n < 700; ++n) work(n);
  *(volatile int*)8 = 1;
  return 0;
}
