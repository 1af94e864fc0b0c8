// SPDX-License-Identifier: MIT
#ifndef PMUSIM_MACHINE_HOST_EMULATOR_H
#define PMUSIM_MACHINE_HOST_EMULATOR_H

#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace pmusim::machine {

/// The PMU of its CPUs, and the files for a trace of them and for what the PMUs do; "": none.
struct EmulatedPmu {
  std::string model, record;
  bool records_registers = false;
  std::string hardware_log, hardware_timeline;
  /// Files that are complete, with what there is until then, when the emulator ends by itself.
  bool writes_files() const { return !(record + hardware_log + hardware_timeline).empty(); }
};

/// How a run of the emulator ended.
struct EmulatorEnd {
  int signal = 0;          ///< that we were sent, and ended it for; 0: it ended by itself
  bool timed_out = false;  ///< it ran for longer than it was given
  int exit_status = 0;     ///< its own, 128 and more for a signal
  std::string remarks;     ///< what its PMUs had to say, a sentence in each line
};

/// Runs the emulator until it ends, or until a signal (SIGINT, SIGTERM, SIGHUP) or the time limit ends it; in
/// no case does it outlive us. An emulator that writes files has some seconds for them then, or until the
/// next signal. `take` is called with what the guest hands out. `seconds` 0: no limit.
EmulatorEnd run_emulator(const std::vector<std::string>& words, const EmulatedPmu& pmu, unsigned seconds,
                         const std::function<void(std::string_view)>& take);

}  // namespace pmusim::machine

#endif
