// SPDX-License-Identifier: MIT
// Processors of different threads know nothing of each other, and neither do the threads' errors.
#include <pthread.h>  // and not threads.h, which ThreadSanitizer does not know

#include "check.h"
#include "pmusim/pmusim.h"

enum { PMC0 = 0xC1, PERFEVTSEL0 = 0x186, GLOBAL_CTRL = 0x38F, THREADS = 4 };

struct work {
  uint64_t instructions;
  uint64_t counted;
  int error_is_mine;
};

static void* run(void* argument) {
  struct work* work = argument;
  char mine[32];
  pmusim_cpu* cpu = pmusim_create("icelake", NULL);
  pmusim_wrmsr(cpu, PERFEVTSEL0, 0x4100C0);
  pmusim_wrmsr(cpu, GLOBAL_CTRL, 1);
  pmusim_unmap(cpu, work->instructions);
  for (uint64_t n = 0; n < work->instructions; ++n) pmusim_run_instructions(cpu, 1, PMUSIM_USER);
  pmusim_rdmsr(cpu, PMC0, &work->counted);
  snprintf(mine, sizeof mine, "%#llx", (unsigned long long)work->instructions);
  work->error_is_mine = strstr(pmusim_last_error(), mine) != NULL;
  pmusim_destroy(cpu);
  return NULL;
}

int main(void) {
  pthread_t threads[THREADS];
  struct work work[THREADS];
  for (unsigned n = 0; n < THREADS; ++n) {
    work[n] = (struct work){.instructions = 10000 + n};
    CHECK_EQUAL(pthread_create(&threads[n], NULL, run, &work[n]), 0);
  }
  for (unsigned n = 0; n < THREADS; ++n) {
    pthread_join(threads[n], NULL);
    CHECK_EQUAL(work[n].counted, 10000 + n);
    CHECK(work[n].error_is_mine);
  }
  CHECK_EQUAL(strlen(pmusim_last_error()), 0);
  return checked();
}
