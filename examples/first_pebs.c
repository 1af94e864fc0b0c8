// SPDX-License-Identifier: MIT
// The first PEBS sample, in C.
#include <stdio.h>

#include "pmusim/pmusim.h"
#include "pmusim/registers.h"

enum { AREA = 0x10000, BUFFER = 0x20000, RECORD_BYTES = 200, EVENTING_IP = 0xB0 };

int main(void) {
  // The DS area of SDM vol. 3: PEBS base, index, maximum and threshold from 0x20 on.
  const uint64_t pebs[4] = {BUFFER, BUFFER, BUFFER + 4000, BUFFER + 4000};
  uint64_t ip = 0;
  pmusim_cpu *cpu = pmusim_create("skylake", NULL);
  pmusim_program *loop = pmusim_program_create(0x401000);
  pmusim_program_begin_loop(loop, 1000, 0);
  pmusim_program_instructions(loop, 3);
  pmusim_program_end(loop);

  pmusim_map(cpu, AREA, 4096);
  pmusim_map(cpu, BUFFER, 4096);
  pmusim_write(cpu, AREA + 0x20, pebs, sizeof pebs);
  pmusim_wrmsr(cpu, PMUSIM_MSR_DS_AREA, AREA);
  pmusim_wrmsr(cpu, PMUSIM_MSR_PMC0, (uint32_t)-100);
  pmusim_wrmsr(cpu, PMUSIM_MSR_PERFEVTSEL0, PMUSIM_EVTSEL_EN | PMUSIM_EVTSEL_USR | 0xC4);  // branches
  pmusim_wrmsr(cpu, PMUSIM_MSR_PEBS_ENABLE, 1);
  pmusim_wrmsr(cpu, PMUSIM_MSR_PERF_GLOBAL_CTRL, 1);
  pmusim_run_program(cpu, loop, PMUSIM_USER);
  if (pmusim_read(cpu, BUFFER + EVENTING_IP, &ip, sizeof ip) != PMUSIM_OK) puts(pmusim_last_error());
  printf("a branch at %#llx\n", (unsigned long long)ip);
  pmusim_program_destroy(loop);
  pmusim_destroy(cpu);
  return ip != 0x40100C;
}
