// SPDX-License-Identifier: MIT
#include "core_option.h"

#include "output.h"

namespace pmusim::tools {

void CoreOption::add_to(CLI::App& command) {
  command
      .add_option("--core", name_,
                  "How much of a core: interval (all of it), simple (latencies and branch prediction, no "
                  "caches) or flat (an instruction per cycle, no mispredicts); less is faster")
      ->capture_default_str();
  command.add_flag("--exact", exact_,
                   "Replay instruction by instruction; the results are the same, and come later");
}

void CoreOption::apply_to(SessionOptions& options) const {
  options.core = level();
  options.stepping = exact_ ? Stepping::instructions : Stepping::blocks;
}

CoreLevel CoreOption::level() const { return value_or_fail(find_core_level(name_)); }

void leave_registers_out(trace::Source& source, CoreLevel level) {
  if (level != CoreLevel::interval) source.leave_out(trace::Detail::registers);
}

}  // namespace pmusim::tools
