// SPDX-License-Identifier: MIT
#ifndef SAMPLER_H
#define SAMPLER_H

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

// A driver under test: it samples an event on counter 0. It knows hardware by these two functions alone,
// which are wrmsr_safe and rdmsr_safe in the kernel: 0, or not where the instruction faults.
struct machine {
  int (*wrmsr)(void* context, uint32_t address, uint64_t value);
  int (*rdmsr)(void* context, uint32_t address, uint64_t* value);
  void* context;
};

struct sampler {
  struct machine machine;
  uint64_t period, samples, lost;
};

// Errors: -1 where the period does not fit, or a register faults.
int sampler_start(struct sampler* sampler, uint32_t event, uint64_t period);
int sampler_stop(struct sampler* sampler);
// What the interrupt enters; false: it was not this driver's.
bool sampler_interrupt(struct sampler* sampler);
// Occurrences since the start, the present period included.
uint64_t sampler_count(struct sampler* sampler);

#ifdef __cplusplus
}
#endif

#endif
