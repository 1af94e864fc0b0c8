// SPDX-License-Identifier: MIT
// Floating-point work for events that take two counters: additions of scalars and vectors, some of all else.
#include <stdio.h>

typedef double pair __attribute__((vector_size(16)));

int main(void) {
  pair sums = {0, 1}, factors = {1.0000001, 0.9999999};
  double scalar = 1;
  for (int i = 0; i < 12000; i++) {
    sums += factors;
    factors *= (pair){1.0000001, 0.9999999};
    if (i % 3 == 0) scalar = scalar / 1.5 + sums[i & 1];
  }
  printf("%g %g %g\n", sums[0], sums[1], scalar);
  return 0;
}
