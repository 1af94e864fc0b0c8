// SPDX-License-Identifier: MIT
#ifndef PMUSIM_TRACE_LIVE_TRACE_H
#define PMUSIM_TRACE_LIVE_TRACE_H

#include <atomic>
#include <functional>
#include <memory>

#include "pmusim/trace/trace.h"

namespace pmusim::trace {

/// A trace that is replayed while it is made: what makes it runs on a thread of its own and writes into a
/// pipe. Nothing is stored; whoever makes it faster than it is replayed has to wait, after a chunk or two.
///
///     trace::LiveTrace live("ls", {.addresses = true}, [&](const std::string& output, const auto& stop) {
///       const auto recorded = trace::record({"ls"}, {.output = output, .stop = &stop});
///       return recorded.ok() ? Result<Done, Error>(Done{}) : Failure(recorded.error());
///     });
///     auto session = Session::open(live.source(), options);
///
/// The thread starts with the first item that is asked for.
class LiveTrace {
 public:
  /// Writes a trace with the promised contents to `output`, a name under which the pipe can be opened.
  /// Ends soon once `stop` is true; what it waits for is interrupted then (by SIGURG, which does nothing
  /// else).
  using Maker = std::function<Result<Done, Error>(const std::string& output, const std::atomic<bool>& stop)>;

  /// `name` is for sentences. Once `stop_asked` is true (from a signal handler, say) what makes the trace is
  /// stopped; what it made is still read to its end.
  LiveTrace(const std::string& name, Contents contents, Maker make,
            const std::atomic<bool>* stop_asked = nullptr);
  LiveTrace(const LiveTrace&) = delete;
  LiveTrace& operator=(const LiveTrace&) = delete;
  /// As finish().
  ~LiveTrace();

  /// The trace from its beginning, for a look at its first part before it is replayed: what is read here is
  /// kept, compressed, for the source that follows. Its length is known once it was read to its end.
  std::unique_ptr<Source> preview();
  /// The trace from its beginning to its end; previews are used no more. Must not outlive the LiveTrace.
  /// Errors of the maker are those of next() at the end.
  std::unique_ptr<Source> source();

  /// Stops what makes the trace if it still does, and waits for its end. Errors: the maker's.
  Result<Done, Error> finish();

 private:
  class Impl;
  class View;
  std::unique_ptr<Impl> impl_;
};

}  // namespace pmusim::trace

#endif
