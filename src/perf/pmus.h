// SPDX-License-Identifier: MIT
#ifndef PMUSIM_SRC_PERF_PMUS_H
#define PMUSIM_SRC_PERF_PMUS_H

#include <algorithm>
#include <span>
#include <vector>

#include "pmusim/perf/driver.h"

namespace pmusim::perf {

/// Places of PMUs: the kernel's own events are counted by the first, raw and generic ones by the second.
namespace pmu_place {
inline constexpr u32 SOFTWARE = 0, CORE = 1;
}

/// A PMU as it is registered: its attr.type, and its driver on each emulated CPU, null where it is not.
struct PmuType {
  u32 type = 0;
  std::vector<PmuDriver*> drivers;

  /// Knows the events of this type wherever they are: the driver that they are opened with.
  PmuDriver& home() const {
    return **std::ranges::find_if(drivers, [](const PmuDriver* driver) { return driver != nullptr; });
  }
};

/// The PMUs of one CPU by their places, null where it has none of this type.
class Pmus {
 public:
  void add(PmuDriver* driver) { all_.push_back(driver); }
  std::size_t size() const { return all_.size(); }
  PmuDriver* operator[](std::size_t place) const { return all_[place]; }

  void disable(std::span<const u32> places) {
    for (const u32 place : places) acting(place).disable();
  }
  void enable(std::span<const u32> places) {
    for (const u32 place : places) acting(place).enable();
  }
  void context_switch(PmuDriver::SwitchDirection direction, TaskId task) {
    for_each([&](PmuDriver& driver) { driver.context_switch(direction, task); });
  }

 private:
  /// Of a hybrid part either core PMU's code acts on the counters of the CPU that runs it (Linux:
  /// x86_pmu_disable).
  PmuDriver& acting(u32 place) const {
    if (all_[place] != nullptr) return *all_[place];
    return **std::find_if(all_.begin() + pmu_place::CORE, all_.end(),
                          [](const PmuDriver* driver) { return driver != nullptr; });
  }

  template <class Visit>
  void for_each(Visit visit) {
    for (std::size_t place = pmu_place::CORE; place < all_.size(); ++place)
      if (all_[place] != nullptr) visit(*all_[place]);
  }
  std::vector<PmuDriver*> all_;
};

}  // namespace pmusim::perf

#endif
