// SPDX-License-Identifier: MIT
#ifndef PMUSIM_TOOLS_STAT_OUTPUT_H
#define PMUSIM_TOOLS_STAT_OUTPUT_H

#include <cstdio>
#include <memory>
#include <optional>
#include <string>

#include "base/output_file.h"
#include "stat_command.h"

namespace pmusim::tools {

/// Where counts go: standard error as with perf, -o FILE, --log-fd N, or standard output for --json.
///
/// A file is there when it is complete: what had its name stays until then, whatever becomes of the command.
class StatOutput {
 public:
  /// Ends the command where the file cannot be written.
  explicit StatOutput(const StatCommand& command);
  /// Ends the command where that fails.
  void print(const std::string& text);
  /// Nothing follows: the file takes its name. Ends the command where that fails.
  void finish();

 private:
  struct Close {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };
  std::optional<OutputFile> file_;                // -o
  std::unique_ptr<std::FILE, Close> descriptor_;  // --log-fd
  std::string name_;
  std::FILE* stream_;
};

}  // namespace pmusim::tools

#endif
