// SPDX-License-Identifier: MIT
#ifndef PMUSIM_TRACE_LIVE_THREADS_H
#define PMUSIM_TRACE_LIVE_THREADS_H

#include <unordered_set>

#include "pmusim/trace/trace.h"

namespace pmusim::trace {

/// The threads of a trace that have started, or run, and not yet ended.
class LiveThreads {
 public:
  void on_side_band(const SideBandRecord& record) {
    if (const auto* start = std::get_if<ThreadStart>(&record)) tids_.insert(start->tid);
    if (const auto* to = std::get_if<ThreadSwitch>(&record)) tids_.insert(to->tid);
    if (const auto* exit = std::get_if<ThreadExit>(&record)) tids_.erase(exit->tid);
  }
  std::size_t count() const { return tids_.size(); }

 private:
  std::unordered_set<u32> tids_;
};

}  // namespace pmusim::trace

#endif
