// SPDX-License-Identifier: MIT
#include "core_option.h"

#include <fmt/format.h>

#include <charconv>

#include "output.h"
#include "pmusim/session/stat.h"

namespace pmusim::tools {

void CoreOption::add_to(CLI::App& command) {
  command
      .add_option("--core", name_,
                  "How much of a core: interval (all of it), sampled or sampled:DETAIL,WARM,EVERY (all of it "
                  "for DETAIL of EVERY instructions, behind WARM that do not count; in between caches and "
                  "predictors), memory (caches and predictors, and time by blocks), simple (latencies and "
                  "branch prediction, no caches) or flat (an instruction "
                  "per cycle, no mispredicts); less is faster")
      ->capture_default_str();
  command.add_flag("--exact", exact_,
                   "Replay instruction by instruction; the results are the same, and come later");
}

void CoreOption::add_error_to(CLI::App& command) {
  command
      .add_option("--error", error_,
                  "With --core sampled: windows as often as it takes to know the program's cycles to so many "
                  "percent, as 1%; costs replays beforehand")
      ->option_text("PERCENT");
}

namespace {

double share_of(std::string_view text) {
  const std::string_view number = text.ends_with('%') ? text.substr(0, text.size() - 1) : text;
  double percent = 0;
  const char* const end = number.data() + number.size();
  const auto [stopped, error] = std::from_chars(number.data(), end, percent);
  if (error != std::errc() || stopped != end || !(percent > 0 && percent < 100))
    throw CommandError(fmt::format("--error {}: expected percent above 0 and below 100, as 1%", text));
  return percent / 100;
}

}  // namespace

void CoreOption::choose_windows(SessionOptions& options, TraceOption& trace) const {
  if (error_.empty()) return;
  const double error = share_of(error_);
  if (options.core != CoreLevel::sampled)
    throw CommandError("--error: is of core 'sampled'; the other cores estimate nothing");
  if (trace.is_live())
    throw CommandError(
        "--error: needs a trace, which is replayed more than once; --save-trace keeps that of a program");
  const auto open = [&]() -> Result<std::unique_ptr<trace::Source>, Error> {
    auto source = trace.source(options.core);
    leave_registers_out(*source, options.core);
    return source;
  };
  options.windows = value_or_fail(pmusim::choose_windows(open, options, error));
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
