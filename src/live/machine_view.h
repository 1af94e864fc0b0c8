// SPDX-License-Identifier: MIT
#ifndef PMUSIM_SRC_LIVE_MACHINE_VIEW_H
#define PMUSIM_SRC_LIVE_MACHINE_VIEW_H

#include <string>
#include <utility>
#include <vector>

#include "pmusim/cpu/model.h"
#include "pmusim/perf/abi.h"
#include "pmusim/perf/driver.h"

/// What programs find out about the machine beside system calls: the PMU in sysfs, limits in /proc, the CPU
/// that tools take it for.
namespace pmusim::live {

/// A PMU in sysfs.
struct PmuView {
  std::string name;                                        ///< of its directory in /sys/devices
  std::vector<std::pair<std::string, std::string>> files;  ///< path in there, text
};

struct MachineView {
  std::vector<PmuView> pmus;                                     ///< the core's, and what is beside it
  std::vector<std::pair<std::string, std::string>> environment;  ///< variables that say which CPU this is
  std::vector<std::pair<std::string, std::string>> settings;     ///< sysctl kernel.*, by name
};

/// As a kernel on that machine shows it.
MachineView view_of(const CpuModel& model, const perf::PmuCapabilities& pmu, const perf::Limits& limits);

/// A file, by whatever name.
struct FileIdentity {
  u64 device = 0, inode = 0;  ///< 0: none
  friend bool operator==(const FileIdentity&, const FileIdentity&) = default;
};
FileIdentity identity_of(const std::string& path);

/// What of a view programs get to see.
struct Shown {
  std::string missing;            ///< why the PMU is not in sysfs; empty: it is
  std::string missing_registers;  ///< why there is no /dev/cpu/0/msr; empty: there is
  FileIdentity registers;         ///< of /dev/cpu/0/msr, an empty file
};

/// Puts the calling process, and what it starts, into a mount namespace where files are as `view` says;
/// without the rights for that, into a user namespace in which it is root. `directory` is an empty one to
/// mount things at.
Shown show(const MachineView& view, const std::string& directory);

}  // namespace pmusim::live

#endif
