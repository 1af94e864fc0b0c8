// SPDX-License-Identifier: MIT
// A driver in C: a counter that samples every 1000 instructions, and the handler of its interrupt.
#include <stdio.h>

#include "pmusim/pmusim.h"
#include "pmusim/registers.h"

enum { INSTRUCTIONS = 0xC0 };

struct driver {
  uint64_t period, samples;
  uint64_t last_ip;
  int failed;
};

static void write_register(struct driver *driver, pmusim_cpu *cpu, uint32_t address, uint64_t value) {
  if (pmusim_wrmsr(cpu, address, value) == PMUSIM_OK) return;
  fprintf(stderr, "wrmsr %#x failed: %s\n", address, pmusim_last_error());
  driver->failed = 1;
}

static void start(struct driver *driver, pmusim_cpu *cpu) {
  write_register(driver, cpu, PMUSIM_MSR_X2APIC_LVTPC, PMUSIM_LVTPC_NMI);
  write_register(driver, cpu, PMUSIM_MSR_PMC0, (uint32_t)-driver->period);  // hardware extends bit 31
  write_register(driver, cpu, PMUSIM_MSR_PERFEVTSEL0,
                 PMUSIM_EVTSEL_EN | PMUSIM_EVTSEL_INT | PMUSIM_EVTSEL_USR | INSTRUCTIONS);
  write_register(driver, cpu, PMUSIM_MSR_PERF_GLOBAL_CTRL, 1);
}

static void handle_pmi(pmusim_cpu *cpu, const pmusim_interrupt *interrupt, void *context) {
  struct driver *driver = context;
  uint64_t status = 0;
  write_register(driver, cpu, PMUSIM_MSR_PERF_GLOBAL_CTRL, 0);
  if (pmusim_rdmsr(cpu, PMUSIM_MSR_PERF_GLOBAL_STATUS, &status) != PMUSIM_OK || (status & 1) == 0) driver->failed = 1;
  driver->samples++;
  driver->last_ip = interrupt->registers.rip;
  write_register(driver, cpu, PMUSIM_MSR_PERF_GLOBAL_STATUS_RESET, status);
  start(driver, cpu);  // the interrupt has masked LVTPC, too
}

int main(void) {
  struct driver driver = {.period = 1000};
  pmusim_cpu *cpu = pmusim_create("skylake", NULL);
  pmusim_program *loop = pmusim_program_create(0x401000);
  if (cpu == NULL || loop == NULL) return fprintf(stderr, "%s\n", pmusim_last_error()), 1;
  pmusim_program_begin_loop(loop, 20000, 1);
  pmusim_program_instructions(loop, 4);
  pmusim_program_end(loop);

  pmusim_set_pmi_handler(cpu, handle_pmi, &driver);
  start(&driver, cpu);
  if (pmusim_run_program(cpu, loop, PMUSIM_USER) != PMUSIM_OK) driver.failed = 1;
  printf("%llu samples of 100000 instructions, the last at %#llx\n", (unsigned long long)driver.samples,
         (unsigned long long)driver.last_ip);
  pmusim_program_destroy(loop);
  pmusim_destroy(cpu);
  return driver.failed || driver.samples != 97;  // the interrupt is 24 instructions on its way
}
