// SPDX-License-Identifier: MIT
// The driver's tests with CMocka.
// clang-format off
#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
// clang-format on

#include "pmusim/pmusim.h"
#include "sampler.h"

enum { INSTRUCTIONS = 0xC0, USR_INSTRUCTIONS = 0x100C0 };

struct fixture {
  pmusim_cpu *cpu;
  struct sampler sampler;
  unsigned foreign;
};

static int wrmsr(void *cpu, uint32_t address, uint64_t value) { return pmusim_wrmsr(cpu, address, value); }
static int rdmsr(void *cpu, uint32_t address, uint64_t *value) { return pmusim_rdmsr(cpu, address, value); }

static void interrupt(pmusim_cpu *cpu, const pmusim_interrupt *frame, void *context) {
  struct fixture *fixture = context;
  (void)cpu, (void)frame;
  if (!sampler_interrupt(&fixture->sampler)) fixture->foreign++;
}

static int set_up(void **state) {
  static struct fixture fixture;
  fixture = (struct fixture){.cpu = pmusim_create("skylake", NULL)};
  fixture.sampler.machine = (struct machine){wrmsr, rdmsr, fixture.cpu};
  *state = &fixture;
  return pmusim_set_pmi_handler(fixture.cpu, interrupt, &fixture);
}

static int tear_down(void **state) {
  struct fixture *fixture = *state;
  pmusim_destroy(fixture->cpu);
  return 0;
}

static void samples_once_a_period(void **state) {
  struct fixture *fixture = *state;
  assert_int_equal(sampler_start(&fixture->sampler, INSTRUCTIONS, 1000), 0);
  assert_int_equal(pmusim_run_instructions(fixture->cpu, 100000, PMUSIM_USER), PMUSIM_OK);
  assert_in_range(fixture->sampler.samples, 97, 100);
  assert_int_equal(fixture->foreign, 0);
}

static void counts_what_happened(void **state) {
  struct fixture *fixture = *state;
  uint32_t exact = 0;
  uint64_t happened = 0;
  assert_int_equal(pmusim_truth_begin(fixture->cpu, USR_INSTRUCTIONS, 0, 0, &exact), PMUSIM_OK);
  assert_int_equal(sampler_start(&fixture->sampler, INSTRUCTIONS, 777), 0);
  assert_int_equal(pmusim_run_instructions(fixture->cpu, 12345, PMUSIM_USER), PMUSIM_OK);
  assert_int_equal(pmusim_truth(fixture->cpu, exact, &happened), PMUSIM_OK);
  assert_int_equal(sampler_count(&fixture->sampler), happened);
}

static void stops(void **state) {
  struct fixture *fixture = *state;
  assert_int_equal(sampler_start(&fixture->sampler, INSTRUCTIONS, 1000), 0);
  assert_int_equal(sampler_stop(&fixture->sampler), 0);
  assert_int_equal(pmusim_run_instructions(fixture->cpu, 5000, PMUSIM_USER), PMUSIM_OK);
  assert_int_equal(fixture->sampler.samples, 0);
}

static void refuses_what_hardware_refuses(void **state) {
  struct fixture *fixture = *state;
  assert_int_equal(sampler_start(&fixture->sampler, INSTRUCTIONS, 0), -1);
  assert_int_equal(sampler_start(&fixture->sampler, INSTRUCTIONS, 1ull << 31), -1);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(samples_once_a_period, set_up, tear_down),
      cmocka_unit_test_setup_teardown(counts_what_happened, set_up, tear_down),
      cmocka_unit_test_setup_teardown(stops, set_up, tear_down),
      cmocka_unit_test_setup_teardown(refuses_what_hardware_refuses, set_up, tear_down),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
