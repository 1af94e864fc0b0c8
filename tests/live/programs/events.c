// SPDX-License-Identifier: MIT
// What programs do with perf_event_open, one habit per subcommand; prints what a test looks at.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "event.h"
#include "work.h"

static struct perf_event_attr counting(unsigned long long config) {
  struct perf_event_attr attr = user_event(PERF_TYPE_HARDWARE, config);
  attr.disabled = 1;
  return attr;
}

// The same work twice as long costs exactly as many instructions and branches more.
static void count_itself(void) {
  const unsigned long long configs[] = {PERF_COUNT_HW_INSTRUCTIONS, PERF_COUNT_HW_BRANCH_INSTRUCTIONS};
  for (int i = 0; i < 2; ++i) {
    struct perf_event_attr attr = counting(configs[i]);
    const int event = open_event(attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
    const unsigned long long once = count_work(event, 1000), twice = count_work(event, 2000);
    printf("%llu\n", twice - once);
    close(event);
  }
}

static int overflowed;
static volatile int overflows;
static void on_overflow(int signal, siginfo_t* info, void* context) {
  (void)signal, (void)context;
  if (info->si_fd != overflowed) printf("another descriptor\n");
  ++overflows;
  ioctl(overflowed, PERF_EVENT_IOC_REFRESH, 1);
}

// As PAPI does it: one overflow at a time, armed again by the handler.
static void overflow_signals(void) {
  struct perf_event_attr attr = counting(PERF_COUNT_HW_BRANCH_INSTRUCTIONS);
  attr.sample_period = 200;
  attr.sample_type = PERF_SAMPLE_IP;
  attr.wakeup_events = 1;
  overflowed = open_event(attr, 0, -1, -1, 0);
  void* const ring = mmap(NULL, 3 * 4096, PROT_READ | PROT_WRITE, MAP_SHARED, overflowed, 0);
  if (ring == MAP_FAILED) printf("mmap fails: %s\n", strerror(errno));
  struct sigaction action;
  memset(&action, 0, sizeof action);
  action.sa_sigaction = on_overflow;
  action.sa_flags = SA_SIGINFO;
  sigaction(SIGRTMIN, &action, NULL);
  const struct f_owner_ex owner = {F_OWNER_TID, (pid_t)syscall(SYS_gettid)};
  fcntl(overflowed, F_SETFL, O_ASYNC | O_NONBLOCK);
  fcntl(overflowed, F_SETSIG, SIGRTMIN);
  fcntl(overflowed, F_SETOWN_EX, &owner);
  ioctl(overflowed, PERF_EVENT_IOC_REFRESH, 1);
  work(10100);
  ioctl(overflowed, PERF_EVENT_IOC_DISABLE, 0);
  printf("%d\n", overflows);
}

// Every hundredth branch of a task, with a wakeup for every ten samples.
static int sampled_branches(pid_t task) {
  struct perf_event_attr attr = counting(PERF_COUNT_HW_BRANCH_INSTRUCTIONS);
  attr.sample_period = 100;
  attr.sample_type = PERF_SAMPLE_IP;
  attr.wakeup_events = 10;
  attr.disabled = 0;
  return open_event(attr, task, -1, -1, 0);
}

// Samples of a child, read out of the ring until the child ends.
static void poll_child(void) {
  int start[2];
  if (pipe(start) != 0) return;
  const pid_t child = fork();
  if (child == 0) {
    char byte;
    if (read(start[0], &byte, 1) != 1) _exit(1);
    work(5000);
    _exit(0);
  }
  const int event = sampled_branches(child);
  struct perf_event_mmap_page* const page =
      mmap(NULL, (1 + 1) * 4096, PROT_READ | PROT_WRITE, MAP_SHARED, event, 0);
  if (page == MAP_FAILED || write(start[1], "", 1) != 1) return;
  int samples = 0, wakeups = 0;
  struct pollfd waiting = {event, POLLIN, 0};
  do {
    poll(&waiting, 1, -1);
    ++wakeups;
    const unsigned long long head = __atomic_load_n(&page->data_head, __ATOMIC_ACQUIRE);
    for (unsigned long long at = page->data_tail; at < head;) {
      struct perf_event_header header;
      memcpy(&header, (char*)page + 4096 + at % 4096, sizeof header);
      samples += header.type == PERF_RECORD_SAMPLE;
      at += header.size;
    }
    __atomic_store_n(&page->data_tail, head, __ATOMIC_RELEASE);
  } while (!(waiting.revents & POLLHUP));
  waitpid(child, NULL, 0);
  printf("%d samples%s\n", samples, wakeups < 2 ? ", and no wakeup" : "");
}

// A reader that has taken what it was woken for waits for the next wakeup, not for the next sample.
static void wait_between_wakeups(void) {
  int orders[2], replies[2];
  if (pipe(orders) != 0 || pipe(replies) != 0) return;
  const pid_t child = fork();
  if (child == 0) {
    unsigned long rounds;
    while (read(orders[0], &rounds, sizeof rounds) == sizeof rounds && rounds != 0) {
      work(rounds);
      if (write(replies[1], "", 1) != 1) break;
    }
    _exit(0);
  }
  const int event = sampled_branches(child);
  struct perf_event_mmap_page* const page =
      mmap(NULL, (1 + 1) * 4096, PROT_READ | PROT_WRITE, MAP_SHARED, event, 0);
  const unsigned long orders_given[] = {1500, 200, 500, 0};
  for (int n = 0; n < 4; ++n) {
    char reply;
    if (write(orders[1], &orders_given[n], sizeof(long)) != sizeof(long)) return;
    if (n == 3 || read(replies[0], &reply, 1) != 1) break;
    struct pollfd waiting = {event, POLLIN, 0};
    printf("%s\n", poll(&waiting, 1, 0) == 1 ? "woken" : "waits");
    if (n == 0) __atomic_store_n(&page->data_tail, page->data_head, __ATOMIC_RELEASE);
  }
  waitpid(child, NULL, 0);
}

// Its child is stepped and wakes it until the supervisor sees that nobody has the event any more.
static void close_while_sampling(void) {
  volatile unsigned* const steps =
      mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  const pid_t child = fork();
  if (child == 0) {
    for (;;) ++*steps;
  }
  for (int n = 0; n < 5; ++n) {
    struct perf_event_attr attr = counting(PERF_COUNT_HW_INSTRUCTIONS);
    attr.sample_period = 5;
    attr.sample_type = PERF_SAMPLE_IP;
    attr.wakeup_events = 1;
    attr.disabled = 0;
    const int event = open_event(attr, child, -1, -1, 0);
    void* const ring = mmap(NULL, 3 * 4096, PROT_READ | PROT_WRITE, MAP_SHARED, event, 0);
    struct pollfd waiting = {event, POLLIN, 0};
    poll(&waiting, 1, -1);
    close(event);
    for (const unsigned at = *steps; *steps - at < 20;) usleep(1000);
    munmap(ring, 3 * 4096);
  }
  kill(child, SIGKILL);
  waitpid(child, NULL, 0);
  printf("done\n");
}

static volatile int traps;
static void on_trap(int signal) {
  (void)signal;
  ++traps;
}

static void tell_of_traps(const char* when) {
  struct sigaction action;
  sigset_t mask, pending;
  sigaction(SIGTRAP, NULL, &action);
  sigprocmask(SIG_BLOCK, NULL, &mask);
  sigpending(&pending);
  printf("%s: %s, %s, %s, taken %d\n", when, action.sa_handler == SIG_IGN ? "ignored" : "handled",
         sigismember(&mask, SIGTRAP) ? "blocked" : "open",
         sigismember(&pending, SIGTRAP) ? "pending" : "none waits", traps);
}

// Counting begins and ends while SIGTRAP is blocked, pending and ignored.
static void keep_traps(void) {
  struct perf_event_attr attr = counting(PERF_COUNT_HW_INSTRUCTIONS);
  const int event = open_event(attr, 0, -1, -1, 0);
  sigset_t trap;
  sigemptyset(&trap);
  sigaddset(&trap, SIGTRAP);
  signal(SIGTRAP, on_trap);
  sigprocmask(SIG_BLOCK, &trap, NULL);
  count_work(event, 10);
  raise(SIGTRAP);
  tell_of_traps("blocked and counted");
  count_work(event, 10);
  tell_of_traps("pending and counted");
  sigprocmask(SIG_UNBLOCK, &trap, NULL);
  tell_of_traps("unblocked");
  signal(SIGTRAP, SIG_IGN);
  count_work(event, 10);
  raise(SIGTRAP);
  tell_of_traps("ignored and counted");
  ioctl(event, PERF_EVENT_IOC_ENABLE, 0);
  raise(SIGTRAP);
  tell_of_traps("ignored while counted");
  signal(SIGTRAP, on_trap);
  raise(SIGTRAP);
  ioctl(event, PERF_EVENT_IOC_DISABLE, 0);
  raise(SIGTRAP);
  tell_of_traps("handled");
}

static void* work_in_thread(void* rounds) {
  work((unsigned long)rounds);
  return NULL;
}

// A process and a thread, each with its own work.
static void work_with_others(unsigned long rounds) {
  pthread_t thread;
  const pid_t child = fork();
  if (child == 0) {
    work(rounds);
    _exit(0);
  }
  pthread_create(&thread, NULL, work_in_thread, (void*)rounds);
  pthread_join(thread, NULL);
  waitpid(child, NULL, 0);
}

static void tell(const char* what, long result) {
  printf("%s: %s\n", what, result >= 0 ? "works" : strerrorname_np(errno));
}

static void refusals(void) {
  struct perf_event_attr attr = counting(PERF_COUNT_HW_INSTRUCTIONS);
  attr.exclude_kernel = 0;
  tell("kernel mode", open_event(attr, 0, -1, -1, 0));
  attr.exclude_kernel = 1;
  tell("a CPU that is not there", open_event(attr, 0, 1, -1, 0));
  tell("no such task", open_event(attr, 0x3FFFFFFF, -1, -1, 0));
  tell("an unknown flag", open_event(attr, 0, -1, -1, 1ul << 40));
  tell("a group leader that is no event", open_event(attr, 0, -1, 0, 0));
  attr.config = 1234;
  tell("a generic event that there is not", open_event(attr, 0, -1, -1, 0));
  attr = counting(PERF_COUNT_HW_STALLED_CYCLES_FRONTEND);
  tell("a generic event that the CPU lacks", open_event(attr, 0, -1, -1, 0));
  attr = counting(PERF_COUNT_HW_INSTRUCTIONS);
  attr.precise_ip = 1;
  tell("a precise event that does not sample", open_event(attr, 0, -1, -1, 0));
  attr.precise_ip = 0;
  attr.type = PERF_TYPE_RAW;
  attr.config = 0x01B7;  // OCR of Ice Lake
  attr.config1 = 1ull << 50 | 0x10001;
  tell("a reserved bit of an off-core register", open_event(attr, 0, -1, -1, 0));
  attr.config = 0xFFFE;
  tell("an event that no table has", open_event(attr, 0, -1, -1, 0));
  attr = counting(PERF_COUNT_HW_INSTRUCTIONS);
  const int event = open_event(attr, 0, -1, -1, 0);
  tell("user mode", event);
  char byte;
  tell("a read that is too short", read(event, &byte, 1));
  tell("AUX", (long)mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, event, 16 * 4096));
  tell("a private mapping", (long)mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE, event, 0));
  tell("three data pages", (long)mmap(NULL, 4 * 4096, PROT_READ | PROT_WRITE, MAP_SHARED, event, 0));
  tell("a mapping", (long)mmap(NULL, 3 * 4096, PROT_READ | PROT_WRITE, MAP_SHARED, event, 0));
  tell("REFRESH of what does not sample", ioctl(event, PERF_EVENT_IOC_REFRESH, 1));
  tell("a filter", ioctl(event, PERF_EVENT_IOC_SET_FILTER, "x"));
  tell("BPF", ioctl(event, PERF_EVENT_IOC_SET_BPF, 0));
  tell("a terminal's ioctl", ioctl(event, 0x5401, &byte));
  tell("dup2 to a low number", dup2(event, 100));
  const int copy = dup(event);
  unsigned long long id = 0, id_of_copy = 1;
  ioctl(event, PERF_EVENT_IOC_ID, &id);
  ioctl(copy, PERF_EVENT_IOC_ID, &id_of_copy);
  printf("a duplicate is %s\n", id == id_of_copy ? "the same event" : "another event");
  struct perf_event_attr software = counting(PERF_COUNT_SW_TASK_CLOCK);
  software.type = PERF_TYPE_SOFTWARE;
  tell("the kernel's software events", open_event(software, 0, -1, -1, 0));
}

// Ends by a signal of the kernel's own making while others of its threads and children go on.
static void die_in_company(void) {
  for (int i = 0; i < 2; ++i)
    if (fork() == 0) {
      work(2000);
      kill(getppid(), SIGKILL);
      _exit(0);
    }
  for (;;) work(1000);
}

static int count_little(void) {
  struct perf_event_attr attr = counting(PERF_COUNT_HW_INSTRUCTIONS);
  const int event = open_event(attr, 0, -1, -1, 0);
  const unsigned long long ten = count_work(event, 10), twenty = count_work(event, 20);
  close(event);
  return (int)(twenty - ten);
}

// Runs a tracer on itself, while it is watched.
static void be_traced(char** tracer, int arguments) {
  struct perf_event_attr attr = counting(PERF_COUNT_HW_INSTRUCTIONS);
  open_event(attr, 0, -1, -1, 0);
  char pid[16], *command[16] = {NULL};
  snprintf(pid, sizeof pid, "%d", getpid());
  for (int n = 0; n < arguments && n < 14; ++n) command[n] = tracer[n];
  command[arguments] = pid;
  const pid_t child = fork();
  if (child == 0) {
    close(2);
    execvp(command[0], command);
    _exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  printf("%s %s\n", command[0], status != 0 ? "fails" : "attaches");
}

// As libpfm4's examples: all that it has opened, at once.
static void switch_by_prctl(void) {
  struct perf_event_attr attr = counting(PERF_COUNT_HW_INSTRUCTIONS);
  unsigned long long counts[2] = {0, 0};
  const int first = open_event(attr, 0, -1, -1, 0), second = open_event(attr, 0, -1, -1, 0);
  for (unsigned long rounds = 100; rounds <= 200; rounds += 100) {
    ioctl(first, PERF_EVENT_IOC_RESET, 0);
    ioctl(second, PERF_EVENT_IOC_RESET, 0);
    prctl(PR_TASK_PERF_EVENTS_ENABLE);
    work(rounds);
    prctl(PR_TASK_PERF_EVENTS_DISABLE);
    unsigned long long now[2] = {0, 0};
    if (read(first, &now[0], 8) != 8 || read(second, &now[1], 8) != 8) printf("read fails\n");
    for (int n = 0; n < 2; ++n) counts[n] = now[n] - counts[n];
  }
  printf("%llu %llu\n", counts[0], counts[1]);
}

static unsigned long drawn;
static unsigned draw(unsigned below) {
  drawn = drawn * 6364136223846793005ul + 1442695040888963407ul;
  return (unsigned)(drawn >> 33) % below;
}

static void live_shortly(void) {
  switch (draw(5)) {
    case 0:
      kill(getpid(), SIGKILL);
      break;
    case 1:
      execl("/proc/self/exe", "churn", "work", "50", (char*)NULL);
      break;
    case 2:
      close_range(3, ~0u, 0);
      break;
    case 3:
      for (;;) work(1000);
    default:
      work(200);
  }
  _exit(0);
}

static void start_child(void) {
  const pid_t child = fork();
  if (child == 0) live_shortly();
  work(1 + draw(100));
  if (draw(2)) kill(child, SIGSTOP);
  work(1 + draw(100));
  kill(child, draw(2) ? SIGCONT : SIGKILL);
  work(1 + draw(100));
  kill(child, SIGKILL);
  waitpid(child, NULL, 0);
}

// Does anything with events, in any order.
static void churn(unsigned long seed, int rounds) {
  enum { most = 6 };
  int events[most];
  for (int n = 0; n < most; ++n) events[n] = -1;
  drawn = seed;
  while (rounds-- > 0) {
    int* const event = &events[draw(most)];
    const int other = events[draw(most)];
    struct perf_event_attr attr = counting(draw(2) ? PERF_COUNT_HW_INSTRUCTIONS : PERF_COUNT_HW_CPU_CYCLES);
    attr.inherit = draw(2);
    attr.disabled = draw(2);
    attr.sample_period = draw(2) ? 50 : 0;
    attr.wakeup_events = 1;
    void* ring = MAP_FAILED;
    switch (draw(9)) {
      case 0:
        if (*event < 0) *event = open_event(attr, 0, -1, -1, 0);
        break;
      case 1:
        if (*event < 0) *event = open_event(attr, 0, -1, other, 0);
        break;
      case 2:
        close(*event);
        *event = -1;
        break;
      case 3:
        ioctl(*event, draw(2) ? PERF_EVENT_IOC_ENABLE : PERF_EVENT_IOC_DISABLE, 0);
        break;
      case 4:
        ring = mmap(NULL, 3 * 4096, PROT_READ | PROT_WRITE, MAP_SHARED, *event, 0);
        if (ring != MAP_FAILED && draw(2)) munmap(ring, 3 * 4096);
        break;
      case 5:
        start_child();
        break;
      case 6: {
        pthread_t thread;
        pthread_create(&thread, NULL, work_in_thread, (void*)(1ul + draw(200)));
        if (draw(2) && *event >= 0) close(*event), *event = -1;
        pthread_join(thread, NULL);
        break;
      }
      case 7:
        if (*event >= 0 && other >= 0) dup2(other, *event);
        break;
      default: {
        unsigned long long count = 0;
        if (read(*event, &count, sizeof count) < 0) break;
      }
    }
    work(1 + draw(50));
  }
  printf("done\n");
}

int main(int argc, char** argv) {
  const char* const what = argc > 1 ? argv[1] : "";
  setvbuf(stdout, NULL, _IOLBF, 0);
  if (strcmp(what, "count") == 0) count_itself();
  if (strcmp(what, "signals") == 0) overflow_signals();
  if (strcmp(what, "poll") == 0) poll_child();
  if (strcmp(what, "refusals") == 0) refusals();
  if (strcmp(what, "others") == 0) work_with_others(argc > 2 ? strtoul(argv[2], NULL, 10) : 1000);
  if (strcmp(what, "start") == 0) printf("%d\n", count_little());
  if (strcmp(what, "close") == 0) close_while_sampling();
  if (strcmp(what, "wakeups") == 0) wait_between_wakeups();
  if (strcmp(what, "prctl") == 0) switch_by_prctl();
  if (strcmp(what, "open") == 0) {
    struct perf_event_attr attr = counting(PERF_COUNT_HW_INSTRUCTIONS);
    tell("open", open_event(attr, 0, -1, -1, 0));
  }
  if (strcmp(what, "traced") == 0) {
    be_traced(argv + 2, argc - 2);
    printf("%d\n", count_little());
  }
  if (strcmp(what, "churn") == 0)
    churn(argc > 2 ? strtoul(argv[2], NULL, 10) : 1, argc > 3 ? atoi(argv[3]) : 100);
  if (strcmp(what, "traps") == 0) keep_traps();
  if (strcmp(what, "killed") == 0) die_in_company();
  if (strcmp(what, "work") == 0) work(argc > 2 ? strtoul(argv[2], NULL, 10) : 1000);
  return 0;
}
