// SPDX-License-Identifier: MIT
#include "host/emulator.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <cstring>

#include "guest/channel.h"
#include "host/errors.h"

namespace pmusim::machine {
namespace {

[[noreturn]] void become_emulator(const std::vector<std::string>& words, const EmulatedPmu& pmu, int channel,
                                  int remarks, const sigset_t& signals) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  setpgid(0, 0);  // so that Ctrl-C reaches us alone
  signal(SIGPIPE, SIG_DFL);
  sigprocmask(SIG_SETMASK, &signals, nullptr);
  setenv("PMUSIM_MACHINE_MODEL", pmu.model.c_str(), 1);
  const auto set = [](const char* name, const std::string& value) {
    value.empty() ? unsetenv(name) : setenv(name, value.c_str(), 1);
  };
  set("PMUSIM_MACHINE_RECORD", pmu.record);
  set("PMUSIM_MACHINE_RECORD_REGISTERS", pmu.records_registers ? "gpr" : "");
  set("PMUSIM_MACHINE_HW_LOG", pmu.hardware_log);
  set("PMUSIM_MACHINE_HW_TIMELINE", pmu.hardware_timeline);
  // Neither may be where the other goes before it has gone.
  channel = fcntl(channel, F_DUPFD, REMARKS_DESCRIPTOR + 1);
  remarks = fcntl(remarks, F_DUPFD, REMARKS_DESCRIPTOR + 1);
  dup2(channel, CHANNEL_DESCRIPTOR);
  dup2(remarks, REMARKS_DESCRIPTOR);
  std::vector<char*> arguments;
  for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  execv(arguments[0], arguments.data());
  _exit(127);
}

/// Becomes readable when the time is over.
int timer_of(unsigned seconds) {
  const int timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC);
  const itimerspec when{.it_interval = {},
                        .it_value = {.tv_sec = static_cast<time_t>(seconds), .tv_nsec = 0}};
  timerfd_settime(timer, 0, &when, nullptr);
  return timer;
}

/// Until nobody writes to the channel any more, for some seconds or until we are sent a signal.
void wait_for_end(int channel, int signals) {
  constexpr unsigned seconds = 10;
  const int timer = timer_of(seconds);
  std::array<pollfd, 3> sources{pollfd{channel, POLLIN, 0}, pollfd{signals, POLLIN, 0},
                                pollfd{timer, POLLIN, 0}};
  std::array<char, 1 << 16> buffer{};
  while (poll(sources.data(), sources.size(), -1) >= 0 && sources[1].revents == 0 && sources[2].revents == 0)
    if (sources[0].revents != 0 && read(channel, buffer.data(), buffer.size()) <= 0) break;
  close(timer);
}

}  // namespace

EmulatorEnd run_emulator(const std::vector<std::string>& words, const EmulatedPmu& pmu, unsigned seconds,
                         const std::function<void(std::string_view)>& take) {
  sigset_t ours, before;
  sigemptyset(&ours);
  for (const int number : {SIGINT, SIGTERM, SIGHUP}) sigaddset(&ours, number);
  sigprocmask(SIG_BLOCK, &ours, &before);
  std::array<int, 2> channel{}, remarks{};
  if (pipe2(channel.data(), O_CLOEXEC) != 0 || pipe2(remarks.data(), O_CLOEXEC) != 0)
    throw Refusal(std::string("no pipe to the emulator: ") + std::strerror(errno));
  const int signals = signalfd(-1, &ours, SFD_CLOEXEC), timer = timer_of(seconds);
  const pid_t child = fork();
  if (child < 0) throw Refusal(std::string("no process for the emulator: ") + std::strerror(errno));
  if (child == 0) become_emulator(words, pmu, channel[1], remarks[1], before);
  for (const int open : {channel[1], remarks[1]}) close(open);

  EmulatorEnd end;
  std::array<pollfd, 4> sources{pollfd{channel[0], POLLIN, 0}, pollfd{signals, POLLIN, 0},
                                pollfd{timer, POLLIN, 0}, pollfd{remarks[0], POLLIN, 0}};
  const auto kill_child = [&] { kill(child, SIGKILL); };
  try {
    std::array<char, 1 << 16> buffer{};
    const auto take_remarks = [&] {
      const ssize_t length = read(remarks[0], buffer.data(), buffer.size());
      if (length > 0) end.remarks.append(buffer.data(), static_cast<std::size_t>(length));
      return length > 0;
    };
    while (true) {
      if (poll(sources.data(), sources.size(), -1) < 0) continue;
      if ((sources[1].revents & POLLIN) != 0) {
        signalfd_siginfo info{};
        if (read(signals, &info, sizeof info) == sizeof info) end.signal = static_cast<int>(info.ssi_signo);
        break;
      }
      if ((sources[2].revents & POLLIN) != 0) {
        end.timed_out = true;
        break;
      }
      if (sources[3].revents != 0 && !take_remarks()) sources[3].fd = -1;
      const ssize_t length = sources[0].revents != 0 ? read(channel[0], buffer.data(), buffer.size()) : 1;
      if (length <= 0) break;
      if (sources[0].revents != 0) take({buffer.data(), static_cast<std::size_t>(length)});
    }
    if ((end.signal != 0 || end.timed_out) && pmu.writes_files()) {
      kill(child, SIGTERM);
      wait_for_end(channel[0], signals);
    }
    if (end.signal != 0 || end.timed_out) kill_child();
    while (sources[3].fd >= 0 && take_remarks()) continue;
  } catch (...) {
    kill_child();
    waitpid(child, nullptr, 0);
    throw;
  }
  int status = 0;
  waitpid(child, &status, 0);
  for (const int open : {channel[0], remarks[0], signals, timer}) close(open);
  end.exit_status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  sigprocmask(SIG_SETMASK, &before, nullptr);
  return end;
}

}  // namespace pmusim::machine
