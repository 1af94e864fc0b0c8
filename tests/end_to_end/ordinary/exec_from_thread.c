// SPDX-License-Identifier: MIT
// A thread that is not the first executes another program, while one waits for it and one spins.
#define _GNU_SOURCE
#include <pthread.h>
#include <sys/syscall.h>

#include "self.h"

static volatile int running = 1;

static void* spin(void* unused) {
  while (running) continue;
  return unused;
}

static void* execute(void* program) {
  execl("/proc/self/exe", program, "again", NULL);
  return NULL;
}

int main(int argc, char** argv) {
  if (argc > 1) {
    printf("%d arguments, the only thread: %d\n", argc, syscall(SYS_gettid) == getpid());
    print_self();
    return 21;
  }
  pthread_t spinning, executing;
  pthread_create(&spinning, NULL, spin, NULL);
  pthread_create(&executing, NULL, execute, argv[0]);
  pthread_join(executing, NULL);
  return 1;
}
