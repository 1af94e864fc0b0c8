// SPDX-License-Identifier: MIT
// What a test can see and a driver cannot: exact counts, what the hardware does, snapshots.
#include "check.h"
#include "pmusim/pmusim.h"

enum { PMC0 = 0xC1, PERFEVTSEL0 = 0x186, GLOBAL_CTRL = 0x38F, GLOBAL_OVF_CTRL = 0x390 };
enum { LVTPC = 0x834, LVT_NMI = 0x400, BUFFER = 0x8000 };
#define INSTRUCTIONS 0xC0u
#define USR 0x10000u
#define OS 0x20000u
#define INT 0x100000u
#define EN 0x400000u

static void wrmsr(pmusim_cpu* cpu, uint32_t address, uint64_t value) {
  CHECK_EQUAL(pmusim_wrmsr(cpu, address, value), PMUSIM_OK);
}

static uint64_t exact_count(pmusim_cpu* cpu, uint32_t number) {
  uint64_t count = 0;
  CHECK_EQUAL(pmusim_truth(cpu, number, &count), PMUSIM_OK);
  return count;
}

static void rearm(pmusim_cpu* cpu, const pmusim_interrupt* interrupt, void* context) {
  unsigned* pmis = context;
  (void)interrupt;
  ++*pmis;
  CHECK(pmusim_snapshot_take(cpu) == NULL);
  CHECK(strstr(pmusim_last_error(), "callback") != NULL);
  CHECK_EQUAL(pmusim_run_instructions(cpu, 10, PMUSIM_KERNEL), PMUSIM_OK);  // the handler's own
  wrmsr(cpu, PMC0, 0xFFFFFFFF - 99);
  wrmsr(cpu, GLOBAL_OVF_CTRL, 1);
  wrmsr(cpu, LVTPC, LVT_NMI);
}

static pmusim_cpu* sampling(unsigned* pmis) {
  pmusim_cpu* cpu = pmusim_create("skylake", NULL);
  CHECK_EQUAL(pmusim_set_pmi_handler(cpu, rearm, pmis), PMUSIM_OK);
  wrmsr(cpu, LVTPC, LVT_NMI);
  wrmsr(cpu, PMC0, 0xFFFFFFFF - 99);
  wrmsr(cpu, PERFEVTSEL0, EN | USR | INT | INSTRUCTIONS);
  wrmsr(cpu, GLOBAL_CTRL, 1);
  return cpu;
}

static void exact_counts_do_not_depend_on_the_driver(void) {
  unsigned pmis = 0;
  uint32_t user = 9, kernel = 9, fixed = 9, cycles = 9;
  uint64_t now = 0;
  pmusim_cpu* cpu = sampling(&pmis);
  CHECK_EQUAL(pmusim_truth_begin(cpu, USR | INSTRUCTIONS, 0, 0, &user), PMUSIM_OK);
  CHECK_EQUAL(pmusim_truth_begin(cpu, OS | INSTRUCTIONS, 0, 0, &kernel), PMUSIM_OK);
  CHECK_EQUAL(pmusim_truth_begin(cpu, USR | OS | 0x0100, 0, 0, &fixed), PMUSIM_OK);
  CHECK_EQUAL(pmusim_truth_begin(cpu, USR | OS | 0x3C, 0, 0, &cycles), PMUSIM_OK);
  CHECK_EQUAL(user, 0);
  CHECK_EQUAL(cycles, 3);
  CHECK_EQUAL(pmusim_run_instructions(cpu, 5000, PMUSIM_USER), PMUSIM_OK);
  CHECK_EQUAL(pmusim_wait(cpu, 100, PMUSIM_USER), PMUSIM_OK);
  CHECK(pmis > 30);
  CHECK_EQUAL(exact_count(cpu, user), 5000);
  CHECK_EQUAL(exact_count(cpu, kernel), 10 * pmis);
  CHECK_EQUAL(exact_count(cpu, fixed), 5000 + 10 * pmis);
  CHECK_EQUAL(pmusim_now(cpu, &now), PMUSIM_OK);
  CHECK_EQUAL(exact_count(cpu, cycles), now);
  pmusim_destroy(cpu);
}

static void exact_counts_of_nothing_are_refused(void) {
  pmusim_cpu* cpu = pmusim_create("skylake", NULL);
  uint32_t number = 0;
  uint64_t count = 0;
  CHECK_REFUSED(pmusim_truth_begin(cpu, USR | 0xFFFF, 0, 0, &number), "cannot count event select");
  CHECK_REFUSED(pmusim_truth_begin(cpu, USR | 0x01B7, 0x1A6, ~0ull, &number), "#GP");
  CHECK_REFUSED(pmusim_truth_begin(cpu, USR | 0xC0, 0, 0, NULL), "number is null");
  CHECK_REFUSED(pmusim_truth_begin(NULL, USR | 0xC0, 0, 0, &number), "cpu is null");
  CHECK_REFUSED(pmusim_truth(cpu, 0, &count), "number is 0");
  CHECK_REFUSED(pmusim_truth(cpu, 0, NULL), "count is null");
  CHECK_REFUSED(pmusim_assists(cpu, 7, &count), "7");
  CHECK_REFUSED(pmusim_acr_reloads(cpu, 63, &count), "no counter 63");
  CHECK_EQUAL(pmusim_assists(cpu, PMUSIM_ASSIST_FULL, &count), PMUSIM_OK);
  CHECK_EQUAL(pmusim_acr_reloads(cpu, 0, &count), PMUSIM_OK);
  pmusim_destroy(cpu);
}

struct log {
  unsigned of_kind[PMUSIM_RETIREMENT + 1];
  pmusim_event last_request;
};

static void observe(pmusim_cpu* cpu, const pmusim_event* event, void* context) {
  struct log* log = context;
  uint64_t value = 0;
  ++log->of_kind[event->kind];
  if (event->kind == PMUSIM_PMI_REQUEST) log->last_request = *event;
  CHECK_EQUAL(pmusim_rdmsr(cpu, PMC0, &value), PMUSIM_OK);
  CHECK_EQUAL(pmusim_rdmsr(cpu, 0xDEAD, &value), PMUSIM_GP);
  CHECK_REFUSED(pmusim_wrmsr(cpu, PMC0, 0), "observer");
  CHECK_REFUSED(pmusim_run_instructions(cpu, 1, PMUSIM_USER), "observer");
  CHECK_REFUSED(pmusim_set_observer(cpu, NULL, 0, NULL), "observer");
  CHECK_REFUSED(pmusim_reset(cpu), "callback");
}

static void observers_receive_what_they_asked_for(void) {
  unsigned pmis = 0;
  struct log log = {{0}, {0}};
  pmusim_cpu* cpu = sampling(&pmis);
  const uint64_t kinds = 1u << PMUSIM_OVERFLOW | 1u << PMUSIM_PMI_REQUEST | 1u << PMUSIM_RETIREMENT;
  CHECK_REFUSED(pmusim_set_observer(cpu, observe, ~0ull, &log), "kinds is");
  CHECK_EQUAL(pmusim_set_observer(cpu, observe, kinds, &log), PMUSIM_OK);
  CHECK_EQUAL(pmusim_run_instructions(cpu, 100, PMUSIM_USER), PMUSIM_OK);
  CHECK_EQUAL(log.of_kind[PMUSIM_OVERFLOW], 1);
  CHECK_EQUAL(log.of_kind[PMUSIM_PMI_REQUEST], 1);
  CHECK_EQUAL(log.of_kind[PMUSIM_RETIREMENT], 100);
  CHECK_EQUAL(log.of_kind[PMUSIM_REGISTER_WRITE], 0);
  CHECK_EQUAL(log.last_request.cycle, 100);
  CHECK_EQUAL(log.last_request.value, 124);  // policy pmi_skid_cycles
  CHECK_EQUAL(pmusim_set_observer(cpu, NULL, 0, NULL), PMUSIM_OK);
  CHECK_EQUAL(pmusim_run_instructions(cpu, 100, PMUSIM_USER), PMUSIM_OK);
  CHECK_EQUAL(log.of_kind[PMUSIM_RETIREMENT], 100);
  pmusim_destroy(cpu);
}

static void snapshots_bring_everything_back(void) {
  unsigned pmis = 0;
  uint32_t instructions = 0;
  int same = 9;
  char difference[80] = "";
  const uint64_t word = 0x1122334455667788;
  pmusim_cpu* cpu = sampling(&pmis);
  CHECK_EQUAL(pmusim_map(cpu, BUFFER, 4096), PMUSIM_OK);
  CHECK_EQUAL(pmusim_truth_begin(cpu, USR | INSTRUCTIONS, 0, 0, &instructions), PMUSIM_OK);
  CHECK_EQUAL(pmusim_run_instructions(cpu, 110, PMUSIM_USER), PMUSIM_OK);  // its PMI is on its way
  pmusim_snapshot* before = pmusim_snapshot_take(cpu);
  CHECK_EQUAL(pmusim_compare(cpu, before, &same, difference, sizeof difference), PMUSIM_OK);
  CHECK_EQUAL(same, 1);
  CHECK_EQUAL(strlen(difference), 0);

  CHECK_EQUAL(pmusim_write(cpu, BUFFER + 8, &word, sizeof word), PMUSIM_OK);
  CHECK_EQUAL(pmusim_compare(cpu, before, &same, difference, sizeof difference), PMUSIM_OK);
  CHECK_EQUAL(same, 0);
  CHECK(strcmp(difference, "the byte at 0x8008 is 0x88, in the snapshot 0x0") == 0);
  wrmsr(cpu, PMC0 + 1, 5);
  CHECK_EQUAL(pmusim_compare(cpu, before, &same, difference, 9), PMUSIM_OK);
  CHECK(strcmp(difference, "IA32_PMC") == 0);
  CHECK_EQUAL(pmusim_compare(cpu, before, &same, NULL, 0), PMUSIM_OK);

  CHECK_EQUAL(pmusim_run_instructions(cpu, 500, PMUSIM_USER), PMUSIM_OK);
  pmusim_snapshot* after = pmusim_snapshot_take(cpu);
  const unsigned pmis_after = pmis;
  CHECK_EQUAL(exact_count(cpu, instructions), 610);
  CHECK_EQUAL(pmusim_restore(cpu, before), PMUSIM_OK);
  CHECK_EQUAL(pmusim_compare(cpu, before, &same, NULL, 0), PMUSIM_OK);
  CHECK_EQUAL(same, 1);
  CHECK_EQUAL(exact_count(cpu, instructions), 110);
  CHECK_EQUAL(pmusim_write(cpu, BUFFER + 8, &word, sizeof word), PMUSIM_OK);
  wrmsr(cpu, PMC0 + 1, 5);
  CHECK_EQUAL(pmusim_run_instructions(cpu, 500, PMUSIM_USER), PMUSIM_OK);
  CHECK_EQUAL(pmis - pmis_after, pmis_after);
  CHECK_EQUAL(pmusim_compare(cpu, after, &same, difference, sizeof difference), PMUSIM_OK);
  CHECK_EQUAL(same, 1);
  pmusim_snapshot_destroy(before);
  pmusim_snapshot_destroy(after);
  pmusim_destroy(cpu);
}

static void snapshots_outlive_their_processor(void) {
  unsigned pmis = 0;
  uint64_t value = 0;
  pmusim_cpu *first = sampling(&pmis), *other = pmusim_create("icelake", NULL);
  pmusim_snapshot* snapshot = pmusim_snapshot_take(first);
  pmusim_destroy(first);
  CHECK_REFUSED(pmusim_restore(other, snapshot), "the snapshot is of a skylake");
  pmusim_destroy(other);
  pmusim_cpu* second = pmusim_create("skylake", NULL);
  CHECK_EQUAL(pmusim_restore(second, snapshot), PMUSIM_OK);
  pmusim_snapshot_destroy(snapshot);
  CHECK_EQUAL(pmusim_run_instructions(second, 1000, PMUSIM_USER), PMUSIM_OK);
  CHECK_EQUAL(pmis, 0);  // the handler was the first one's
  CHECK_EQUAL(pmusim_rdmsr(second, PMC0, &value), PMUSIM_OK);
  CHECK_EQUAL(value, 900);
  pmusim_destroy(second);
}

static void snapshots_refuse_what_is_none(void) {
  pmusim_cpu* cpu = pmusim_create("skylake", NULL);
  pmusim_snapshot* snapshot = pmusim_snapshot_take(cpu);
  int same = 0;
  CHECK(pmusim_snapshot_take(NULL) == NULL);
  CHECK_REFUSED(pmusim_restore(NULL, snapshot), "cpu is null");
  CHECK_REFUSED(pmusim_restore(cpu, NULL), "snapshot is null");
  CHECK_REFUSED(pmusim_compare(NULL, snapshot, &same, NULL, 0), "cpu is null");
  CHECK_REFUSED(pmusim_compare(cpu, NULL, &same, NULL, 0), "snapshot is null");
  CHECK_REFUSED(pmusim_compare(cpu, snapshot, NULL, NULL, 0), "same is null");
  pmusim_snapshot_destroy(NULL);
  pmusim_snapshot_destroy(snapshot);
  pmusim_destroy(cpu);
}

static void registers_are_listed_and_found(void) {
  pmusim_cpu* cpu = pmusim_create("skylake", NULL);
  pmusim_register info;
  uint32_t address = 0;
  int seen = 0;
  for (size_t n = 0; n < pmusim_register_count(cpu); ++n) {
    CHECK_EQUAL(pmusim_get_register(cpu, n, &info), PMUSIM_OK);
    seen += strcmp(info.name, "IA32_PMC3") == 0 && info.address == 0xC4;
  }
  CHECK_EQUAL(seen, 1);
  CHECK_EQUAL(pmusim_find_register(cpu, "IA32_PERF_GLOBAL_CTRL", &address), PMUSIM_OK);
  CHECK_EQUAL(address, GLOBAL_CTRL);
  CHECK_REFUSED(pmusim_find_register(cpu, "IA32_PERF_GLOBAL_CTL", &address), "IA32_PERF_GLOBAL_CTRL");
  CHECK_REFUSED(pmusim_find_register(cpu, NULL, &address), "name is null");
  CHECK_REFUSED(pmusim_get_register(cpu, SIZE_MAX, &info), "number is");
  CHECK_EQUAL(pmusim_register_count(NULL), 0);
  pmusim_destroy(cpu);
}

int main(void) {
  exact_counts_do_not_depend_on_the_driver();
  exact_counts_of_nothing_are_refused();
  observers_receive_what_they_asked_for();
  snapshots_bring_everything_back();
  snapshots_outlive_their_processor();
  snapshots_refuse_what_is_none();
  registers_are_listed_and_found();
  return checked();
}
