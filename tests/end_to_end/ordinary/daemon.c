// SPDX-License-Identifier: MIT
// Becomes a daemon: forks, leads a new session, forks again, and tells the first process when it is ready.
#define _GNU_SOURCE
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "self.h"

static void serve(int ready) {
  (void)!chdir("/");
  umask(027);
  close(0);
  open("/dev/null", O_RDONLY);
  printf("daemon: leads its session %d, its group %d\n", getsid(0) == getpid(), getpgrp() == getpid());
  print_self();
  fflush(stdout);
  (void)!write(ready, "r", 1);
  _exit(9);
}

int main(void) {
  int ends[2];
  (void)!pipe(ends);
  const pid_t first = fork();
  if (first == 0) {
    setsid();
    signal(SIGHUP, SIG_IGN);
    close(ends[0]);
    if (fork() == 0) serve(ends[1]);
    _exit(3);
  }
  close(ends[1]);
  int status = 0;
  waitpid(first, &status, 0);
  char byte = '-';
  const int got = (int)read(ends[0], &byte, 1);
  printf("%d bytes: %c; the one between ended with %d\n", got, byte, WEXITSTATUS(status));
  return 7;
}
