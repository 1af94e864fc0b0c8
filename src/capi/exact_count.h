// SPDX-License-Identifier: MIT
#ifndef PMUSIM_SRC_CAPI_EXACT_COUNT_H
#define PMUSIM_SRC_CAPI_EXACT_COUNT_H

#include <memory>

#include "pmusim/pmu/observer.h"
#include "pmusim/pmu/pmu.h"

namespace pmusim::capi {

/// An event, and the register that it needs beside its select.
struct TrueEvent {
  u64 select = 0;
  u32 extra_register = 0;
  u64 extra = 0;
};

/// What an event really does: a PMU of its own, whose counter nobody stops and whose wraps are counted.
class ExactCount final : private Observer {
 public:
  /// Throws Misuse for an event that the model cannot count.
  ExactCount(const CpuModel& model, const TrueEvent& event, u64 now);
  ExactCount(const ExactCount& other);
  ExactCount& operator=(const ExactCount&) = delete;
  ~ExactCount() override = default;

  void retire(const Retirement& retirement) { pmu_.retire(retirement); }
  /// Time passes in code of a privilege.
  void catch_up(u64 cycle, Cpl cpl) { pmu_.wait_until(cycle, {.cpl = cpl}); }
  u64 count();

 private:
  void on_overflow(const observed::Overflow&) override { ++wraps_; }
  void write(u32 address, u64 value, const TrueEvent& event);
  void program(const TrueEvent& event);

  Pmu pmu_;
  u32 counter_register_ = msr::PMC0;
  u64 wraps_ = 0;
};

}  // namespace pmusim::capi

#endif
