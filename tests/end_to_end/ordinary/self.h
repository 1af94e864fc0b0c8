// SPDX-License-Identifier: MIT
// What a program can see of itself, printed: the same recorded and not.
#ifndef PMUSIM_TESTS_ORDINARY_SELF_H
#define PMUSIM_TESTS_ORDINARY_SELF_H
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include <dirent.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

// The lines of /proc/self/status that are not about memory, and not what tracing is bound to change there:
// TracerPid, and Cpus_allowed, which sched_getaffinity shows as it is. Three letters tell them apart.
static void print_status(void) {
  static const char shown[] = "Nam Uma Uid Gid FDS Thr Sig Shd Cap NoN Sec";
  FILE* const file = fopen("/proc/self/status", "re");
  char line[512];
  while (file != NULL && fgets(line, sizeof line, file) != NULL) {
    const char key[] = {line[0], line[1], line[2], 0};
    if (strstr(shown, key) != NULL && strncmp(line, "SigQ", 4) != 0) fputs(line, stdout);
  }
  if (file != NULL) fclose(file);
}

static void print_descriptors(void) {
  DIR* const directory = opendir("/proc/self/fd");
  for (struct dirent* entry; directory != NULL && (entry = readdir(directory)) != NULL;)
    if (entry->d_name[0] != '.') printf("descriptor %s\n", entry->d_name);
  if (directory != NULL) closedir(directory);
}

static void print_limits(void) {
  static const int shown[] = {RLIMIT_CPU,  RLIMIT_FSIZE,  RLIMIT_STACK,
                              RLIMIT_CORE, RLIMIT_NOFILE, RLIMIT_NPROC};
  for (unsigned n = 0; n < sizeof shown / sizeof *shown; ++n) {
    struct rlimit limit;
    getrlimit((__rlimit_resource_t)shown[n], &limit);
    printf("limit %d: %lx %lx\n", shown[n], (unsigned long)limit.rlim_cur, (unsigned long)limit.rlim_max);
  }
}

static void print_processor(void) {
  unsigned control = 0;
  unsigned short x87 = 0;
  unsigned long flags = 0;
  __asm__ volatile("stmxcsr %0\n fnstcw %1\n pushfq\n popq %2" : "=m"(control), "=m"(x87), "=r"(flags));
  cpu_set_t cpus;
  sched_getaffinity(0, sizeof cpus, &cpus);
  printf("MXCSR %x, control word %x, trap flag %lx, %d CPUs\n", control, x87, flags & 0x100,
         CPU_COUNT(&cpus));
}

static void print_self(void) {
  char path[4096] = "", directory[4096] = "";
  stack_t stack;
  sigaltstack(NULL, &stack);
  printf("%s in %s\n", readlink("/proc/self/exe", path, sizeof path - 1) > 0 ? path : "?",
         getcwd(directory, sizeof directory));
  printf("dumpable %d, death signal free %d, policy %d, nice %d, stack flags %d\n", prctl(PR_GET_DUMPABLE),
         prctl(PR_GET_PDEATHSIG, &(int){0}), sched_getscheduler(0), getpriority(PRIO_PROCESS, 0),
         stack.ss_flags);
  printf("secure %lu, capabilities %lx %lx\n", getauxval(AT_SECURE), getauxval(AT_HWCAP),
         getauxval(AT_HWCAP2));
  print_status();
  print_descriptors();
  print_limits();
  print_processor();
}

#endif
