// SPDX-License-Identifier: MIT
#ifndef PMUSIM_BENCH_CPU_TIME_H
#define PMUSIM_BENCH_CPU_TIME_H

#include <ctime>

namespace pmusim {

/// Time that this process has had on a processor: other load on the machine does not count.
inline double cpu_ns() {
  timespec time{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return 1e9 * static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec);
}

}  // namespace pmusim

#endif
