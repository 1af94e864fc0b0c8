#ifndef PMUSIM_TOOLS_TRACE_OPTION_H
#define PMUSIM_TOOLS_TRACE_OPTION_H

#include <optional>
#include <string>
#include <vector>

#include "command.h"
#include "pmusim/trace/recorder.h"
#include "temporary_directory.h"

namespace pmusim::tools {

/// What record and stat replay: a trace by name, or `-- CMD`, which is recorded first.
class TraceOption {
 public:
  explicit TraceOption(std::vector<std::string> program) : program_(std::move(program)) {}

  void add_to(CLI::App& command);

  bool records_program() const { return !program_.empty(); }
  /// For sentences and titles: the trace's name, or the program with its arguments.
  std::string title() const;
  /// Files that the command reads; none if the trace is made now.
  std::vector<std::string> inputs() const;
  /// Ends the command where there is neither trace nor program, or both.
  void check(const CLI::App& command) const;
  /// An option that perf gives an optional value has taken what was meant as the trace; gives it back.
  void use_as_trace(const std::string& path) { trace_ = path; }
  bool given() const { return !trace_.empty() || records_program(); }

  /// The trace's path, once it is there: runs the program each time it is called.
  std::string obtain(trace::RecordedRegisters registers);
  /// Of the program that was run, as the shell would have it; 0 for a trace.
  int exit_status() const { return exit_status_; }

 private:
  std::string trace_, saved_;
  std::vector<std::string> program_;
  std::optional<TemporaryDirectory> directory_;
  int exit_status_ = 0;
};

}  // namespace pmusim::tools

#endif
