// SPDX-License-Identifier: MIT
#ifndef PMUSIM_SRC_LIVE_TRACE_OUTPUT_H
#define PMUSIM_SRC_LIVE_TRACE_OUTPUT_H

#include <map>
#include <memory>
#include <string>

#include "pmusim/trace/trace.h"
#include "trace/block_builder.h"

namespace pmusim::live {

/// Writes what watched tasks execute as a trace: a replay of it is what the emulated CPU has seen.
///
/// A task is in it from the first instruction that was stepped on, and its process with the mappings that it
/// has then. What tasks did while they ran by themselves is not there.
class TraceOutput {
 public:
  TraceOutput(const TraceOutput&) = delete;
  TraceOutput& operator=(const TraceOutput&) = delete;
  /// Errors: the file cannot be made.
  static Result<std::unique_ptr<TraceOutput>, Error> create(const std::string& path);

  /// Writes what the present task has executed, and empties it; it goes on at `next_ip`.
  void write(trace::OpenBlock& open, u64 next_ip);
  void add_side_band(const trace::SideBandRecord& record);
  /// Completes the file. Errors: the disk, at any time so far; no task has ever been stepped.
  Result<trace::Writer::Written, Error> finish();

  /// Of traces that this writes.
  static constexpr trace::Contents contents{.addresses = true, .registers = true};

 private:
  explicit TraceOutput(trace::Writer writer) : writer_(std::move(writer)), blocks_(writer_, contents) {}

  bool knows_process(u32 pid) const;
  void introduce(u32 pid, u32 tid);
  void introduce_process(u32 pid);
  void put(const trace::SideBandRecord& record);
  void take(const Result<Done, Error>& written);

  trace::Writer writer_;
  trace::BlockWriter blocks_;
  std::map<u32, u32> processes_;  // of threads that the trace has, by tid
  u32 first_pid_ = 0;
  trace::ThreadSwitch present_;  // who runs on the emulated CPU
  u32 written_tid_ = 0;          // whose instructions the trace is in
  std::optional<Error> error_;
};

}  // namespace pmusim::live

#endif
