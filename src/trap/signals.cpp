// SPDX-License-Identifier: MIT
#include "trap/signals.h"

#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <mutex>
#include <utility>

#include "trap/thread.h"

namespace pmusim::trap {

namespace {

void on_signal(int signal, siginfo_t* info, void* context);

/// A signal of the process and those who had it before, the latest last. Signals are the process's: there is
/// one of these for each, whoever uses this library.
class TakenSignal {
 public:
  static constexpr std::size_t most_owners = 16;

  explicit constexpr TakenSignal(int number) : number_(number) {}

  bool take() {
    struct sigaction present {};
    if (sigaction(number_, nullptr, &present) != 0) return false;
    if (is_ours(present)) return true;
    if (!remember(present)) return false;
    struct sigaction ours {};
    ours.sa_sigaction = on_signal;
    // A PMI handler in the handler of a signal executes privileged instructions, too.
    ours.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER;
    return sigaction(number_, &ours, nullptr) == 0;
  }

  void give_back() {
    struct sigaction present {};
    if (sigaction(number_, nullptr, &present) != 0 || !is_ours(present)) return;
    const std::size_t count = count_.load();
    if (sigaction(number_, &former_[count - 1], nullptr) == 0) count_.store(count - 1);
  }

  int number() const { return number_; }
  /// The owner `back` places before the latest.
  struct sigaction* former(std::size_t back) {
    const std::size_t count = count_.load();
    return back < count ? &former_[count - 1 - back] : nullptr;
  }

 private:
  /// Who has come back again and again is remembered once.
  bool remember(const struct sigaction& owner) {
    std::size_t count = count_.load();
    if (count == 0 || former_[count - 1].sa_sigaction != owner.sa_sigaction) ++count;
    if (count > former_.size()) return false;
    former_[count - 1] = owner;
    count_.store(count);
    return true;
  }
  static bool is_ours(const struct sigaction& action) {
    return (action.sa_flags & SA_SIGINFO) != 0 && action.sa_sigaction == on_signal;
  }
  int number_;
  std::array<struct sigaction, most_owners> former_{};
  std::atomic<std::size_t> count_{0};
};

/// SIGSEGV and SIGTRAP are what the emulated processor is made of. The others say that an instruction has not
/// been executed, and their handlers where the code goes on.
constinit std::array<TakenSignal, 5> taken_signals{TakenSignal(SIGSEGV), TakenSignal(SIGTRAP),
                                                   TakenSignal(SIGILL), TakenSignal(SIGFPE),
                                                   TakenSignal(SIGBUS)};

TakenSignal& taken_signal(int number) {
  for (TakenSignal& taken : taken_signals)
    if (taken.number() == number) return taken;
  return taken_signals.front();
}
bool take_all() {
  bool all = true;
  for (TakenSignal& taken : taken_signals) all = taken.take() && all;
  return all;
}

constinit std::mutex taking;
constinit unsigned threads = 0;  // that need them; guarded by `taking`

/// Whoever came after us may pass a signal back that we have passed on to him, and then means those before
/// us. So its context is marked while it is passed on, in a field that a kernel clears and never reads.
std::array<ucontext_t, TakenSignal::most_owners>
    marks;  // their addresses say how far back it has been passed

std::size_t times_passed(const ucontext_t& context) {
  for (std::size_t n = 0; n < marks.size(); ++n)
    if (context.uc_link == &marks[n]) return n + 1;
  return 0;
}

// A fault happens again when its instruction is executed again; other signals have to be sent again.
void do_default(int signal, siginfo_t* info) {
  struct sigaction standard {};
  standard.sa_handler = SIG_DFL;
  sigaction(signal, &standard, nullptr);
  if (signal != SIGTRAP && info->si_code > 0) return;
  syscall(SYS_rt_tgsigqueueinfo, getpid(), syscall(SYS_gettid), signal, info);
}

void call(struct sigaction& action, int signal, siginfo_t* info, void* context) {
  const struct sigaction called = action;
  if ((called.sa_flags & static_cast<int>(SA_RESETHAND)) != 0) action.sa_handler = SIG_DFL;
  sigset_t blocked = called.sa_mask, before;
  if ((called.sa_flags & SA_NODEFER) == 0) sigaddset(&blocked, signal);
  pthread_sigmask(SIG_BLOCK, &blocked, &before);
  if ((called.sa_flags & SA_SIGINFO) != 0)
    called.sa_sigaction(signal, info, context);
  else
    called.sa_handler(signal);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

/// As if the signal had come to its former owner. A kernel does not let a process ignore its own faults.
void pass_on(TakenSignal& taken, int signal, siginfo_t* info, ucontext_t& context) {
  const std::size_t passed = times_passed(context);
  struct sigaction* const former = passed < marks.size() ? taken.former(passed) : nullptr;
  if (former == nullptr || former->sa_handler == SIG_DFL ||
      (former->sa_handler == SIG_IGN && info->si_code > 0))
    return do_default(signal, info);
  if (former->sa_handler == SIG_IGN) return;
  ucontext_t* const link = std::exchange(context.uc_link, &marks[passed]);
  call(*former, signal, info, &context);
  context.uc_link = link;
}

Verdict dispatch(int signal, const siginfo_t& info, ucontext_t& context) {
  Thread* const thread = Thread::current();
  if (thread == nullptr)
    return signal == SIGSEGV ? Thread::fault_of_another(info, context) : Verdict::foreign;
  // #GP has no address and no other code; a real access to memory that is not there has.
  if (signal == SIGSEGV && info.si_code == SI_KERNEL) return thread->on_fault(context, signal);
  if (signal == SIGILL && info.si_code > 0) return thread->on_fault(context, signal);
  if (signal == SIGTRAP && info.si_code == TRAP_TRACE) return thread->on_step(context);
  return Verdict::foreign;
}

void on_signal(int signal, siginfo_t* info, void* context) {
  const int error_number = errno;
  auto& registers = *static_cast<ucontext_t*>(context);
  if (times_passed(registers) != 0 || dispatch(signal, *info, registers) == Verdict::foreign) {
    Thread* const thread = Thread::current();
    const bool stepped = thread != nullptr && thread->before_foreign();
    pass_on(taken_signal(signal), signal, info, registers);
    if (Thread::current() == thread && thread != nullptr) thread->after_foreign(registers, stepped);
  }
  errno = error_number;
}

}  // namespace

Result<Done, Error> take_signals() {
  const std::lock_guard lock(taking);
  if (!take_all())
    return Failure(Error("Trap: the system does not give up SIGSEGV, SIGTRAP, SIGILL, SIGFPE and SIGBUS"));
  ++threads;
  return Done{};
}

void release_signals() {
  const std::lock_guard lock(taking);
  if (--threads != 0) return;
  for (TakenSignal& taken : taken_signals) taken.give_back();
}

void retake_signals() {
  const std::lock_guard lock(taking);
  static_cast<void>(take_all());
}

}  // namespace pmusim::trap
