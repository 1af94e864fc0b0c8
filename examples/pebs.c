// SPDX-License-Identifier: MIT
// A PEBS driver in C: two counters share a buffer, which is drained when it is full and split by counter. Where both
// overflow before a record is written, the record names both (formats 1 and 2): nobody can tell whose it is.
#include <stdio.h>
#include <string.h>

#include "pmusim/pmusim.h"
#include "pmusim/registers.h"

#define EN_USR (PMUSIM_EVTSEL_EN | PMUSIM_EVTSEL_USR)

// Record format 2 (Haswell): 24 words.
enum { RECORD_BYTES = 192, STATUS = 0x90, EVENTING_IP = 0xB0 };
// The DS area at AREA, as SDM vol. 3 has it; reset values of the counters behind the pointers.
enum { AREA = 0x10000, BUFFER = 0x20000, RECORDS = 64, INDEX = 0x28 };

struct area {
  uint64_t bts[4];
  uint64_t base, index, maximum, threshold;
  uint64_t reset[8];
};

struct driver {
  uint64_t period[2];
  uint64_t samples[2], collisions, drains;
  int failed;
};

static void check(struct driver *driver, int status) {
  if (status != PMUSIM_OK) driver->failed = 1;
}

/// Gives each record to the counter that it names; one that names two is lost to both.
static void drain(struct driver *driver, pmusim_cpu *cpu) {
  uint64_t index = 0;
  check(driver, pmusim_read(cpu, AREA + INDEX, &index, sizeof index));
  for (uint64_t at = BUFFER; at < index; at += RECORD_BYTES) {
    uint64_t status = 0;
    check(driver, pmusim_read(cpu, at + STATUS, &status, sizeof status));
    status &= 3;
    if (status == 3)
      driver->collisions++;
    else if (status != 0)
      driver->samples[status - 1]++;
  }
  index = BUFFER;
  check(driver, pmusim_write(cpu, AREA + INDEX, &index, sizeof index));
  driver->drains++;
}

static void handle_pmi(pmusim_cpu *cpu, const pmusim_interrupt *interrupt, void *context) {
  struct driver *driver = context;
  (void)interrupt;
  check(driver, pmusim_wrmsr(cpu, PMUSIM_MSR_PERF_GLOBAL_CTRL, 0));
  drain(driver, cpu);
  check(driver, pmusim_wrmsr(cpu, PMUSIM_MSR_PERF_GLOBAL_STATUS_RESET, PMUSIM_STATUS_OVF_BUF | 3));
  check(driver, pmusim_wrmsr(cpu, PMUSIM_MSR_X2APIC_LVTPC, PMUSIM_LVTPC_NMI));
  check(driver, pmusim_wrmsr(cpu, PMUSIM_MSR_PERF_GLOBAL_CTRL, 3));
}

static void start(struct driver *driver, pmusim_cpu *cpu) {
  const uint64_t end = BUFFER + RECORDS * RECORD_BYTES;
  struct area area = {.base = BUFFER, .index = BUFFER, .maximum = end, .threshold = end - RECORD_BYTES};
  for (uint32_t n = 0; n < 2; ++n) {
    area.reset[n] = (0 - driver->period[n]) & 0xFFFFFFFFFFFF;
    check(driver, pmusim_wrmsr(cpu, PMUSIM_MSR_PMC0 + n, (uint32_t)(0 - driver->period[n])));
  }
  check(driver, pmusim_map(cpu, AREA, 4096));
  check(driver, pmusim_map(cpu, BUFFER, RECORDS * RECORD_BYTES));
  check(driver, pmusim_write(cpu, AREA, &area, sizeof area));
  check(driver, pmusim_wrmsr(cpu, PMUSIM_MSR_DS_AREA, AREA));
  check(driver, pmusim_wrmsr(cpu, PMUSIM_MSR_X2APIC_LVTPC, PMUSIM_LVTPC_NMI));
  check(driver, pmusim_wrmsr(cpu, PMUSIM_MSR_PERFEVTSEL0, EN_USR | 0xC4));      // branches
  check(driver, pmusim_wrmsr(cpu, PMUSIM_MSR_PERFEVTSEL0 + 1, EN_USR | 0xC0));  // instructions
  check(driver, pmusim_wrmsr(cpu, PMUSIM_MSR_PEBS_ENABLE, 3));
  check(driver, pmusim_wrmsr(cpu, PMUSIM_MSR_PERF_GLOBAL_CTRL, 3));
}

/// A branch in ten instructions; every 97th branch and every 1013th instruction are sampled. The later hardware is
/// ready for the next one after an overflow, the more often the other counter overflows meanwhile.
static struct driver sample(const char *arm_cycles, uint64_t branches, uint64_t instructions) {
  struct driver driver = {.period = {branches, instructions}};
  pmusim_cpu *cpu = pmusim_create("haswell", arm_cycles);
  pmusim_program *loop = pmusim_program_create(0x401000);
  pmusim_program_begin_loop(loop, 100000, 0);
  pmusim_program_instructions(loop, 9);
  pmusim_program_end(loop);
  check(&driver, pmusim_set_pmi_handler(cpu, handle_pmi, &driver));
  start(&driver, cpu);
  check(&driver, pmusim_run_program(cpu, loop, PMUSIM_USER));
  drain(&driver, cpu);
  pmusim_program_destroy(loop);
  pmusim_destroy(cpu);
  printf("%s: %llu and %llu samples, %llu collisions, %llu drains\n", arm_cycles, (unsigned long long)driver.samples[0],
         (unsigned long long)driver.samples[1], (unsigned long long)driver.collisions,
         (unsigned long long)driver.drains);
  return driver;
}

int main(void) {
  const struct driver alone = sample("pebs_arm_cycles=64", 97, 1 << 30);
  const struct driver quick = sample("pebs_arm_cycles=4", 97, 1013);
  const struct driver slow = sample("pebs_arm_cycles=64", 97, 1013);
  if (alone.failed || quick.failed || slow.failed) return fprintf(stderr, "%s\n", pmusim_last_error()), 1;
  return alone.collisions != 0 || alone.samples[0] < 900 || alone.samples[1] != 0 || quick.collisions == 0 ||
         slow.collisions <= 2 * quick.collisions;
}
