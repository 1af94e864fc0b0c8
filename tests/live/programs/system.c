// SPDX-License-Identifier: MIT
// Counts CPUs of a machine of four while children of its work there; prints what a test looks at.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/hw_breakpoint.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include "event.h"
#include "work.h"

enum { cpus = 4, children = 3 };

typedef unsigned long long u64;

static struct perf_event_attr counter(unsigned type, u64 config) {
  struct perf_event_attr attr = user_event(type, config);
  attr.disabled = 1;
  attr.exclude_kernel = type == PERF_TYPE_HARDWARE;
  attr.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED;
  return attr;
}

static int open_on(int cpu, int pid, struct perf_event_attr attr) {
  return open_event(attr, pid, cpu, -1, PERF_FLAG_FD_CLOEXEC);
}

static int on_cpu(unsigned type, u64 config, int cpu) { return open_on(cpu, -1, counter(type, config)); }

static const struct {
  unsigned type;
  u64 config;
} kinds[] = {{PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS},
             {PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_INSTRUCTIONS},
             {PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES},
             {PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS},
             {PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK},
             {PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_MIGRATIONS},
             {PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CONTEXT_SWITCHES}};
enum { of_hardware = 3, page_faults = 3, clock_of_cpu = 4, migrations = 5, switches = 6, all_kinds = 7 };

struct count {
  u64 value, enabled;
};

static struct count count_of(int event) {
  struct count count = {0, 0};
  if (read(event, &count, sizeof count) != sizeof count) printf("read fails\n");
  return count;
}

static void run_on(int cpu) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(cpu, &set);
  if (sched_setaffinity(0, sizeof set, &set) != 0) printf("CPU %d: %s\n", cpu, strerrorname_np(errno));
}

static struct {
  int ready[2], start[2];  // pipes: a byte from each child, and to each
  int tasks, pids[children + 1];
  int of_cpus[all_kinds][cpus], of_tasks[of_hardware][children + 1];
} counted;

// Waits until it is counted, moves once, and touches pages of its own.
static void be_child(int n) {
  char byte = 0;
  run_on(n + 1);
  if (write(counted.ready[1], &byte, 1) != 1 || read(counted.start[0], &byte, 1) != 1) _exit(1);
  work(2000UL * (unsigned long)(n + 1));
  run_on(0);
  char* pages = mmap(NULL, 4 * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  for (int page = 0; page < 4; ++page) pages[page * 4096] = 1;
  work(1000);
  _exit(0);
}

static void start_children(void) {
  char byte;
  if (pipe(counted.ready) != 0 || pipe(counted.start) != 0) exit(1);
  for (; counted.tasks < children; ++counted.tasks)
    if ((counted.pids[counted.tasks] = fork()) == 0) be_child(counted.tasks);
  for (int n = 0; n < children; ++n)
    if (read(counted.ready[0], &byte, 1) != 1) exit(1);
}

static void open_events(void) {
  for (int kind = 0; kind < all_kinds; ++kind) {
    struct perf_event_attr attr = counter(kinds[kind].type, kinds[kind].config);
    if (kind == page_faults) attr.exclude_kernel = 1;
    for (int cpu = 0; cpu < cpus; ++cpu)
      if ((counted.of_cpus[kind][cpu] = open_on(cpu, -1, attr)) < 0)
        printf("kind %d: %s\n", kind, strerrorname_np(errno));
    for (int task = 0; kind < of_hardware && task < counted.tasks; ++task)
      counted.of_tasks[kind][task] = open_on(-1, counted.pids[task], attr);
  }
}

static struct count sum_of_cpus(int kind) {
  struct count sum = {0, 0};
  for (int cpu = 0; cpu < cpus; ++cpu) {
    const struct count count = count_of(counted.of_cpus[kind][cpu]);
    if (kind == 0) printf("CPU %d: %llu\n", cpu, count.value / 2000);
    sum.value += count.value;
    sum.enabled += count.enabled;
  }
  return sum;
}

static void print_counts(void) {
  struct count sum[all_kinds];
  for (int kind = 0; kind < all_kinds; ++kind) sum[kind] = sum_of_cpus(kind);
  for (int kind = 0; kind < of_hardware; ++kind) {
    u64 of_tasks = 0;
    for (int task = 0; task < counted.tasks; ++task) of_tasks += count_of(counted.of_tasks[kind][task]).value;
    printf("kind %d: %lld beyond those of the tasks\n", kind, (long long)(sum[kind].value - of_tasks));
  }
  printf("page faults: %s\n",
         sum[page_faults].value >= 4 * children ? "at least those of the pages" : "too few");
  printf("clock: %s\n", sum[clock_of_cpu].value == sum[clock_of_cpu].enabled ? "all the time" : "differs");
  printf("migrations: %llu\n", sum[migrations].value);
  printf("switches: %s\n", sum[switches].value >= 2 * children ? "as many as moves and ends" : "too few");
}

// The children, and where it is wanted this process, which is then among the tasks of CPU 0.
static void count_tasks(int opener_too) {
  start_children();
  if (opener_too) {
    run_on(0);
    counted.pids[counted.tasks++] = getpid();
  }
  open_events();
  prctl(PR_TASK_PERF_EVENTS_ENABLE);
  if (opener_too) work(7000);
  if (write(counted.start[1], "abc", children) != children) exit(1);
  for (int n = 0; n < children; ++n) wait(NULL);
  prctl(PR_TASK_PERF_EVENTS_DISABLE);
  print_counts();
}

static int asked[2], told[2];  // pipes

// Counts CPU 0 in another process, and tells its count whenever a byte comes.
static void be_observer(void) {
  struct perf_event_attr attr = counter(PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS);
  attr.disabled = 0;
  const int event = open_on(0, -1, attr);
  char byte;
  while (read(asked[0], &byte, 1) == 1) {
    const u64 count = count_of(event).value;
    if (write(told[1], &count, sizeof count) != sizeof count) break;
  }
  _exit(0);
}

static u64 observed(void) {
  u64 count = 0;
  if (write(asked[1], "", 1) != 1 || read(told[0], &count, sizeof count) != sizeof count) exit(1);
  return count;
}

// In units of 2,000 rounds, which are two instructions each.
static u64 observed_of_work(void) {
  const u64 before = observed();
  work(4000);
  return (observed() - before) / 4000;
}

// Who has events of CPUs open is not among the tasks of others' events, and is when they are closed.
static void count_two_openers(void) {
  if (pipe(asked) != 0 || pipe(told) != 0) exit(1);
  const int observer = fork();
  if (observer == 0) be_observer();
  observed();
  run_on(0);
  printf("nothing open: %llu\n", observed_of_work());
  const int event = on_cpu(PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS, 0);
  printf("an event open: %llu\n", observed_of_work());
  close(event);
  on_cpu(PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS,
         cpus);  // a call: who looks at it finds the other closed
  printf("closed: %llu\n", observed_of_work());
  kill(observer, SIGKILL);
  wait(NULL);
}

// Writes to a file of the cgroup whose directory this is.
static void move_to(const char* directory, int pid) {
  char path[4096], text[32];
  snprintf(path, sizeof path, "%s/cgroup.procs", directory);
  const int bytes = snprintf(text, sizeof text, "%d", pid);
  const int file = open(path, O_WRONLY);
  if (file < 0 || write(file, text, (size_t)bytes) != bytes) printf("%s: %s\n", path, strerrorname_np(errno));
  close(file);
}

static int of_cgroup(int directory, u64 config, int cpu) {
  return open_event(counter(PERF_TYPE_HARDWARE, config), directory, cpu, -1,
                    PERF_FLAG_PID_CGROUP | PERF_FLAG_FD_CLOEXEC);
}

// Of three children the first is in the cgroup, the second in one below it, and the third in neither.
static void count_cgroup(const char* directory, const char* below) {
  const int cgroup = open(directory, O_RDONLY | O_DIRECTORY);
  int events[cpus], switches[cpus];
  start_children();
  move_to(directory, counted.pids[0]);
  move_to(below, counted.pids[1]);
  for (int cpu = 0; cpu < cpus; ++cpu) {
    if ((events[cpu] = of_cgroup(cgroup, PERF_COUNT_HW_INSTRUCTIONS, cpu)) < 0)
      printf("CPU %d: %s\n", cpu, strerrorname_np(errno));
    switches[cpu] = on_cpu(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CGROUP_SWITCHES, cpu);
  }
  open_events();
  prctl(PR_TASK_PERF_EVENTS_ENABLE);
  if (write(counted.start[1], "abc", children) != children) exit(1);
  for (int n = 0; n < children; ++n) wait(NULL);
  prctl(PR_TASK_PERF_EVENTS_DISABLE);
  u64 sum = 0, most = 0, of_tasks = 0, all_switches = 0;
  for (int cpu = 0; cpu < cpus; ++cpu) {
    const struct count count = count_of(events[cpu]);
    sum += count.value;
    if (count.enabled > most) most = count.enabled;
    all_switches += count_of(switches[cpu]).value;
  }
  for (int task = 0; task < 2; ++task) of_tasks += count_of(counted.of_tasks[0][task]).value;
  printf("cgroup: %lld beyond those of its tasks\n", (long long)(sum - of_tasks));
  printf("third task: %s\n", count_of(counted.of_tasks[0][2]).value > 0 ? "counts for itself" : "nothing");
  printf("time: %s\n",
         most > 0 && most < count_of(counted.of_cpus[clock_of_cpu][0]).enabled ? "its tasks'" : "all");
  printf("cgroup switches: %s\n", all_switches > 0 ? "some" : "none");
}

static void refused(const char* what, int result) {
  printf("%s: %s\n", what, result >= 0 ? "works" : strerrorname_np(errno));
}

static void print_refusals(void) {
  struct perf_event_attr kernel_mode = counter(PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS);
  kernel_mode.exclude_kernel = 0;
  refused("CPU 3", on_cpu(PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS, 3));
  refused("CPU 4", on_cpu(PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS, 4));
  refused("no CPU", on_cpu(PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS, -1));
  refused("kernel mode", open_on(0, -1, kernel_mode));
  refused("kernel's page faults", on_cpu(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS, 0));
  refused("alignment faults", on_cpu(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_ALIGNMENT_FAULTS, 0));
  refused("a tracepoint", on_cpu(PERF_TYPE_TRACEPOINT, 1, 0));
  refused("no cgroup", of_cgroup(open("/", O_RDONLY | O_DIRECTORY), PERF_COUNT_HW_CPU_CYCLES, 0));
  refused("no file", of_cgroup(9999, PERF_COUNT_HW_CPU_CYCLES, 0));
  refused("a cgroup on no CPU", of_cgroup(0, PERF_COUNT_HW_CPU_CYCLES, -1));
  refused("a task's tracepoint", open_on(0, getpid(), counter(PERF_TYPE_TRACEPOINT, 1)));
}

static void open_removed_cgroup(const char* directory) {
  const int cgroup = open(directory, O_RDONLY | O_DIRECTORY);
  if (rmdir(directory) != 0) printf("%s: %s\n", directory, strerrorname_np(errno));
  refused("a removed cgroup", of_cgroup(cgroup, PERF_COUNT_HW_CPU_CYCLES, 0));
}

static void open_beside_traced(void) {
  const int child = fork();
  if (child == 0) {
    ptrace(PTRACE_TRACEME, 0, NULL, NULL);
    raise(SIGSTOP);
    _exit(0);
  }
  waitpid(child, NULL, WUNTRACED);
  refused("beside a traced task", on_cpu(PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS, 0));
  kill(child, SIGKILL);
  waitpid(child, NULL, 0);
  refused("when it is gone", on_cpu(PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS, 0));
}

// Writes to a variable, in a task that would rather be on another CPU of the real machine.
static void count_writes(void) {
  static volatile int variable;
  struct perf_event_attr attr = counter(PERF_TYPE_BREAKPOINT, 0);
  attr.bp_type = HW_BREAKPOINT_W;
  attr.bp_addr = (u64)(unsigned long)&variable;
  attr.bp_len = HW_BREAKPOINT_LEN_4;
  attr.exclude_kernel = 1;
  attr.disabled = 0;
  run_on(1);
  const int event = open_on(0, 0, attr);
  for (int n = 0; n < 10; ++n) variable = n;
  if (event < 0)
    printf("refused: %s\n", strerrorname_np(errno));
  else
    printf("writes: %llu\n", count_of(event).value);
}

int main(int argc, char** argv) {
  setvbuf(stdout, NULL, _IOLBF, 0);
  if (argc == 2 && strcmp(argv[1], "refusals") == 0) print_refusals();
  if (argc == 2 && strcmp(argv[1], "traced") == 0) open_beside_traced();
  if (argc == 2 && strcmp(argv[1], "children") == 0) count_tasks(0);
  if (argc == 2 && strcmp(argv[1], "all") == 0) count_tasks(1);
  if (argc == 2 && strcmp(argv[1], "reopen") == 0) count_two_openers();
  if (argc == 2 && strcmp(argv[1], "writes") == 0) count_writes();
  if (argc == 4 && strcmp(argv[1], "cgroup") == 0) count_cgroup(argv[2], argv[3]);
  if (argc == 3 && strcmp(argv[1], "removed") == 0) open_removed_cgroup(argv[2]);
  if (argc >= 4 && strcmp(argv[1], "join") == 0) {
    move_to(argv[2], getpid());
    execv(argv[3], argv + 3);
  }
  return 0;
}
