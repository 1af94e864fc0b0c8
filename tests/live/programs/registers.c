// SPDX-License-Identifier: MIT
// Registers of the PMU through /dev/cpu/0/msr; prints what a test looks at.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "event.h"
#include "work.h"

enum { global_ctrl = 0x38F, fixed_counter_0 = 0x309, nowhere = 0x1234567 };

static int registers;

static unsigned long long value_of(unsigned address) {
  unsigned long long value = 0;
  if (pread(registers, &value, 8, address) != 8) printf("%x: %s\n", address, strerrorname_np(errno));
  return value;
}

static void put(const char* what, int file, unsigned address, unsigned long long value) {
  printf("%s: %s\n", what, pwrite(file, &value, 8, address) == 8 ? "works" : strerrorname_np(errno));
}

// The driver has given the event the fixed counter that counts instructions.
static void count(void) {
  const int event = open_event(user_event(PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS), 0, -1, -1, 0);
  const unsigned long long begin = value_of(fixed_counter_0);
  work(1000);
  const unsigned long long once = value_of(fixed_counter_0);
  work(2000);
  const unsigned long long twice = value_of(fixed_counter_0);
  printf("%llu more\n", (twice - once) - (once - begin));
  close(event);
}

int main(void) {
  registers = open("/dev/cpu/0/msr", O_RDWR | O_CLOEXEC);
  const int reading = open("/dev/cpu/0/msr", O_RDONLY | O_CLOEXEC);
  const int other = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
  count();
  put("all counters on", registers, global_ctrl, 3);
  printf("%llx\n", value_of(global_ctrl));
  put("a reserved bit", registers, global_ctrl, 1ull << 63);
  put("no such register", registers, nowhere, 0);
  value_of(nowhere);
  put("opened for reading", reading, global_ctrl, 0);
  printf("%llx\n", value_of(global_ctrl));
  char magic[8];
  printf("another file: %s\n",
         pread(other, magic, 8, 0) == 8 && memcmp(magic, "\177ELF", 4) == 0 ? "its own" : "?");
  return 0;
}
