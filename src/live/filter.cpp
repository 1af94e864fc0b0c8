// SPDX-License-Identifier: MIT
#include "live/filter.h"

#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <vector>

namespace pmusim::live {
namespace {

/// Calls on a descriptor, by the argument that is its number.
struct DescriptorCall {
  u32 call;
  unsigned argument;
};
constexpr std::array descriptor_calls{DescriptorCall{SYS_read, 0},  DescriptorCall{SYS_readv, 0},
                                      DescriptorCall{SYS_ioctl, 0}, DescriptorCall{SYS_fcntl, 0},
                                      DescriptorCall{SYS_dup, 0},   DescriptorCall{SYS_dup2, 0},
                                      DescriptorCall{SYS_dup3, 0},  DescriptorCall{SYS_mmap, 4}};
/// Of those that say where in the file: registers have 8 bytes (MsrDevice).
constexpr std::array register_calls{DescriptorCall{SYS_pread64, 2}, DescriptorCall{SYS_pwrite64, 2}};
constexpr NumberRange register_bytes{8, 9};
/// prctl's words for all events that the caller has opened.
constexpr NumberRange prctl_of_events{PR_TASK_PERF_EVENTS_DISABLE, PR_TASK_PERF_EVENTS_ENABLE + 1};

/// prctl's word for the caller's name, of which samplers have records.
constexpr NumberRange prctl_of_name{PR_SET_NAME, PR_SET_NAME + 1};

constexpr u32 seen_by_kernel = SECCOMP_RET_ALLOW, asked_about = SECCOMP_RET_USER_NOTIF;

constexpr sock_filter load(std::size_t offset) {
  return {BPF_LD | BPF_W | BPF_ABS, 0, 0, static_cast<u32>(offset)};
}
constexpr sock_filter answer(u32 action) { return {BPF_RET | BPF_K, 0, 0, action}; }
/// Jumps over as many instructions, depending on the loaded word.
constexpr sock_filter skip_if_equal(u32 value, u8 instructions) {
  return {BPF_JMP | BPF_JEQ | BPF_K, instructions, 0, value};
}
constexpr sock_filter skip_unless_equal(u32 value, u8 instructions) {
  return {BPF_JMP | BPF_JEQ | BPF_K, 0, instructions, value};
}
constexpr sock_filter skip_if_below(u32 value, u8 instructions) {
  return {BPF_JMP | BPF_JGE | BPF_K, 0, instructions, value};
}
constexpr sock_filter skip_unless_below(u32 value, u8 instructions) {
  return {BPF_JMP | BPF_JGE | BPF_K, instructions, 0, value};
}

/// The low half of an argument: descriptors are ints.
constexpr std::size_t argument_offset(unsigned n) { return offsetof(seccomp_data, args) + 8 * n; }

/// Asked about where the argument is in the range. The number of the call is loaded, before and after.
void add_call(std::vector<sock_filter>& code, DescriptorCall call, NumberRange range) {
  code.insert(code.end(), {skip_unless_equal(call.call, 5), load(argument_offset(call.argument)),
                           skip_if_below(range.low, 2), skip_unless_below(range.high, 1), answer(asked_about),
                           load(offsetof(seccomp_data, nr))});
}

std::vector<sock_filter> make_program(NumberRange numbers, Affinity affinity) {
  std::vector<sock_filter> code{
      load(offsetof(seccomp_data, arch)), skip_if_equal(AUDIT_ARCH_X86_64, 1),       answer(seen_by_kernel),
      load(offsetof(seccomp_data, nr)),   skip_unless_equal(SYS_perf_event_open, 1), answer(asked_about)};
  for (const DescriptorCall& call : descriptor_calls) add_call(code, call, numbers);
  for (const DescriptorCall& call : register_calls) add_call(code, call, register_bytes);
  for (const NumberRange words : {prctl_of_events, prctl_of_name}) add_call(code, {SYS_prctl, 0}, words);
  if (affinity == Affinity::emulated)
    for (const u32 call : {SYS_sched_setaffinity, SYS_sched_getaffinity})
      code.insert(code.end(), {skip_unless_equal(call, 1), answer(asked_about)});
  code.push_back(answer(seen_by_kernel));
  return code;
}

long install(const sock_fprog& program, unsigned long flags) {
  return ::syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, &program);
}

}  // namespace

NumberRange event_numbers() {
  constexpr u32 select_limit = 1024, last = 1 << 20;
  rlimit files{};
  ::getrlimit(RLIMIT_NOFILE, &files);
  const u32 limit = static_cast<u32>(std::min<u64>(files.rlim_cur, select_limit));
  return {.low = limit / 4 * 3, .high = last};
}

FileDescriptor install_filter(NumberRange numbers, Affinity affinity) {
  std::vector<sock_filter> program = make_program(numbers, affinity);
  const sock_fprog code{static_cast<unsigned short>(program.size()), program.data()};
  // A supervisor that attaches to a caller must not make the call come again.
  const unsigned long flags = SECCOMP_FILTER_FLAG_NEW_LISTENER | SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV;
  long listener = install(code, flags);
  if (listener < 0 && errno == EACCES) {
    // Without rights of its own a process has to give up those of setuid programs first.
    ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    listener = install(code, flags);
  }
  return FileDescriptor(static_cast<int>(listener));
}

}  // namespace pmusim::live
