// SPDX-License-Identifier: MIT
#ifndef PMUSIM_SRC_LIVE_MSR_DEVICE_H
#define PMUSIM_SRC_LIVE_MSR_DEVICE_H

#include "live/listener.h"
#include "live/machine_view.h"
#include "pmusim/pmu/pmu.h"

namespace pmusim::live {

/// /dev/cpu/0/msr (msr(4)): programs see an empty file there, and what they read or write in it at a
/// register's address is the emulated CPU's.
class MsrDevice {
 public:
  MsrDevice(Pmu& pmu, FileIdentity file) : pmu_(pmu), file_(file) {}

  /// Whether it is this file that the call reads or writes.
  bool is_meant(const Call& call) const;
  /// Bytes read or written; -EIO where the access faults, as the kernel has it.
  i64 access(const Call& call);

 private:
  i64 read(u32 tid, u32 address, u64 where);
  i64 write(u32 tid, u32 address, u64 where);

  Pmu& pmu_;
  FileIdentity file_;
};

}  // namespace pmusim::live

#endif
