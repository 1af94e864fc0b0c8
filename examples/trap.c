// SPDX-License-Identifier: MIT
// The driver of sampling.c as it would run in a kernel: its WRMSRs are instructions, and so are those of the loop
// that it samples. 400 loops of two instructions, and one more, with a sample every 100.
#include <pmusim/pmusim.h>
#include <pmusim/registers.h>
#include <stdio.h>
#include <stdlib.h>

enum { INSTRUCTIONS = 0xC0, PERIOD = 100 };

static void wrmsr(uint32_t address, uint64_t value) {
  __asm__ volatile("wrmsr" : : "c"(address), "a"((uint32_t)value), "d"((uint32_t)(value >> 32)) : "memory");
}
static uint64_t rdmsr(uint32_t address) {
  uint32_t low, high;
  __asm__ volatile("rdmsr" : "=a"(low), "=d"(high) : "c"(address));
  return (uint64_t)high << 32 | low;
}

static unsigned samples;

static void on_pmi(pmusim_cpu *cpu, const pmusim_interrupt *interrupt, void *context) {
  (void)cpu, (void)interrupt, (void)context;
  wrmsr(PMUSIM_MSR_PERF_GLOBAL_STATUS_RESET, rdmsr(PMUSIM_MSR_PERF_GLOBAL_STATUS));
  wrmsr(PMUSIM_MSR_PMC0, (uint32_t)-PERIOD);
  wrmsr(PMUSIM_MSR_X2APIC_LVTPC, PMUSIM_LVTPC_NMI);
  ++samples;
}

static void start(void) {
  wrmsr(PMUSIM_MSR_X2APIC_LVTPC, PMUSIM_LVTPC_NMI);
  wrmsr(PMUSIM_MSR_PMC0, (uint32_t)-PERIOD);
  wrmsr(PMUSIM_MSR_PERFEVTSEL0, PMUSIM_EVTSEL_EN | PMUSIM_EVTSEL_INT | PMUSIM_EVTSEL_OS | INSTRUCTIONS);
  wrmsr(PMUSIM_MSR_PERF_GLOBAL_CTRL, 1);
}

int main(void) {
  pmusim_cpu *cpu = pmusim_create("skylake", "pmi_skid_cycles=0");
  uint64_t loops = 400, instructions = 0;
  if (cpu == NULL || pmusim_set_pmi_handler(cpu, on_pmi, NULL) != 0 || pmusim_trap_enable(cpu, NULL) != 0) {
    fprintf(stderr, "%s\n", pmusim_last_error());
    return EXIT_FAILURE;
  }
  start();
  __asm__ volatile(
      "mov $1, %%eax\n wrmsr\n"  // from here on, instructions retire at ring 0
      "1: dec %0\n jnz 1b\n"
      "xor %%eax, %%eax\n wrmsr\n"  // up to here
      : "+r"(loops)
      : "c"(PMUSIM_STEPPING_REGISTER), "d"(0)
      : "rax", "cc");
  pmusim_trap_retired(cpu, &instructions);
  printf("%u instructions, %u samples, %u since the last\n", (unsigned)instructions, samples,
         (unsigned)((rdmsr(PMUSIM_MSR_PMC0) + PERIOD) & 0xFFFFFFFF));
  pmusim_trap_disable(cpu);
  pmusim_destroy(cpu);
  return instructions == 801 && samples == 8 ? EXIT_SUCCESS : EXIT_FAILURE;
}
