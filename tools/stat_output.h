// SPDX-License-Identifier: MIT
#ifndef PMUSIM_TOOLS_STAT_OUTPUT_H
#define PMUSIM_TOOLS_STAT_OUTPUT_H

#include <cstdio>
#include <memory>
#include <string>

#include "stat_command.h"

namespace pmusim::tools {

/// Where counts go: standard error as with perf, -o FILE, --log-fd N, or standard output for --json.
class StatOutput {
 public:
  /// Ends the command where the file cannot be opened.
  explicit StatOutput(const StatCommand& command);
  /// Ends the command where that fails.
  void print(const std::string& text);

 private:
  struct Close {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };
  std::string name_;
  std::unique_ptr<std::FILE, Close> file_;  // null: one of the standard streams
  std::FILE* stream_;
};

}  // namespace pmusim::tools

#endif
