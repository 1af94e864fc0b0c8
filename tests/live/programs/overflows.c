// SPDX-License-Identifier: MIT
// overflows PERIOD ROUNDS: every PERIOD-th instruction sends SIGIO, whose handler works for ROUNDS rounds,
// with overflows of its own. Prints "ended", and how many THROTTLE and UNTHROTTLE records there are.
#define _GNU_SOURCE
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "event.h"
#include "work.h"

enum { page_bytes = 4096, data_pages = 16 };

static unsigned long handler_rounds;
static void on_overflow(int signal) {
  (void)signal;
  work(handler_rounds);
}

static int records_of(const struct perf_event_mmap_page* page, unsigned type) {
  int found = 0;
  for (unsigned long long at = 0; at < page->data_head;) {
    struct perf_event_header header;
    memcpy(&header, (const char*)page + page_bytes + at, sizeof header);
    found += header.type == type;
    at += header.size;
  }
  return found;
}

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  handler_rounds = strtoul(argv[2], NULL, 10);
  struct perf_event_attr attr = user_event(PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS);
  attr.sample_period = strtoull(argv[1], NULL, 10);
  attr.wakeup_events = 1;
  attr.disabled = 1;
  const int event = open_event(attr, 0, -1, -1, 0);
  const struct perf_event_mmap_page* const page =
      mmap(NULL, (1 + data_pages) * page_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, event, 0);
  if (event < 0 || page == MAP_FAILED) return 1;
  signal(SIGIO, on_overflow);
  fcntl(event, F_SETOWN, getpid());
  fcntl(event, F_SETSIG, SIGIO);
  fcntl(event, F_SETFL, O_ASYNC | O_NONBLOCK);
  ioctl(event, PERF_EVENT_IOC_ENABLE, 0);
  work(2000);
  ioctl(event, PERF_EVENT_IOC_DISABLE, 0);
  printf("ended %d %d\n", records_of(page, PERF_RECORD_THROTTLE), records_of(page, PERF_RECORD_UNTHROTTLE));
  return 0;
}
