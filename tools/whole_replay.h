// SPDX-License-Identifier: MIT
#ifndef PMUSIM_TOOLS_WHOLE_REPLAY_H
#define PMUSIM_TOOLS_WHOLE_REPLAY_H

#include <optional>

#include "interrupts.h"
#include "output.h"
#include "progress_bar.h"
#include "trace_option.h"
#include "truncation.h"

namespace pmusim::tools {

/// What `collect(source, on_progress)` makes of the trace: its Result's value, or the command ends with the
/// error. Shows progress unless `quiet`; Ctrl-C ends the replay, and what was collected until then is kept.
template <class Collect>
auto replay_whole(TraceOption& trace, bool quiet, Collect collect) {
  trace.begin(trace::RecordedRegisters::none);
  const Interrupts interrupts(trace.ctrl_c());
  auto collected = [&] {
    const auto source = trace.source(CoreLevel::interval);
    warn_if_truncated(*source);
    std::optional<ProgressBar> bar;
    if (!quiet) bar.emplace("replaying");
    return value_or_fail(collect(*source, [&](u64 done) {
      if (bar) bar->show({done, source->length().value_or(0)});
      return !trace.replay_is_interrupted();
    }));
  }();
  trace.end();
  return collected;
}

}  // namespace pmusim::tools

#endif
