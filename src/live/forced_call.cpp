// SPDX-License-Identifier: MIT
// System calls that a task makes because its supervisor says so.
#include <poll.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include <algorithm>
#include <array>
#include <csignal>

#include "live/ptrace.h"
#include "live/tasks.h"
#include "trace/process_maps.h"

namespace pmusim::live {
namespace {

/// 0F 05: of SYSCALL, behind which a task stands that has made one.
constexpr u64 call_bytes = 2;

user_regs_struct registers_for(const user_regs_struct& after_call, const ForcedCall& call) {
  user_regs_struct r = after_call;
  r.rip -= call_bytes;
  r.rax = call.number;
  r.orig_rax = ~u64{0};  // nothing is repeated on the way
  r.rdi = call.arguments[0];
  r.rsi = call.arguments[1];
  r.rdx = call.arguments[2];
  r.r10 = call.arguments[3];
  r.r8 = call.arguments[4];
  r.r9 = call.arguments[5];
  return r;
}

/// Signals would come between; they wait until the object is gone.
class SignalsHeldBack {
 public:
  explicit SignalsHeldBack(u32 tid) : tid_(tid), mask_(trace::signal_mask(tid)) {
    trace::set_signal_mask(tid, ~u64{0});
  }
  SignalsHeldBack(const SignalsHeldBack&) = delete;
  SignalsHeldBack& operator=(const SignalsHeldBack&) = delete;
  ~SignalsHeldBack() { trace::set_signal_mask(tid_, mask_); }

 private:
  u32 tid_;
  u64 mask_;
};

/// What the kernel takes for a signal's action, not the C library.
struct KernelAction {
  u64 handler = 0, flags = 0, restorer = 0, mask = 0;
};

/// Memory of a stopped task below what its stack holds, as it was once the object is gone.
class BelowStack {
 public:
  BelowStack(u32 tid, u64 stack_pointer)
      : tid_(tid), address_((stack_pointer - red_zone_bytes) / 64 * 64 - 64) {
    content_.resize(trace::read_memory(tid, address_, content_));
  }
  BelowStack(const BelowStack&) = delete;
  BelowStack& operator=(const BelowStack&) = delete;
  ~BelowStack() { trace::write_memory(tid_, address_, content_); }
  u64 address() const { return address_; }

 private:
  static constexpr u64 red_zone_bytes = 128;
  u32 tid_;
  u64 address_;
  std::vector<std::byte> content_ = std::vector<std::byte>(sizeof(KernelAction));
};

/// Behind a SYSCALL of the vDSO: every process has one there.
std::optional<u64> behind_call_instruction(u32 pid) {
  constexpr std::string_view instruction = "\x0F\x05";
  const std::vector<trace::Mapping> maps = trace::parse_maps(trace::proc_file(pid, "maps"));
  const auto vdso = std::ranges::find(maps, "[vdso]", &trace::Mapping::path);
  if (vdso == maps.end()) return std::nullopt;
  std::string code(vdso->bytes, '\0');
  code.resize(trace::read_memory(pid, vdso->start, std::as_writable_bytes(std::span(code))));
  const std::size_t found = code.find(instruction);
  return found == std::string::npos ? std::nullopt : std::optional(vdso->start + found + call_bytes);
}

}  // namespace

bool Tasks::hold(u32 tid) {
  WatchedTask* const task = find(tid);
  if (task != nullptr && task->state == State::in_call) return true;
  if (task == nullptr && attach(tid) != 0) return false;
  interrupt(tid);
  return true;
}

/// None where the task ended, or did not stop in time: it cannot be waited for, since it may wait for us.
std::optional<int> Tasks::wait_for_stop(u32 tid) {
  constexpr int patience_ms = 2000;
  for (int ms = 0; ms < patience_ms;) {
    int status = 0;
    const pid_t child = ::waitpid(static_cast<pid_t>(tid), &status, __WALL | WNOHANG);
    const bool is_ending = child > 0 && (!WIFSTOPPED(status) || status >> 16 == PTRACE_EVENT_EXIT);
    if (child > 0 && !is_ending) return status;
    if (is_ending) changed(tid, status);
    if (child != 0) return std::nullopt;
    ms += ::poll(nullptr, 0, 1) == 0 ? 1 : 0;
  }
  return std::nullopt;
}

bool Tasks::run_one_call(u32 tid) {
  for (int stop = 0; stop < 2; ++stop) {  // before it and after it
    trace::run_to_call(tid, 0);
    const auto status = wait_for_stop(tid);
    if (!status || WSTOPSIG(*status) != trace::call_stop) return false;
  }
  return true;
}

void Tasks::call(u32 tid, std::span<const ForcedCall> calls) {
  if (!wait_for_stop(tid)) return;
  auto registers = all_registers(tid);
  if (!registers) return;
  std::optional<i64> result;
  {
    const SignalsHeldBack held_back(tid);
    for (const ForcedCall& call : calls) {
      set_all_registers(tid, registers_for(*registers, call));
      if (!run_one_call(tid)) return;
      const auto after = all_registers(tid);
      if (!after) return;
      if (!result) result = static_cast<i64>(after->rax);
    }
    registers->rax = static_cast<u64>(result.value_or(0));
    set_all_registers(tid, *registers);
  }
  WatchedTask* const task = find(tid);
  if (task == nullptr)
    trace::let_go(tid, 0);
  else if (task->state == State::in_call)
    left_call(*task);
  else
    between_instructions(*task);
}

/// Steps have reset that disposition, which the program does not know.
void Tasks::ignore_trap(u32 tid) {
  constexpr u64 ignore_handler = 1;
  trace::go_back_before_call(tid);
  const auto registers = all_registers(tid);
  const auto behind_call = behind_call_instruction(tid);
  if (!registers || !behind_call) return;
  user_regs_struct at_call = *registers;
  at_call.rip = *behind_call;
  {
    const SignalsHeldBack held_back(tid);
    const BelowStack action(tid, registers->rsp);
    const auto make = [&](u64 act, u64 old) {
      set_all_registers(
          tid, registers_for(at_call, {.number = SYS_rt_sigaction, .arguments = {SIGTRAP, act, old, 8}}));
      return run_one_call(tid);
    };
    if (!make(0, action.address())) return;
    trace::poke(tid, action.address(), ignore_handler);
    if (!make(action.address(), 0)) return;
  }
  set_all_registers(tid, *registers);
}

}  // namespace pmusim::live
