// SPDX-License-Identifier: MIT
#ifndef PMUSIM_SRC_LIVE_MSR_DEVICE_H
#define PMUSIM_SRC_LIVE_MSR_DEVICE_H

#include <optional>

#include "live/listener.h"
#include "session/monitor.h"

namespace pmusim::live {

/// /dev/cpu/N/msr (msr(4)): programs see empty files there, and what they read or write in them at a
/// register's address is the emulated CPU's.
class MsrDevice {
 public:
  /// `device`: the one that has the files; 0: there are none.
  MsrDevice(Monitor& monitor, u64 device) : monitor_(monitor), device_(device) {}

  /// The CPU whose file the call reads or writes; nothing: it is another file.
  std::optional<u32> cpu_of(const Call& call) const;
  /// Bytes read or written; -EIO where the access faults, as the kernel has it.
  i64 access(const Call& call, u32 cpu);

 private:
  Monitor& monitor_;
  u64 device_;
};

}  // namespace pmusim::live

#endif
