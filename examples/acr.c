// SPDX-License-Identifier: MIT
// Sampling by ratio with auto counter reload: an interrupt only where two mispredicts come within ten branches.
// Counter 2 takes mispredicts, counter 3 branches, and each window of ten branches begins both afresh.
#include <stdio.h>

#include "pmusim/pmusim.h"
#include "pmusim/registers.h"

// Skymont. Counter n has PMC, CFG_A, CFG_B and CFG_C at 1900H + 4 * n.
enum { CAUSES = 2, RELOAD_VALUE = 3, MISPREDICTS = 0xC5, BRANCHES = 0xC4 };
#define EN_USR (PMUSIM_EVTSEL_EN | PMUSIM_EVTSEL_USR)

struct sampler {
  uint64_t good, bad;  // samples in the part that predicts well, and in the one that does not
  int failed;
};

enum { BAD_CODE = 0x402000 };

static void set(struct sampler *sampler, pmusim_cpu *cpu, uint32_t address, uint64_t value) {
  if (pmusim_wrmsr(cpu, address, value) != PMUSIM_OK) sampler->failed = 1;
}

static uint32_t of_counter(uint32_t counter, uint32_t which) {
  return PMUSIM_MSR_V6_GP0_CTR + PMUSIM_MSR_V6_STRIDE * counter + which;
}

static void handle_pmi(pmusim_cpu *cpu, const pmusim_interrupt *interrupt, void *context) {
  struct sampler *sampler = context;
  if (interrupt->registers.rip >= BAD_CODE)
    sampler->bad++;
  else
    sampler->good++;
  set(sampler, cpu, of_counter(2, 0), 0xFFFFFFFFFFFF & -2ull);
  set(sampler, cpu, of_counter(3, 0), 0xFFFFFFFFFFFF & -10ull);
  set(sampler, cpu, PMUSIM_MSR_PERF_GLOBAL_STATUS_RESET, 4);
  set(sampler, cpu, PMUSIM_MSR_X2APIC_LVTPC, PMUSIM_LVTPC_NMI);
}

static void start(struct sampler *sampler, pmusim_cpu *cpu) {
  set(sampler, cpu, PMUSIM_MSR_X2APIC_LVTPC, PMUSIM_LVTPC_NMI);
  set(sampler, cpu, of_counter(2, CAUSES), 1 << 3);           // reloaded by branches
  set(sampler, cpu, of_counter(3, CAUSES), 1 << 2 | 1 << 3);  // reloaded by both
  set(sampler, cpu, of_counter(2, RELOAD_VALUE), (uint32_t)-2);
  set(sampler, cpu, of_counter(3, RELOAD_VALUE), (uint32_t)-10);
  set(sampler, cpu, of_counter(2, 0), 0xFFFFFFFFFFFF & -2ull);
  set(sampler, cpu, of_counter(3, 0), 0xFFFFFFFFFFFF & -10ull);
  set(sampler, cpu, PMUSIM_MSR_PERFEVTSEL0 + 2, EN_USR | PMUSIM_EVTSEL_INT | MISPREDICTS);
  set(sampler, cpu, PMUSIM_MSR_PERFEVTSEL0 + 3, EN_USR | BRANCHES);
  set(sampler, cpu, PMUSIM_MSR_PERF_GLOBAL_CTRL, 1 << 2 | 1 << 3);
}

/// Runs a loop of 20000 branches at an address, with one mispredict in each `length` of the outcomes.
static void run(struct sampler *sampler, pmusim_cpu *cpu, uint64_t ip, const char *outcomes) {
  pmusim_program *loop = pmusim_program_create(ip);
  pmusim_program_begin_loop(loop, 10000, 0);
  pmusim_program_begin_around(loop, outcomes);
  pmusim_program_instructions(loop, 6);
  pmusim_program_end(loop);
  pmusim_program_end(loop);
  if (pmusim_run_program(cpu, loop, PMUSIM_USER) != PMUSIM_OK) sampler->failed = 1;
  pmusim_program_destroy(loop);
}

int main(void) {
  struct sampler sampler = {0};
  uint64_t reloads = 0;
  pmusim_cpu *cpu = pmusim_create("skymont", NULL);
  pmusim_set_pmi_handler(cpu, handle_pmi, &sampler);
  start(&sampler, cpu);
  run(&sampler, cpu, 0x401000, "TTTTTTTTTt");  // one mispredict in twenty branches
  run(&sampler, cpu, BAD_CODE, "TTt");         // one in six
  if (pmusim_acr_reloads(cpu, 3, &reloads) != PMUSIM_OK) sampler.failed = 1;
  printf("%llu samples where one branch in 20 is mispredicted, %llu where one in 6 is; %llu windows\n",
         (unsigned long long)sampler.good, (unsigned long long)sampler.bad, (unsigned long long)reloads);
  pmusim_destroy(cpu);
  return sampler.failed || sampler.good != 0 || sampler.bad < 500 || reloads < 2000;
}
