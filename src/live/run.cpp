// SPDX-License-Identifier: MIT
#include "live/run.h"

#include <poll.h>
#include <sys/signalfd.h>
#include <sys/time.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <initializer_list>

#include "live/page_map.h"
#include "live/processes.h"
#include "live/served_calls.h"
#include "live/start.h"

namespace pmusim::live {
namespace {

sigset_t set_of(std::initializer_list<int> signals) {
  sigset_t set;
  ::sigemptyset(&set);
  for (const int signal : signals) ::sigaddset(&set, signal);
  return set;
}

const sigset_t ending_signals = set_of({SIGTERM, SIGHUP, SIGINT, SIGQUIT});

/// From the start of the program on what would end this process waits for the supervisor to read it: nobody
/// would end the program before.
class HeldSignals {
 public:
  HeldSignals() { ::sigprocmask(SIG_BLOCK, &ending_signals, &before_); }
  HeldSignals(const HeldSignals&) = delete;
  HeldSignals& operator=(const HeldSignals&) = delete;
  ~HeldSignals() { ::sigprocmask(SIG_SETMASK, &before_, nullptr); }
  const sigset_t& mask_before() const { return before_; }

 private:
  sigset_t before_{};
};

/// How this process hears of signals while it supervises: SIGCHLD and the ticks of an interval timer end its
/// waits and do nothing else; those that would end it are read from a descriptor. SIGPIPE is ignored: nobody
/// may read what wakes a program that has just closed its event. Signals are held (HeldSignals) already.
class Signals {
 public:
  Signals() {
    const sigset_t children = set_of({SIGCHLD});
    ::sigprocmask(SIG_BLOCK, &children, &mask_before_);
    while_waiting_ = mask_before_;
    for (const int signal : {SIGCHLD, SIGALRM}) ::sigdelset(&while_waiting_, signal);
    const auto handle = [](int signal, void (*handler)(int), struct sigaction& before) {
      struct sigaction action {};  // without SA_RESTART
      action.sa_handler = handler;
      ::sigaction(signal, &action, &before);
    };
    const auto nothing = [](int) {};
    for (std::size_t n = 0; n < handled.size(); ++n)
      handle(handled[n], n < 2 ? static_cast<void (*)(int)>(nothing) : SIG_IGN, before_[n]);
    ending_ = FileDescriptor(::signalfd(-1, &ending_signals, SFD_CLOEXEC | SFD_NONBLOCK));
    const itimerval ticks{{0, tick_us}, {0, tick_us}};
    ::setitimer(ITIMER_REAL, &ticks, nullptr);
  }
  Signals(const Signals&) = delete;
  Signals& operator=(const Signals&) = delete;
  ~Signals() {
    const itimerval none{};
    ::setitimer(ITIMER_REAL, &none, nullptr);
    for (std::size_t n = 0; n < handled.size(); ++n) ::sigaction(handled[n], &before_[n], nullptr);
    ::sigprocmask(SIG_SETMASK, &mask_before_, nullptr);
  }
  /// For ppoll.
  const sigset_t& while_waiting() const { return while_waiting_; }
  int descriptor() const { return ending_.number(); }
  /// A signal that is to be passed on. Those of its keys a terminal sends to the program itself.
  std::optional<int> next() const {
    signalfd_siginfo info{};
    if (::read(ending_.number(), &info, sizeof info) != sizeof info) return std::nullopt;
    const int signal = static_cast<int>(info.ssi_signo);
    const bool by_key = (signal == SIGINT || signal == SIGQUIT) && info.ssi_code > 0;
    return by_key ? std::nullopt : std::optional(signal);
  }

 private:
  static constexpr suseconds_t tick_us = 20'000;
  static constexpr std::array<int, 3> handled{SIGCHLD, SIGALRM, SIGPIPE};

  sigset_t mask_before_{}, while_waiting_{};
  std::array<struct sigaction, handled.size()> before_{};
  FileDescriptor ending_;
};

class Supervisor {
 public:
  Supervisor(EmulatedMachine& machine, Started started, NumberRange numbers, const perf::Limits& limits,
             std::function<void(u64)> progress)
      : machine_(machine),
        progress_(std::move(progress)),
        keeper_(std::move(started.keeper)),
        listener_(std::move(started.listener)),
        tasks_(machine, keeper_.process()),
        calls_(machine, tasks_, listener_, numbers, limits, started.shown.registers,
               status_of(keeper_.program()).user_namespace) {}

  /// The program's status as waitpid gives it.
  int run() {
    for (u64 turn = 0, steps = 0; !has_ended_; ++turn) {
      const bool stepped = tasks_.step();
      if (stepped && progress_ && steps++ % steps_between_progress == 0) progress_(machine_.instructions());
      if (!stepped || turn % turns_between_looks == 0)
        look(stepped);
      else
        calls_.calm_read();
      if (!stepped || turn % turns_between_cleanings == 0) clean();
    }
    tasks_.release_all();
    return keeper_.status();
  }
  ServedCalls& calls() { return calls_; }

 private:
  static constexpr u64 turns_between_looks = 8, turns_between_cleanings = 1024, steps_between_progress = 8192;

  /// How long to wait for calls. A reader that has been woken takes its data without one, and finds its event
  /// readable until it is read: soon, and more rarely while it takes nothing.
  std::optional<timespec> patience(bool stepped) {
    constexpr long first_ns = 100'000, longest_ns = 20'000'000;
    if (stepped || !calls_.readers_are_awake()) patience_ns_ = first_ns;
    if (stepped) return timespec{};
    if (!calls_.readers_are_awake()) return std::nullopt;
    return timespec{.tv_sec = 0,
                    .tv_nsec = std::exchange(patience_ns_, std::min(2 * patience_ns_, longest_ns))};
  }

  /// Serves who waits, and waits for that where there is nothing to step.
  void look(bool stepped) {
    std::array<pollfd, 3> sources{pollfd{listener_.number(), POLLIN, 0},
                                  pollfd{signals_.descriptor(), POLLIN, 0},
                                  pollfd{keeper_.number(), POLLIN, 0}};
    const std::optional<timespec> patience = this->patience(stepped);
    ::ppoll(sources.data(), sources.size(), patience ? &*patience : nullptr, &signals_.while_waiting());
    if ((sources[0].revents & POLLIN) != 0)
      if (const auto call = listener_.receive()) calls_.serve(*call);
    if ((sources[1].revents & POLLIN) != 0)
      if (const auto signal = signals_.next()) ::kill(static_cast<pid_t>(keeper_.program()), *signal);
    has_ended_ = sources[2].revents != 0;
    tasks_.collect();
    calls_.calm_read();
    if (tasks_.ended() != ended_) calls_.hang_up_ended();
    ended_ = tasks_.ended();
  }

  void clean() {
    calls_.close_abandoned();
    tasks_.follow_events();
  }

  EmulatedMachine& machine_;
  std::function<void(u64)> progress_;
  Keeper keeper_;
  Listener listener_;
  Signals signals_;
  Tasks tasks_;
  ServedCalls calls_;
  bool has_ended_ = false;
  u64 ended_ = 0;
  long patience_ns_ = 0;
};

}  // namespace

namespace {

MachineView view_of_machine(const SessionOptions& options, const Monitor& monitor) {
  const Topology* const machine = options.machine ? &*options.machine : nullptr;
  std::vector<CorePmu> types{{options.model, monitor.driver().capabilities()}};
  if (machine != nullptr && machine->hybrid()) {
    types.clear();
    for (u32 type = 0; type < machine->types.size(); ++type)
      types.push_back({machine->types[type], monitor.driver_of_type(type).capabilities()});
  }
  return view_of(types, machine, options.limits);
}

}  // namespace

Result<RunSummary, Error> run(const RunOptions& options) {
  if (options.command.empty()) return Failure(Error("no program to run"));
  SessionOptions machine = options.machine;
  machine.limits.perfmon_capable = machine.limits.ipc_lock_capable = false;
  machine.limits.physical_addresses = PageMap::tells_frames();
  machine.limits.kernel_chains = machine.limits.cpus = true;
  machine.limits.kernel = machine.kernel;
  auto emulated = EmulatedMachine::create(machine);
  if (!emulated.ok()) return Failure(emulated.error());
  std::unique_ptr<TraceOutput> trace;
  if (!options.trace.empty()) {
    auto output = TraceOutput::create(options.trace);
    if (!output.ok()) return Failure(output.error());
    trace = std::move(output).value();
    (*emulated)->record_to(*trace);
  }
  const NumberRange numbers = event_numbers();
  const MachineView view = view_of_machine(machine, (*emulated)->monitor());
  const HeldSignals held;
  auto started = start(options.command, view, numbers, held.mask_before());
  if (!started.ok()) return Failure(started.error());
  RunSummary summary{.missing_view = started->shown.missing,
                     .missing_registers = started->shown.missing_registers};
  Supervisor supervisor(**emulated, std::move(started).value(), numbers, machine.limits, options.progress);
  if (options.uncounted == UncountedEvents::read_zero) supervisor.calls().let_uncounted_read_zero();
  summary.status = supervisor.run();
  (*emulated)->catch_up();
  summary.instructions = (*emulated)->instructions();
  summary.calls = supervisor.calls().served();
  summary.refusals = supervisor.calls().refusals();
  summary.read_zero = supervisor.calls().read_zero();
  summary.driver = (*emulated)->monitor().driver_statistics();
  summary.elapsed_ns = (*emulated)->monitor().now();
  if (trace) summary.trace = trace->finish();
  return summary;
}

}  // namespace pmusim::live
