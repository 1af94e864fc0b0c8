// SPDX-License-Identifier: MIT
// Some ms of time, so that a kernel's ticks come: each load waits for the one before it and comes from memory.
#include <stdio.h>

static volatile unsigned far[1u << 24];

__attribute__((noinline)) static unsigned chase(unsigned at) {
  for (int i = 0; i < 8; i++) at = at * 1664525u + 1013904223u + far[at & ((1u << 24) - 1)];
  return at;
}

int main(void) {
  unsigned at = 1;
  for (int i = 0; i < 5000; i++) at = chase(at);
  printf("%u\n", at);
  return 0;
}
