/* SPDX-License-Identifier: MIT */
/* Somebody's driver test in C. */
#include <pmusim/pmusim.h>
#include <stdio.h>

int main(void) {
  pmusim_cpu* cpu = pmusim_create("skylake", NULL);
  uint64_t instructions = 0;
  if (cpu == NULL) return fprintf(stderr, "%s\n", pmusim_last_error()), 1;
  int failed = pmusim_wrmsr(cpu, 0x186, 0x4100C0); /* IA32_PERFEVTSEL0: instructions, ring 3, enabled */
  failed |= pmusim_wrmsr(cpu, 0x38F, 1);           /* IA32_PERF_GLOBAL_CTRL */
  failed |= pmusim_run_instructions(cpu, 1000, PMUSIM_RING_3);
  failed |= pmusim_rdmsr(cpu, 0xC1, &instructions); /* IA32_PMC0 */
  failed |= pmusim_wrmsr(cpu, 0x38E, 0) != PMUSIM_GP; /* IA32_PERF_GLOBAL_STATUS cannot be written */
  printf("%llu instructions, pmusim %s\n", (unsigned long long)instructions, pmusim_version());
  pmusim_destroy(cpu);
  return failed == 0 && instructions == 1000 ? 0 : 1;
}
