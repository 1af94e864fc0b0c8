// SPDX-License-Identifier: MIT
// Runs on CPUs of its choice and counts itself on each; prints what a test looks at.
#define _GNU_SOURCE
#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "event.h"
#include "work.h"

enum { cpus = 4 };

static int open_on(int cpu) {
  struct perf_event_attr attr = user_event(PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS);
  attr.disabled = attr.inherit = 1;
  return open_event(attr, 0, cpu, -1, PERF_FLAG_FD_CLOEXEC);
}

static unsigned long long count_of(int event) {
  unsigned long long count = 0;
  if (read(event, &count, sizeof count) != sizeof count) printf("read fails\n");
  return count;
}

static int run_on(int cpu) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(cpu, &set);
  return sched_setaffinity(0, sizeof set, &set);
}

static void print_affinity(const char* who) {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof set, &set) != 0) printf("%s: %s\n", who, strerrorname_np(errno));
  printf("%s:", who);
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu)
    if (CPU_ISSET(cpu, &set)) printf(" %d", cpu);
  printf("\n");
  fflush(stdout);
}

static void refused(const char* what, int result) {
  printf("%s: %s\n", what, result >= 0 ? "works" : strerrorname_np(errno));
}

int main(void) {
  print_affinity("at first");
  int on[cpus];
  for (int cpu = 0; cpu < cpus; ++cpu) on[cpu] = open_on(cpu);
  const int anywhere = open_on(-1);
  prctl(PR_TASK_PERF_EVENTS_ENABLE);
  for (int cpu = 1; cpu < cpus; ++cpu) {
    run_on(cpu);
    work(10000UL * (unsigned long)cpu);
  }
  if (fork() == 0) {  // stays where its parent may run
    work(5000);
    _exit(0);
  }
  wait(NULL);
  prctl(PR_TASK_PERF_EVENTS_DISABLE);
  unsigned long long sum = 0;
  for (int cpu = 0; cpu < cpus; ++cpu) {
    const unsigned long long count = count_of(on[cpu]);
    printf("CPU %d: %llu\n", cpu, count / 10000);
    sum += count;
  }
  printf("difference: %lld\n", (long long)(sum - count_of(anywhere)));
  print_affinity("at last");
  if (fork() == 0) {
    print_affinity("a child");
    _exit(0);
  }
  wait(NULL);
  refused("event on CPU 4", open_on(cpus));
  refused("CPU 4", run_on(cpus));
  refused("no such task", sched_getaffinity(0x3FFFFFFF, sizeof(cpu_set_t), &(cpu_set_t){0}));
  refused("no room", (int)syscall(SYS_sched_getaffinity, 0, 4, on));
  refused("nowhere", (int)syscall(SYS_sched_setaffinity, 0, 8, NULL));
  return 0;
}
