// SPDX-License-Identifier: MIT
#ifndef PMUSIM_TESTS_SUPPORT_DRIVER_RIG_H
#define PMUSIM_TESTS_SUPPORT_DRIVER_RIG_H

#include <deque>
#include <string>

#include "driver/intel/intel_driver.h"
#include "driver/x86/event_data.h"
#include "tests/support/quiet_sink.h"

namespace pmusim::driver {

/// A driver on some hardware, with a perf core's few habits: events in groups, all-or-nothing scheduling.
template <class Hardware, class CoreDriver = IntelDriver>
class DriverRig {
 public:
  Hardware hardware;
  CoreDriver driver;

  explicit DriverRig(Hardware built, const DriverOptions& options = {})
      : hardware(std::move(built)), driver(hardware, options) {}
  DriverRig(const DriverRig&) = delete;
  DriverRig& operator=(const DriverRig&) = delete;

  /// An event as perf_event_open makes it, before the driver has seen it.
  perf::Event& make(const perf::Attr& attr, perf::Event* leader = nullptr) {
    perf::Event& event = events_.emplace_back();
    event.attr = attr;
    event.leader = leader != nullptr ? leader : &event;
    event.state = perf::EventState::inactive;
    return event;
  }
  /// Shows it to the driver and, as a sibling, joins the group. The errno of a refusal, or 0.
  int open(perf::Event& event) {
    const auto result = driver.init(event);
    if (!result.ok()) {
      refusal = result.error().message;
      return refused_with = result.error().error_number;
    }
    if (!event.is_leader()) event.leader->siblings.push_back(&event);
    return 0;
  }
  perf::Event& opened(const perf::Attr& attr, perf::Event* leader = nullptr) {
    perf::Event& event = make(attr, leader);
    open(event);
    return event;
  }
  int error_of(const perf::Attr& attr, perf::Event* leader = nullptr) { return open(make(attr, leader)); }

  /// Schedules a group; false, with nothing left on the PMU, where it does not fit.
  bool schedule(perf::Event& leader) {
    driver.disable();
    driver.begin();
    bool fits = driver.add(leader);
    for (perf::Event* sibling : leader.siblings) fits = fits && driver.add(*sibling);
    fits = fits && driver.commit();
    if (!fits) driver.cancel();
    driver.enable();
    return fits;
  }
  void unschedule(perf::Event& leader) {
    driver.disable();
    for (perf::Event* sibling : leader.siblings) driver.remove(*sibling);
    driver.remove(leader);
    driver.enable();
  }

  std::string refusal;   ///< the latest
  int refused_with = 0;  ///< its errno

 private:
  std::deque<perf::Event> events_;
};

}  // namespace pmusim::driver

#endif
