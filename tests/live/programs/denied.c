// SPDX-License-Identifier: MIT
// denied CALL COMMAND...: runs a command where a system call is forbidden (EPERM), as in containers.
#define _GNU_SOURCE
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

static unsigned number_of(const char* call) {
  if (strcmp(call, "seccomp") == 0) return SYS_seccomp;
  if (strcmp(call, "ptrace") == 0) return SYS_ptrace;
  if (strcmp(call, "mount") == 0) return SYS_mount;
  return ~0u;
}

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  struct sock_filter code[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number_of(argv[1]), 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  const struct sock_fprog program = {sizeof code / sizeof code[0], code};
  prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
  if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0) return 2;
  execvp(argv[2], argv + 2);
  perror(argv[2]);
  return 2;
}
