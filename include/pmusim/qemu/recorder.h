// SPDX-License-Identifier: MIT
#ifndef PMUSIM_QEMU_RECORDER_H
#define PMUSIM_QEMU_RECORDER_H

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "pmusim/trace/trace.h"

/// The fast recorder: the program runs under qemu's user-mode emulation, and a plugin tells what it executes.
/// Tens of millions of instructions per second, where single steps reach a tenth of a million.
namespace pmusim::qemu {

enum class RecordedAddresses : u8 { none, all };

/// What is recorded, and where to.
struct FastRecordingOptions {
  std::string output = "trace.pmutrace";
  RecordedAddresses addresses = RecordedAddresses::all;
  u64 max_instructions = 0;  ///< kill the program after about so many (a packet's worth more); 0: to its end
  trace::Region region{};    ///< but for delay_ms; up to its start programs run as slowly as in it
  /// Where given: once true (from a signal handler, say) the program is killed and the recording complete.
  const std::atomic<bool>* stop = nullptr;
  /// Called now and then with the number of instructions so far, on another thread than the caller's.
  std::function<void(u64 instructions)> progress{};
};

/// What the fast recorder could not know, beside what every recording has.
struct FastRecordingSummary {
  trace::RecordingSummary trace;
  u64 unrecorded_programs =
      0;                      ///< ran as they are: not 64-bit x86 programs, or too many arguments to pass on
  u64 unknown_addresses = 0;  ///< accesses that qemu did not report; the instruction's last address stands
};

/// qemu and this project's plugin for it, where both are there.
struct Installation {
  std::filesystem::path qemu, plugin;
};
/// Looks for qemu-x86_64 in PATH, and for the plugin beside the running program and in ../lib/pmusim. Errors:
/// the sentence says which of the two is missing and how to get it.
Result<Installation, Error> find_installation();

/// Runs a program under qemu and records every instruction of it, of its threads and of the processes that it
/// starts. Arguments, directory, environment, terminal, signals and exit status are the program's own;
/// address space layout randomisation is off.
/// @code
/// const auto installed = qemu::find_installation();
/// const auto recorded = qemu::record(*installed, {"/usr/bin/gzip", "-k", "file"}, {.output = "T"});
/// @endcode
/// A trace of it has no registers, and differs from a single-stepped one in what qemu does differently: the
/// CPU that CPUID shows (no AVX-512), no vDSO, and the order of threads, which run at the same time and are
/// laid behind each other in pieces that end at system calls or after some ten thousand instructions
/// (docs/traces.md).
///
/// The caller must have no other child processes meanwhile. Errors: the program cannot be started; tracing is
/// not permitted; the output cannot be written.
Result<FastRecordingSummary, Error> record(const Installation& installation,
                                           const std::vector<std::string>& command,
                                           const FastRecordingOptions& options);

}  // namespace pmusim::qemu

#endif
