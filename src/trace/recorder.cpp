// SPDX-License-Identifier: MIT
#include "pmusim/trace/recorder.h"

#include <fmt/format.h>
#include <sched.h>
#include <sys/wait.h>

#include <csignal>

#include "trace/recording.h"

namespace pmusim::trace {
namespace {

/// Keeps this process, and what it starts, on the CPU that it is on: a wake-up across CPUs costs more than
/// a whole step.
class OneCpu {
 public:
  OneCpu() {
    CPU_ZERO(&before_);
    known_ = ::sched_getaffinity(0, sizeof before_, &before_) == 0;
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(::sched_getcpu(), &one);
    ::sched_setaffinity(0, sizeof one, &one);
  }
  OneCpu(const OneCpu&) = delete;
  OneCpu& operator=(const OneCpu&) = delete;
  ~OneCpu() {
    if (known_) ::sched_setaffinity(0, sizeof before_, &before_);
  }
  const cpu_set_t& before() const { return before_; }

 private:
  cpu_set_t before_{};
  bool known_ = false;
};

bool trap_is_ignored() {
  struct sigaction action {};
  return ::sigaction(SIGTRAP, nullptr, &action) == 0 && action.sa_handler == SIG_IGN;
}

Error with_what_is_kept(const Error& error, const Writer& writer) {
  const u64 kept = writer.stored_instruction_count();
  if (kept == 0) return error;
  return Error(fmt::format("{}; the first {} instructions are kept", error.message, kept));
}

}  // namespace

Result<RecordSummary, Error> record(const std::vector<std::string>& command, const RecordOptions& options) {
  if (command.empty()) return Failure(Error("no program to record"));
  const Contents contents{.addresses = true,
                          .registers = options.registers != RecordedRegisters::none,
                          .extended = options.registers == RecordedRegisters::simd};
  auto writer = Writer::create(options.output, contents);
  if (!writer.ok()) return Failure(writer.error());
  const OneCpu pinned;
  const auto pid = start_traced(command, take_limits_off());
  if (!pid.ok()) return Failure(pid.error());
  if (contents.extended && !XstateReader().read(*pid)) {
    ::kill(static_cast<pid_t>(*pid), SIGKILL);
    ::waitpid(static_cast<pid_t>(*pid), nullptr, 0);
    return Failure(
        Error("this kernel does not tell vector registers (NT_X86_XSTATE): they cannot be recorded"));
  }

  Recording recording(*writer, contents, options);
  auto summary = recording.run(*pid, Disguise(pinned.before(), {trap_is_ignored()}));
  if (!summary.ok()) return Failure(with_what_is_kept(summary.error(), *writer));
  const auto written = writer->finish();
  if (!written.ok()) return Failure(with_what_is_kept(written.error(), *writer));
  summary->file_bytes = written->file_bytes;
  return summary;
}

}  // namespace pmusim::trace
