// SPDX-License-Identifier: MIT
// A client of libpfm4, which encodes the events that are named: prints what a thousand rounds of work add to
// each.
#define _GNU_SOURCE
#include <perfmon/pfmlib_perf_event.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "work.h"

int main(int argc, char** argv) {
  if (pfm_initialize() != PFM_SUCCESS) return 1;
  for (int n = 1; n < argc; ++n) {
    struct perf_event_attr attr;
    memset(&attr, 0, sizeof attr);
    pfm_perf_encode_arg_t wanted;
    memset(&wanted, 0, sizeof wanted);
    wanted.attr = &attr;
    wanted.size = sizeof wanted;
    const int encoded = pfm_get_os_event_encoding(argv[n], PFM_PLM3, PFM_OS_PERF_EVENT, &wanted);
    if (encoded != PFM_SUCCESS) {
      printf("%s: %s\n", argv[n], pfm_strerror(encoded));
      continue;
    }
    attr.disabled = 1;
    const int event = perf_event_open(&attr, 0, -1, -1, 0);
    printf("%s: %llu\n", argv[n], count_work(event, 2000) - count_work(event, 1000));
    close(event);
  }
  return 0;
}
