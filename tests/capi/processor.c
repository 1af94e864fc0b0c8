// SPDX-License-Identifier: MIT
// A processor of C: its registers, faults, memory and interrupts.
#include "check.h"
#include "pmusim/pmusim.h"

enum {
  PMC0 = 0xC1,
  PERFEVTSEL0 = 0x186,
  GLOBAL_STATUS = 0x38E,
  GLOBAL_CTRL = 0x38F,
  GLOBAL_OVF_CTRL = 0x390
};
enum { LVTPC = 0x834, LVT_NMI = 0x400 };
#define INSTRUCTIONS 0xC0u
#define USR 0x10000u
#define OS 0x20000u
#define INT 0x100000u
#define EN 0x400000u

static uint64_t rdmsr(pmusim_cpu* cpu, uint32_t address) {
  uint64_t value = 0;
  CHECK_EQUAL(pmusim_rdmsr(cpu, address, &value), PMUSIM_OK);
  return value;
}

static void wrmsr(pmusim_cpu* cpu, uint32_t address, uint64_t value) {
  CHECK_EQUAL(pmusim_wrmsr(cpu, address, value), PMUSIM_OK);
}

static void instructions_are_counted_by_ring(void) {
  pmusim_cpu* cpu = pmusim_create("skylake", NULL);
  wrmsr(cpu, PERFEVTSEL0, EN | USR | INSTRUCTIONS);
  wrmsr(cpu, PERFEVTSEL0 + 1, EN | OS | INSTRUCTIONS);
  wrmsr(cpu, GLOBAL_CTRL, 3);
  CHECK_EQUAL(pmusim_run_instructions(cpu, 1000, PMUSIM_USER), PMUSIM_OK);
  CHECK_EQUAL(pmusim_run_instructions(cpu, 30, PMUSIM_KERNEL), PMUSIM_OK);
  CHECK_EQUAL(rdmsr(cpu, PMC0), 1000);
  CHECK_EQUAL(rdmsr(cpu, PMC0 + 1), 30);
  pmusim_destroy(cpu);
}

static void faults_have_their_vectors(void) {
  pmusim_cpu* cpu = pmusim_create("skylake", NULL);
  uint64_t value = 7;
  char bytes[8] = {0};
  pmusim_fault fault = {9, 9, 9};
  CHECK_EQUAL(pmusim_last_fault(cpu, &fault), PMUSIM_OK);
  CHECK_EQUAL(fault.vector, 0);
  CHECK_EQUAL(pmusim_rdmsr(cpu, 0xDEAD, &value), PMUSIM_GP);
  CHECK_EQUAL(value, 7);
  CHECK_EQUAL(pmusim_wrmsr(cpu, GLOBAL_STATUS, 1), PMUSIM_GP);
  CHECK_EQUAL(pmusim_write(cpu, 0x1000, bytes, sizeof bytes), PMUSIM_PF);
  CHECK_EQUAL(pmusim_last_fault(cpu, &fault), PMUSIM_OK);
  CHECK_EQUAL(fault.vector, PMUSIM_PF);
  CHECK_EQUAL(fault.has_error_code, 1);
  CHECK_EQUAL(fault.error_code, 2);
  CHECK_EQUAL(pmusim_rdpmc(cpu, 0, PMUSIM_USER, &value), PMUSIM_GP);
  CHECK_EQUAL(pmusim_set_control(cpu, PMUSIM_CR4_PCE), PMUSIM_OK);
  CHECK_EQUAL(pmusim_rdpmc(cpu, 0, PMUSIM_USER, &value), PMUSIM_OK);
  CHECK_EQUAL(pmusim_xgetbv(cpu, 0, &value), PMUSIM_UD);  // CR4.OSXSAVE went with the same call
  pmusim_destroy(cpu);
}

static void registers_go_through_an_xsave_area(void) {
  enum { AREA = 0x10000, SSE = 2 };
  pmusim_cpu* cpu = pmusim_create("icelake", NULL);
  uint64_t header = 0;
  CHECK_EQUAL(pmusim_xsetbv(cpu, 0, 7), PMUSIM_OK);
  CHECK_EQUAL(pmusim_xsave(cpu, PMUSIM_XSAVES, AREA, SSE, PMUSIM_KERNEL), PMUSIM_PF);
  CHECK_EQUAL(pmusim_map(cpu, AREA, 4096), PMUSIM_OK);
  CHECK_EQUAL(pmusim_xsave(cpu, PMUSIM_XSAVES, AREA, SSE, PMUSIM_KERNEL), PMUSIM_OK);
  CHECK_EQUAL(pmusim_read(cpu, AREA + 520, &header, sizeof header), PMUSIM_OK);
  CHECK_EQUAL(header, (1ull << 63) | SSE);  // XCOMP_BV: compacted
  CHECK_EQUAL(pmusim_xsave(cpu, PMUSIM_XRSTORS, AREA, SSE, PMUSIM_KERNEL), PMUSIM_OK);
  CHECK_EQUAL(pmusim_xsave(cpu, PMUSIM_XRSTORS, AREA, SSE, PMUSIM_USER), PMUSIM_GP);
  CHECK_EQUAL(pmusim_xsave(cpu, PMUSIM_XRSTORS, AREA + 1, SSE, PMUSIM_KERNEL), PMUSIM_GP);
  pmusim_destroy(cpu);
}

static void memory_can_be_mapped_shared_and_touched(void) {
  pmusim_cpu* cpu = pmusim_create("skylake", NULL);
  unsigned char mine[64] = {0};
  const uint32_t word = 0x12345678;
  CHECK_EQUAL(pmusim_map_shared(cpu, 0x2000, mine, sizeof mine), PMUSIM_OK);
  CHECK_EQUAL(pmusim_write(cpu, 0x2004, &word, sizeof word), PMUSIM_OK);
  CHECK_EQUAL(mine[4], 0x78);
  CHECK(pmusim_memory(cpu, 0x2000, sizeof mine) == mine);
  CHECK(pmusim_memory(cpu, 0x2000, sizeof mine + 1) == NULL);
  CHECK_REFUSED(pmusim_map(cpu, 0x2000, 4096), "0x2000");
  CHECK_EQUAL(pmusim_unmap(cpu, 0x2000), PMUSIM_OK);
  CHECK_EQUAL(pmusim_map(cpu, 0x2000, 4096), PMUSIM_OK);
  pmusim_destroy(cpu);
}

struct seen {
  unsigned pmis;
  pmusim_interrupt last;
};

static void handle(pmusim_cpu* cpu, const pmusim_interrupt* interrupt, void* context) {
  struct seen* seen = context;
  ++seen->pmis;
  seen->last = *interrupt;
  pmusim_destroy(cpu);  // refused: it is in use
  CHECK(strstr(pmusim_last_error(), "callback") != NULL);
  wrmsr(cpu, GLOBAL_OVF_CTRL, 1);
  wrmsr(cpu, LVTPC, LVT_NMI);
}

static void an_overflow_enters_the_handler(void) {
  pmusim_cpu* cpu = pmusim_create("skylake", "pmi_skid_cycles=5");
  struct seen seen = {0};
  CHECK_EQUAL(pmusim_set_pmi_handler(cpu, handle, &seen), PMUSIM_OK);
  wrmsr(cpu, LVTPC, LVT_NMI);
  wrmsr(cpu, PERFEVTSEL0, EN | USR | INT | INSTRUCTIONS);
  wrmsr(cpu, PMC0, 0xFFFFFFFF - 99);  // 100 to go
  wrmsr(cpu, GLOBAL_CTRL, 1);
  CHECK_EQUAL(pmusim_run_instructions(cpu, 100, PMUSIM_USER), PMUSIM_OK);
  CHECK_EQUAL(seen.pmis, 0);
  CHECK_EQUAL(pmusim_run_instructions(cpu, 5, PMUSIM_USER), PMUSIM_OK);
  CHECK_EQUAL(seen.pmis, 1);
  CHECK_EQUAL(seen.last.cycle, 105);
  CHECK_EQUAL(seen.last.privilege, PMUSIM_USER);
  CHECK_EQUAL(seen.last.registers.rip, 0x401000 + 4 * 104);
  CHECK_EQUAL(rdmsr(cpu, GLOBAL_STATUS), 0);
  pmusim_destroy(cpu);
}

static void time_passes_where_nothing_retires(void) {
  enum { CYCLES = 0x3C };
  pmusim_cpu* cpu = pmusim_create("skylake", NULL);
  uint64_t now = 0;
  wrmsr(cpu, PERFEVTSEL0, EN | OS | CYCLES);
  wrmsr(cpu, GLOBAL_CTRL, 1);
  CHECK_EQUAL(pmusim_wait(cpu, 400, PMUSIM_KERNEL), PMUSIM_OK);
  CHECK_EQUAL(pmusim_wait(cpu, 100, PMUSIM_USER), PMUSIM_OK);
  CHECK_EQUAL(pmusim_now(cpu, &now), PMUSIM_OK);
  CHECK_EQUAL(now, 500);
  CHECK_EQUAL(rdmsr(cpu, PMC0), 400);
  CHECK_EQUAL(pmusim_reset(cpu), PMUSIM_OK);
  CHECK_EQUAL(rdmsr(cpu, PMC0), 0);
  pmusim_destroy(cpu);
}

static void every_model_can_be_created(void) {
  pmusim_cpuid_result leaf = {0, 0, 0, 0};
  size_t n = 0, of_intel = 0, of_amd = 0;
  for (; pmusim_model_name(n) != NULL; ++n) {
    pmusim_cpu* cpu = pmusim_create(pmusim_model_name(n), NULL);
    CHECK(cpu != NULL);
    CHECK_EQUAL(pmusim_cpuid(cpu, 0, 0, &leaf), PMUSIM_OK);
    of_intel += leaf.ebx == 0x756E6547;  // "Genu"
    of_amd += leaf.ebx == 0x68747541;    // "Auth"
    pmusim_destroy(cpu);
  }
  CHECK_EQUAL(of_intel, 41);
  CHECK_EQUAL(of_amd, 16);
  CHECK_EQUAL(n, 57);
}

static int saw_why;
static void ask_why(pmusim_cpu* cpu, const pmusim_event* event, void* context) {
  (void)cpu, (void)context;
  if (event->kind == PMUSIM_ACCESS_FAULT && strstr(pmusim_last_error(), "(38FH) = 0x10: #GP: bit 4") != NULL) ++saw_why;
}

static void faults_say_why(void) {
  pmusim_cpu *cpu = pmusim_create("skylake", NULL), *gone = pmusim_create("icelake", NULL);
  uint64_t value = 0;
  CHECK_EQUAL(pmusim_set_observer(cpu, ask_why, 1 << PMUSIM_ACCESS_FAULT, NULL), PMUSIM_OK);
  CHECK_EQUAL(pmusim_wrmsr(cpu, 0x38F, 0x10), PMUSIM_GP);
  CHECK_EQUAL(saw_why, 1);
  CHECK(strcmp(pmusim_last_error(), "wrmsr IA32_PERF_GLOBAL_CTRL (38FH) = 0x10: #GP: bit 4 is reserved on Skylake "
                                    "(enable PMCn (bit n): bits 3:0)") == 0);
  CHECK_EQUAL(pmusim_rdpmc(cpu, 0, PMUSIM_USER, &value), PMUSIM_GP);
  CHECK(strstr(pmusim_last_error(), "CR4.PCE is clear") != NULL);
  CHECK_EQUAL(pmusim_read(cpu, 0x5000, &value, sizeof value), PMUSIM_PF);
  CHECK(strstr(pmusim_last_error(), "8 bytes at 0x5000") != NULL);
  CHECK_EQUAL(pmusim_xsave(cpu, PMUSIM_XSAVE, 0x5001, 1, PMUSIM_KERNEL), PMUSIM_GP);
  CHECK(strstr(pmusim_last_error(), "0x5001 is not aligned") != NULL);
  CHECK_EQUAL(pmusim_xsetbv(cpu, 0, 5), PMUSIM_GP);
  CHECK(strstr(pmusim_last_error(), "needs SSE") != NULL);
  // after the processor has gone, too
  CHECK_EQUAL(pmusim_rdmsr(gone, 0xBAD, &value), PMUSIM_GP);
  pmusim_destroy(gone);
  CHECK(strcmp(pmusim_last_error(), "rdmsr BADH: #GP: Ice Lake has no such register") == 0);
  pmusim_destroy(cpu);
}

int main(void) {
  faults_say_why();
  CHECK_EQUAL(pmusim_abi_version(), PMUSIM_ABI_VERSION);
  CHECK(strchr(pmusim_version(), '.') != NULL);
  instructions_are_counted_by_ring();
  faults_have_their_vectors();
  registers_go_through_an_xsave_area();
  memory_can_be_mapped_shared_and_touched();
  an_overflow_enters_the_handler();
  time_passes_where_nothing_retires();
  every_model_can_be_created();
  return checked();
}
