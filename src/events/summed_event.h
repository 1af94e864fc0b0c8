// SPDX-License-Identifier: MIT
#ifndef PMUSIM_SRC_EVENTS_SUMMED_EVENT_H
#define PMUSIM_SRC_EVENTS_SUMMED_EVENT_H

#include <optional>
#include <vector>

#include "events/resolve.h"

namespace pmusim::events {

/// An event as sums over many retirements tell it.
struct SummedEvent {
  enum class By : u8 {
    signals,     ///< the retirements that `rule` matches
    quantities,  ///< what their quantities add up to
    cycles,      ///< beginnings of cycles in which there is a retirement that `rule` matches
    refills,     ///< the retirements that tell of a refill (Quantity::recovery_cycles)
  };
  struct Term {
    Quantity quantity = Quantity::none;
    u64 factor = 1;  ///< modulo 2^64
  };
  By by = By::signals;
  EventRule rule;
  std::vector<Term> terms;  ///< of quantities
};

/// Signals that SummedEvent::By::cycles can ask for: those that code has always, or seldom.
inline constexpr SignalSet signals_of_cycles{Signal::microcoded, Signal::machine_clear,
                                             Signal::memory_ordering_clear, Signal::self_modifying_clear};

/// What a counter with this event adds up to. Nothing where sums do not tell: another condition on what falls
/// into one cycle, a threshold that each load or fetch is compared with, a clock that is not the core's.
std::optional<SummedEvent> sum_up(const CpuModel& model, const ResolvedEvent& event);

}  // namespace pmusim::events

#endif
