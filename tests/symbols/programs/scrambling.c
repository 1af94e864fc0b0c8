// SPDX-License-Identifier: MIT
// A position-independent program that spends its time in a shared library.
//
// Usage: scrambling [rounds]
#include <stdlib.h>

#include "scramble.h"

int main(int argc, char** argv) {
  return scramble(argc > 1 ? strtoul(argv[1], NULL, 10) : 1000) == 0 ? 1 : 0;
}
