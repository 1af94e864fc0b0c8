// SPDX-License-Identifier: MIT
#include "sampler.h"

enum { PMC0 = 0xC1, PERFEVTSEL0 = 0x186, GLOBAL_STATUS = 0x38E, GLOBAL_CTRL = 0x38F, GLOBAL_STATUS_RESET = 0x390 };
enum { LVTPC = 0x834, DELIVER_AS_NMI = 0x400 };
#define USR (1ull << 16)
#define INT (1ull << 20)
#define EN (1ull << 22)
#define LARGEST_PERIOD 0x7FFFFFFFull  // writes extend bit 31

static int write_register(struct sampler *sampler, uint32_t address, uint64_t value) {
  return sampler->machine.wrmsr(sampler->machine.context, address, value) == 0 ? 0 : -1;
}

static uint64_t read_register(struct sampler *sampler, uint32_t address) {
  uint64_t value = 0;
  sampler->machine.rdmsr(sampler->machine.context, address, &value);
  return value;
}

static int begin_period(struct sampler *sampler) {
  return write_register(sampler, PMC0, (uint32_t)-sampler->period);
}

int sampler_start(struct sampler *sampler, uint32_t event, uint64_t period) {
  if (period == 0 || period > LARGEST_PERIOD) return -1;
  sampler->period = period;
  sampler->samples = sampler->lost = 0;
  if (begin_period(sampler) != 0 || write_register(sampler, LVTPC, DELIVER_AS_NMI) != 0) return -1;
  if (write_register(sampler, PERFEVTSEL0, EN | INT | USR | event) != 0) return -1;
  return write_register(sampler, GLOBAL_CTRL, 1);
}

int sampler_stop(struct sampler *sampler) { return write_register(sampler, GLOBAL_CTRL, 0); }

bool sampler_interrupt(struct sampler *sampler) {
  const bool mine = (read_register(sampler, GLOBAL_STATUS) & 1) != 0;
  if (mine) {
    sampler->samples++;
    sampler->lost += read_register(sampler, PMC0);  // counted after the overflow, before the interrupt
    begin_period(sampler);
    write_register(sampler, GLOBAL_STATUS_RESET, 1);
  }
  write_register(sampler, LVTPC, DELIVER_AS_NMI);
  return mine;
}

// The low half of the counter is below 0 until it overflows, whatever the width of the others.
uint64_t sampler_count(struct sampler *sampler) {
  const int32_t past_overflow = (int32_t)(uint32_t)read_register(sampler, PMC0);
  return (sampler->samples + 1) * sampler->period + sampler->lost + (uint64_t)(int64_t)past_overflow;
}
