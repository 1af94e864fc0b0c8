// SPDX-License-Identifier: MIT
#ifndef PMUSIM_TRACE_RECORDER_H
#define PMUSIM_TRACE_RECORDER_H

#include <atomic>
#include <functional>
#include <string>
#include <vector>

#include "pmusim/base/types.h"
#include "pmusim/trace/trace.h"

/// Records a program by single steps, with registers if asked:
/// @code
/// const auto recorded = trace::record({"/bin/true"}, {.output = "true.pmutrace"});
/// if (!recorded) std::cerr << recorded.error().message << '\n';
/// @endcode
namespace pmusim::trace {

/// Which part of a program's run is recorded. It begins when each thing that is asked for has happened, in
/// the order in which they stand here, and ends with the first thing that ends it; the program then goes on
/// unrecorded. Nothing asked for: all of it.
struct Region {
  u64 delay_ms = 0;          ///< so long after its start, at native speed (single steps only)
  std::string start_symbol;  ///< a thread reaches this function of the program or of a library
  bool marks = false;        ///< a thread reaches a start mark; ends at a stop mark
  u64 skip = 0;              ///< instructions of all threads that are left out then

  u64 count = 0;            ///< ends after so many instructions, or at the end of the block that has the last
  std::string stop_symbol;  ///< ends where a thread reaches this function
  u64 max_bytes = 0;        ///< ends when the file has so many bytes (and a chunk at most)

  bool is_everything() const { return *this == Region{}; }
  friend bool operator==(const Region&, const Region&) = default;
};

enum class RecordedRegisters : u8 {
  none,
  gpr,   ///< general registers after every instruction
  simd,  ///< those, and x87, vector, mask and protection-key registers as instructions change them
};

/// What a recorded trace with these registers holds.
Contents contents_with(RecordedRegisters registers);

/// What is recorded, and where to.
struct RecordingOptions {
  std::string output = "trace.pmutrace";
  RecordedRegisters registers = RecordedRegisters::none;
  u64 max_instructions = 0;  ///< kill the program after so many; 0: record to its end
  Region region{};
  /// Where given: once true (from a signal handler, say) the program is killed and the recording complete.
  const std::atomic<bool>* stop = nullptr;
  /// Called now and then with the number of instructions so far.
  std::function<void(u64 instructions)> progress{};
};

/// What a recording has, and what it could not have.
struct RecordingSummary {
  u64 instructions = 0;
  u64 file_bytes = 0;
  u64 processes = 0, threads = 0;  ///< ever alive, the first ones included
  /// Places where control moved on without a branch, system call or signal: code that cannot be read (the
  /// vsyscall page).
  u64 gaps = 0;
  /// Setuid, setgid and capable programs that ran without these rights, because they were traced.
  std::vector<std::string> without_rights;
  int status = 0;              ///< of the program, as waitpid gives it
  bool stopped_early = false;  ///< killed at `max_instructions` or by `stop`
  bool let_go = false;  ///< it went on, or goes on, unrecorded: the region ended, or it was attached to
};

/// Runs a program and records every user instruction of it, of its threads and of the processes it starts, by
/// single steps (x86-64 Linux). The program inherits the caller's terminal, directory and environment;
/// address space layout randomisation is off, so that recordings of the same program resemble each other. It
/// runs on one CPU together with the caller, one thread at a time, and it is never stopped: SIGSTOP and its
/// kin are not passed on.
///
/// A system call's instruction retires when the call returns. The program sees the CPUs that the caller has,
/// its own limits, and its own trap flag and SIGTRAP, blocked, ignored or handled, as without the recorder.
///
/// The caller must have no other child processes meanwhile; its soft limits of file size and CPU time become
/// its hard ones, and SIGXFSZ is for it to handle. Errors: the program cannot be started; it is not 64-bit;
/// tracing is not permitted; the output cannot be written. After an error there is an output file only if
/// some whole chunks could be written: the sentence says how many instructions it has (Reader::truncation).
///
/// Up to where a region begins with a delay or a function, the program runs at native speed; from its end on,
/// too, and nobody traces it any more. A region that never begins is an error.
Result<RecordingSummary, Error> record(const std::vector<std::string>& command,
                                       const RecordingOptions& options);

/// As record(), for a process that runs: its threads, and what they start. When the recording ends (`stop`,
/// `max_instructions`, the region's end) it goes on by itself. Errors, beside the others: no such process,
/// not permitted to trace it, it is traced already.
Result<RecordingSummary, Error> record_process(u32 pid, const RecordingOptions& options);

}  // namespace pmusim::trace

#endif
