// SPDX-License-Identifier: MIT
#include "trace/trap_disguise.h"

#include <sys/syscall.h>

#include <utility>

namespace pmusim::trace {
namespace {

constexpr u64 trap_bit = u64{1} << (SIGTRAP - 1);
constexpr u64 ignore_handler = 1, default_handler = 0;  // SIG_IGN, SIG_DFL

std::optional<u64> read_word(u32 tid, u64 address) {
  u64 word = 0;
  const auto bytes = std::as_writable_bytes(std::span(&word, 1));
  return read_memory(tid, address, bytes) == bytes.size() ? std::optional(word) : std::nullopt;
}

bool is_unfinished(u64 number, const Registers& registers) {
  return number != SYS_rt_sigreturn && is_restart(registers[Gpr::rax]);
}

}  // namespace

TrapDisguise TrapDisguise::of_thread() const {
  TrapDisguise thread(Disposition{});
  thread.disposition_ = disposition_;
  return thread;
}

void TrapDisguise::enter_call(u32 tid, u64 number, const Registers& registers) {
  show_mask(tid);
  // The call sees a blocked SIGTRAP waiting: rt_sigpending, rt_sigtimedwait, a signalfd.
  send_waiting(tid);
  if (number == SYS_rt_sigaction && first_argument(registers) == SIGTRAP) enter_sigaction(tid, registers);
}

void TrapDisguise::leave_call(u32 tid, u64 number, const Registers& registers) {
  if (number == SYS_rt_sigaction && first_argument(registers) == SIGTRAP) leave_sigaction(tid, registers);
  if (!is_unfinished(number, registers)) hide_mask(tid);
}

void TrapDisguise::show_mask(u32 tid) {
  if (!std::exchange(shown_, true) && trap_blocked_) set_signal_mask(tid, signal_mask(tid) | trap_bit);
}

void TrapDisguise::hide_mask(u32 tid) {
  shown_ = false;
  const u64 mask = signal_mask(tid);
  trap_blocked_ = (mask & trap_bit) != 0;
  if (trap_blocked_) set_signal_mask(tid, mask & ~trap_bit);
  if (!trap_blocked_) send_waiting(tid);
}

void TrapDisguise::send_waiting(u32 tid) {
  if (waiting_ && !std::exchange(sent_again_, true)) send_trap(tid);
}

bool TrapDisguise::keeps_back_trap(u32 tid) {
  restore_sender(tid);
  if (trap_blocked_) waiting_ = signal_info(tid);
  return trap_blocked_ || disposition_->trap_ignored;
}

// It comes with the sender that it had when it was kept back.
void TrapDisguise::restore_sender(u32 tid) {
  if (!std::exchange(sent_again_, false)) return;
  if (waiting_) set_signal_info(tid, *waiting_);
  waiting_.reset();
}

void TrapDisguise::give_back(u32 tid) {
  show_mask(tid);
  send_waiting(tid);
}

// The kernel is not to know that SIGTRAP is ignored, the program is: another handler is put into the caller's
// structure (its first member) while the kernel looks at it.
void TrapDisguise::enter_sigaction(u32 tid, const Registers& registers) {
  act_changed_ = read_word(tid, second_argument(registers)) == ignore_handler;
  if (act_changed_) poke(tid, second_argument(registers), default_handler);
}

void TrapDisguise::leave_sigaction(u32 tid, const Registers& registers) {
  const u64 act = second_argument(registers), old = third_argument(registers);
  if (act_changed_ && act != old) poke(tid, act, ignore_handler);
  const bool done = registers[Gpr::rax] == 0;
  if (done && old != 0 && disposition_->trap_ignored) poke(tid, old, ignore_handler);
  if (done && act != 0) disposition_->trap_ignored = act_changed_;
  act_changed_ = false;
}

}  // namespace pmusim::trace
