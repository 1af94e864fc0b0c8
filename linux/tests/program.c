// SPDX-License-Identifier: MIT
// Something of everything that set-ups sample: loops, calls of both kinds, recursion, loads and stores.
#include <stdio.h>

static int table[4096];

__attribute__((noinline)) static int leaf(int x) { return table[x & 4095] * 3 + x; }
__attribute__((noinline)) static int left(int x) { return leaf(x) + 1; }
__attribute__((noinline)) static int right(int x) { return x & 1 ? leaf(x) : left(x) - 2; }
static int (*volatile which[2])(int) = {left, right};

static unsigned seed = 1;
static unsigned next(void) {
  seed = seed * 1103515245u + 12345u;
  return seed >> 16;
}

__attribute__((noinline)) static int deep(int n) { return n == 0 ? 1 : deep(n - 1) + (n & 1); }

int main(void) {
  long sum = 0;
  for (int i = 0; i < 1000; i++) {
    const unsigned r = next();
    sum += which[r & 1](r);
    if (r % 5 == 0) sum += deep(r % 12);
    for (unsigned k = 0; k < r % 7; k++) table[(r + k) & 4095] += k;
  }
  printf("%ld\n", sum);
  return 0;
}
