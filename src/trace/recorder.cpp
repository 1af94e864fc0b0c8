// SPDX-License-Identifier: MIT
#include <fmt/format.h>
#include <sched.h>
#include <sys/wait.h>

#include <csignal>

#include "pmusim/trace/trace.h"
#include "trace/native_run.h"
#include "trace/recording.h"

namespace pmusim::trace {
namespace {

/// Keeps this process, and what it starts, on the CPU that it is on: a wake-up across CPUs costs more than
/// a whole step.
class OneCpu {
 public:
  OneCpu() {
    known_ = ::sched_getaffinity(0, sizeof before_, &before_) == 0;
    cpu_set_t one{};
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

bool begins_natively(const Region& region) { return region.delay_ms != 0 || !region.start_symbol.empty(); }

/// Runs the process to where its recording begins, and records it from there.
Result<RecordingSummary, Error> record_region(Recording& recording, u32 pid, NativeRun& native,
                                              NativeRun::End begun, const OneCpu& pinned,
                                              const Region& region) {
  if (begun == NativeRun::End::at_region) return recording.run_from(pid, native.threads(), pinned.before());
  for (const auto& [tid, process] : native.threads()) ::kill(static_cast<pid_t>(process), SIGKILL);
  const std::string why = begun == NativeRun::End::interrupted ? "the recording ended before"
                          : region.start_symbol.empty()
                              ? "the program ended before"
                              : fmt::format("the program never reached '{}'", region.start_symbol);
  return Failure(Error(fmt::format("nothing was recorded: {}", why)));
}

Result<RecordingSummary, Error> finish(Writer& writer, Result<RecordingSummary, Error> summary) {
  if (!summary.ok()) return Failure(with_what_is_kept(summary.error(), writer));
  const auto written = writer.finish();
  if (!written.ok()) return Failure(with_what_is_kept(written.error(), writer));
  summary->file_bytes = written->file_bytes;
  return summary;
}

}  // namespace

Contents contents_with(RecordedRegisters registers) {
  return {.addresses = true,
          .registers = registers != RecordedRegisters::none,
          .extended = registers == RecordedRegisters::simd};
}

Result<RecordingSummary, Error> record(const std::vector<std::string>& command,
                                       const RecordingOptions& options) {
  if (command.empty()) return Failure(Error("no program to record"));
  const Contents contents = contents_with(options.registers);
  auto writer = Writer::create(options.output, contents);
  if (!writer.ok()) return Failure(writer.error());
  const OneCpu pinned;
  const auto pid = start_traced(command, take_limits_off());
  if (!pid.ok()) return Failure(pid.error());
  if (contents.extended && !XstateReader().read(*pid)) {
    ::kill(static_cast<pid_t>(*pid), SIGKILL);
    int status = 0;
    wait_on(static_cast<pid_t>(*pid), status, 0);
    return Failure(
        Error("this kernel does not tell vector registers (NT_X86_XSTATE): they cannot be recorded"));
  }

  Recording recording(*writer, contents, options);
  if (!begins_natively(options.region))
    return finish(*writer, recording.run(*pid, Disguise(pinned.before(), {trap_is_ignored()})));
  NativeRun native(options.region, options.stop);
  const auto begun = native.from_start(*pid);
  return finish(*writer, record_region(recording, *pid, native, begun, pinned, options.region));
}

Result<RecordingSummary, Error> record_process(u32 pid, const RecordingOptions& options) {
  const Contents contents = contents_with(options.registers);
  auto writer = Writer::create(options.output, contents);
  if (!writer.ok()) return Failure(writer.error());
  const OneCpu pinned;
  const auto tids = attach(pid);
  if (!tids.ok()) return Failure(tids.error());
  Recording recording(*writer, contents, options);
  recording.spare_all();
  NativeRun native(options.region, options.stop);
  const auto begun = native.from_middle(pid, *tids);
  if (begun != NativeRun::End::at_region) {
    native.let_go();
    return Failure(
        Error(fmt::format("process {}: nothing was recorded: {}", pid,
                          begun == NativeRun::End::interrupted ? "the recording ended before its region began"
                                                               : "it ended before its region began")));
  }
  return finish(*writer, recording.run_from(pid, native.threads(), pinned.before()));
}

}  // namespace pmusim::trace
