// SPDX-License-Identifier: MIT
#include "core_option.h"

#include "output.h"

namespace pmusim::tools {

void CoreOption::add_to(CLI::App& command) {
  command
      .add_option("--core", name_,
                  "How much of a core: interval (all of it), sampled or sampled:DETAIL,WARM,EVERY (all of it "
                  "for DETAIL of EVERY instructions, behind WARM that do not count; in between caches and "
                  "predictors), simple (latencies and branch prediction, no caches) or flat (an instruction "
                  "per cycle, no mispredicts); less is faster")
      ->capture_default_str();
  command.add_flag("--exact", exact_,
                   "Replay instruction by instruction; the results are the same, and come later");
}

void CoreOption::apply_to(SessionOptions& options) const {
  const CoreChoice choice = value_or_fail(parse_core(name_));
  options.core = choice.level;
  options.windows = choice.windows;
  options.stepping = exact_ ? Stepping::instructions : Stepping::blocks;
}

CoreLevel CoreOption::level() const { return value_or_fail(parse_core(name_)).level; }

void StartOption::add_to(CLI::App& command) {
  command
      .add_option("--start", name_,
                  "What caches, TLBs and predictors hold at first: cold (nothing) or warm (what a run of the "
                  "same trace leaves there, which is replayed twice)")
      ->option_text("HOW")
      ->capture_default_str();
}

StartState StartOption::state(const TraceOption& trace) const {
  const StartState state = value_or_fail(find_start_state(name_));
  if (state == StartState::warm && trace.is_live())
    throw CommandError("--start warm: replays a trace twice; --save-trace keeps that of the program");
  return state;
}

void leave_registers_out(trace::Source& source, CoreLevel level) {
  if (!has_caches(level)) source.leave_out(trace::Detail::registers);
}

}  // namespace pmusim::tools
