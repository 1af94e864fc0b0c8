/* SPDX-License-Identifier: MIT */
/* hostile PORT BYTES: an OUT to a port by which a guest hands something out (guest/channel.h), by a program
 * that is not the guest's first. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/io.h>

static char given[1 << 21];

int main(int count, char** words) {
  if (count != 3) return 2;
  unsigned short port = (unsigned short)strtoul(words[1], NULL, 0);
  unsigned bytes = (unsigned)strtoul(words[2], NULL, 0);
  if (ioperm(port, 4, 1) != 0) return perror("ioperm"), 3;
  __asm__ volatile("outl %0, %w1" : : "a"(bytes), "d"(port), "S"(given) : "memory");
  return 0;
}
