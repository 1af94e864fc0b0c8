// SPDX-License-Identifier: MIT
#include "trace/disguise.h"

#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <cstring>

namespace pmusim::trace {
namespace {

constexpr u64 trap_bit = u64{1} << (SIGTRAP - 1);
constexpr u64 ignore_handler = 1, default_handler = 0;  // SIG_IGN, SIG_DFL

// The arguments of a system call, in order.
u64 first(const Registers& r) { return r[Gpr::rdi]; }
u64 second(const Registers& r) { return r[Gpr::rsi]; }
u64 third(const Registers& r) { return r[Gpr::rdx]; }

std::optional<u64> read_word(u32 tid, u64 address) {
  u64 word = 0;
  const auto bytes = std::as_writable_bytes(std::span(&word, 1));
  return read_memory(tid, address, bytes) == bytes.size() ? std::optional(word) : std::nullopt;
}

bool concerns(u32 tid, const Registers& r) { return first(r) == 0 || first(r) == tid; }

}  // namespace

Disguise Disguise::of_thread() const {
  Disguise child(cpus_, {});
  child.disposition_ = disposition_;
  return child;
}

Disguise Disguise::of_process() const { return {cpus_, *disposition_}; }

void Disguise::enter_call(u32 tid, u64 number, const Registers& registers) {
  show_mask(tid);
  // The call sees a blocked SIGTRAP waiting: rt_sigpending, rt_sigtimedwait, a signalfd.
  if (waiting_ && !std::exchange(sent_again_, true)) send_trap(tid);
  if (number == SYS_rt_sigaction && first(registers) == SIGTRAP) enter_sigaction(tid, registers);
  if (number == SYS_sched_setaffinity && concerns(tid, registers)) enter_setaffinity(tid, registers);
}

void Disguise::leave_call(u32 tid, u64 number, const Registers& registers) {
  if (number == SYS_rt_sigaction && first(registers) == SIGTRAP) leave_sigaction(tid, registers);
  if (number == SYS_sched_getaffinity && concerns(tid, registers)) leave_getaffinity(tid, registers);
  if (result_) set_call_result(tid, *std::exchange(result_, std::nullopt));
  hide_mask(tid);
}

void Disguise::show_mask(u32 tid) const {
  if (trap_blocked_) set_signal_mask(tid, signal_mask(tid) | trap_bit);
}

void Disguise::hide_mask(u32 tid) {
  const u64 mask = signal_mask(tid);
  trap_blocked_ = (mask & trap_bit) != 0;
  if (trap_blocked_) set_signal_mask(tid, mask & ~trap_bit);
  if (!trap_blocked_ && waiting_ && !std::exchange(sent_again_, true)) send_trap(tid);
}

bool Disguise::keeps_back_trap(u32 tid) {
  restore_sender(tid);
  if (trap_blocked_) waiting_ = signal_info(tid);
  return trap_blocked_ || disposition_->trap_ignored;
}

void Disguise::restore_sender(u32 tid) {
  if (!std::exchange(sent_again_, false)) return;
  if (waiting_) set_signal_info(tid, *waiting_);
  waiting_.reset();
}

// The kernel is not to know that SIGTRAP is ignored, the program is: another handler is put into the caller's
// structure (its first member) while the kernel looks at it.
void Disguise::enter_sigaction(u32 tid, const Registers& registers) {
  const auto handler = second(registers) != 0 ? read_word(tid, second(registers)) : std::nullopt;
  act_changed_ = handler == ignore_handler;
  if (act_changed_) poke(tid, second(registers), default_handler);
}

void Disguise::leave_sigaction(u32 tid, const Registers& registers) {
  const u64 act = second(registers), old = third(registers);
  if (act_changed_ && act != old) poke(tid, act, ignore_handler);
  const bool done = registers[Gpr::rax] == 0;
  if (done && old != 0 && disposition_->trap_ignored) poke(tid, old, ignore_handler);
  if (done && act != 0) disposition_->trap_ignored = act_changed_;
  act_changed_ = false;
}

// The thread stays on the recorder's CPU.
void Disguise::enter_setaffinity(u32 tid, const Registers& registers) {
  cpu_set_t wanted;
  CPU_ZERO(&wanted);
  const std::size_t bytes = std::min<std::size_t>(second(registers), sizeof wanted);
  const auto memory = std::as_writable_bytes(std::span(&wanted, 1)).first(bytes);
  cpu_set_t machine;
  ::sched_getaffinity(1, sizeof machine, &machine);  // init has all there are
  result_ = -EFAULT;
  if (read_memory(tid, third(registers), memory) == bytes) {
    CPU_AND(&wanted, &wanted, &machine);
    result_ = CPU_COUNT(&wanted) != 0 ? 0 : -EINVAL;
    if (*result_ == 0) cpus_ = wanted;
  }
  skip_call(tid);
}

void Disguise::leave_getaffinity(u32 tid, const Registers& registers) const {
  const i64 result = static_cast<i64>(registers[Gpr::rax]);
  if (result <= 0) return;
  const std::size_t bytes = std::min<std::size_t>(static_cast<std::size_t>(result), sizeof cpus_);
  write_memory(tid, third(registers), std::as_bytes(std::span(&cpus_, 1)).first(bytes));
}

std::optional<std::string> program_without_rights(u32 pid) {
  const std::string link = "/proc/" + std::to_string(pid) + "/exe";
  struct stat program {};
  if (::stat(link.c_str(), &program) != 0) return std::nullopt;
  const bool other_user = (program.st_mode & S_ISUID) != 0 && program.st_uid != effective_id(pid, "Uid:");
  const bool other_group = (program.st_mode & S_ISGID) != 0 && (program.st_mode & S_IXGRP) != 0 &&
                           program.st_gid != effective_id(pid, "Gid:");
  const bool capable =
      effective_id(pid, "Uid:") != 0 && ::getxattr(link.c_str(), "security.capability", nullptr, 0) > 0;
  if (!other_user && !other_group && !capable) return std::nullopt;
  std::array<char, PATH_MAX> name{};
  const ssize_t bytes = ::readlink(link.c_str(), name.data(), name.size());
  return std::string(name.data(), static_cast<std::size_t>(std::max<ssize_t>(bytes, 0)));
}

}  // namespace pmusim::trace
