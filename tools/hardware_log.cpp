// SPDX-License-Identifier: MIT
#include "hardware_log.h"

#include "command_error.h"
#include "output.h"

namespace pmusim::tools {

void HardwareLog::add_to(CLI::App& command) {
  command.option_defaults()->group("What the hardware does");
  command.add_option(
      "--hw-log", log_path_,
      "Write register accesses, overflows, reloads, PMIs, records and branches to this file, a "
      "line each; - is standard output");
  command.add_option("--hw-timeline", timeline_path_,
                     "Write them for Perfetto or chrome://tracing, where a microsecond is a core cycle");
}

void HardwareLog::check(std::span<const std::string> inputs, std::string_view output) const {
  if (!log_path_.empty()) check_output_name(log_path_, inputs, "--hw-log");
  if (!timeline_path_.empty()) check_output_name(timeline_path_, inputs, "--hw-timeline");
  const auto same = [](std::string_view a, std::string_view b) { return !a.empty() && a == b; };
  if (same(log_path_, timeline_path_) || same(log_path_, output) || same(timeline_path_, output))
    throw CommandError("--hw-log, --hw-timeline and the output name the same file: expected one for each");
}

Observer& HardwareLog::open() {
  if (!log_path_.empty()) both_.add(*(log_ = value_or_fail(observe::create_hardware_log(log_path_))));
  if (!timeline_path_.empty())
    both_.add(*(timeline_ = value_or_fail(observe::create_hardware_timeline(timeline_path_))));
  return both_;
}

void HardwareLog::finish() {
  for (observe::ObserverFile* const file : {log_.get(), timeline_.get()})
    if (file != nullptr) value_or_fail(file->finish());
}

}  // namespace pmusim::tools
