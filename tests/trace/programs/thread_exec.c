// SPDX-License-Identifier: MIT
// A thread that is not the first executes another program while the others wait or spin.
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

static volatile int running = 1;

static void* spin(void* unused) {
  while (running) continue;
  return unused;
}

static void* execute(void* unused) {
  execl("/proc/self/exe", "again", "again", (char*)0);
  return unused;
}

int main(int argc, char** argv) {
  (void)argv;
  if (argc > 1) return 21;
  pthread_t spinning, executing;
  pthread_create(&spinning, 0, spin, 0);
  pthread_create(&executing, 0, execute, 0);
  pthread_join(executing, 0);
  return 1;
}
