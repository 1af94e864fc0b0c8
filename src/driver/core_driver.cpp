// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include "driver/amd/driver.h"
#include "driver/intel/intel_driver.h"
#include "pmusim/driver/drivers.h"

namespace pmusim::driver {

DriverStatistics& DriverStatistics::operator+=(const DriverStatistics& other) {
  interrupts += other.interrupts;
  unhandled_interrupts += other.unhandled_interrupts;
  stuck_interrupts += other.stuck_interrupts;
  merged_overflows += other.merged_overflows;
  if (faults.count == 0) faults.first = other.faults.first;
  faults.count += other.faults.count;
  return *this;
}

std::vector<std::string> warnings(const DriverStatistics& statistics) {
  std::vector<std::string> sentences;
  if (statistics.faults.count != 0) sentences.push_back(describe(statistics.faults));
  if (statistics.stuck_interrupts != 0)
    sentences.push_back(fmt::format("the PMU was reset {} times because its status would not clear",
                                    statistics.stuck_interrupts));
  if (statistics.unhandled_interrupts != 0)
    sentences.push_back(fmt::format("{} of {} interrupts found nothing to handle: a kernel logs unknown NMIs",
                                    statistics.unhandled_interrupts, statistics.interrupts));
  return sentences;
}

const DemuxTotals& CoreDriver::pebs_totals() const {
  static const DemuxTotals none;
  return none;
}

std::unique_ptr<CoreDriver> create_driver(Bus& bus, const DriverOptions& options) {
  if (amd::is_amd(bus)) return std::make_unique<amd::Driver>(bus, options);
  return std::make_unique<IntelDriver>(bus, options);
}

}  // namespace pmusim::driver
