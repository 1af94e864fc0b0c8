// SPDX-License-Identifier: MIT
#ifndef PMUSIM_TOOLS_HARDWARE_LOG_H
#define PMUSIM_TOOLS_HARDWARE_LOG_H

#include <CLI/CLI.hpp>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "pmusim/observe/observer_file.h"

namespace pmusim::tools {

/// --hw-log and --hw-timeline: what the emulated hardware does, written down as it happens.
class HardwareLog {
 public:
  void add_to(CLI::App& command);
  /// Ends the command if files cannot be written under these names. `output`: what the command writes itself.
  void check(std::span<const std::string> inputs, std::string_view output = "") const;
  bool wanted() const { return !log_path_.empty() || !timeline_path_.empty(); }

  /// Creates the files. The observer: attach it to a Pmu.
  Observer& open();
  /// The files are complete.
  void finish();

 private:
  std::string log_path_, timeline_path_;
  std::unique_ptr<observe::ObserverFile> log_, timeline_;
  observe::ObserverGroup both_;
};

}  // namespace pmusim::tools

#endif
