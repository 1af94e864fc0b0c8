// SPDX-License-Identifier: MIT
#include "confinement.h"

#include <sched.h>
#include <seccomp.h>

#include <cerrno>
#include <initializer_list>
#include <memory>

namespace pmusim::tools {
namespace {

constexpr std::initializer_list<int> never_needed{
    // connections
    SCMP_SYS(socket), SCMP_SYS(socketpair), SCMP_SYS(connect), SCMP_SYS(bind), SCMP_SYS(listen),
    SCMP_SYS(accept), SCMP_SYS(accept4), SCMP_SYS(sendto), SCMP_SYS(sendmsg), SCMP_SYS(sendmmsg),
    // other programs
    SCMP_SYS(execve), SCMP_SYS(execveat), SCMP_SYS(fork), SCMP_SYS(vfork),
    // other processes
    SCMP_SYS(ptrace), SCMP_SYS(process_vm_readv), SCMP_SYS(process_vm_writev), SCMP_SYS(process_madvise),
    SCMP_SYS(pidfd_open), SCMP_SYS(pidfd_getfd), SCMP_SYS(pidfd_send_signal), SCMP_SYS(kcmp),
    // other rights and other views of the machine
    SCMP_SYS(setns), SCMP_SYS(unshare), SCMP_SYS(mount), SCMP_SYS(umount2), SCMP_SYS(pivot_root),
    SCMP_SYS(chroot), SCMP_SYS(open_by_handle_at), SCMP_SYS(setuid), SCMP_SYS(setgid), SCMP_SYS(setresuid),
    SCMP_SYS(setresgid), SCMP_SYS(keyctl), SCMP_SYS(add_key), SCMP_SYS(request_key),
    // the kernel's large interfaces
    SCMP_SYS(bpf), SCMP_SYS(perf_event_open), SCMP_SYS(io_uring_setup), SCMP_SYS(userfaultfd),
    SCMP_SYS(init_module), SCMP_SYS(finit_module), SCMP_SYS(kexec_load), SCMP_SYS(kexec_file_load)};

struct Release {
  void operator()(void* filter) const { seccomp_release(filter); }
};

}  // namespace

void confine() {
  const std::unique_ptr<void, Release> filter(seccomp_init(SCMP_ACT_ALLOW));
  if (!filter) return;
  for (const int call : never_needed) seccomp_rule_add(filter.get(), SCMP_ACT_ERRNO(EPERM), call, 0);
  // Threads may begin, processes may not. The flags of clone3 lie in memory, where no filter sees them:
  // without it the C library takes clone.
  const scmp_arg_cmp no_thread{.arg = 0, .op = SCMP_CMP_MASKED_EQ, .datum_a = CLONE_THREAD, .datum_b = 0};
  seccomp_rule_add_array(filter.get(), SCMP_ACT_ERRNO(EPERM), SCMP_SYS(clone), 1, &no_thread);
  seccomp_rule_add(filter.get(), SCMP_ACT_ERRNO(ENOSYS), SCMP_SYS(clone3), 0);
  static_cast<void>(seccomp_load(filter.get()));
}

}  // namespace pmusim::tools
