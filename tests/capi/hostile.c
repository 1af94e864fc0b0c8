// SPDX-License-Identifier: MIT
// Calls that cannot be: an error with a sentence that says why, and never a crash.
#include "check.h"
#include "pmusim/pmusim.h"

static void null_handles_are_refused(void) {
  uint64_t value = 0;
  char byte = 0;
  pmusim_fault fault;
  pmusim_cpuid_result leaf;
  CHECK_REFUSED(pmusim_rdmsr(NULL, 0x10, &value), "pmusim_rdmsr: cpu is null");
  CHECK_REFUSED(pmusim_wrmsr(NULL, 0x10, 0), "cpu is null");
  CHECK_REFUSED(pmusim_rdpmc(NULL, 0, PMUSIM_KERNEL, &value), "cpu is null");
  CHECK_REFUSED(pmusim_rdtsc(NULL, &value), "cpu is null");
  CHECK_REFUSED(pmusim_cpuid(NULL, 0, 0, &leaf), "cpu is null");
  CHECK_REFUSED(pmusim_set_control(NULL, 0), "cpu is null");
  CHECK_REFUSED(pmusim_xgetbv(NULL, 0, &value), "cpu is null");
  CHECK_REFUSED(pmusim_xsetbv(NULL, 0, 0), "cpu is null");
  CHECK_REFUSED(pmusim_xsave(NULL, PMUSIM_XSAVE, 0, 0, PMUSIM_KERNEL), "cpu is null");
  CHECK_REFUSED(pmusim_last_fault(NULL, &fault), "cpu is null");
  CHECK_REFUSED(pmusim_map(NULL, 0x1000, 1), "cpu is null");
  CHECK_REFUSED(pmusim_map_shared(NULL, 0x1000, &byte, 1), "cpu is null");
  CHECK_REFUSED(pmusim_unmap(NULL, 0x1000), "cpu is null");
  CHECK_REFUSED(pmusim_read(NULL, 0x1000, &byte, 1), "cpu is null");
  CHECK_REFUSED(pmusim_write(NULL, 0x1000, &byte, 1), "cpu is null");
  CHECK(pmusim_memory(NULL, 0x1000, 1) == NULL);
  CHECK_REFUSED(pmusim_set_pmi_handler(NULL, NULL, NULL), "cpu is null");
  CHECK_REFUSED(pmusim_run_instructions(NULL, 1, PMUSIM_USER), "cpu is null");
  CHECK_REFUSED(pmusim_wait(NULL, 1, PMUSIM_USER), "cpu is null");
  CHECK_REFUSED(pmusim_now(NULL, &value), "cpu is null");
  CHECK_REFUSED(pmusim_reset(NULL), "cpu is null");
  pmusim_destroy(NULL);
}

static void null_results_are_refused(pmusim_cpu* cpu) {
  CHECK_REFUSED(pmusim_rdmsr(cpu, 0x10, NULL), "value is null");
  CHECK_REFUSED(pmusim_rdpmc(cpu, 0, PMUSIM_KERNEL, NULL), "value is null");
  CHECK_REFUSED(pmusim_rdtsc(cpu, NULL), "value is null");
  CHECK_REFUSED(pmusim_cpuid(cpu, 0, 0, NULL), "result is null");
  CHECK_REFUSED(pmusim_xgetbv(cpu, 0, NULL), "value is null");
  CHECK_REFUSED(pmusim_last_fault(cpu, NULL), "fault is null");
  CHECK_REFUSED(pmusim_read(cpu, 0x1000, NULL, 8), "out is null");
  CHECK_REFUSED(pmusim_write(cpu, 0x1000, NULL, 8), "in is null");
  CHECK_REFUSED(pmusim_map_shared(cpu, 0x1000, NULL, 8), "memory is null");
  CHECK_REFUSED(pmusim_now(cpu, NULL), "cycle is null");
}

static void names_that_are_none_are_refused(void) {
  CHECK(pmusim_create(NULL, NULL) == NULL);
  CHECK(strstr(pmusim_last_error(), "model is null") != NULL);
  CHECK(pmusim_create("skylale", NULL) == NULL);
  CHECK(strstr(pmusim_last_error(), "skylake") != NULL);
  CHECK(pmusim_create("skylake", "pmi_skid") == NULL);
  CHECK(strstr(pmusim_last_error(), "expected NAME=VALUE") != NULL);
  CHECK(pmusim_create("skylake", "pmi_skid_cycle=1") == NULL);
  CHECK(strstr(pmusim_last_error(), "pmi_skid_cycles") != NULL);
  CHECK(pmusim_create("skylake", "pmi_repeat=2") == NULL);
  CHECK(pmusim_create("skylake", ",,=,") == NULL);
}

static void numbers_that_are_out_of_range_are_refused(pmusim_cpu* cpu) {
  uint64_t value = 0;
  CHECK_REFUSED(pmusim_rdpmc(cpu, 0, 3, &value), "privilege is 3");
  CHECK_REFUSED(pmusim_set_control(cpu, 0x80), "control is 0x80");
  CHECK_REFUSED(pmusim_xsave(cpu, 6, 0, 0, PMUSIM_KERNEL), "6");
  CHECK_REFUSED(pmusim_wait(cpu, UINT64_MAX, PMUSIM_KERNEL), "cycles");
  CHECK_REFUSED(pmusim_map(cpu, 0x1000, 0), "bytes is 0");
  CHECK_REFUSED(pmusim_map(cpu, 0x1000, SIZE_MAX), "expected 1 to");
  CHECK_REFUSED(pmusim_map(cpu, UINT64_MAX - 10, 4096), "wrap");
  CHECK_REFUSED(pmusim_unmap(cpu, 0x1000), "0x1000");
  CHECK(pmusim_memory(cpu, UINT64_MAX, SIZE_MAX) == NULL);
  CHECK(pmusim_memory(cpu, 0x1000, 0) == NULL);
  CHECK(pmusim_model_name(SIZE_MAX) == NULL);
  CHECK(pmusim_policy_name(SIZE_MAX) == NULL);
  CHECK(pmusim_policy_name(0) != NULL);
}

int main(void) {
  CHECK(strcmp(pmusim_last_error(), "") == 0);
  pmusim_cpu* cpu = pmusim_create("skylake", NULL);
  null_handles_are_refused();
  null_results_are_refused(cpu);
  names_that_are_none_are_refused();
  numbers_that_are_out_of_range_are_refused(cpu);
  pmusim_destroy(cpu);
  return checked();
}
