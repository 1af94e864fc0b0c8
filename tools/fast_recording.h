// SPDX-License-Identifier: MIT
#ifndef PMUSIM_TOOLS_FAST_RECORDING_H
#define PMUSIM_TOOLS_FAST_RECORDING_H

#include <string>
#include <vector>

#include "pmusim/qemu/recorder.h"

namespace pmusim::tools {

/// Who records a program.
enum class RecorderChoice : u8 {
  automatic,  ///< qemu where no registers are asked for and it is installed, else single steps
  fast,       ///< under qemu, or not at all
  step,       ///< under single steps
};

/// A program's recording, whoever made it.
struct ProgramRecording {
  trace::RecordingSummary summary;
  std::string recorder;  ///< lines: who recorded, and what it cannot know
  std::string missing;   ///< lines: what this recording lacks beyond that; empty if nothing
};

/// Runs and records a program. Errors: as trace::record and qemu::record; `choice` is fast and qemu is not
/// there; registers are asked of qemu.
Result<ProgramRecording, Error> record_program(
    RecorderChoice choice, const std::vector<std::string>& command, const trace::RecordingOptions& options,
    qemu::RecordedAddresses addresses = qemu::RecordedAddresses::all);

/// Records a process that runs. Errors: as trace::record_process.
Result<ProgramRecording, Error> record_running(u32 pid, const trace::RecordingOptions& options);

}  // namespace pmusim::tools

#endif
