// SPDX-License-Identifier: MIT
#ifndef PMUSIM_SRC_CORE_SAMPLED_CORE_H
#define PMUSIM_SRC_CORE_SAMPLED_CORE_H

#include <concepts>
#include <optional>
#include <utility>

#include "core/interval_core.h"
#include "pmusim/cpu/setup.h"

namespace pmusim {

/// Systematic sampling of a program, as in SMARTS (R. Wunderlich and others, ISCA 2003): the whole model in
/// windows that come at equal distances, and between them the order of the program alone, which keeps caches,
/// TLBs, the uop cache and predictors as warm as they would be. Before each window the pipeline fills with
/// instructions that do not count.
///
/// Between windows time passes by what the windows before say of the whole program so far.
class SampledCore : public IntervalCore {
 public:
  enum class Phase : u8 { between, warming, counted };

  /// Errors as Core::create.
  static Result<SampledCore, Error> create(const CpuModel& model, const trace::Contents& contents,
                                           const CoreWindows& windows);

  /// As those of IntervalCore. Between windows retirements have no accesses, and no time was lost to
  /// anything.
  BlockExecution execute(const trace::BlockRun& run);
  template <std::invocable<const Retirement&> Sink>
  void retire(const BlockExecution& execution, Sink&& sink) {
    if (phase_ == Phase::between) write_down_in_order();
    IntervalCore::retire(execution, std::forward<Sink>(sink));
  }

  /// That of the last execution, and whether it began with it.
  Phase phase() const { return phase_; }
  bool phase_begins() const { return phase_begins_; }
  /// Instructions of the window that ended last, if nobody has asked for it yet and it has any.
  std::optional<u64> take_window();
  /// The window at hand ends.
  void end_window();

 private:
  SampledCore(IntervalCore core, const CoreWindows& windows);
  void enter_next_phase();
  void set_pace();
  u64 end_of(std::size_t instructions);
  void count(const BlockExecution& execution);

  CoreWindows windows_;
  Phase phase_ = Phase::between;
  bool phase_begins_ = false;
  u64 instructions_ = 0;  // so far
  u64 phase_end_;         // in such instructions
  u64 counted_ = 0;       // of the window at hand
  std::optional<u64> ended_;

  // Of all windows; and what an instruction between them takes, in fixed point.
  static constexpr unsigned fraction_bits = 16;
  u64 all_counted_ = 0, counted_cycles_ = 0;
  u64 cycles_per_instruction_ = u64{1} << fraction_bits;
  u64 fraction_ = 0;  // of a cycle that has not passed yet
};

}  // namespace pmusim

#endif
