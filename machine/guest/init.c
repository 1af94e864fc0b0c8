/* SPDX-License-Identifier: MIT */
/* The first process of the guest: mounts what programs expect, runs the command of /command, hands out what
 * it says and the files that it leaves behind in its folder, and switches the machine off. */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/io.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/reboot.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "channel.h"

static char block[CHANNEL_OUT_BYTES];

static void out_to(uint16_t port, const void* bytes, uint32_t length) {
  if (length != 0) __asm__ volatile("outl %0, %w1" : : "a"(length), "d"(port), "S"(bytes) : "memory");
}
static void out(const void* bytes, uint32_t length) { out_to(CHANNEL_PORT, bytes, length); }

static void report(char kind, const void* bytes, uint32_t length) {
  unsigned char header[CHANNEL_HEADER_BYTES] = {(unsigned char)kind, (unsigned char)length,
                                                (unsigned char)(length >> 8), (unsigned char)(length >> 16),
                                                (unsigned char)(length >> 24)};
  out(header, sizeof header);
  out(bytes, length);
}

static void power_off(void) {
  sync();
  reboot(RB_AUTOBOOT); /* the emulator ends then, whatever the board has to switch itself off with */
  for (;;) pause();
}

static void fail(const char* what, const char* why) {
  int length = snprintf(block, sizeof block, "%s: %s", what, why);
  report(CHANNEL_FAILED, block, (uint32_t)length);
  power_off();
}

static void send_contents(char kind, const char* path) {
  int file = open(path, O_RDONLY | O_CLOEXEC);
  ssize_t length;
  if (file < 0) return;
  while ((length = read(file, block, sizeof block)) > 0) report(kind, block, (uint32_t)length);
  close(file);
}

static int is_perf_data(const char* path) {
  char magic[8] = "";
  int file = open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return 0;
  ssize_t length = read(file, magic, sizeof magic);
  close(file);
  return length == sizeof magic && memcmp(magic, "PERFILE2", sizeof magic) == 0;
}

/* Files of a folder that are not as they came: those have the time 0. True if one of them has samples of
 * perf. */
static int send_files(const char* folder) {
  int samples = 0;
  char path[4096];
  DIR* entries = opendir(folder);
  if (entries == NULL) return 0;
  for (struct dirent* entry; (entry = readdir(entries)) != NULL;) {
    struct stat status;
    if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0) continue;
    if (snprintf(path, sizeof path, "%s/%s", folder, entry->d_name) >= (int)sizeof path) continue;
    if (lstat(path, &status) != 0) continue;
    if (S_ISDIR(status.st_mode)) samples |= send_files(path);
    if (!S_ISREG(status.st_mode) || status.st_mtime == 0) continue;
    size_t length = strlen(path);
    uint32_t mode = status.st_mode & 0777;
    memcpy(block, &mode, sizeof mode);
    memcpy(block + sizeof mode, path, length);
    report(CHANNEL_FILE, block, (uint32_t)(sizeof mode + length));
    send_contents(CHANNEL_DATA, path);
    report(CHANNEL_FILE_END, NULL, 0);
    samples |= is_perf_data(path);
  }
  closedir(entries);
  return samples;
}

static void write_text(const char* path, const char* text) {
  int file = open(path, O_WRONLY | O_CLOEXEC);
  if (file < 0) return; /* not every kernel has it */
  if (write(file, text, strlen(text)) < 0) perror(path);
  close(file);
}

static void mount_all(void) {
  static const struct {
    const char *type, *place;
  } mounts[] = {{"proc", "/proc"},
                {"sysfs", "/sys"},
                {"devtmpfs", "/dev"},
                {"tracefs", "/sys/kernel/tracing"},
                {"debugfs", "/sys/kernel/debug"}};
  for (size_t n = 0; n < sizeof mounts / sizeof *mounts; n++)
    mount(mounts[n].type, mounts[n].place, mounts[n].type, 0, NULL);
  write_text("/proc/sys/kernel/kptr_restrict", "0");
  write_text("/proc/sys/kernel/perf_event_paranoid", "-1");
  write_text("/proc/sys/kernel/perf_event_mlock_kb", "65536");
}

/* The names of the tasks that there are: kernel threads, and this one. */
static void send_tasks(void) {
  struct {
    struct perf_event_header header;
    uint32_t pid, tid;
    char name[16];
  } task = {.header = {.type = PERF_RECORD_COMM, .size = sizeof task}};
  DIR* entries = opendir("/proc");
  if (entries == NULL) return;
  for (struct dirent* entry; (entry = readdir(entries)) != NULL;) {
    char path[64];
    task.pid = task.tid = (uint32_t)strtoul(entry->d_name, NULL, 10);
    if (task.pid == 0) continue;
    snprintf(path, sizeof path, "/proc/%u/comm", task.pid);
    int file = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t length = file < 0 ? -1 : read(file, task.name, sizeof task.name);
    close(file);
    if (length <= 0) continue;
    task.name[length - 1] = 0; /* its line ends */
    out_to(TASKS_PORT, &task, sizeof task);
  }
  closedir(entries);
}

/* From now on the kernel writes down which task runs, forks, executes, maps and exits. Whoever records reads
 * it where it stands, so that nothing of it executes here. */
static void open_ring(void) {
  enum { RING_BYTES = 4 << 20 };
  struct perf_event_attr attr = {.type = PERF_TYPE_SOFTWARE,
                                 .size = sizeof attr,
                                 .config = PERF_COUNT_SW_DUMMY,
                                 .sample_type = PERF_SAMPLE_TID,
                                 .mmap = 1,
                                 .mmap2 = 1,
                                 .build_id = 1,
                                 .comm = 1,
                                 .task = 1,
                                 .context_switch = 1,
                                 .sample_id_all = 1,
                                 .watermark = 1,
                                 .wakeup_watermark = RING_BYTES};
  int event = (int)syscall(SYS_perf_event_open, &attr, -1, 0, -1, PERF_FLAG_FD_CLOEXEC);
  if (event < 0) { /* before Linux 5.12 */
    attr.build_id = 0;
    event = (int)syscall(SYS_perf_event_open, &attr, -1, 0, -1, PERF_FLAG_FD_CLOEXEC);
  }
  if (event < 0) fail("perf_event_open, for --record", strerror(errno));
  size_t page = (size_t)sysconf(_SC_PAGESIZE), bytes = page + RING_BYTES;
  volatile char* ring = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, event, 0);
  if (ring == MAP_FAILED) fail("a ring of perf_event_open, for --record", strerror(errno));
  for (size_t at = 0; at < bytes; at += page) (void)ring[at]; /* its pages are mapped as they are touched */
  out_to(RING_PORT, (const void*)ring, (uint32_t)bytes);
}

/* /command: the folder to run in, the environment, an empty word, the command; each word ends with a 0. */
static char** read_command(char** folder, char*** environment) {
  static char words[1 << 16];
  static char* lists[4096];
  int file = open("/command", O_RDONLY | O_CLOEXEC);
  ssize_t length = file < 0 ? -1 : read(file, words, sizeof words - 1);
  if (length <= 0) fail("/command", strerror(errno));
  close(file);
  char *word = words, *end = words + length;
  size_t count = 0, command = 0;
  *folder = word;
  for (word += strlen(word) + 1; word < end && count + 2 < sizeof lists / sizeof *lists;
       word += strlen(word) + 1) {
    int separator = *word == 0 && command == 0;
    lists[count++] = separator ? NULL : word;
    if (separator) command = count;
  }
  lists[count] = NULL;
  *environment = lists;
  return lists + command;
}

static void start(char** command, char** environment, const int pipes[2][2]) {
  for (int n = 0; n < 2; n++) dup2(pipes[n][1], n + 1);
  setsid();
  execvpe(command[0], command, environment);
  fprintf(stderr, "%s: %s\n", command[0], strerror(errno));
  _exit(errno == ENOENT ? 127 : 126);
}

/* Passes on what the command writes, until it has ended and nothing is left. Its exit status. */
static uint32_t follow(pid_t child, const int pipes[2][2]) {
  struct pollfd sources[2] = {{.fd = pipes[0][0], .events = POLLIN}, {.fd = pipes[1][0], .events = POLLIN}};
  int status = 0, ended = 0;
  for (;;) {
    int ready = poll(sources, 2, ended ? 0 : 100);
    int passed = 0;
    for (int n = 0; ready > 0 && n < 2; n++) {
      ssize_t length =
          (sources[n].revents & (POLLIN | POLLHUP)) != 0 ? read(sources[n].fd, block, sizeof block) : 0;
      if (length > 0) {
        report(n == 0 ? CHANNEL_OUTPUT : CHANNEL_ERROR, block, (uint32_t)length);
        passed = 1;
      } else if ((sources[n].revents & POLLHUP) != 0) {
        sources[n].fd = -1;
      }
    }
    if (ended && !passed) break; /* what it has left running may hold the pipes open */
    pid_t gone;
    while (!ended && (gone = waitpid(-1, &status, WNOHANG)) > 0) ended = gone == child;
    if (!ended && sources[0].fd < 0 && sources[1].fd < 0) {
      while ((gone = waitpid(-1, &status, 0)) != child && (gone > 0 || errno == EINTR)) continue;
      ended = 1;
    }
  }
  return WIFEXITED(status) ? (uint32_t)WEXITSTATUS(status) : 128 + (uint32_t)WTERMSIG(status);
}

int main(void) {
  char *folder, **environment;
  int pipes[2][2]; /* sockets: into a pipe perf record would write its samples */
  if (ioperm(CHANNEL_PORT, 12, 1) != 0) {
    perror("pmusim: the guest's kernel allows no access to ports (CONFIG_X86_IOPL_IOPERM)");
    power_off();
  }
  mount_all();
  char** command = read_command(&folder, &environment);
  if (chdir(folder) != 0) fail(folder, strerror(errno));
  for (int n = 0; n < 2; n++)
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, pipes[n]) != 0) fail("socketpair", strerror(errno));
  for (int n = 0; n < 4; n++) fcntl(pipes[n / 2][n % 2], F_SETFD, FD_CLOEXEC);
  int recorded = access("/record", F_OK) == 0;
  if (recorded) {
    send_tasks();
    open_ring();
  }
  report(CHANNEL_STARTED, NULL, 0);
  pid_t child = fork();
  if (child < 0) fail("fork", strerror(errno));
  if (child == 0) start(command, environment, pipes);
  for (int n = 0; n < 2; n++) close(pipes[n][1]);
  uint32_t status = follow(child, pipes);
  if (send_files(folder) || recorded || access("/symbols", F_OK) == 0) {
    send_contents(CHANNEL_NOTES, "/sys/kernel/notes");
    send_contents(CHANNEL_SYMBOLS, "/proc/kallsyms");
  }
  report(CHANNEL_EXITED, &status, sizeof status);
  power_off();
}
