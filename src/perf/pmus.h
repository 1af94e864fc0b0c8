// SPDX-License-Identifier: MIT
#ifndef PMUSIM_SRC_PERF_PMUS_H
#define PMUSIM_SRC_PERF_PMUS_H

#include <vector>

#include "pmusim/perf/driver.h"

namespace pmusim::perf {

/// The PMUs that count in hardware, each with the attr.type of its events. The first is the CPU's own, which
/// raw and generic events go to.
class Pmus {
 public:
  Pmus(u32 type, PmuDriver& own) : all_{{type, &own}} {}
  void add(u32 type, PmuDriver& pmu) { all_.push_back({type, &pmu}); }

  PmuDriver& own() const { return *all_.front().driver; }
  /// Null: no PMU has this type.
  PmuDriver* find(u32 type) const {
    for (const Pmu& pmu : all_)
      if (pmu.type == type) return pmu.driver;
    return nullptr;
  }
  /// The place of a PMU, from 0 on; `size()` for one that is none of these.
  std::size_t place(const PmuDriver* driver) const {
    std::size_t at = 0;
    while (at < all_.size() && all_[at].driver != driver) ++at;
    return at;
  }
  std::size_t size() const { return all_.size(); }
  PmuDriver& operator[](std::size_t at) const { return *all_[at].driver; }

  void disable() {
    for (const Pmu& pmu : all_) pmu.driver->disable();
  }
  void enable() {
    for (const Pmu& pmu : all_) pmu.driver->enable();
  }
  void context_switch(PmuDriver::SwitchDirection direction, TaskId task) {
    for (const Pmu& pmu : all_) pmu.driver->context_switch(direction, task);
  }

 private:
  struct Pmu {
    u32 type = 0;
    PmuDriver* driver = nullptr;
  };
  std::vector<Pmu> all_;
};

}  // namespace pmusim::perf

#endif
