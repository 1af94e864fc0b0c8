#ifndef PMUSIM_MSR_COUNTERS_H
#define PMUSIM_MSR_COUNTERS_H

#include <array>
#include <span>

#include "pmusim/cpu/model.h"
#include "pmusim/cpu/retirement.h"
#include "pmusim/msr/register.h"

namespace pmusim {

/// Counters are numbered as in GLOBAL_STATUS: GP n is n, fixed m is 32 + m; masks have the same bits.
inline constexpr unsigned first_fixed = 32;
inline constexpr unsigned counter_slots = 48;

/// What one step did to the counters.
struct Counted {
  u64 occurred = 0;    ///< counters whose event occurred (with all filters passed)
  u64 overflowed = 0;  ///< counters that wrapped
};

/// The general-purpose and fixed counters of one logical processor with their control, status and reload
/// registers: event selects, FIXED_CTR_CTRL, GLOBAL_CTRL / STATUS / INUSE, PERF_METRICS, CFG_C.
///
/// A counter counts while its own enable, its GLOBAL_CTRL bit and the CPL filter allow it and nothing is
/// frozen; it wraps at the model's width, which sets its GLOBAL_STATUS bit unless ACR reloads it in the same
/// step. Status, PMI and reload are the sequencer's business: this class only counts and reports.
class CounterFile {
 public:
  explicit CounterFile(const CpuModel& model);

  /// Lets core time pass up to `cycle` (not beyond the retirement that comes next, at privilege `cpl`). Stops
  /// at the first cycle in which a counter wraps; call again until `now()` is `cycle`.
  Counted pass_time(u64 cycle, Cpl cpl);
  /// Counts what an instruction retiring at `now()` did.
  Counted retire(const Retirement& retirement);
  u64 now() const { return now_; }

  u64 value(unsigned counter) const { return counts_[counter]; }
  void set_value(unsigned counter, u64 value);  // truncated to the width

  u64 status() const { return status_; }
  void set_status(u64 mask) { status_ |= mask; }
  void clear_status(u64 mask) { status_ &= ~mask; }
  u64 global_ctrl() const { return global_ctrl_; }
  void clear_global_ctrl() {
    global_ctrl_ = 0;
    update();
  }

  /// Counters that request a PMI when they overflow (EVTSEL.INT, fixed PMI bit).
  u64 interrupting() const { return interrupting_; }
  /// Counters that could count now, the CPL filter aside.
  u64 running() const { return running_; }
  /// Counters with the adaptive-record bit set.
  u64 adaptive() const { return adaptive_; }
  u64 event_select(unsigned gp) const { return event_select_[gp]; }
  u64 cfg_c(unsigned counter) const { return cfg_c_[counter]; }
  u64 perf_metrics() const;

  const CpuModel& model() const { return *model_; }
  static std::span<const RegisterSpec> registers();

 private:
  friend struct CounterRegisters;
  void update();  // recomputes everything derived, after a register write

  const CpuModel* model_;
  u64 now_ = 0;
  std::array<u64, counter_slots> counts_{};
  std::array<u64, 32> event_select_{};
  std::array<u64, counter_slots> cfg_c_{};
  u64 fixed_ctrl_ = 0, global_ctrl_ = 0, status_ = 0;
  u64 running_ = 0, interrupting_ = 0, adaptive_ = 0;
};

}  // namespace pmusim

#endif
