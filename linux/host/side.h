// SPDX-License-Identifier: MIT
#ifndef PMUSIM_LINUX_HOST_SIDE_H
#define PMUSIM_LINUX_HOST_SIDE_H

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "host/driver_events.h"
#include "pmusim/pmu/pmu.h"

namespace pmusim::linux_driver {

/// One driver with its processor, and records in its PEBS buffer that nothing has executed for.
class Side {
 public:
  static constexpr u64 buffer_bytes = 65536;  ///< of either driver

  Side() = default;
  virtual ~Side() = default;
  Side(const Side&) = delete;
  Side& operator=(const Side&) = delete;

  virtual Pmu& pmu() = 0;
  virtual std::unique_ptr<DriverEvents> events() = 0;
  /// The buffer has these records, as if hardware had written them. Its events must be enabled.
  void fill(std::span<const std::byte> records);
  /// So much core time passes, with the ticks in it.
  virtual void pass(u64 cycle, const InterruptFrame& frame) = 0;
  /// What the driver warns of, from the beginning.
  virtual std::vector<std::string> warnings() const { return {}; }

 private:
  /// Of architectural PEBS.
  virtual std::byte* buffer() = 0;
};

/// The kernel of this process, booted. A process has one. Throws CommandError where the kernel finds no PMU.
std::unique_ptr<Side> kernel_side(const CpuModel& model);
/// This project's driver.
std::unique_ptr<Side> session_side(const CpuModel& model);

}  // namespace pmusim::linux_driver

#endif
