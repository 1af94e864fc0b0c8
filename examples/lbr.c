// SPDX-License-Identifier: MIT
// An LBR reader in C: the last branches before an interrupt, youngest first.
#include <stdio.h>

#include "pmusim/pmusim.h"
#include "pmusim/registers.h"

enum { DEPTH = 32 };
#define MISPREDICTED (1ull << 63)
#define CYCLES 0xFFFFull

struct branch {
  uint64_t from, to, info;
};
struct reader {
  struct branch branches[DEPTH];
  unsigned count;
};

static uint64_t read_register(pmusim_cpu *cpu, uint32_t address) {
  uint64_t value = 0;
  if (pmusim_rdmsr(cpu, address, &value) != PMUSIM_OK) fprintf(stderr, "rdmsr %#x failed\n", address);
  return value;
}

/// TOS has the number of the youngest; they are a ring.
static void handle_pmi(pmusim_cpu *cpu, const pmusim_interrupt *interrupt, void *context) {
  struct reader *reader = context;
  const uint32_t top = (uint32_t)read_register(cpu, PMUSIM_MSR_LBR_TOS);
  (void)interrupt;
  for (uint32_t n = 0; n < DEPTH; ++n) {
    const uint32_t slot = (top - n) % DEPTH;
    const struct branch branch = {read_register(cpu, PMUSIM_MSR_LBR_NHM_FROM_IP + slot),
                                  read_register(cpu, PMUSIM_MSR_LBR_NHM_TO_IP + slot),
                                  read_register(cpu, PMUSIM_MSR_LBR_INFO_0 + slot)};
    if (branch.from == 0) break;
    reader->branches[reader->count++] = branch;
  }
}

int main(void) {
  struct reader reader = {.count = 0};
  unsigned mispredicted = 0, returns = 0;
  pmusim_cpu *cpu = pmusim_create("skylake", NULL);
  pmusim_program *program = pmusim_program_create(0x401000);
  pmusim_program_begin_loop(program, 1000, 0);
  pmusim_program_begin_around(program, "Tn");  // every other time it is not taken, and mispredicted
  pmusim_program_instructions(program, 2);
  pmusim_program_end(program);
  pmusim_program_begin_call(program);
  pmusim_program_instructions(program, 5);
  pmusim_program_end(program);
  pmusim_program_begin_around(program, "t");  // always taken, always mispredicted
  pmusim_program_end(program);
  pmusim_program_end(program);

  pmusim_set_pmi_handler(cpu, handle_pmi, &reader);
  pmusim_wrmsr(cpu, PMUSIM_MSR_LBR_SELECT, 1);  // not those of ring 0
  pmusim_wrmsr(cpu, PMUSIM_MSR_DEBUGCTL, PMUSIM_DEBUGCTL_LBR | PMUSIM_DEBUGCTL_FREEZE_LBRS_ON_PMI);
  pmusim_wrmsr(cpu, PMUSIM_MSR_X2APIC_LVTPC, PMUSIM_LVTPC_NMI);
  pmusim_wrmsr(cpu, PMUSIM_MSR_PMC0, (uint32_t)-5000);
  pmusim_wrmsr(cpu, PMUSIM_MSR_PERFEVTSEL0,
               PMUSIM_EVTSEL_EN | PMUSIM_EVTSEL_USR | PMUSIM_EVTSEL_INT | 0xC0);  // instructions
  pmusim_wrmsr(cpu, PMUSIM_MSR_PERF_GLOBAL_CTRL, 1);
  if (pmusim_run_program(cpu, program, PMUSIM_USER) != PMUSIM_OK) fprintf(stderr, "%s\n", pmusim_last_error());
  for (unsigned n = 0; n < reader.count; ++n) {
    const struct branch *branch = &reader.branches[n];
    mispredicted += (branch->info & MISPREDICTED) != 0;
    returns += branch->to < branch->from && branch->to != 0x401000;  // not the loop's own branch back
    printf("%#llx -> %#llx, %llu cycles%s\n", (unsigned long long)branch->from, (unsigned long long)branch->to,
           (unsigned long long)(branch->info & CYCLES), (branch->info & MISPREDICTED) != 0 ? ", mispredicted" : "");
  }
  pmusim_program_destroy(program);
  pmusim_destroy(cpu);
  // 4.5 taken branches in an iteration, one of them mispredicted and one a return.
  return reader.count != DEPTH || mispredicted < 6 || mispredicted > 8 || returns < 6 || returns > 8;
}
