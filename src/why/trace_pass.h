// SPDX-License-Identifier: MIT
#ifndef PMUSIM_SRC_WHY_TRACE_PASS_H
#define PMUSIM_SRC_WHY_TRACE_PASS_H

#include "core/warm_up.h"
#include "pmusim/base/types.h"
#include "pmusim/trace/trace.h"
#include "why/collector.h"

namespace pmusim::why {

/// Hands the blocks and the side band of a trace on, to its end or until `on_progress` is false. Errors:
/// those of the trace.
template <class OnBlock, class OnRecord>
Result<Done, Error> pass_on(trace::Source& source, const OnProgress& on_progress, OnBlock on_block,
                            OnRecord on_record) {
  constexpr u64 report_every = 1 << 18;
  u64 done = 0, next_report = report_every;
  while (true) {
    const Result<trace::NextItem, Error> item = source.next();
    if (!item.ok()) return Failure(item.error());
    if (!item->has_value()) return Done{};
    if (const auto* const run = std::get_if<trace::BlockRun>(&**item)) {
      on_block(*run);
      done += run->block->instructions.size();
    } else {
      on_record(std::get<trace::SideBandRecord>(**item));
    }
    if (done < next_report) continue;
    if (on_progress && !on_progress(done)) return Done{};
    next_report = done + report_every;
  }
}

/// The core that a trace is replayed on, cold or warm. Errors: parameters that make no machine; a trace that
/// cannot be read again.
inline Result<IntervalCore, Error> core_for(const trace::Source& source, const CpuModel& model,
                                            StartState start, const OnProgress& on_progress) {
  auto core = IntervalCore::create(model, source.contents());
  if (!core.ok() || start == StartState::cold) return core;
  auto program = source.again();
  if (!program.ok()) return Failure(program.error());
  const auto go_on = [&] { return !on_progress || on_progress(0); };
  if (auto warmed = warm_up(*core, **program, go_on); !warmed.ok()) return Failure(warmed.error());
  return core;
}

}  // namespace pmusim::why

#endif
