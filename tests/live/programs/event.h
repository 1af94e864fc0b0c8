// SPDX-License-Identifier: MIT
// How the programs open events.
#ifndef PMUSIM_TESTS_LIVE_PROGRAMS_EVENT_H
#define PMUSIM_TESTS_LIVE_PROGRAMS_EVENT_H

#include <linux/perf_event.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

// Of user mode.
static inline struct perf_event_attr user_event(unsigned type, unsigned long long config) {
  struct perf_event_attr attr;
  memset(&attr, 0, sizeof attr);
  attr.size = sizeof attr;
  attr.type = type;
  attr.config = config;
  attr.exclude_kernel = attr.exclude_hv = 1;
  return attr;
}

static inline int open_event(struct perf_event_attr attr, int pid, int cpu, int group, unsigned long flags) {
  return (int)syscall(SYS_perf_event_open, &attr, pid, cpu, group, flags);
}

#endif
