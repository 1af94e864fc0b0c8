// SPDX-License-Identifier: MIT
#ifndef PMUSIM_SRC_LIVE_MACHINE_VIEW_H
#define PMUSIM_SRC_LIVE_MACHINE_VIEW_H

#include <string>
#include <utility>
#include <vector>

#include "pmusim/cpu/model.h"
#include "pmusim/perf/driver.h"
#include "pmusim/perf/kernel.h"

/// What programs find out about the machine beside system calls: the PMU in sysfs, limits in /proc, the CPU
/// that tools take it for.
namespace pmusim::live {

struct MachineView {
  std::string pmu_name;                                          ///< of its directory in /sys/devices
  std::vector<std::pair<std::string, std::string>> pmu_files;    ///< path in there, text
  std::vector<std::pair<std::string, std::string>> environment;  ///< variables that say which CPU this is
  int paranoid = 2;                                              ///< kernel.perf_event_paranoid
};

/// As a kernel on that machine shows it.
MachineView view_of(const CpuModel& model, const perf::PmuCapabilities& pmu, const perf::Limits& limits);

/// Puts the calling process, and what it starts, into a mount namespace where files are as `view` says;
/// without the rights for that, into a user namespace in which it is root. `directory` is an empty one to
/// mount things at. An empty sentence, or what failed.
std::string show(const MachineView& view, const std::string& directory);

}  // namespace pmusim::live

#endif
