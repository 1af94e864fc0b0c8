// SPDX-License-Identifier: MIT
// What the programs count. Needs <linux/perf_event.h> or libpfm4's copy of it, which do not go together,
// before it.
#ifndef PMUSIM_TESTS_LIVE_PROGRAMS_WORK_H
#define PMUSIM_TESTS_LIVE_PROGRAMS_WORK_H

#include <stdio.h>
#include <sys/ioctl.h>
#include <unistd.h>

// Two instructions and one branch per round.
static inline void work(unsigned long rounds) {
  __asm__ volatile("1: dec %0\n jnz 1b" : "+r"(rounds) : : "cc");
}

static inline unsigned long long count_work(int event, unsigned long rounds) {
  unsigned long long count = 0;
  ioctl(event, PERF_EVENT_IOC_RESET, 0);
  ioctl(event, PERF_EVENT_IOC_ENABLE, 0);
  work(rounds);
  ioctl(event, PERF_EVENT_IOC_DISABLE, 0);
  if (read(event, &count, sizeof count) != sizeof count) printf("read fails\n");
  return count;
}

#endif
