// SPDX-License-Identifier: MIT
// False sharing: two threads, each of which counts in variables of its own.
//
//   sharing [ROUNDS [padded]]
//
// Their counters are neighbours, two in each of eight lines of the caches; with `padded` each has a line of its
// own. The threads wait for each other in each round, so that they take turns also where one runs at a time.
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { lines = 8, longs_of_line = 8 };

static volatile long neighbours[lines][longs_of_line] __attribute__((aligned(64)));
static volatile long padded[2 * lines][longs_of_line] __attribute__((aligned(64)));
static volatile long *first[lines] __attribute__((aligned(64)));
static volatile long *second[lines] __attribute__((aligned(64)));
static pthread_barrier_t barrier __attribute__((aligned(64)));
static long rounds __attribute__((aligned(64))) = 100;

// Some time in which no memory is touched.
static void compute(void) {
  for (int n = 0; n < 100; ++n) __asm__ volatile("");
}

static void *count_first(void *unused) {
  for (long n = 0; n < rounds; ++n) {
    for (int line = 0; line < lines; ++line) {
      compute();
      ++*first[line];
    }
    pthread_barrier_wait(&barrier);
  }
  return unused;
}

static void *count_second(void *unused) {
  for (long n = 0; n < rounds; ++n) {
    for (int line = 0; line < lines; ++line) {
      compute();
      ++*second[line];
    }
    pthread_barrier_wait(&barrier);
  }
  return unused;
}

int main(int argc, char **argv) {
  if (argc > 1) rounds = atol(argv[1]);
  const int apart = argc > 2 && strcmp(argv[2], "padded") == 0;
  for (int line = 0; line < lines; ++line) {
    first[line] = apart ? &padded[line][0] : &neighbours[line][0];
    second[line] = apart ? &padded[lines + line][1] : &neighbours[line][1];
  }
  pthread_barrier_init(&barrier, NULL, 2);
  pthread_t one, other;
  pthread_create(&one, NULL, count_first, NULL);
  pthread_create(&other, NULL, count_second, NULL);
  pthread_join(one, NULL);
  pthread_join(other, NULL);
  return 0;
}
