// SPDX-License-Identifier: MIT
// Inline assembly on a processor of C.
#include "check.h"
#include "pmusim/pmusim.h"

enum { PMC0 = 0xC1, PERFEVTSEL0 = 0x186, GLOBAL_CTRL = 0x38F };

static void wrmsr(uint32_t address, uint64_t value) {
  __asm__ volatile("wrmsr" : : "c"(address), "a"((uint32_t)value), "d"((uint32_t)(value >> 32)) : "memory");
}

static void instructions_reach_the_processor_and_retire_in_it(void) {
  pmusim_cpu* cpu = pmusim_create("skylake", NULL);
  uint64_t value = 0, loops = 300;
  CHECK_EQUAL(pmusim_trap_enable(cpu, NULL), PMUSIM_OK);
  wrmsr(PERFEVTSEL0, 0x4200C0);
  wrmsr(GLOBAL_CTRL, 1);
  __asm__ volatile("mov $1, %%eax\n wrmsr\n 1: dec %0\n jnz 1b\n xor %%eax, %%eax\n wrmsr\n"
                   : "+r"(loops)
                   : "c"(PMUSIM_STEPPING_REGISTER), "d"(0)
                   : "rax", "cc");
  CHECK_EQUAL(pmusim_rdmsr(cpu, PMC0, &value), PMUSIM_OK);
  CHECK_EQUAL(value, 601);
  CHECK_EQUAL(pmusim_trap_retired(cpu, &value), PMUSIM_OK);
  CHECK_EQUAL(value, 601);
  pmusim_destroy(cpu);  // refused
  CHECK(strstr(pmusim_last_error(), "pmusim_trap_disable") != NULL);
  CHECK_EQUAL(pmusim_trap_disable(cpu), PMUSIM_OK);
  CHECK_REFUSED(pmusim_trap_disable(cpu), "no thread");
  pmusim_destroy(cpu);
}

static int count_and_skip(pmusim_cpu* cpu, const pmusim_fault* fault, pmusim_registers* registers, void* context) {
  (void)cpu;
  CHECK_EQUAL(fault->vector, PMUSIM_GP);
  CHECK_EQUAL(registers->gpr[1], 0xBAD);
  CHECK(strstr(pmusim_last_error(), "wrmsr BADH = 0x1: #GP: Skylake has no such register") != NULL);
  ++*(unsigned*)context;
  return PMUSIM_FAULT_SKIP;
}

static void accesses_miss_where_the_timing_is_the_cores(void) {
  pmusim_cpu* cpu = pmusim_create("skylake", NULL);
  const pmusim_trap_options options = {.timing = PMUSIM_TIMING_CORE};
  uint64_t word = 0, misses = 0;
  CHECK_EQUAL(pmusim_trap_enable(cpu, &options), PMUSIM_OK);
  wrmsr(PERFEVTSEL0, 0x4208D1);  // MEM_LOAD_RETIRED.L1_MISS
  wrmsr(GLOBAL_CTRL, 1);
  __asm__ volatile("mov $1, %%eax\n wrmsr\n mov (%0), %%rax\n mov (%0), %%rax\n xor %%eax, %%eax\n wrmsr\n"
                   :
                   : "r"(&word), "c"(PMUSIM_STEPPING_REGISTER), "d"(0)
                   : "rax", "cc", "memory");
  CHECK_EQUAL(pmusim_rdmsr(cpu, PMC0, &misses), PMUSIM_OK);
  CHECK_EQUAL(misses, 1);
  CHECK_EQUAL(pmusim_trap_disable(cpu), PMUSIM_OK);
  pmusim_destroy(cpu);
}

static void a_fault_reaches_the_handler(void) {
  pmusim_cpu* cpu = pmusim_create("skylake", NULL);
  unsigned faults = 0;
  const pmusim_trap_options options = {.on_fault = count_and_skip, .context = &faults};
  CHECK_EQUAL(pmusim_trap_enable(cpu, &options), PMUSIM_OK);
  wrmsr(0xBAD, 1);
  CHECK_EQUAL(faults, 1);
  CHECK_EQUAL(pmusim_trap_disable(cpu), PMUSIM_OK);
  pmusim_destroy(cpu);
}

static void a_thread_has_one_processor(void) {
  pmusim_cpu *first = pmusim_create("skylake", NULL), *second = pmusim_create("icelake", NULL);
  const pmusim_trap_options unknown = {.cpuid = 7}, no_timing = {.timing = 2};
  CHECK_REFUSED(pmusim_trap_enable(NULL, NULL), "cpu is null");
  CHECK_REFUSED(pmusim_trap_enable(first, &unknown), "cpuid");
  CHECK_REFUSED(pmusim_trap_enable(first, &no_timing), "timing");
  CHECK_EQUAL(pmusim_trap_enable(first, NULL), PMUSIM_OK);
  CHECK_REFUSED(pmusim_trap_enable(first, NULL), "already");
  CHECK_REFUSED(pmusim_trap_enable(second, NULL), "already");
  CHECK_REFUSED(pmusim_trap_retake_signals(second), "no thread");
  CHECK_EQUAL(pmusim_trap_retake_signals(first), PMUSIM_OK);
  CHECK_EQUAL(pmusim_trap_disable(first), PMUSIM_OK);
  pmusim_destroy(first);
  pmusim_destroy(second);
}

int main(void) {
  instructions_reach_the_processor_and_retire_in_it();
  accesses_miss_where_the_timing_is_the_cores();
  a_fault_reaches_the_handler();
  a_thread_has_one_processor();
  return checked();
}
