// SPDX-License-Identifier: MIT
// What retires: single instructions, arrays, synthetic programs, code bytes.
#include "check.h"
#include "pmusim/pmusim.h"

enum { PMC0 = 0xC1, PERFEVTSEL0 = 0x186, GLOBAL_CTRL = 0x38F };
#define USR 0x10000u
#define OS 0x20000u
#define EN 0x400000u
enum {
  INSTRUCTIONS = 0xC0,
  BRANCHES = 0xC4,
  MISPREDICTS = 0xC5,
  NEAR_TAKEN = 0x20C4,
  L1_MISS = 0x08D1,
  STORES = 0x82D0,
  X87_OR_SCALAR_DOUBLE = 0x01C7,
  MACHINE_CLEARS = 0x04C3
};

/// A Skylake whose counters count these events at ring 3.
static pmusim_cpu* counting(uint32_t first, uint32_t second, uint32_t third) {
  const uint32_t events[3] = {first, second, third};
  pmusim_cpu* cpu = pmusim_create("skylake", NULL);
  for (uint32_t n = 0; n < 3; ++n)
    CHECK_EQUAL(pmusim_wrmsr(cpu, PERFEVTSEL0 + n, EN | USR | events[n]), PMUSIM_OK);
  CHECK_EQUAL(pmusim_wrmsr(cpu, GLOBAL_CTRL, 7), PMUSIM_OK);
  return cpu;
}

static uint64_t count(pmusim_cpu* cpu, uint32_t counter) {
  uint64_t value = 0;
  CHECK_EQUAL(pmusim_rdmsr(cpu, PMC0 + counter, &value), PMUSIM_OK);
  return value;
}

static void instructions_are_what_they_say(void) {
  pmusim_cpu* cpu = counting(NEAR_TAKEN, MISPREDICTS, L1_MISS);
  const pmusim_access miss = {.address = 0x1000, .bytes = 8, .level = PMUSIM_L2};
  const pmusim_instruction program[] = {
      {.ip = 0x1000},
      {.branch = PMUSIM_CONDITIONAL, .taken = 1, .mispredicted = 1, .next_ip = 0x2000},
      {.accesses = &miss, .access_count = 1},
      {.branch = PMUSIM_CONDITIONAL},
      {.branch = PMUSIM_NEAR_RETURN, .next_ip = 0x1000},
      {.branch = PMUSIM_SYSCALL, .privilege_after = PMUSIM_KERNEL},
      {.privilege = PMUSIM_KERNEL, .accesses = &miss, .access_count = 1},
  };
  uint64_t now = 0;
  CHECK_EQUAL(pmusim_retire(cpu, program, sizeof program / sizeof *program), PMUSIM_OK);
  CHECK_EQUAL(count(cpu, 0), 2);
  CHECK_EQUAL(count(cpu, 1), 1);
  CHECK_EQUAL(count(cpu, 2), 1);
  CHECK_EQUAL(pmusim_now(cpu, &now), PMUSIM_OK);
  CHECK_EQUAL(now, 7);
  pmusim_destroy(cpu);
}

static void signals_and_quantities_have_names(void) {
  pmusim_cpu* cpu = counting(X87_OR_SCALAR_DOUBLE, MACHINE_CLEARS, INSTRUCTIONS);
  pmusim_instruction one = {.ip = 0x1000};
  CHECK_EQUAL(pmusim_add_signal(&one, "fp_scalar_double"), PMUSIM_OK);
  CHECK_EQUAL(pmusim_set_quantity(&one, "slots_frontend", 12), PMUSIM_OK);
  CHECK_REFUSED(pmusim_add_signal(&one, "fp_scalar_duoble"), "fp_scalar_double");
  CHECK_REFUSED(pmusim_set_quantity(&one, "slot_frontend", 1), "slots_frontend");
  CHECK_EQUAL(pmusim_retire(cpu, &one, 1), PMUSIM_OK);
  CHECK_EQUAL(count(cpu, 0), 1);
  CHECK_EQUAL(count(cpu, 2), 1);
  pmusim_destroy(cpu);
}

static void arrays_retire_whole_or_not_at_all(void) {
  pmusim_cpu* cpu = counting(INSTRUCTIONS, BRANCHES, STORES);
  pmusim_instruction program[3] = {{0}};
  program[2].branch = 200;
  CHECK_REFUSED(pmusim_retire(cpu, program, 3), "instruction 2: branch is 200");
  program[2].branch = 0;
  program[1].access_count = 1;
  CHECK_REFUSED(pmusim_retire(cpu, program, 3), "accesses is null");
  CHECK_REFUSED(pmusim_retire(cpu, NULL, 3), "instructions is null");
  CHECK_REFUSED(pmusim_retire(NULL, program, 1), "cpu is null");
  CHECK_EQUAL(pmusim_retire(cpu, NULL, 0), PMUSIM_OK);
  CHECK_EQUAL(count(cpu, 0), 0);
  pmusim_destroy(cpu);
}

static void programs_count_what_the_table_says(void) {
  pmusim_cpu* cpu = counting(INSTRUCTIONS, BRANCHES, STORES);
  pmusim_program* program = pmusim_program_create(0x500000);
  CHECK_EQUAL(pmusim_program_begin_loop(program, 10, 1), PMUSIM_OK);
  CHECK_EQUAL(pmusim_program_store(program, 0x1000, 8, 64, PMUSIM_LEVEL_DEFAULT), PMUSIM_OK);
  CHECK_EQUAL(pmusim_program_begin_around(program, "TN"), PMUSIM_OK);
  CHECK_EQUAL(pmusim_program_instructions(program, 3), PMUSIM_OK);
  CHECK_REFUSED(pmusim_run_program(cpu, program, PMUSIM_USER), "2 bodies");
  CHECK_EQUAL(pmusim_program_end(program), PMUSIM_OK);
  CHECK_EQUAL(pmusim_program_begin_call(program), PMUSIM_OK);
  CHECK_EQUAL(pmusim_program_end(program), PMUSIM_OK);
  CHECK_EQUAL(pmusim_program_begin_system_call(program), PMUSIM_OK);
  CHECK_EQUAL(pmusim_program_load(program, 0x2000, 8, 0, PMUSIM_MEMORY), PMUSIM_OK);
  CHECK_EQUAL(pmusim_program_end(program), PMUSIM_OK);
  CHECK_EQUAL(pmusim_program_flush(program, 0x1000), PMUSIM_OK);
  CHECK_EQUAL(pmusim_program_jump(program), PMUSIM_OK);
  CHECK_EQUAL(pmusim_program_end(program), PMUSIM_OK);
  CHECK_REFUSED(pmusim_program_end(program), "no body");
  CHECK_EQUAL(pmusim_run_program(cpu, program, PMUSIM_USER), PMUSIM_OK);
  CHECK_EQUAL(count(cpu, 0), 10 * (1 + 1 + 2 + 1 + 1 + 1 + 1) + 5 * 3);
  CHECK_EQUAL(count(cpu, 1), 10 * (1 + 2 + 1 + 1 + 1));
  CHECK_EQUAL(count(cpu, 2), 10);
  CHECK_EQUAL(pmusim_run_program(cpu, program, PMUSIM_KERNEL), PMUSIM_OK);
  CHECK_EQUAL(count(cpu, 2), 10);
  pmusim_program_destroy(program);
  pmusim_destroy(cpu);
}

static void programs_refuse_what_is_none(void) {
  pmusim_program* program = pmusim_program_create(0);
  pmusim_cpu* cpu = pmusim_create("skylake", NULL);
  CHECK_REFUSED(pmusim_program_instructions(NULL, 1), "program is null");
  CHECK_REFUSED(pmusim_program_load(NULL, 0, 8, 0, PMUSIM_L1), "program is null");
  CHECK_REFUSED(pmusim_program_load(program, 0, 8, 0, 9), "level is 9");
  CHECK_REFUSED(pmusim_program_store(NULL, 0, 8, 0, PMUSIM_L1), "program is null");
  CHECK_REFUSED(pmusim_program_flush(NULL, 0), "program is null");
  CHECK_REFUSED(pmusim_program_jump(NULL), "program is null");
  CHECK_REFUSED(pmusim_program_begin_loop(NULL, 1, 0), "program is null");
  CHECK_REFUSED(pmusim_program_begin_around(program, NULL), "outcomes is null");
  CHECK_REFUSED(pmusim_program_begin_around(program, "TX"), "outcomes is 'TX'");
  CHECK_REFUSED(pmusim_program_begin_call(NULL), "program is null");
  CHECK_REFUSED(pmusim_program_begin_system_call(NULL), "program is null");
  CHECK_REFUSED(pmusim_program_end(NULL), "program is null");
  CHECK_REFUSED(pmusim_run_program(NULL, program, PMUSIM_USER), "cpu is null");
  CHECK_REFUSED(pmusim_run_program(cpu, NULL, PMUSIM_USER), "program is null");
  for (int depth = 0; depth < 64; ++depth) CHECK_EQUAL(pmusim_program_begin_call(program), PMUSIM_OK);
  CHECK_REFUSED(pmusim_program_begin_call(program), "64 bodies");
  pmusim_program_destroy(program);
  pmusim_program_destroy(NULL);
  pmusim_destroy(cpu);
}

static void code_is_decoded_by_the_library(void) {
  // mov (%rdi),%rax; add $1,%rax; cmp %rsi,%rax; jne -12
  static const unsigned char loop[] = {0x48, 0x8B, 0x07, 0x48, 0x83, 0xC0,
                                       0x01, 0x48, 0x39, 0xF0, 0x75, 0xF4};
  const uint64_t address = 0x10000;
  pmusim_cpu* cpu = counting(INSTRUCTIONS, BRANCHES, NEAR_TAKEN);
  pmusim_code code = {.ip = 0x401000,
                      .bytes = loop,
                      .size = sizeof loop,
                      .next_ip = 0x401000,
                      .addresses = &address,
                      .address_count = 1};
  uint64_t instructions = 0;
  for (int n = 0; n < 9; ++n) CHECK_EQUAL(pmusim_run_code(cpu, &code, NULL), PMUSIM_OK);
  code.next_ip = 0;
  CHECK_EQUAL(pmusim_run_code(cpu, &code, &instructions), PMUSIM_OK);
  CHECK_EQUAL(instructions, 4);
  CHECK_EQUAL(count(cpu, 0), 40);
  CHECK_EQUAL(count(cpu, 1), 10);
  CHECK_EQUAL(count(cpu, 2), 9);
  code.size = 2;
  CHECK_REFUSED(pmusim_run_code(cpu, &code, NULL), "no 64-bit instruction");
  code.size = SIZE_MAX;
  CHECK_REFUSED(pmusim_run_code(cpu, &code, NULL), "size is");
  code.bytes = NULL;
  code.size = 4;
  CHECK_REFUSED(pmusim_run_code(cpu, &code, NULL), "bytes is null");
  CHECK_REFUSED(pmusim_run_code(cpu, NULL, NULL), "code is null");
  pmusim_destroy(cpu);
}

static void traces_that_are_none_are_refused(void) {
  pmusim_cpu *cpu = pmusim_create("skylake", NULL), *cpus[2] = {cpu, NULL};
  CHECK_REFUSED(pmusim_run_trace(cpus, 1, "/nowhere/x.pmutrace", UINT64_MAX, NULL), "/nowhere/x.pmutrace");
  CHECK_REFUSED(pmusim_run_trace(cpus, 2, "/nowhere/x.pmutrace", UINT64_MAX, NULL), "cpu is null");
  CHECK_REFUSED(pmusim_run_trace(cpus, 0, "x", UINT64_MAX, NULL), "count is 0");
  CHECK_REFUSED(pmusim_run_trace(NULL, 1, "x", UINT64_MAX, NULL), "cpus is null");
  CHECK_REFUSED(pmusim_run_trace(cpus, 1, NULL, UINT64_MAX, NULL), "path is null");
  pmusim_destroy(cpu);
}

static int ask_for_an_end_at_the_third(void* asked) { return ++*(int*)asked == 3; }

static void feeds_end_where_they_are_asked_to(void) {
  int asked = 0;
  pmusim_cpu* cpu = counting(INSTRUCTIONS, BRANCHES, STORES);
  pmusim_program* program = pmusim_program_create(0x500000);
  CHECK_EQUAL(pmusim_program_begin_loop(program, UINT64_MAX / 2, 0), PMUSIM_OK);
  CHECK_EQUAL(pmusim_program_instructions(program, 1), PMUSIM_OK);
  CHECK_EQUAL(pmusim_program_end(program), PMUSIM_OK);
  CHECK_REFUSED(pmusim_set_poll(NULL, ask_for_an_end_at_the_third, &asked), "cpu is null");
  CHECK_EQUAL(pmusim_set_poll(cpu, ask_for_an_end_at_the_third, &asked), PMUSIM_OK);
  CHECK_REFUSED(pmusim_run_instructions(cpu, 1000000, PMUSIM_USER), "stopped after 196608 instructions");
  CHECK_EQUAL(count(cpu, 0), 196608);
  asked = 0;
  CHECK_REFUSED(pmusim_run_program(cpu, program, PMUSIM_USER), "stopped after 196608 instructions");
  CHECK_EQUAL(count(cpu, 0), 2 * 196608);
  asked = 0;
  CHECK_EQUAL(pmusim_set_poll(cpu, NULL, NULL), PMUSIM_OK);
  CHECK_EQUAL(pmusim_run_instructions(cpu, 1000000, PMUSIM_USER), PMUSIM_OK);
  CHECK_EQUAL(asked, 0);
  pmusim_program_destroy(program);
  pmusim_destroy(cpu);
}

int main(void) {
  instructions_are_what_they_say();
  signals_and_quantities_have_names();
  arrays_retire_whole_or_not_at_all();
  programs_count_what_the_table_says();
  programs_refuse_what_is_none();
  code_is_decoded_by_the_library();
  traces_that_are_none_are_refused();
  feeds_end_where_they_are_asked_to();
  return checked();
}
