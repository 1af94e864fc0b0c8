// SPDX-License-Identifier: MIT
// The kernel's software events beside hardware events; prints what a test looks at.
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "event.h"
#include "work.h"

static struct perf_event_attr event_of(unsigned type, unsigned long long config) {
  struct perf_event_attr attr = user_event(type, config);
  attr.read_format = PERF_FORMAT_GROUP;
  return attr;
}

static int open_in(int group, struct perf_event_attr attr) {
  return open_event(attr, 0, -1, group, PERF_FLAG_FD_CLOEXEC);
}

static struct perf_event_attr clock_event(void) {
  struct perf_event_attr attr = event_of(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK);
  attr.disabled = 1;
  return attr;
}
static struct perf_event_attr instructions(void) {
  return event_of(PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS);
}
static struct perf_event_attr faults(void) { return event_of(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS); }

static void count(int leader, unsigned long rounds, unsigned long long* words, int members) {
  ioctl(leader, PERF_EVENT_IOC_RESET, PERF_IOC_FLAG_GROUP);
  ioctl(leader, PERF_EVENT_IOC_ENABLE, PERF_IOC_FLAG_GROUP);
  work(rounds);
  ioctl(leader, PERF_EVENT_IOC_DISABLE, PERF_IOC_FLAG_GROUP);
  const long bytes = (1 + members) * 8;
  if (read(leader, words, (size_t)bytes) != bytes) printf("read fails\n");
}

// A clock leads, a software event is a member before the hardware event comes.
static void lead(void) {
  const int leader = open_in(-1, clock_event()), member = open_in(leader, faults());
  const int hardware = open_in(leader, instructions());
  if (leader < 0 || member < 0 || hardware < 0) printf("open fails: %s\n", strerrorname_np(errno));
  unsigned long long once[4] = {0}, again[4] = {0};
  count(leader, 1000, once, 3);
  count(leader, 5000, again, 3);  // the first time has all that is cold
  printf("%llu members, %llu instructions, the clock %s\n", again[0], again[3] - once[3],
         again[1] > once[1] ? "runs" : "stands");
}

// What it has counted so far cannot be taken over.
static void join_late(void) {
  const int leader = open_in(-1, clock_event());
  ioctl(leader, PERF_EVENT_IOC_ENABLE, 0);
  work(1000);
  const int hardware = open_in(leader, instructions());
  printf("%s\n", hardware < 0 ? strerrorname_np(errno) : "joins");
}

// They are the kernel's, and its clock is the real one.
static void switch_by_prctl(void) {
  unsigned long long words[2] = {0}, again[2] = {0};
  const int clock = open_in(-1, clock_event());
  prctl(PR_TASK_PERF_EVENTS_ENABLE);
  work(1000000);
  prctl(PR_TASK_PERF_EVENTS_DISABLE);
  if (read(clock, words, sizeof words) != sizeof words) printf("read fails\n");
  work(1000000);
  if (read(clock, again, sizeof again) != sizeof again) printf("read fails\n");
  printf("%s, %s\n", words[1] > 0 ? "runs" : "stands", again[1] == words[1] ? "stands" : "runs");
}

static void rename_itself(void) {
  prctl(PR_SET_NAME, "another name");
  work(1000);
}

int main(int arguments, char** argument) {
  const char* const what = arguments > 1 ? argument[1] : "";
  if (strcmp(what, "lead") == 0) lead();
  if (strcmp(what, "late") == 0) join_late();
  if (strcmp(what, "prctl") == 0) switch_by_prctl();
  if (strcmp(what, "name") == 0) rename_itself();
  return 0;
}
