// SPDX-License-Identifier: MIT
// A shared library with one exported function and one of its own.
#include "scramble.h"

__attribute__((noinline)) static unsigned long folded(unsigned long value) {
  unsigned long bits = 0;
  while (value != 0) {
    if (value & 1) bits += value;
    value >>= 1;
  }
  return bits;
}

unsigned long scramble(unsigned long rounds) {
  unsigned long sum = 0;
  for (unsigned long i = 0; i < rounds; ++i) sum ^= folded(i * 0x9E3779B9UL);
  return sum;
}
