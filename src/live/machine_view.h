// SPDX-License-Identifier: MIT
#ifndef PMUSIM_SRC_LIVE_MACHINE_VIEW_H
#define PMUSIM_SRC_LIVE_MACHINE_VIEW_H

#include <string>
#include <utility>
#include <vector>

#include "live/filter.h"
#include "pmusim/cpu/model.h"
#include "pmusim/cpu/setup.h"
#include "pmusim/perf/abi.h"
#include "pmusim/perf/driver.h"

/// What programs find out about the machine beside system calls: the PMU in sysfs, CPUs and limits in /proc,
/// the CPU that tools take it for.
namespace pmusim::live {

/// A PMU in sysfs.
struct PmuView {
  std::string name;                                        ///< of its directory in /sys/devices
  std::vector<std::pair<std::string, std::string>> files;  ///< path in there, text
};

/// What a folder of /sys/devices/system is to hold in place of what is there under these names.
struct SystemFolder {
  std::string name;                                        ///< "cpu"
  std::vector<std::pair<std::string, std::string>> files;  ///< path in there, text
  std::vector<std::pair<std::string, std::string>> links;  ///< path in there, target
  std::string numbered;  ///< folders of this name and a number are not shown, if they are not among these
};

struct MachineView {
  std::vector<PmuView> pmus;  ///< the cores', and what is beside them
  std::vector<SystemFolder> system;
  std::vector<u32> cpus;  ///< that are online
  Affinity affinity = Affinity::of_kernel;
  std::vector<std::pair<std::string, std::string>> environment;  ///< variables that say which CPU this is
  std::vector<std::pair<std::string, std::string>> proc;         ///< path in /proc, text
};

/// A kind of core with what its driver has found out.
struct CorePmu {
  CpuModel model;
  perf::PmuCapabilities pmu;
};

/// As a kernel shows a machine with these kinds of core: one CPU, or those of `machine` if it is not null.
MachineView view_of(const std::vector<CorePmu>& types, const Topology* machine, const perf::Limits& limits);

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
  u64 registers = 0;              ///< the device that has /dev/cpu/N/msr, empty files; 0: there are none
};

/// Puts the calling process, and what it starts, into a mount namespace where files are as `view` says;
/// without the rights for that, into a user namespace in which it is root. `directory` is an empty one to
/// mount things at.
Shown show(const MachineView& view, const std::string& directory);

}  // namespace pmusim::live

#endif
