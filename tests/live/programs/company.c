// SPDX-License-Identifier: MIT
// company: four threads that work and sleep, until they are killed.
#include <linux/perf_event.h>
#include <pthread.h>
#include <stddef.h>

#include "work.h"

static void* work_and_sleep(void* nothing) {
  for (;;) {
    work(50);
    usleep(1000);
  }
  return nothing;
}

int main(void) {
  pthread_t thread;
  for (int n = 0; n < 3; ++n) pthread_create(&thread, NULL, work_and_sleep, NULL);
  printf("ready\n");
  fflush(stdout);
  work_and_sleep(NULL);
  return 0;
}
