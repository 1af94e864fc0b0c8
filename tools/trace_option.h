// SPDX-License-Identifier: MIT
#ifndef PMUSIM_TOOLS_TRACE_OPTION_H
#define PMUSIM_TOOLS_TRACE_OPTION_H

#include <optional>
#include <string>
#include <vector>

#include "command.h"
#include "fast_recording.h"
#include "interrupts.h"
#include "pmusim/cpu/setup.h"
#include "pmusim/trace/trace.h"
#include "trace/live_trace.h"

namespace pmusim::tools {

/// What record and stat replay: a trace by name, or `-- CMD`, which is recorded meanwhile.
class TraceOption {
 public:
  explicit TraceOption(std::vector<std::string> program) : program_(std::move(program)) {}

  void add_to(CLI::App& command);
  /// Behind add_to(): further traces, of programs that run beside the first.
  void add_more_to(CLI::App& command);

  bool is_of_several() const { return !more_.empty(); }
  /// Of programs side by side; on so many threads they are replayed.
  std::vector<std::unique_ptr<trace::Source>> sources(CoreLevel core) const;
  unsigned threads() const;
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

  /// Gets a trace ready; with `-- CMD` another one each time. A program whose trace is to be kept runs now,
  /// any other with the replay: when the first instruction of it is asked for.
  void begin(trace::RecordedRegisters registers);
  /// The trace from its beginning, for a look at its first part, before source().
  std::unique_ptr<trace::Source> preview(CoreLevel core);
  /// The trace, for a replay on so much of a core. It must be gone before the next begin().
  std::unique_ptr<trace::Source> source(CoreLevel core);
  /// Nothing more is replayed: stops the program if it still runs, and says what its recording lacks.
  void end();

  /// Whether the program runs while it is replayed, and signals are for it.
  bool is_live() const { return records_program() && saved_.empty(); }
  /// Whom Ctrl-C is meant for while it is replayed.
  CtrlC ctrl_c() const;
  /// Whether a signal ends the replay. One that ends a program ends its recording, and what there is of it is
  /// replayed.
  bool replay_is_interrupted() const;
  /// The signal that ends the command, 0 if none.
  int ending_signal() const;
  /// After end(): that signal has ended the program before its time.
  bool recording_is_cut() const;
  /// Of the program that was run, as the shell would have it; 0 for a trace.
  int exit_status() const;

 private:
  Result<Done, Error> record(const trace::RecordingOptions& options);
  std::unique_ptr<trace::Source> open_file(const std::string& path, CoreLevel core) const;
  /// Whether a thread of its own decodes.
  bool decodes_ahead(CoreLevel core) const;

  std::string trace_, saved_;
  std::vector<std::string> more_;
  std::optional<u64> from_;
  unsigned jobs_ = 0;  // 0: as many as help
  std::vector<std::string> program_;
  std::optional<ProgramRecording> recording_;  // written by the thread of `live_`
  std::unique_ptr<trace::LiveTrace> live_;
  int recording_ended_by_ = 0;  // of a trace that is kept
};

}  // namespace pmusim::tools

#endif
