// SPDX-License-Identifier: MIT
// A client of PAPI: counts the same work once and twice, then takes a signal at each overflow. Prints what
// the second half of the work cost, and how many signals came with how many that the count makes.
#include <linux/perf_event.h>
#include <papi.h>
#include <stdio.h>

#include "work.h"

static int check(int result, const char* what) {
  if (result != PAPI_OK) printf("%s: %s\n", what, PAPI_strerror(result));
  return result == PAPI_OK;
}

static int new_set(const int* events, int number) {
  int set = PAPI_NULL;
  check(PAPI_create_eventset(&set), "create");
  for (int n = 0; n < number; ++n) check(PAPI_add_event(set, events[n]), "add");
  return set;
}

static int signals;
static void on_overflow(int set, void* address, long long vector, void* context) {
  (void)set, (void)address, (void)vector, (void)context;
  ++signals;
}

int main(void) {
  enum { threshold = 200 };
  int events[] = {PAPI_TOT_INS, PAPI_BR_INS};
  if (PAPI_library_init(PAPI_VER_CURRENT) != PAPI_VER_CURRENT) return 1;
  long long once[2] = {0, 0}, twice[2] = {0, 0}, branches = 0;
  int set = new_set(events, 2);
  for (int n = 0; n < 4; ++n) {  // functions are looked up in the first round
    check(PAPI_start(set), "start");
    work(1);
    check(PAPI_stop(set, once), "stop");
  }
  check(PAPI_start(set), "start");
  work(1000);
  check(PAPI_stop(set, once), "stop");
  check(PAPI_start(set), "start");
  work(2000);
  check(PAPI_stop(set, twice), "stop");
  printf("%lld %lld\n", twice[0] - once[0], twice[1] - once[1]);

  set = new_set(&events[1], 1);
  check(PAPI_overflow(set, PAPI_BR_INS, threshold, 0, on_overflow), "overflow");
  check(PAPI_start(set), "start");
  work(10100);
  check(PAPI_stop(set, &branches), "stop");
  printf("%d of %lld signals\n", signals, branches / threshold);
  return 0;
}
