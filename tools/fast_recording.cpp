// SPDX-License-Identifier: MIT
#include "fast_recording.h"

#include <fmt/format.h>
#include <sys/wait.h>

#include <csignal>

namespace pmusim::tools {
namespace {

std::string missing_of(const qemu::FastRecordingSummary& summary) {
  std::string text;
  if (summary.unrecorded_programs != 0)
    text += fmt::format("{} ran unrecorded: not 64-bit x86\n",
                        summary.unrecorded_programs == 1
                            ? "one program"
                            : fmt::format("{} programs", summary.unrecorded_programs));
  if (summary.unknown_addresses != 0)
    text += fmt::format("accesses without an address of their own: {}\n",
                        fmt::group_digits(summary.unknown_addresses));
  if (WIFSIGNALED(summary.trace.status) && WTERMSIG(summary.trace.status) == SIGILL)
    text += "qemu's CPU has no AVX-512, for example: --step records on this machine's own\n";
  return text;
}

Result<ProgramRecording, Error> record_fast(const qemu::Installation& installation,
                                            const std::vector<std::string>& command,
                                            const trace::RecordingOptions& options,
                                            qemu::RecordedAddresses addresses) {
  const auto summary = qemu::record(installation, command,
                                    {.output = options.output,
                                     .addresses = addresses,
                                     .max_instructions = options.max_instructions,
                                     .region = options.region,
                                     .stop = options.stop,
                                     .progress = options.progress});
  if (!summary.ok()) return Failure(summary.error());
  return ProgramRecording{
      summary->trace,
      "recorded under qemu: no registers, the CPU that qemu shows, threads in the order of their "
      "system calls (--step records on this machine's CPU)\n",
      missing_of(*summary)};
}

Result<ProgramRecording, Error> by_steps(const Result<trace::RecordingSummary, Error>& summary,
                                         std::string_view reason = "") {
  if (!summary.ok()) return Failure(summary.error());
  return ProgramRecording{*summary, fmt::format("recorded by single steps{}\n", reason), {}};
}

}  // namespace

Result<ProgramRecording, Error> record_program(RecorderChoice choice, const std::vector<std::string>& command,
                                               const trace::RecordingOptions& options,
                                               qemu::RecordedAddresses addresses) {
  const bool with_registers = options.registers != trace::RecordedRegisters::none;
  if (choice == RecorderChoice::fast && with_registers)
    return Failure(Error("--fast cannot record registers: leave out --fast, or --regs"));
  const bool delayed = options.region.delay_ms != 0;
  if (choice == RecorderChoice::fast && delayed)
    return Failure(Error("--delay is for single steps: under qemu no program runs at native speed"));
  const bool without_addresses = addresses == qemu::RecordedAddresses::none;
  const bool stepped = choice == RecorderChoice::step || with_registers || delayed;
  if (without_addresses && stepped)
    return Failure(
        Error("--no-addresses is for the fast recorder: leave it out, or --step, --regs and --delay"));
  if (stepped) return by_steps(trace::record(command, options));
  const auto installation = qemu::find_installation();
  if (installation.ok()) return record_fast(*installation, command, options, addresses);
  if (choice == RecorderChoice::fast || without_addresses) return Failure(installation.error());
  return by_steps(trace::record(command, options), fmt::format(", slowly: {}", installation.error().message));
}

Result<ProgramRecording, Error> record_running(u32 pid, const trace::RecordingOptions& options) {
  return by_steps(trace::record_process(pid, options));
}

}  // namespace pmusim::tools
