// SPDX-License-Identifier: MIT
// A driver in C with a PMI at every place of it.
#include "check.h"
#include "pmusim/pmusim.h"

enum { PMC0 = 0xC1, PERFEVTSEL0 = 0x186, GLOBAL_STATUS = 0x38E, GLOBAL_CTRL = 0x38F, GLOBAL_RESET = 0x390 };
enum { LVTPC = 0x834, LVT_NMI = 0x400 };

enum order { EVENT_FIRST, ACTIVE_FIRST };

struct driver {
  enum order order;
  pmusim_run* run;
  uint64_t active;
  uint64_t* events[4];
};

static void wrmsr(pmusim_cpu* cpu, uint32_t address, uint64_t value) {
  CHECK_EQUAL(pmusim_wrmsr(cpu, address, value), PMUSIM_OK);
}

static void on_pmi(pmusim_cpu* cpu, const pmusim_interrupt* interrupt, void* context) {
  struct driver* driver = context;
  uint64_t status = 0;
  (void)interrupt;
  CHECK_EQUAL(pmusim_rdmsr(cpu, GLOBAL_STATUS, &status), PMUSIM_OK);
  wrmsr(cpu, GLOBAL_RESET, status);
  for (unsigned n = 0; n < 4; ++n) {
    if ((status & driver->active & 1u << n) == 0) continue;
    if (driver->events[n] == NULL) {
      CHECK_EQUAL(pmusim_explore_fail(driver->run, "an active counter without an event"), PMUSIM_OK);
      return;
    }
    ++*driver->events[n];
    wrmsr(cpu, PMC0 + n, 0xFFFFFC18);
  }
  wrmsr(cpu, LVTPC, LVT_NMI);
}

static void start(pmusim_cpu* cpu, struct driver* driver, unsigned n, uint64_t* event) {
  if (driver->order == EVENT_FIRST) driver->events[n] = event;
  if (driver->order == ACTIVE_FIRST) driver->active |= 1u << n;
  wrmsr(cpu, PMC0 + n, 0xFFFFFC18);
  wrmsr(cpu, PERFEVTSEL0 + n, 0x5200C0);
  driver->events[n] = event;
  driver->active |= 1u << n;
}

static void scenario(pmusim_cpu* cpu, pmusim_run* run, void* context) {
  struct driver driver = {.order = *(enum order*)context, .run = run};
  uint64_t counts[2] = {0, 0};
  CHECK_EQUAL(pmusim_explore_state(run, &driver.active, sizeof driver.active), PMUSIM_OK);
  CHECK_EQUAL(pmusim_explore_state(run, driver.events, sizeof driver.events), PMUSIM_OK);
  CHECK_EQUAL(pmusim_explore_state(run, counts, sizeof counts), PMUSIM_OK);
  CHECK_EQUAL(pmusim_set_pmi_handler(cpu, on_pmi, &driver), PMUSIM_OK);
  wrmsr(cpu, LVTPC, LVT_NMI);
  wrmsr(cpu, GLOBAL_CTRL, 0xF);
  CHECK_EQUAL(pmusim_explore_open(run), PMUSIM_OK);
  start(cpu, &driver, 0, &counts[0]);
  start(cpu, &driver, 1, &counts[1]);
  CHECK_EQUAL(pmusim_explore_close(run), PMUSIM_OK);
  CHECK_REFUSED(pmusim_reset(cpu), "callback");
  CHECK_EQUAL(pmusim_set_pmi_handler(cpu, NULL, NULL), PMUSIM_OK);
}

static void the_race_is_found_and_replayed(void) {
  pmusim_cpu* cpu = pmusim_create("skylake", NULL);
  enum order order = ACTIVE_FIRST;
  pmusim_explore_report report, again;
  CHECK_EQUAL(pmusim_explore(cpu, scenario, &order, NULL, &report), PMUSIM_OK);
  CHECK_EQUAL(report.found, 1);
  CHECK(strcmp(report.seed, "overflow@3") == 0);
  CHECK(strstr(report.text, "after wrmsr 186 = 5200c0") != NULL);
  CHECK_EQUAL(pmusim_explore_replay(cpu, scenario, &order, report.seed, &again), PMUSIM_OK);
  CHECK_EQUAL(again.found, 1);
  CHECK(strcmp(again.text, report.text) == 0);
  order = EVENT_FIRST;
  CHECK_EQUAL(pmusim_explore_replay(cpu, scenario, &order, report.seed, &again), PMUSIM_OK);
  CHECK_EQUAL(again.found, 0);
  pmusim_destroy(cpu);
}

static void the_driver_without_it_passes_and_the_processor_is_as_before(void) {
  pmusim_cpu* cpu = pmusim_create("skylake", NULL);
  enum order order = EVENT_FIRST;
  const pmusim_explore_options pairs = {.most_pmis = 2, .causes = PMUSIM_CAUSE_OVERFLOW | PMUSIM_CAUSE_SPURIOUS};
  pmusim_explore_report report;
  pmusim_snapshot* before = pmusim_snapshot_take(cpu);
  int same = 0;
  CHECK_EQUAL(pmusim_explore(cpu, scenario, &order, &pairs, &report), PMUSIM_OK);
  CHECK_EQUAL(report.found, 0);
  CHECK_EQUAL(report.complete, 1);
  CHECK_EQUAL(report.boundaries, 9);
  CHECK(report.merged != 0);
  CHECK_EQUAL(pmusim_compare(cpu, before, &same, NULL, 0), PMUSIM_OK);
  CHECK_EQUAL(same, 1);
  pmusim_snapshot_destroy(before);
  pmusim_destroy(cpu);
}

static void wrong_calls_are_refused(void) {
  pmusim_cpu* cpu = pmusim_create("skylake", NULL);
  enum order order = EVENT_FIRST;
  const pmusim_explore_options unknown = {.causes = 8};
  pmusim_explore_report report;
  CHECK_REFUSED(pmusim_explore(NULL, scenario, &order, NULL, &report), "cpu is null");
  CHECK_REFUSED(pmusim_explore(cpu, NULL, &order, NULL, &report), "scenario is null");
  CHECK_REFUSED(pmusim_explore(cpu, scenario, &order, NULL, NULL), "report is null");
  CHECK_REFUSED(pmusim_explore(cpu, scenario, &order, &unknown, &report), "causes");
  CHECK_REFUSED(pmusim_explore_replay(cpu, scenario, &order, "overflow", &report), "expected");
  CHECK_REFUSED(pmusim_explore_replay(cpu, scenario, &order, "overflow@9999", &report), "9999");
  CHECK_REFUSED(pmusim_explore_open(NULL), "run is null");
  pmusim_destroy(cpu);
}

int main(void) {
  the_race_is_found_and_replayed();
  the_driver_without_it_passes_and_the_processor_is_as_before();
  wrong_calls_are_refused();
  return checked();
}
