// SPDX-License-Identifier: MIT
// Forks forty times in a row. Each parent ends at once, before or after its child has returned from the fork.
#include <unistd.h>

int main(void) {
  for (int generation = 0; generation < 40; ++generation)
    if (fork() != 0) _exit(7);
  return 0;
}
